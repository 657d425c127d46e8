// raise turns loop nests that sum products into comprehensions in place.
//
// Before:
//
//	loop.for k = 0 to K { loop.for i = 0 to M { loop.for j = 0 to N {
//	  store(add(load(%C[i, j]), mul(load(%A[i, k]), load(%B[k, j]))), %C[i, j]) } } }
//
// After:
//
//	tensor.comp par(i < M, j < N) red(k < K) in(%x = %A[i, k], %y = %B[k, j]) out(%C[i, j]) {
//	  yield(mul(%x, %y)) } by sum(f64) from(out)
//
// The loops in the element's subscripts become par axes in the order of the
// subscripts, the others red axes in the order in which the terms use them: all
// orders of one nest end as the same text. An index that does not begin at 0 or
// goes by steps is counted from 0; a bound that depends on another loop becomes
// a guard over the box around it.
//
// A sum that loops carry as a value and that is then stored, or added to the
// element, is the same; stored from 0 it has no from(out).
//
// Legal if each subscript of the element has one loop alone, with a constant
// factor, so that iterations that agree in those loops add to one element and
// no others do; if the terms read other memory; and if the elements exist even
// where a sum is empty. Ops that store before the inner loop, such as C = 0,
// run first for all elements; that is legal if no later iteration brings them
// back to what the sums have touched.
//
// It leaves sums of anything but products, nests that read what they sum into
// (factorisations, shortest paths, smoothers), sums that are scaled before they are
// added, and loops with directives.
package raise

import (
	"tenon/ir"
	"tenon/ir/sym"
	"tenon/passes/analysis"
	"tenon/passes/pass"
)

// Raise makes comprehensions of loop nests.
var Raise = pass.Register(&pass.Pass{
	Name:         "raise",
	Doc:          "turn loop nests that sum products into comprehensions",
	Reassociates: true,
	Counted:      true,
	Run: func(c *pass.Context) error {
		for _, f := range c.Funcs() {
			if f.Level == ir.LevelLoop && f.IsProc {
				c.At(f, nil)
				r := &raiser{c: c, f: f}
				r.region(f.Body, analysis.AtEntry(f))
			}
		}
		return nil
	},
})

type raiser struct {
	c *pass.Context
	f *ir.Func
}

// region raises the outermost nests of reg that can be, and looks inside the
// others and what is left of one.
func (r *raiser) region(reg *ir.Region, facts *sym.Facts) {
	for i := 0; i < len(reg.Ops); i++ {
		op := reg.Ops[i]
		if ops := r.raised(op, facts); ops != nil {
			reg.Ops = append(reg.Ops[:i:i], append(ops, reg.Ops[i+1:]...)...)
			i--
			continue
		}
		for _, in := range op.Regions() {
			r.region(in, analysis.Inside(facts, op, in))
		}
		analysis.After(facts, op)
	}
}

// raised gives the ops that stand for the loop op, nil if it stays.
func (r *raiser) raised(op *ir.Op, facts *sym.Facts) []*ir.Op {
	n := findNest(op)
	if n == nil {
		return nil
	}
	s, why := n.sum()
	if why == "" {
		why = newLegality(r.f).moves(n, s)
	}
	var d *domain
	if why == "" {
		d, why = newDomain(n, s, facts)
	}
	if why != "" {
		r.c.Decline(n.store.Loc, "the loops stay: %s", why)
		return nil
	}
	if !r.c.Apply(op) {
		return nil
	}
	r.c.Done(n.store.Loc, "the loops are a sum of products over %s", d.redNames())
	return append(n.rest(), s.comp(n, d))
}
