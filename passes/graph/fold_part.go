package graph

import (
	"math"
	"slices"

	"tenon/internal/num"
	"tenon/ir"
	"tenon/ir/ops/tensor"
	"tenon/ir/sym"
	"tenon/passes/analysis"
)

// part emits the fold of the points of c in red, the other axes fixed, as
// folds of plain monoids one after the other.
type part struct {
	b     *ir.Builder
	c     tensor.Comp
	red   []ir.Axis
	shift map[string]sym.Expr // an axis of c, by the axis of red of that name
	conds []sym.Cond
}

// picked are components of what c yields, by number.
type picked []int

func all(vs []*ir.Value) picked {
	var p picked
	for i := range vs {
		p = append(p, i)
	}
	return p
}

// fold folds by m the components of the points named by of.
func (p *part) fold(m *ir.Monoid, of picked) []*ir.Value {
	w, mean := analysis.AsWeightedMean(m)
	switch {
	case mean:
		return p.mean(w, of)
	case m.Base == nil:
		return p.comp(m, func(_ *ir.Builder, y []*ir.Value) []*ir.Value { return choose(y, of) })
	}
	baseOf, overOf := of.of(m, m.Base.Params), of.of(m, m.Over.Params)
	base := p.fold(m.Base.Monoid, baseOf)
	var over []*ir.Value
	k := len(m.Over.Monoid.Params)
	for i := 0; i < len(overOf); i += k {
		over = append(over, p.comp(m.Over.Monoid, func(b *ir.Builder, y []*ir.Value) []*ir.Value {
			t := b.Inline(m.Act, m.ActParams, slices.Concat(choose(y, overOf), choose(y, baseOf), base))
			return t[i : i+k]
		})...)
	}
	out := make([]*ir.Value, len(m.Params))
	place(out, m, m.Base.Params, base)
	place(out, m, m.Over.Params, over)
	return out
}

// of are the components among p that m calls params.
func (p picked) of(m *ir.Monoid, params []*ir.Value) picked {
	var out picked
	for _, v := range params {
		out = append(out, p[slices.Index(m.Params, v)])
	}
	return out
}

func place(out []*ir.Value, m *ir.Monoid, params, vs []*ir.Value) {
	for i, v := range params {
		out[slices.Index(m.Params, v)] = vs[i]
	}
}

func choose(y []*ir.Value, of picked) []*ir.Value {
	var out []*ir.Value
	for _, i := range of {
		out = append(out, y[i])
	}
	return out
}

// comp emits one fold by m over the part: each point gives what make makes of
// what the region of c yields there. Without a monoid it is one point, and a
// read outside gives 0.
func (p *part) comp(m *ir.Monoid, make func(b *ir.Builder, y []*ir.Value) []*ir.Value) []*ir.Value {
	body := &ir.Region{}
	b := p.b.In(body)
	copied := &ir.Mapping{Values: map[*ir.Value]*ir.Value{}, Syms: p.shift}
	n := tensor.Comp{Red: p.red, In: cloneReads(p.c.In, copied), Body: body}
	for _, op := range p.c.Body.Ops[:len(p.c.Body.Ops)-1] {
		body.Ops = append(body.Ops, ir.CloneOp(op, copied))
	}
	var y []*ir.Value
	for _, v := range p.c.Yields() {
		y = append(y, copied.Value(v))
	}
	b.Yield(make(b, y)...)
	for _, k := range p.conds {
		n.If = append(n.If, copied.Cond(k))
	}
	if m != nil {
		n.By = &ir.By{Monoid: m}
	} else {
		for i := range n.In {
			n.In[i].Policy = ir.PolicyZero
		}
	}
	return p.b.Add(tensor.New(p.c.Op.Loc, n), nil).Results
}

func sum(e num.Elem) *ir.Monoid {
	m, err := ir.BuiltinMonoid("sum", e)
	if err != nil {
		panic(err)
	}
	return m
}

// mean folds weights and values to their sum and mean, as s + sum((w/n) (x - s))
// about the first value s.
func (p *part) mean(w analysis.WeightedMean, of picked) []*ir.Value {
	b, weight, value := p.b, of[w.Weight], of[w.Mean]
	e := ir.ElemOf(p.c.Yields()[value].Type)
	zero, one := b.Const(e, num.FromFloat(0)), b.Const(e, num.FromFloat(1))
	n, share := p.count(weight, e)
	if n == nil {
		n = p.comp(sum(e), func(_ *ir.Builder, y []*ir.Value) []*ir.Value { return y[weight : weight+1] })[0]
	}
	equal, scale := share != nil, one
	if !equal {
		// The reciprocal of a tiny sum would be infinite where no share is.
		up, least := math.Exp2(64), math.Exp2(-64)
		scale = b.Scalar("select", b.Scalar("lt", b.Scalar("abs", n), b.Const(e, num.FromFloat(least))), b.Const(e, num.FromFloat(up)), one)
		scaled := b.Scalar("mul", n, scale)
		share = b.Scalar("div", one, b.Scalar("select", b.Scalar("eq", n, zero), one, scaled))
	}
	first := p.first(value, e)
	finite := b.Scalar("eq", b.Scalar("sub", first, first), zero)
	about := b.Scalar("select", b.Scalar("and", finite, b.Scalar("ne", n, zero)), first, zero)
	rest := p.comp(sum(e), func(nb *ir.Builder, y []*ir.Value) []*ir.Value {
		by := share
		if !equal {
			by = nb.Scalar("mul", nb.Scalar("mul", y[weight], scale), share)
		}
		return []*ir.Value{nb.Scalar("mul", nb.Scalar("sub", y[value], about), by)}
	})
	out := make([]*ir.Value, 2)
	out[w.Weight], out[w.Mean] = n, b.Scalar("add", about, rest[0])
	return out
}

// constant is the weight that every point has, if it has.
func (p *part) constant(weight int) (num.Cell, bool) {
	v := p.c.Yields()[weight]
	if len(p.conds) > 0 || v.Def == nil || v.Def.Def.Name != "const" {
		return 0, false
	}
	c := ir.GetClause[*ir.Literal](v.Def, "").Cell
	return c, num.Float(c) > 0
}

// count is the sum of equal weights and 1 over the number of points; nil, nil
// where weights differ.
func (p *part) count(weight int, e num.Elem) (n, share *ir.Value) {
	w, equal := p.constant(weight)
	if !equal {
		return nil, nil
	}
	points := sym.Const(1)
	for i, a := range p.red {
		if tensor.UsesAxes(a.Extent, p.red[:i]) {
			return nil, nil
		}
		points = sym.Mul(points, a.Extent)
	}
	b := p.b
	count := b.Cast(b.Idx(points, num.I64), e)
	share = b.Scalar("div", b.Const(e, num.FromFloat(1)), count)
	if num.Float(w) == 1 {
		return count, share
	}
	return b.Scalar("mul", count, b.Const(e, w)), share
}

// first is the value that c yields where all red axes are 0: some number that is
// close to the others. It may be outside the domain, so that reads give 0 where
// they leave their tensor.
func (p *part) first(value int, e num.Elem) *ir.Value {
	at := map[string]sym.Expr{}
	for _, a := range p.red {
		at[a.Name] = sym.Const(0)
	}
	for axis, by := range p.shift {
		at[axis] = by.Subst(at)
	}
	f := *p
	f.red, f.shift, f.conds = nil, at, nil
	return f.comp(nil, func(_ *ir.Builder, y []*ir.Value) []*ir.Value { return y[value : value+1] })[0]
}
