package tensor

import (
	"slices"

	"tenon/ir"
	"tenon/ir/sym"
)

// flow follows the dependence of values on a set of axis names through reads,
// scalar ops, nested comps and monoids.
type flow struct {
	left  map[string]bool
	dirty map[*ir.Value]bool
}

func (d flow) expr(e sym.Expr) bool {
	for _, n := range e.Names() {
		if d.left[n] {
			return true
		}
	}
	for _, r := range e.Refs() {
		if v, ok := r.(*ir.Value); ok && d.dirty[v] {
			return true
		}
	}
	return false
}

// domain reports whether which points of red there are depends on the axes.
func (d flow) domain(c Comp) bool {
	for _, a := range c.Red {
		if a.Pattern != nil && d.expr(a.Row) || a.Pattern == nil && d.expr(a.Extent) {
			return true
		}
	}
	for _, k := range c.If {
		if d.expr(k.L) || d.expr(k.R) {
			return true
		}
	}
	return false
}

// comp reports which results depend on the axes.
func (d flow) comp(c Comp) []bool {
	for _, r := range c.In {
		d.dirty[r.Res] = d.dirty[r.Src] || slices.ContainsFunc(r.Subs, d.expr)
	}
	d.region(c.Body)
	yields := c.Yields()
	out := make([]bool, len(yields))
	for i, v := range yields {
		out[i] = d.dirty[v]
	}
	if c.By == nil {
		return out
	}
	if d.domain(c) {
		for i := range out {
			out[i] = true
		}
	}
	return d.monoid(c.By.Monoid, out)
}

func (d flow) region(r *ir.Region) {
	for _, op := range r.Ops {
		if IsComp(op) {
			for i, dep := range d.comp(AsComp(op)) {
				if i < len(op.Results) {
					d.dirty[op.Results[i]] = dep
				}
			}
			continue
		}
		dep := false
		op.Values(func(v *ir.Value) *ir.Value { dep = dep || d.dirty[v]; return v })
		op.Exprs(func(e sym.Expr) sym.Expr { dep = dep || d.expr(e); return e })
		for _, v := range op.Results {
			d.dirty[v] = dep
		}
	}
}

// monoid carries the dependence of the yielded components to the folded ones:
// a fixed point over the combination, which feeds its result back.
func (d flow) monoid(m *ir.Monoid, in []bool) []bool {
	out := slices.Clone(in)
	for range in {
		for i, dep := range d.combine(m, out) {
			out[i] = out[i] || dep
		}
	}
	return out
}

func (d flow) combine(m *ir.Monoid, in []bool) []bool {
	switch {
	case m.Base != nil:
		return d.rescaled(m, in)
	case m.Combine == nil: // built in: the value decides the index and the other way round
		any := slices.Contains(in, true)
		return slices.Repeat([]bool{any}, len(in))
	}
	k := flow{d.left, map[*ir.Value]bool{}}
	for i, p := range m.CombineParams {
		k.dirty[p] = in[i%len(in)]
	}
	k.region(m.Combine)
	out := make([]bool, len(in))
	for i, v := range m.Combine.Yields() {
		out[i] = k.dirty[v]
	}
	return out
}

// rescaled: base components depend on base components, over components on
// their act.
func (d flow) rescaled(m *ir.Monoid, in []bool) []bool {
	at := func(p *ir.Value) int { return slices.Index(m.Params, p) }
	out := slices.Clone(in)
	var base, over []bool
	for _, p := range m.Base.Params {
		base = append(base, in[at(p)])
	}
	base = d.combine(m.Base.Monoid, base)
	for i, p := range m.Base.Params {
		out[at(p)] = base[i]
	}
	k := flow{d.left, map[*ir.Value]bool{}}
	nv, nb := len(m.Over.Params), len(m.Base.Params)
	for i, p := range m.ActParams {
		if i < nv {
			k.dirty[p] = in[at(m.Over.Params[i])]
		} else {
			k.dirty[p] = base[(i-nv)%nb]
		}
	}
	k.region(m.Act)
	for _, v := range m.Act.Yields() {
		over = append(over, k.dirty[v])
	}
	for i, p := range m.Over.Params { // V applies to each component alone
		out[at(p)] = over[i] || in[at(p)]
	}
	return out
}
