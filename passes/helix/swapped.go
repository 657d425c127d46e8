package helix

import (
	"tenon/internal/num"
	"tenon/ir"
	"tenon/ir/ops/tensor"
	"tenon/ir/sym"
	"tenon/microkernels/gemm"
)

// fewColumns bounds the columns of products whose rows become columns.
const fewColumns = 8

// swapped is x with rows and columns exchanged: the result is written to a buffer
// of its own, transposed, and then finished from there. Then a product of few
// columns, a matrix times a vector above all, fills the vectors with its rows. nil
// where x has more than rows, columns and depth, or goes on from the result.
func (x *contraction) swapped(h *decomposer) *contraction {
	if len(x.outer)+len(x.also) > 0 || x.fold.By.FromOut || x.formA != alongWidth {
		return nil
	}
	y := *x
	y.a, y.b, y.m, y.n = x.b, x.a, x.n, x.m
	y.formA, y.formB = y.formOf(y.a, y.m), y.formOf(y.b, y.n)
	turned := tensor.Comp{Op: x.fold.Op, Par: x.whole.Par, In: x.reads(), Body: &ir.Region{Ops: x.ops()}, Out: &ir.Outs{}}
	y.whole = turned
	return &y
}

// few is the guard of what is done for few columns.
func (x *contraction) few() sym.Cond { return sym.Le(x.n.Extent, sym.Const(fewColumns)) }

// turn is the strategy that computes the swapped product y of x.
func (h *decomposer) turn(x, y *contraction, s strategy) *ir.Region {
	r := &ir.Region{}
	b := ir.NewBuilder(r)
	b.Loc = x.op.Loc
	t := &tiling{h: h, x: y, strategy: s, at: map[string]sym.Expr{}, size: map[string]sym.Expr{}}
	buf := alloc(b, "turned", x.acc, sym.Const(fewColumns), x.m.Extent)
	place := []sym.Expr{sym.Name(x.n.Name), sym.Name(x.m.Name)}
	y.whole.Out = &ir.Outs{List: []ir.Out{{Buf: buf, Subs: place}}}
	t.nest(b)
	b.Add(x.finished(buf, place), nil)
	return r
}

// finished is the comp x that reads its sums from buf.
func (x *contraction) finished(buf *ir.Value, place []sym.Expr) *ir.Op {
	sum := x.fold.Op == x.whole.Op
	total := &ir.Value{Name: "total", Type: ir.Scalar{Elem: x.acc}}
	c := tensor.Comp{Par: x.whole.Par, Out: x.whole.Out, Body: &ir.Region{}, In: []ir.Read{{Res: total, Src: buf, Subs: place}}}
	b := ir.NewBuilder(c.Body)
	b.Loc = x.op.Loc
	if sum {
		b.Yield(total)
		return tensor.New(x.op.Loc, c)
	}
	m := &ir.Mapping{Values: map[*ir.Value]*ir.Value{x.fold.Op.Results[0]: total}}
	used := x.needed(x.whole.Yields()[0])
	for _, r := range x.whole.In {
		if used[r.Res] {
			n := ir.Read{Res: &ir.Value{Name: r.Res.Name, Type: r.Res.Type}, Src: r.Src, Subs: r.Subs, Policy: r.Policy}
			m.Values[r.Res] = n.Res
			c.In = append(c.In, n)
		}
	}
	for _, op := range x.whole.Body.Ops {
		if !tensor.IsComp(op) && op != x.whole.Body.Last() {
			c.Body.Ops = append(c.Body.Ops, ir.CloneOp(op, m))
		}
	}
	b.Yield(m.Value(x.whole.Yields()[0]))
	return tensor.New(x.op.Loc, c)
}

// swappedStrategies are those of few columns; none where they fill no vectors.
func (h *decomposer) swappedStrategies(x *contraction) []strategy {
	y := x.swapped(h)
	if y == nil || y.formB == alongDepth {
		return nil
	}
	return []strategy{{key: gemm.Shapes(h.machine.Gemm, x.acc)[0], swap: y}}
}

// swapCost is the cost of the swapped product, beyond all others' where there are
// many columns.
func (p *pricer) swapCost(s strategy) *ir.Value {
	q := &pricer{b: p.b, x: s.swap, on: p.on}
	plain := s
	plain.swap = nil
	cost := p.sum(q.strategy(plain), p.mul(p.size(p.x.m.Extent), p.size(p.x.n.Extent), p.number(2)))
	few := p.b.Scalar("lt", p.size(p.x.n.Extent), p.number(fewColumns+1))
	return p.b.Scalar("select", few, cost, p.b.Const(num.F64, num.Cast(num.F64, num.F64, num.FromFloat(1e300))))
}
