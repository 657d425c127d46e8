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
				r := &raiser{c: c, f: f, done: map[string]bool{}}
				r.region(f.Body, analysis.AtEntry(f))
				r.remarks()
			}
		}
		return nil
	},
})

type raiser struct {
	c     *pass.Context
	f     *ir.Func
	legal *legality // of the function as it is
	stay  []remark
	done  map[string]bool // where sums were raised
}

// remark is why a sum stays in its loops.
type remark struct {
	at  *ir.Op
	why string
}

// region raises the outermost nests of reg that can be, and looks inside the
// others and what is left of one.
func (r *raiser) region(reg *ir.Region, facts *sym.Facts) {
	for i := 0; i < len(reg.Ops); i++ {
		op := reg.Ops[i]
		if ops := r.raised(op, facts); ops != nil {
			reg.Ops = append(reg.Ops[:i:i], append(ops, reg.Ops[i+1:]...)...)
			r.legal = nil
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
	if isFold(op) {
		r.reorders(op)
		return nil
	}
	for _, n := range findNests(op) {
		if s, d := r.sum(n, facts); s != nil && r.c.Apply(op) {
			return r.parts(n, s, d)
		}
	}
	return nil
}

// sum is what n sums, and over which points; nil if n stays.
func (r *raiser) sum(n *nest, facts *sym.Facts) (*sum, *domain) {
	if !n.note() {
		return nil, nil
	}
	s, why := n.sum()
	if why == "" && s == nil {
		return nil, nil
	}
	var d *domain
	if why == "" {
		d, why = newDomain(n, s, facts)
	}
	if why == "" {
		why = r.pays(n, s, d)
	}
	if why == "" {
		if r.legal == nil {
			r.legal = newLegality(r.f)
		}
		why = r.legal.moves(n, s)
	}
	if why != "" {
		r.stay = append(r.stay, remark{n.target(len(n.loops) - 1), why})
		return nil, nil
	}
	return s, d
}

// pays says why the sums of n are no better off as a comprehension.
func (r *raiser) pays(n *nest, s *sum, d *domain) string {
	switch {
	case s.buf == nil && len(n.loops) > 0:
		return r.expands(s, d)
	case len(d.par) == 0:
		return s.apart(d.red[len(d.red)-1].Name)
	}
	return ""
}

// tell records that the sum at op was raised.
func (r *raiser) tell(op *ir.Op, d *domain) {
	r.done[op.Loc.String()] = true
	r.c.Done(op.Loc, "the loops are a sum of products over %s", d.redNames())
}

// remarks tells of the sums that stay, each with the reason that the outermost
// loops around it gave.
func (r *raiser) remarks() {
	for _, m := range r.stay {
		if at := m.at.Loc.String(); !r.done[at] {
			r.done[at] = true
			r.c.Decline(m.at.Loc, "the loops stay: %s", m.why)
		}
	}
}

// parts are what n becomes: what stands in front of the sum, the sum, what stands
// behind it.
func (r *raiser) parts(n *nest, s *sum, d *domain) []*ir.Op {
	loc := n.target(len(n.loops) - 1).Loc
	r.tell(n.target(len(n.loops)-1), d)
	var ops []*ir.Op
	if front := n.part(false, nil); front != nil {
		ops = append(ops, front)
	}
	out := ir.Out{Buf: s.buf, Subs: d.exprs(s.subs)}
	var total func(b *ir.Builder) *ir.Value
	if s.buf == nil {
		var alloc *ir.Op
		alloc, out, total = d.expanded(n)
		ops = append(ops, alloc)
	}
	ops = append(ops, s.comp(loc, d, &ir.Outs{List: []ir.Out{out}}))
	if behind := n.part(true, total); behind != nil {
		ops = append(ops, behind)
	}
	return ops
}
