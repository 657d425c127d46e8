package lower

import (
	"slices"

	"tenon/ir"
	"tenon/ir/ops/tensor"
	"tenon/ir/sym"
)

// split makes a comp whose results have different axes into one comp a set of
// axes. Buffer form writes each element once, so a result must not be written
// again for every point of an axis that it does not have. What such a result
// does not depend on is left out: its element has its value also where an axis
// that it does not have is empty.
func (b *bufferiser) split(op *ir.Op, c tensor.Comp) {
	done := map[int]bool{}
	for r := range op.Results {
		if done[r] {
			continue
		}
		var group []int
		for k := range op.Results {
			if sameAxes(c.Out.List[r].Subs, c.Out.List[k].Subs) {
				done[k] = true
				group = append(group, k)
			}
		}
		if !b.part(op, c, group) {
			b.refuse(op, " whose results have different axes over a pattern")
			return
		}
	}
}

// sameAxes compares lists of axes up to their order.
func sameAxes(a, b []sym.Expr) bool {
	return len(a) == len(b) && !slices.ContainsFunc(a, func(e sym.Expr) bool {
		return !slices.ContainsFunc(b, e.Equal)
	})
}

// part emits the comp for the results in group. It is false where the axes left
// out are entries of a pattern.
func (b *bufferiser) part(op *ir.Op, c tensor.Comp, group []int) bool {
	var par, left []ir.Axis
	for i, a := range c.Par {
		switch {
		case covered(c, i, c.Out.List[group[0]].Subs):
			par = append(par, a)
		case a.Pattern != nil:
			return false
		default:
			left = append(left, a)
		}
	}
	inner := tensor.New(op.Loc, tensor.Comp{Red: c.Red, If: c.If, In: c.In, Body: c.Body, By: c.By})
	m := ir.Mapping{Values: b.m.Values}
	var some []sym.Cond
	if part, ok := without(tensor.AsComp(inner), left, group); ok {
		inner = tensor.New(op.Loc, part)
	} else {
		some = atZero(&m, left)
	}
	if len(some) > 0 {
		b.zeros(op, c, par, group)
	}
	body, outs := &ir.Region{}, &ir.Outs{}
	nb := b.here().In(body)
	values := nb.Add(ir.CloneOp(inner, &m), nil).Results
	var yields []*ir.Value
	for _, r := range group {
		v := op.Results[r]
		yields = append(yields, values[r])
		outs.List = append(outs.List, ir.Out{Buf: b.place(v), Subs: c.Out.List[r].Subs})
		b.made(v, b.place(v))
	}
	nb.Yield(yields...)
	outer := tensor.New(op.Loc, tensor.Comp{Par: par, If: some, Out: outs, Body: body})
	b.here().Region.Ops = append(b.here().Region.Ops, ir.CloneOp(outer, &ir.Mapping{Values: b.m.Values}))
	return true
}

// zeros writes 0 to the results in group, which is what they have where an axis
// that was left out has no point.
func (b *bufferiser) zeros(op *ir.Op, c tensor.Comp, par []ir.Axis, group []int) {
	body, outs := &ir.Region{}, &ir.Outs{}
	nb := b.here().In(body)
	var yields []*ir.Value
	for _, r := range group {
		e := ir.ElemOf(op.Results[r].Type)
		yields = append(yields, nb.Const(e, zero(e)))
		outs.List = append(outs.List, ir.Out{Buf: b.place(op.Results[r]), Subs: c.Out.List[r].Subs})
	}
	nb.Yield(yields...)
	fill := tensor.New(op.Loc, tensor.Comp{Par: par, Out: outs, Body: body})
	b.here().Region.Ops = append(b.here().Region.Ops, ir.CloneOp(fill, &ir.Mapping{Values: b.m.Values}))
}

// atZero puts 0 for the axes, where they have a point: what is computed does not
// depend on them, but a comp inside makes it together with what does.
func atZero(m *ir.Mapping, axes []ir.Axis) (some []sym.Cond) {
	m.Syms = map[string]sym.Expr{}
	for _, a := range axes {
		m.Syms[a.Name] = sym.Const(0)
		some = append(some, sym.Le(sym.Const(1), a.Extent))
	}
	return some
}

// without is c without what depends on the axes; values that do are 0. ok is
// false where the results wanted, or which points there are, seem to depend on
// them.
func without(c tensor.Comp, axes []ir.Axis, wanted []int) (part tensor.Comp, ok bool) {
	t := taint{names: map[string]bool{}, values: map[*ir.Value]bool{}}
	for _, a := range axes {
		t.names[a.Name] = true
	}
	if slices.ContainsFunc(c.Red, func(a ir.Axis) bool { return t.expr(a.Extent) || t.expr(a.Row) }) ||
		slices.ContainsFunc(c.If, func(k sym.Cond) bool { return t.expr(k.L) || t.expr(k.R) }) {
		return c, false
	}
	part = c
	part.In, part.Body = nil, &ir.Region{}
	for _, r := range c.In {
		if slices.ContainsFunc(r.Subs, t.expr) {
			t.values[r.Res] = true
		} else {
			part.In = append(part.In, r)
		}
	}
	last := c.Body.Last()
	for _, op := range c.Body.Ops {
		switch {
		case op == last:
		case t.op(op):
			for _, v := range op.Results {
				t.values[v] = true
			}
		default:
			part.Body.Ops = append(part.Body.Ops, op)
		}
	}
	nb := ir.NewBuilder(part.Body)
	nb.Loc = c.Op.Loc
	var yields []*ir.Value
	for i, v := range c.Yields() {
		if t.values[v] {
			if slices.Contains(wanted, i) {
				return c, false
			}
			v = nb.Const(ir.ElemOf(v.Type), zero(ir.ElemOf(v.Type)))
		}
		yields = append(yields, v)
	}
	nb.Yield(yields...)
	return part, true
}

// taint is what depends on some names.
type taint struct {
	names  map[string]bool
	values map[*ir.Value]bool
}

func (t taint) expr(e sym.Expr) bool {
	return slices.ContainsFunc(e.Names(), func(n string) bool { return t.names[n] }) ||
		slices.ContainsFunc(e.Refs(), func(r sym.Ref) bool { v, _ := r.(*ir.Value); return t.values[v] })
}

// op reports that op, or anything inside it, depends on them.
func (t taint) op(op *ir.Op) bool {
	found := false
	(&ir.Region{Ops: []*ir.Op{op}}).Walk(func(in *ir.Op) bool {
		in.Exprs(func(e sym.Expr) sym.Expr {
			found = found || t.expr(e)
			return e
		})
		in.Values(func(v *ir.Value) *ir.Value {
			found = found || t.values[v]
			return v
		})
		return true
	})
	return found
}

// covered reports that par axis i has a dim in the list of a result: its own
// name, its entry, or, for a row, the entries behind it.
func covered(c tensor.Comp, i int, list []sym.Expr) bool {
	names := tensor.Names(c.Par[i])
	if i+1 < len(c.Par) && c.Par[i+1].Pattern != nil {
		names = append(names, c.Par[i+1].Entry)
	}
	return slices.ContainsFunc(list, func(e sym.Expr) bool {
		n, ok := e.IsName()
		return ok && slices.Contains(names, n)
	})
}
