package raise

import (
	"fmt"
	"slices"

	"tenon/ir"
	"tenon/passes/analysis"
)

// legality answers what raising asks about memory. Everything the pass believes
// of dependences is in here.
type legality struct {
	f        *ir.Func
	accesses *analysis.Accesses
	order    *analysis.Order
}

func newLegality(f *ir.Func) *legality {
	return &legality{f: f, accesses: analysis.FindAccesses(f), order: analysis.OrderIn(f)}
}

// moves says why the terms of a nest may not be summed in any order, after what
// stands in front of them and before what stands behind; "" if they may.
func (l *legality) moves(n *nest, s *sum) string {
	if s.buf != nil && !l.isRoot(s.buf) {
		return fmt.Sprintf("%%%s may share memory with other buffers", s.buf.Name)
	}
	moved := map[*ir.Op]bool{}
	for _, op := range []*ir.Op{n.store, s.old} {
		if op != nil {
			moved[op] = true
		}
	}
	for _, op := range s.loads {
		if v := op.Args("")[0].Value; !l.isRoot(v) {
			return fmt.Sprintf("%%%s may share memory with other buffers", v.Name)
		}
		moved[op] = true
	}
	if len(n.loops) == 0 { // it stays where it is
		return ""
	}
	place := l.accesses.Place[n.loops[0]]
	if s.buf != nil && !ownElements(s, place.Path) {
		return fmt.Sprintf("where a sum is empty, %%%s may be written by another iteration of a parallel loop around it", s.buf.Name)
	}
	on, ok := n.side()
	if !ok {
		return "what stands behind the sum needs what is computed in front of it"
	}
	return l.ordered(n, place, func(op *ir.Op) (at [3]bool) {
		return [3]bool{on[op]&1 != 0, moved[op], on[op]&2 != 0}
	})
}

// ordered says why the nest at place may not run in three parts; parts says in
// which of them an op is.
func (l *legality) ordered(n *nest, place analysis.Place, parts func(*ir.Op) [3]bool) string {
	for buf := range l.accesses.Of { // no order enters the answer
		in := l.within(buf, place)
		if !slices.ContainsFunc(in, func(a *analysis.Access) bool { return a.Write }) {
			continue
		}
		for _, a := range in {
			pa := parts(a.Op)
			if pa[2] && n.isInFront(a.Op) {
				return "what stands behind the sum needs elements from before it"
			}
			for _, b := range in {
				if (a.Write || b.Write) && precedes(pa, parts(b.Op)) && !l.order.Before(a, b, len(place.Path)) {
					return "what stands beside the sum touches elements of it in another iteration"
				}
			}
		}
	}
	return ""
}

// within are the accesses of buf inside the op at place.
func (l *legality) within(buf *ir.Value, place analysis.Place) (in []*analysis.Access) {
	for _, a := range l.accesses.Of[buf] {
		if a.At >= place.First && a.At <= place.Last {
			in = append(in, a)
		}
	}
	return in
}

// precedes reports that an op in the parts a runs in an earlier one than one in b.
func precedes(a, b [3]bool) bool {
	return a[0] && (b[1] || b[2]) || a[1] && b[2]
}

// isInFront reports an op that stands in front of the sum, and inside no other.
func (n *nest) isInFront(op *ir.Op) bool {
	return len(op.Results) > 0 && n.defs[op.Results[0]]
}

// ownElements reports that iterations of the parallel loops around have elements
// of their own by one subscript that is nothing but the index: a sum over
// nothing writes back elements that the loops may not have touched.
func ownElements(s *sum, path []analysis.Step) bool {
	for _, step := range path {
		if !step.Op.Def.Traits.Has(ir.ParallelOK) {
			continue
		}
		own := false
		for _, e := range s.subs {
			name, ok := e.IsName()
			own = own || ok && rangeOf(step.Op) != nil && name == rangeOf(step.Op).Name
		}
		if !own {
			return false
		}
	}
	return true
}

// isRoot reports a buffer that shares memory with no other one of the kind:
// arguments are apart unless the proc says that one may be another, and so is
// what an op allocates.
func (l *legality) isRoot(v *ir.Value) bool {
	if v.Def != nil {
		return v.Def.Def.Traits.Has(ir.Allocates)
	}
	at := slices.IndexFunc(l.f.Params, func(p *ir.Param) bool { return p.Value == v })
	shared := slices.ContainsFunc(ir.InPlace(l.f), func(p [2]int) bool { return p[0] == at || p[1] == at })
	return at >= 0 && !shared
}
