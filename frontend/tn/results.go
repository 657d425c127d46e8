package tn

import (
	"tenon/frontend/tn/syntax"
	"tenon/internal/num"
)

// holdResults holds what an expanded function returns against the results that
// n declares: how many, their types, their dims. The callee's dims are in scope.
func (f *fnState) holdResults(n *syntax.Fn, rs []*tensor) {
	at := n.Body.Stmts[len(n.Body.Stmts)-1]
	if len(rs) != len(n.Results) {
		f.p.failWith(at.Errorf("%s returned, and %s declares %s", count(len(rs), "value"), n.Name.Name, count(len(n.Results), "result")).
			WithNote(n.Results[0].At(), "declared here"))
	}
	for i, r := range n.Results {
		if e := f.elem(r.Type.Name); e != rs[i].elem && !(e == num.Index && rs[i].elem == num.I64) {
			f.p.failWith(at.Errorf("the result is %s, and %s is declared", rs[i].elem, e).WithNote(r.At(), "declared here").
				WithFix("cast it: %s(...), or change the declaration", r.Type.Name.Name))
		}
		f.holdDims(at, r.Type, rs[i].axes)
	}
}

// holdDims holds the dims of a result against those that t declares, packs
// spread out.
func (f *fnState) holdDims(at syntax.Node, t *syntax.Type, axes []dim) {
	f.edgeFirst(typeDims(t))
	rank := 0
	for _, s := range typeDims(t) {
		rank += f.width(s)
	}
	if rank != len(axes) {
		f.p.failWith(at.Errorf("the result has rank %d, and rank %d is declared", len(axes), rank).
			WithNote(t.At(), "declared here").WithFix("make the two agree"))
	}
	for _, s := range typeDims(t) {
		n := f.width(s)
		f.holdDim(at, s, axes[:n])
		axes = axes[n:]
	}
}

// width is how many axes a declared dim stands for.
func (f *fnState) width(s *syntax.Sub) int {
	switch {
	case s.Pack != "":
		b := f.scope.names["dims.."+s.Pack]
		if b == nil {
			f.p.failWith(s.Errorf("nothing says what ..%s is", s.Pack).WithExpected("a pack of some parameter"))
		}
		return len(b.dims)
	case edgeDim(s) != nil:
		return 2
	}
	return 1
}

func (f *fnState) holdDim(at syntax.Node, s *syntax.Sub, axes []dim) {
	const why = " in the declared result"
	if s.Pack != "" {
		for i, d := range f.scope.names["dims.."+s.Pack].dims {
			f.sameDim(at, d, axes[i])
		}
		return
	}
	last := axes[len(axes)-1]
	if n, ok := syntax.Unparen(s.X).(*syntax.Name); ok {
		b := f.scope.find(n.Name)
		switch {
		case b == nil:
			f.scope.names[n.Name] = &binding{kind: bindDim, at: n, expr: f.canon(last.ext)}
			return
		case b.kind == bindRagged:
			f.sameDim(at, dim{pat: b.pat, ext: last.ext}, last)
			return
		}
	}
	want := f.dimExpr(s, false)
	if id, ok := want.IsNNZ(); ok {
		if last.pat == nil || last.pat.id != id {
			f.p.failWith(at.Errorf("the result is not an edge tensor of the declared pattern").WithNote(s.At(), "declared here"))
		}
		return
	}
	f.equate(at, want, last.ext, why)
}

// sameDim makes a result's dim the one that a pack or a pattern's rows gave.
func (f *fnState) sameDim(at syntax.Node, want, got dim) {
	if (want.pat == nil) != (got.pat == nil) || want.pat != nil && want.pat.id != got.pat.id {
		f.p.failWith(at.Errorf("the result runs over %s, and over %s is declared", runsOver(got), runsOver(want)).
			WithFix("return what has the dims of the argument"))
	}
	if got.pat == nil {
		f.equate(at, want.ext, got.ext, " in the declared result")
	}
}

// runsOver says in words what an axis runs over.
func runsOver(d dim) string {
	if d.pat == nil {
		return "a dense range"
	}
	return "the entries of " + d.pat.name
}
