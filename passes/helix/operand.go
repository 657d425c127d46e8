package helix

import (
	"slices"

	"tenon/ir"
	"tenon/ir/affine"
	"tenon/ir/ops/tensor"
	"tenon/ir/sym"
)

// form is how a micro-kernel can get at an operand.
type form int

// A view along the depth has unit stride in the depth, one along the width in
// the rows of a or the columns of b. What is neither is made: written to a buffer
// of its own first, with the computations that an operand may have.
const (
	made form = iota
	alongDepth
	alongWidth
)

// formOf says how o lies in memory; wide is its axis that is not summed.
func (x *contraction) formOf(o *operand, wide ir.Axis) form {
	r := x.read(o)
	if r == nil || r.Policy != ir.PolicyError {
		return made
	}
	if e := ir.ElemOf(r.Src.Type); e != x.acc && !x.converts(e) {
		return made
	}
	dims := r.Src.Type.(ir.Buf).Dims
	atWide, atDepth := -1, -1
	for d, s := range r.Subs {
		w, k := s.Uses(wide.Name), s.Uses(x.k.Name)
		switch {
		case len(s.Refs()) > 0 || w && k || w && (atWide >= 0 || !movesBy1(s, wide.Name)) || k && (atDepth >= 0 || !movesBy1(s, x.k.Name)):
			return made
		case w:
			atWide = d
		case k:
			atDepth = d
		}
		below, above := affine.InRange(s, dims[d], x.box(), x.facts)
		if !below || !above {
			return made
		}
	}
	switch len(dims) - 1 {
	case atDepth:
		return alongDepth
	case atWide:
		return alongWidth
	}
	return made
}

// box are all axes, as ranges.
func (x *contraction) box() (axes []affine.Axis) {
	for _, a := range slices.Concat(x.whole.Par, x.fold.Red) {
		axes = append(axes, affine.Axis{Name: a.Name, Lo: sym.Const(0), Extent: a.Extent})
	}
	return axes
}

// view is the part of an operand that is read where its axes begin at the given
// places and have the given sizes; other axes keep their names.
func view(r *ir.Read, at map[string]sym.Expr, size map[string]sym.Expr) *ir.View {
	v := &ir.View{}
	for _, s := range r.Subs {
		d := ir.ViewDim{Start: s.Subst(at)}
		for name, n := range size { // at most one of them is in s
			if s.Uses(name) {
				d.Size, d.HasSize = n, true
			}
		}
		v.Dims = append(v.Dims, d)
	}
	return v
}

// compute is a comp that writes an operand to buf[i, l], for width i and depth l,
// counted from the given starts.
func (h *decomposer) compute(x *contraction, o *operand, buf *ir.Value, order []ir.Axis, at map[string]sym.Expr) *ir.Op {
	m := &ir.Mapping{Values: map[*ir.Value]*ir.Value{}, Syms: at}
	c := tensor.Comp{Par: order, Body: &ir.Region{}, Out: &ir.Outs{List: []ir.Out{{Buf: buf}}}}
	for _, a := range order {
		c.Out.List[0].Subs = append(c.Out.List[0].Subs, sym.Name(a.Name))
	}
	needed := x.needed(o.value)
	for _, r := range x.reads() {
		if !needed[r.Res] {
			continue
		}
		n := ir.Read{Res: &ir.Value{Name: r.Res.Name, Type: r.Res.Type}, Src: r.Src, Policy: r.Policy}
		for _, s := range r.Subs {
			n.Subs = append(n.Subs, m.Expr(s))
		}
		m.Values[r.Res] = n.Res
		c.In = append(c.In, n)
	}
	for _, op := range x.ops() {
		if len(op.Results) > 0 && needed[op.Results[0]] && !tensor.IsComp(op) {
			c.Body.Ops = append(c.Body.Ops, ir.CloneOp(op, m))
		}
	}
	b := ir.NewBuilder(c.Body)
	b.Loc = x.op.Loc
	v := m.Value(o.value)
	if o.negated {
		v = b.Scalar("neg", v)
	}
	b.Yield(v)
	return tensor.New(x.op.Loc, c)
}

// needed are the values of the comps' regions that v is computed from, with it.
func (x *contraction) needed(v *ir.Value) map[*ir.Value]bool {
	seen := map[*ir.Value]bool{}
	var follow func(v *ir.Value) *ir.Value
	follow = func(v *ir.Value) *ir.Value {
		if seen[v] {
			return v
		}
		seen[v] = true
		for _, r := range x.reads() {
			if r.Res != v {
				continue
			}
			for _, s := range r.Subs {
				for _, ref := range s.Refs() {
					follow(ref.(*ir.Value))
				}
			}
		}
		if v.Def != nil {
			v.Def.Values(follow)
		}
		return v
	}
	follow(v)
	return seen
}
