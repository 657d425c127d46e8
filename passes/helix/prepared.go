package helix

import (
	"slices"

	"tenon/ir"
	"tenon/ir/ops/loop"
	"tenon/ir/sym"
)

// prepared is a copy of b in panels that is made once for all runs, as all that b
// reads are const parameters: panels[axes.., n//lanes, k, n mod lanes].
type prepared struct {
	panels *ir.Value
	axes   []ir.Axis // of b, but its columns and its depth
	ops    []*ir.Op  // that allocate and fill it
}

// prepare plans the copy of x's b; nil where b may change from run to run.
func (h *decomposer) prepare(x *contraction, lanes int) *prepared {
	p := &prepared{}
	for _, a := range slices.Concat(x.outer, x.also) {
		if x.b.axes[a.Name] {
			p.axes = append(p.axes, a)
		}
	}
	if !h.steady(x, p.axes) {
		return nil
	}
	out := &ir.Region{}
	b := ir.NewBuilder(out)
	b.Loc = x.op.Loc
	var dims []sym.Expr
	for _, a := range p.axes {
		dims = append(dims, a.Extent)
	}
	dims = append(dims, panels(x.n.Extent, lanes), x.k.Extent, sym.Const(int64(lanes)))
	t := &tiling{h: h, x: x, at: map[string]sym.Expr{}, size: map[string]sym.Expr{}}
	t.key.Lanes = lanes
	_, e := x.elems()
	p.panels = alloc(b, "panels", e, dims...)
	body := &ir.Region{}
	b.Add(ir.NewOp("loop.prepare", b.Loc, &ir.Operands{Args: []ir.Arg{ir.ValueArg(p.panels)}}, &ir.Block{Region: body}), nil)
	t.fillPanels(b.In(body), p)
	p.ops = out.Ops
	return p
}

// steady reports that b and its sizes follow from const parameters.
func (h *decomposer) steady(x *contraction, axes []ir.Axis) bool {
	constDims := loop.ConstDims(h.f)
	bound := func(e sym.Expr, of []ir.Axis) bool {
		for _, n := range e.Names() {
			if !slices.Contains(constDims, n) && !slices.ContainsFunc(of, func(a ir.Axis) bool { return a.Name == n }) {
				return false
			}
		}
		return true
	}
	axes = slices.Concat(axes, []ir.Axis{x.n, x.k})
	for _, a := range axes {
		if len(a.Extent.Refs()) > 0 || !bound(a.Extent, nil) {
			return false
		}
	}
	needed, inside := x.needed(x.b.value), map[*ir.Value]bool{}
	for _, r := range x.reads() {
		inside[r.Res] = true
		if needed[r.Res] && !(loop.Steady(h.f, r.Src) && !slices.ContainsFunc(r.Subs, func(e sym.Expr) bool { return !bound(e, axes) })) {
			return false
		}
	}
	for _, op := range x.ops() {
		for _, v := range op.Results {
			inside[v] = true
		}
	}
	for v := range needed { // no order enters: a map
		if !inside[v] && !loop.Steady(h.f, v) {
			return false
		}
	}
	return true
}

// fillPanels emits the copy, for each place of the further axes one of its own.
func (t *tiling) fillPanels(b *ir.Builder, p *prepared) {
	x := t.x
	to := &ir.View{}
	for _, a := range p.axes {
		b = t.each(b, a, true)
		to.Dims = append(to.Dims, ir.ViewDim{Start: sym.Name(a.Name)})
	}
	for _, a := range []ir.Axis{x.n, x.k} {
		t.at[a.Name], t.size[a.Name] = sym.Const(0), a.Extent
	}
	wide, lanes := x.n.Extent, t.key.Lanes
	for _, n := range []sym.Expr{panels(wide, lanes), x.k.Extent, sym.Const(int64(lanes))} {
		to.Dims = append(to.Dims, ir.ViewDim{Start: sym.Const(0), Size: n, HasSize: true})
	}
	t.packB(b, ir.Arg{Value: p.panels, View: to})
}
