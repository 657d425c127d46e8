package helix

import (
	"fmt"
	"slices"

	"tenon/internal/num"
	"tenon/ir"
	"tenon/ir/sym"
	"tenon/microkernels/gemm"
)

// choose is the choice among the strategies of x and the comp as it is.
func (h *decomposer) choose(x *contraction) *ir.Op {
	vs := &ir.Variants{Pick: &ir.Region{}}
	var guard []ir.Fact
	for _, a := range append(x.also, x.k) {
		if some := sym.Ge(a.Extent, sym.Const(1)); !x.outside(some) {
			guard = append(guard, ir.Fact{Provenance: ir.Guarded, Cond: some})
		}
	}
	list := h.strategies(x)
	if ready := list[0].ready; ready != nil {
		h.prepared = append(h.prepared, placed{h.top, ready.ops})
	}
	for _, s := range list {
		where := guard
		if s.swap != nil && !x.outside(x.few()) {
			where = append(slices.Clone(guard), ir.Fact{Provenance: ir.Guarded, Cond: x.few()})
		}
		vs.List = append(vs.List, ir.Variant{Name: s.name(), Where: where, Region: h.tiles(x, s)})
	}
	vs.List = append(vs.List, ir.Variant{Name: "loops", Region: &ir.Region{Ops: []*ir.Op{x.op}}})
	b := ir.NewBuilder(vs.Pick)
	b.Loc = x.op.Loc
	b.Yield(h.pick(b, x, list))
	op := ir.NewOp("tile.choose", x.op.Loc, vs)
	dims := &ir.Operands{}
	for _, a := range []ir.Axis{x.m, x.n, x.k} {
		dims.Args = append(dims.Args, ir.ExprArg(a.Extent))
	}
	ir.SetClause(op, "dims", dims)
	return op
}

// outside reports what holds before the comp, not only inside of it.
func (x *contraction) outside(c sym.Cond) bool { return x.before.Prove(c) }

func (s strategy) name() string {
	how := "direct"
	switch dots := s.key.B == gemm.Columns; {
	case s.swap != nil:
		how = "swapped"
	case dots && s.pack:
		how = "turned"
	case dots:
		how = "dots"
	case s.ready != nil && s.packA:
		how = "prepared_rows"
	case s.ready != nil:
		how = "prepared"
	case s.packA:
		how = "both"
	case s.pack:
		how = "packed"
	}
	return fmt.Sprintf("%s_%dx%d", how, s.key.MR, s.key.Cols())
}

// pick computes the number of the strategy with the least cost.
func (h *decomposer) pick(b *ir.Builder, x *contraction, list []strategy) *ir.Value {
	p := &pricer{b: b, x: x, on: h.machine}
	best, at := p.loops(), b.Const(num.I32, num.FromInt(int64(len(list))))
	for i, s := range list {
		c := p.strategy(s)
		less := b.Scalar("lt", c, best)
		best = b.Scalar("select", less, c, best)
		at = b.Scalar("select", less, b.Const(num.I32, num.FromInt(int64(i))), at)
	}
	return at
}
