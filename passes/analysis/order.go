package analysis

import (
	"maps"
	"slices"

	"tenon/ir"
	"tenon/ir/sym"
)

// Order asks in which order two accesses of a function touch an element.
type Order struct {
	entry *sym.Facts
	fixed map[string]bool // names that mean the same all over the function
}

// OrderIn is for accesses of f.
func OrderIn(f *ir.Func) *Order {
	o := &Order{entry: AtEntry(f), fixed: map[string]bool{}}
	for _, d := range f.Dims {
		o.fixed[d] = true
	}
	return o
}

// Before reports that wherever a and b mean the same element of a shape, a is
// through with it when b touches it: b may then touch the memory that a does.
// It holds if no later or simultaneous iteration of a loop around both brings a
// back to an element that b has touched, and in one iteration a comes first or
// the elements differ. Each iteration of the outer ops around both has buffers of
// its own.
func (o *Order) Before(a, b *Access, outer int) bool {
	depth := 0
	for ; depth < len(a.Path) && depth < len(b.Path) && a.Path[depth] == b.Path[depth]; depth++ {
		if depth >= outer && !o.apart(a, b, depth) {
			return false
		}
	}
	ca, cb := a.Child(depth), b.Child(depth)
	switch {
	case ca == cb && depth < len(a.Path) && depth < len(b.Path):
		return ca.Def.Name == "loop.if" // the sides of a branch never meet
	case ca != cb && a.At < b.At:
		return true
	}
	return o.disjoint(a, b, depth, nil)
}

// apart reports that the op around both at depth, if it is a loop, does not lead
// a to an element at the same time as b or after it, in another iteration.
func (o *Order) apart(a, b *Access, depth int) bool {
	loop := a.Path[depth].Op
	parallel := loop.Def.Traits.Has(ir.ParallelOK)
	r := rangeOf(loop)
	switch {
	case r == nil:
		return loop.Def.Name == "loop.if"
	case len(r.Step.Refs()) > 0:
		return false
	case pinned(a, b, r):
		return true
	}
	other := sym.Name(r.Name + "'") // the index where b is
	earlier := sym.Le(sym.Add(other, r.Step), sym.Name(r.Name))
	later := sym.Le(sym.Add(sym.Name(r.Name), r.Step), other)
	return o.disjoint(a, b, depth, &earlier) && (!parallel || o.disjoint(a, b, depth, &later))
}

// pinned reports that some subscripts of both are the index of r but for what
// fits into a step: no proof is needed then.
func pinned(a, b *Access, r *ir.Range) bool {
	step, ok := r.Step.IsConst()
	if !ok {
		step = 1
	}
	if a.Subs == nil || len(a.Subs) != len(b.Subs) {
		return false
	}
	for d := range a.Subs {
		x, okX := sym.Sub(a.Subs[d], sym.Name(r.Name)).IsConst()
		y, okY := sym.Sub(b.Subs[d], sym.Name(r.Name)).IsConst()
		wx, wy := a.width(d), b.width(d)
		if okX && okY && wx > 0 && wy > 0 && max(x+wx, y+wy)-min(x, y) <= step {
			return true
		}
	}
	return false
}

// width is how many elements a touches along dim d, 0 for any number.
func (a *Access) width(d int) int64 {
	if d == len(a.Subs)-1 {
		return a.Width
	}
	return 1
}

// disjoint proves that a and b touch different elements, in iterations of the
// ops from depth on that have nothing to do with each other but for how, a
// condition between the names of a and those of b, which get a prime.
func (o *Order) disjoint(a, b *Access, depth int, how *sym.Cond) bool {
	if a.Subs == nil || b.Subs == nil || len(a.Subs) != len(b.Subs) {
		return false
	}
	facts, fixed := o.around(a.Path[:depth])
	all := facts.Clone()
	addPath(all, facts, a, depth, nil)
	prime := func(names []string, by map[string]sym.Expr) {
		for _, n := range names {
			if !fixed[n] {
				by[n] = sym.Name(n + "'")
				by[count(n)] = sym.Name(count(n) + "'")
			}
		}
	}
	by := map[string]sym.Expr{}
	for _, s := range b.Subs {
		prime(s.Names(), by)
	}
	for _, s := range b.Path[depth:] {
		prime(Bound(s.Op), by)
	}
	addPath(all, facts, b, depth, by)
	if how != nil {
		all.Add(*how)
	}
	for d := range a.Subs {
		x, y, wx, wy := a.Subs[d], b.Subs[d].Subst(by), a.width(d), b.width(d)
		if len(x.Refs()) > 0 || len(y.Refs()) > 0 || wx == 0 || wy == 0 {
			continue
		}
		if all.Prove(sym.Le(sym.Add(x, sym.Const(wx)), y)) || all.Prove(sym.Le(sym.Add(y, sym.Const(wy)), x)) {
			return true
		}
	}
	return false
}

// around is what holds inside the ops of a path, and which names mean the same
// in all of one iteration of them.
func (o *Order) around(path []Step) (*sym.Facts, map[string]bool) {
	facts, fixed := o.entry, maps.Clone(o.fixed)
	for _, s := range path {
		facts = Inside(facts, s.Op, s.Region)
		for _, n := range Bound(s.Op) {
			fixed[n] = true
		}
	}
	return facts, fixed
}

// addPath adds to all what the ops around a from depth on say, with its names
// replaced. What speaks of values is left out: they differ from iteration to
// iteration and have no second name.
func addPath(all, facts *sym.Facts, a *Access, depth int, by map[string]sym.Expr) {
	inside := facts
	for _, s := range a.Path[depth:] {
		inside = Inside(inside, s.Op, s.Region)
	}
	for _, c := range inside.Conds()[len(facts.Conds()):] {
		if len(c.L.Refs()) == 0 && len(c.R.Refs()) == 0 {
			all.Add(c.Subst(by))
		}
	}
	for _, s := range a.Path[depth:] {
		r := rangeOf(s.Op)
		if r == nil || len(r.Lo.Refs()) > 0 {
			continue
		}
		if step, ok := r.Step.IsConst(); ok && step > 1 {
			all.Add(sym.Eq(sym.Name(r.Name), sym.Add(r.Lo, sym.Mul(r.Step, sym.Name(count(r.Name))))).Subst(by))
		}
	}
}

// count names the number of the iteration at index: an index that goes by steps
// is at one of them.
func count(index string) string { return index + "#" }

func rangeOf(op *ir.Op) *ir.Range {
	i := slices.IndexFunc(op.Clauses, func(c ir.Clause) bool { _, ok := c.(*ir.Range); return ok })
	if i < 0 {
		return nil
	}
	return op.Clauses[i].(*ir.Range)
}
