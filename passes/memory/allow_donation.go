// allow-donation finds the results that may be computed in the memory of an
// argument.
//
// Before:
//
//	proc loop @f<N>(in %x: buf<f32[N]>, out %y: buf<f32[N]>) {
//	  loop.parallel i = 0 to N { store(load(%x[i]), %y[i]) }
//	  .. adds to some elements of %y, reads %x no more ..
//	}
//
// After:
//
//	proc loop @f<N>(in %x: buf<f32[N]>, out %y: buf<f32[N]>) directives("inplace(x, y)") {
//	  loop.parallel i = 0 to N directives("copies(x, y)") { store(load(%x[i]), %y[i]) }
//	  ..
//	}
//
// A caller may give one array for %x and %y; the entry of compiled code then
// leaves it to the body, where without the directive it would copy %x first. A
// loop that copies all it reads of %x to the same elements of %y, and nothing
// else, has nothing to do then: a cache that gets a new row costs a row.
//
// Legal if both have the same type, and every read of %x comes before any write
// to that element of %y (analysis.Order).
//
// Directives that a module has already are forgotten first: what holds is what
// this pass finds.
package memory

import (
	"slices"

	"tenon/ir"
	"tenon/ir/ops/loop"
	"tenon/ir/sym"
	"tenon/passes/analysis"
	"tenon/passes/pass"
)

// AllowDonation records which arguments may be donated to which results.
var AllowDonation = pass.Register(&pass.Pass{
	Name:    "allow-donation",
	Doc:     "find the results that may be computed in the memory of an argument",
	After:   []string{"lower-comps", "contract-buffers", "vectorise", "reuse-buffers"},
	Counted: true,
	Run: func(c *pass.Context) error {
		for _, f := range c.Funcs() {
			if f.IsProc && (f.Level == ir.LevelLoop || f.Level == ir.LevelVec) {
				c.At(f, nil)
				forget(f)
				allowDonation(c, f)
			}
		}
		return nil
	},
})

func forget(f *ir.Func) {
	f.Directives = ir.WithoutDirective(f.Directives, "inplace")
	f.Body.Walk(func(op *ir.Op) bool {
		if list := directivesOf(op); len(list) > 0 {
			setDirectives(op, ir.WithoutDirective(list, "copies"))
		}
		return true
	})
}

func allowDonation(c *pass.Context, f *ir.Func) {
	m := precedenceIn(f)
	for _, x := range f.Params {
		for _, y := range f.Params {
			t, ok := y.Value.Type.(ir.Buf)
			if !ok || x.Mode != ir.ModeIn || y.Mode != ir.ModeOut || !ir.SameType(x.Value.Type, t) || !loop.Dense(t) {
				continue
			}
			switch {
			case !m.mayShare(x.Value, y.Value):
				c.Decline(f.Loc, "%%%s cannot be computed in the memory of %%%s: an element is read after that of the other is written; a call that asks for it makes a copy", y.Value.Name, x.Value.Name)
			case c.Apply(nil):
				c.Done(f.Loc, "%%%s may be computed in the memory of %%%s", y.Value.Name, x.Value.Name)
				f.Directives = append(slices.Clone(f.Directives), ir.InPlaceDirective(x.Value.Name, y.Value.Name))
				markCopies(f, x.Value, y.Value)
			}
		}
	}
}

func (m *precedence) mayShare(x, y *ir.Value) bool {
	if m.acc.Aliased[x] || m.acc.Aliased[y] {
		return false
	}
	return len(m.acc.Of[x]) == 0 || len(m.acc.Of[y]) == 0 || m.precedes(x, y, 0)
}

// markCopies marks the loops at the top of f that copy x to y.
func markCopies(f *ir.Func, x, y *ir.Value) {
	facts := analysis.AtEntry(f)
	for _, op := range f.Body.Ops {
		if isLoop(op) && copiesOnly(op.Regions()[0], x, y, analysis.Inside(facts, op, op.Regions()[0])) {
			setDirectives(op, append(slices.Clone(directivesOf(op)), ir.CopiesDirective(x.Name, y.Name)))
		}
		analysis.After(facts, op)
	}
}

