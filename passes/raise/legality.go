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

// moves says why the terms of a nest may not be summed after everything else in
// it, in any order; "" if they may.
func (l *legality) moves(n *nest, s *sum) string {
	if !l.isRoot(s.buf) {
		return fmt.Sprintf("%%%s may share memory with other buffers", s.buf.Name)
	}
	moved := map[*ir.Op]bool{n.store: true}
	if s.old != nil {
		moved[s.old] = true
	}
	for _, op := range s.loads {
		if v := op.Args("")[0].Value; !l.isRoot(v) {
			return fmt.Sprintf("%%%s may share memory with other buffers", v.Name)
		}
		moved[op] = true
	}
	place := l.accesses.Place[n.loops[0]]
	if !ownElements(s, place.Path) {
		return fmt.Sprintf("where a sum is empty, %%%s may be written by another iteration of a parallel loop around it", s.buf.Name)
	}
	for op := range moved { // no order enters the answer
		for _, arg := range op.Args("") {
			if arg.View != nil && !l.staysBehind(arg.Value, moved, place) {
				return "what stands before the inner loop touches elements of the sums later on"
			}
		}
	}
	return ""
}

// staysBehind reports that the ops at place which are not moved are through with
// each element of buf before the moved ones touch it.
func (l *legality) staysBehind(buf *ir.Value, moved map[*ir.Op]bool, place analysis.Place) bool {
	for _, a := range l.accesses.Of[buf] {
		if moved[a.Op] && !a.Write || a.At < place.First || a.At > place.Last {
			continue
		}
		for _, b := range l.accesses.Of[buf] {
			if !moved[b.Op] || moved[a.Op] || !a.Write && !b.Write {
				continue
			}
			if !l.order.Before(a, b, len(place.Path)) {
				return false
			}
		}
	}
	return true
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
