package raise

import (
	"fmt"
	"slices"
	"strings"

	"tenon/ir"
	"tenon/ir/affine"
	"tenon/ir/sym"
)

// domain is the points of a nest as axes that begin at 0, and guards.
type domain struct {
	box      []affine.Axis       // the range of each loop's index, outermost first
	counted  map[string]sym.Expr // an index as an expression in its axis, where they differ
	guards   []sym.Cond
	par, red []ir.Axis
	facts    *sym.Facts // what is known at the nest
}

// newDomain makes the axes of the sums in n, or says why there are none.
func newDomain(n *nest, s *sum, facts *sym.Facts) (*domain, string) {
	d := &domain{counted: map[string]sym.Expr{}, facts: facts}
	axes := map[string]ir.Axis{}
	for _, op := range n.all() {
		a, why := d.axis(rangeOf(op))
		if why != "" {
			return nil, why
		}
		axes[a.Name] = a
	}
	for i, c := range d.guards {
		d.guards[i] = atMost(c.Subst(d.counted))
	}
	slices.SortFunc(d.guards, func(a, b sym.Cond) int { return strings.Compare(a.Key(), b.Key()) })
	d.guards = slices.CompactFunc(d.guards, sym.Cond.Equal)
	if s.buf == nil {
		for _, op := range n.loops {
			d.addPar(axes[rangeOf(op).Name])
		}
	} else if why := d.elements(s, axes); why != "" {
		return nil, why
	}
	return d, d.sums(n, s, axes)
}

// atMost writes c, L <= R, so that neither side has what could be moved to the
// other: one condition has one text.
func atMost(c sym.Cond) sym.Cond {
	gap := sym.Sub(c.R, c.L)
	l, r := sym.Const(max(0, -gap.Constant())), sym.Const(max(0, gap.Constant()))
	for _, t := range gap.Terms() {
		if t.Coef < 0 {
			l = sym.Sub(l, t.Expr())
		} else {
			r = sym.Add(r, t.Expr())
		}
	}
	return sym.Le(l, r)
}

// axis counts the index of r from 0. A bound that moves with an outer loop gives
// the axis the bound's own extreme, and a guard.
func (d *domain) axis(r *ir.Range) (ir.Axis, string) {
	a := ir.Axis{Name: r.Name}
	step, ok := r.Step.IsConst()
	if !ok || step < 1 {
		return a, fmt.Sprintf("the step of %s is no constant", r.Name)
	}
	if len(r.Lo.Refs()) > 0 || len(r.Hi.Refs()) > 0 {
		return a, fmt.Sprintf("the bounds of %s are values", r.Name)
	}
	lo, hi, i := r.Lo, r.Hi, sym.Name(r.Name)
	if d.moves(lo) {
		span := affine.Footprint(lo, d.box, d.facts)
		if !span.OkLo || step != 1 {
			return a, fmt.Sprintf("the first %s is not bounded", r.Name)
		}
		d.guards = append(d.guards, sym.Le(lo, i))
		lo = span.Lo
	}
	if d.moves(hi) {
		span := affine.Footprint(hi, d.box, d.facts)
		if !span.OkHi {
			return a, fmt.Sprintf("the last %s is not bounded", r.Name)
		}
		d.guards = append(d.guards, sym.Le(i, sym.Sub(hi, sym.Const(1))))
		hi = span.Hi
	}
	d.box = append(d.box, affine.Axis{Name: r.Name, Lo: lo, Extent: hi})
	a.Extent = sym.FloorDiv(sym.Add(sym.Sub(hi, lo), sym.Const(step-1)), sym.Const(step))
	if !d.facts.Prove(sym.Ge(a.Extent, sym.Const(0))) {
		a.Extent = sym.Max(a.Extent, sym.Const(0))
	}
	if at := sym.Add(lo, sym.Mul(sym.Const(step), i)); !at.Equal(i) {
		d.counted[r.Name] = at
	}
	return a, ""
}

// moves reports that e depends on a loop of the nest.
func (d *domain) moves(e sym.Expr) bool {
	return slices.ContainsFunc(d.box, func(a affine.Axis) bool { return e.Uses(a.Name) })
}

// elements makes the par axes: each subscript has one loop, and its value tells
// that loop's index. The elements must exist, for a sum over nothing writes its
// element back.
func (d *domain) elements(s *sum, axes map[string]ir.Axis) string {
	names := affine.Names(d.box)
	for dim, e := range s.subs {
		form := affine.Linear(e, names)
		if !form.Affine || len(e.Refs()) > 0 {
			return fmt.Sprintf("subscript %s of %%%s is not affine in the loops", e, s.buf.Name)
		}
		used := 0
		for i, c := range form.Coefs {
			k, isConst := c.IsConst()
			switch {
			case !isConst:
				return fmt.Sprintf("subscript %s of %%%s has a factor that is no constant", e, s.buf.Name)
			case k != 0:
				used++
				d.addPar(axes[names[i]])
			}
		}
		if used > 1 {
			return fmt.Sprintf("subscript %s of %%%s mixes loops", e, s.buf.Name)
		}
		below, above := affine.InRange(e, s.buf.Type.(ir.Buf).Dims[dim], d.box, d.facts)
		if !below || !above {
			return fmt.Sprintf("where a sum is empty, %%%s may have no element %s", s.buf.Name, e)
		}
	}
	return ""
}

func (d *domain) addPar(a ir.Axis) {
	if !slices.ContainsFunc(d.par, func(p ir.Axis) bool { return p.Name == a.Name }) {
		d.par = append(d.par, a)
	}
}

// sums makes the red axes of the loops that are left, in the order in which the
// terms use them; those that they do not use come last.
func (d *domain) sums(n *nest, s *sum, axes map[string]ir.Axis) string {
	for _, p := range d.par {
		delete(axes, p.Name)
	}
	if len(axes) == 0 {
		return "no two iterations add to one element"
	}
	add := func(name string) {
		if a, ok := axes[name]; ok {
			d.red = append(d.red, a)
			delete(axes, name)
		}
	}
	for _, op := range s.loads {
		for _, e := range starts(op.Args("")[0].View) {
			for _, name := range e.Names() {
				add(name)
			}
		}
	}
	for _, op := range n.all() {
		name := rangeOf(op).Name
		add(name)
		if op.Def.Traits.Has(ir.ParallelOK) && d.isRed(name) {
			return fmt.Sprintf("iterations of the parallel loop over %s add to one element", name)
		}
		if s.fresh && d.isRed(name) && len(op.Results) == 0 {
			return fmt.Sprintf("a later %s overwrites the sums", name)
		}
	}
	return ""
}

func (d *domain) isRed(name string) bool {
	return slices.ContainsFunc(d.red, func(a ir.Axis) bool { return a.Name == name })
}

// exprs are subscripts in terms of the axes.
func (d *domain) exprs(subs []sym.Expr) []sym.Expr {
	out := make([]sym.Expr, len(subs))
	for i, e := range subs {
		out[i] = e.Subst(d.counted)
	}
	return out
}

// redNames lists the red axes, for a remark.
func (d *domain) redNames() string {
	var names []string
	for _, a := range d.red {
		names = append(names, a.Name)
	}
	return strings.Join(names, ", ")
}
