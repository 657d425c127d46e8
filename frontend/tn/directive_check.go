package tn

import (
	"tenon/frontend/tn/syntax"
)

// directiveChecks hold the arguments of a directive to its form; loop is the
// loop it belongs to, nil for those of a proc or fn.
var directiveChecks = map[string]func(f *fnState, d *syntax.Directive, loop *syntax.For){
	"distribute": (*fnState).checkDistribute,
	"halo":       (*fnState).checkHalo,
	"tile":       (*fnState).checkTile,
	"reduce":     (*fnState).checkReduce,
	"target":     (*fnState).checkTarget,
	"parallel":   (*fnState).checkBare,
	"fixed":      (*fnState).checkBare,
	"pipeline":   (*fnState).checkBare,
}

// checkDirectives checks the arguments of each directive of list.
func (f *fnState) checkDirectives(list []*syntax.Directive, loop *syntax.For) {
	for _, d := range list {
		if check := directiveChecks[d.Name.Name]; check != nil {
			check(f, d, loop)
		}
	}
}

func (f *fnState) checkBare(d *syntax.Directive, _ *syntax.For) {
	if len(d.Args) > 0 {
		f.p.failWith(d.Errorf("@%s takes no arguments", d.Name.Name).WithFix("write @%s", d.Name.Name))
	}
}

func (f *fnState) checkTarget(d *syntax.Directive, _ *syntax.For) {
	if len(d.Args) != 1 || d.Args[0].Str == "" {
		f.p.failWith(d.Errorf("@target takes the name of a machine").WithFix(`write for example @target("avx512")`))
	}
}

// subject is the buffer or function parameter that a directive speaks of.
func (f *fnState) subject(d *syntax.Directive) *tensor {
	if len(d.Args) == 0 || d.Args[0].Key == nil {
		f.p.failWith(d.Errorf("@%s names the buffer it means", d.Name.Name).WithFix("write for example @%s(A: ..)", d.Name.Name))
	}
	for _, a := range d.Args[1:] {
		if a.Key != nil {
			f.p.failWith(a.Errorf("@%s speaks of one buffer", d.Name.Name).WithFix("write a directive for %s of its own", a.Key.Name))
		}
	}
	id := d.Args[0].Key
	b := f.top().lookup(&syntax.Name{Span: id.Span, Name: id.Name})
	if b.kind != bindTensor {
		f.p.failWith(id.Errorf("%s is not a buffer", id.Name).WithExpected("a parameter with dims"))
	}
	if len(b.tensor.axes) != len(d.Args) {
		f.p.failWith(d.Errorf("@%s gives %s, and %s has %d", d.Name.Name, count(len(d.Args), "dim"), id.Name, len(b.tensor.axes)).
			WithNote(b.at.At(), "declared here").WithFix("give one entry for each dim"))
	}
	return b.tensor
}

func (f *fnState) checkDistribute(d *syntax.Directive, _ *syntax.For) {
	f.subject(d)
	for _, a := range d.Args {
		if !a.Star && !isSpread(a.Lo) {
			f.p.failWith(a.Errorf("this is no way to spread a dim").WithExpected("block, cyclic(n) with n >= 1, or *"))
		}
	}
}

// isSpread reports that e is `block` or `cyclic(n)`.
func isSpread(e syntax.Expr) bool {
	switch e := e.(type) {
	case *syntax.Name:
		return e.Name == "block"
	case *syntax.Call:
		if e.Fn.Name != "cyclic" || len(e.Args) != 1 || e.Args[0].Name != nil {
			return false
		}
		n, ok := literalInt(e.Args[0].X)
		return ok && n >= 1
	}
	return false
}

func (f *fnState) checkHalo(d *syntax.Directive, _ *syntax.For) {
	f.subject(d)
	for _, a := range d.Args {
		lo, okLo := literalInt(orZero(a.Lo))
		hi, okHi := literalInt(orZero(a.Hi))
		if a.Lo == nil || a.Hi == nil || !okLo || !okHi || lo < 0 || hi < 0 {
			f.p.failWith(a.Errorf("this is no width of a halo").WithExpected("low:high, two integers of 0 or more, such as 1:1"))
		}
	}
}

func orZero(e syntax.Expr) syntax.Expr {
	if e == nil {
		return &syntax.Lit{Kind: syntax.IntLit, Text: "0"}
	}
	return e
}

func (f *fnState) checkTile(d *syntax.Directive, loop *syntax.For) {
	indices := map[string]bool{}
	if loop != nil {
		syntax.Walk(loop, func(n syntax.Node) bool {
			if r, ok := n.(*syntax.Range); ok {
				indices[r.Name.Name] = true
			}
			return true
		})
	}
	for _, a := range d.Args {
		if n, ok := literalInt(orZero(a.Lo)); a.Key == nil || a.Hi != nil || !ok || n < 1 {
			f.p.failWith(a.Errorf("this is no tile size").WithExpected("an index and a positive integer, such as i: 32"))
		}
		if loop != nil && !indices[a.Key.Name] {
			f.p.failWith(a.Key.Errorf("no loop over %s stands here", a.Key.Name).WithNote(loop.At(), "the loop is here").
				WithFix("name an index of the loop or of one inside it"))
		}
	}
}

// reducible are the reductions that @reduce knows.
var reducible = map[string]bool{"sum": true, "prod": true, "max": true, "min": true}

func (f *fnState) checkReduce(d *syntax.Directive, _ *syntax.For) {
	for _, a := range d.Args {
		n, ok := a.Lo.(*syntax.Name)
		if a.Key == nil || !reducible[a.Key.Name] || !ok || a.Hi != nil {
			f.p.failWith(a.Errorf("this is no reduction").WithExpected("sum, prod, max or min, and what it reduces into, such as sum: s"))
		}
		f.top().lookup(n)
	}
}