func isLoop(op *ir.Op) bool {
	return (op.Def.Name == "loop.for" || op.Def.Name == "loop.parallel") && len(op.Results) == 0
}

// copiesOnly reports that r does nothing but copy elements of x, in range, to
// the same ones of y.
func copiesOnly(r *ir.Region, x, y *ir.Value, facts *sym.Facts) bool {
	for _, op := range r.Ops {
		switch {
		case isLoop(op):
			if !copiesOnly(op.Regions()[0], x, y, analysis.Inside(facts, op, op.Regions()[0])) {
				return false
			}
		case op.Def.Name == "load" || op.Def.Name == "vec.load":
			if op.Operand(0) != x || !inRange(op, op.Args("")[0], lanesOf(op.Results[0]), facts) {
				return false
			}
		case op.Def.Name == "store" || op.Def.Name == "vec.store":
			if !storesLoaded(op, x, y) {
				return false
			}
		case !op.Def.Traits.Has(ir.Pure) && !op.Def.Traits.Has(ir.Terminator):
			return false
		}
	}
	return true
}

// storesLoaded reports a store to y of what was loaded from the same elements of
// x, under the same mask.
func storesLoaded(op *ir.Op, x, y *ir.Value) bool {
	v, to := op.Operand(0), op.Args("")[1]
	if v == nil || v.Def == nil || to.Value != y || to.View == nil || v.Def.Def.Name != loadFor[op.Def.Name] || v.Def.Operand(0) != x {
		return false
	}
	from := v.Def.Args("")[0].View
	return from != nil && maskOf(op) == maskOf(v.Def) &&
		slices.EqualFunc(from.Dims, to.View.Dims, func(a, b ir.ViewDim) bool { return a.Start.Equal(b.Start) })
}

var loadFor = map[string]string{"store": "load", "vec.store": "vec.load"}

// inRange proves that the elements that op touches are there; a mask has to be
// that of the lanes that are.
func inRange(op *ir.Op, a ir.Arg, width int64, facts *sym.Facts) bool {
	dims := a.Value.Type.(ir.Buf).Dims
	for d, w := range a.View.Dims {
		room := sym.Sub(dims[d], w.Start)
		need := sym.Const(1)
		if d == len(dims)-1 {
			need = sym.Const(width)
			if m := maskOf(op); m != nil && m.Def != nil && m.Def.Def.Name == "vec.first" {
				count, ok := m.Def.Args("")[0].AsExpr()
				if ok && count.Equal(room) {
					need = room
				}
			}
		}
		if len(w.Start.Refs()) > 0 || !facts.Prove(sym.Ge(w.Start, sym.Const(0))) || !facts.Prove(sym.Ge(room, need)) {
			return false
		}
	}
	return true
}

func maskOf(op *ir.Op) *ir.Value {
	if op.Def.Family() != "vec" {
		return nil
	}
	if k := ir.GetClause[*ir.Operands](op, "mask"); k != nil {
		return k.Args[0].Value
	}
	return nil
}

// lanesOf is how many elements v holds.
func lanesOf(v *ir.Value) int64 {
	switch t := v.Type.(type) {
	case ir.Vec:
		return int64(t.Lanes)
	case ir.Mask:
		return int64(t.Lanes)
	}
	return 1
}

func directivesOf(op *ir.Op) []string {
	if !op.Has("directives") {
		return nil
	}
	if d := ir.GetClause[*ir.Directives](op, "directives"); d != nil {
		return d.List
	}
	return nil
}

func setDirectives(op *ir.Op, list []string) {
	if len(list) == 0 {
		ir.SetClause[*ir.Directives](op, "directives", nil)
		return
	}
	ir.SetClause(op, "directives", &ir.Directives{List: list})
}
