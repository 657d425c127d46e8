package lower

import (
	"slices"

	"tenon/ir"
	"tenon/ir/ops/tensor"
	"tenon/ir/sym"
)

// split makes a comp whose results have different axes into one comp a set of
// axes. Buffer form writes each element once, so a result must not be written
// again for every point of an axis that it does not have. It does not depend on
// such an axis, whose place the index 0 takes; where that axis is empty there is
// no point, and nothing is written.
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
	var par []ir.Axis
	var some []sym.Cond
	m := ir.Mapping{Values: b.m.Values, Syms: map[string]sym.Expr{}}
	for i, a := range c.Par {
		switch {
		case covered(c, i, c.Out.List[group[0]].Subs):
			par = append(par, a)
		case a.Pattern != nil:
			return false
		default:
			m.Syms[a.Name] = sym.Const(0)
			some = append(some, sym.Le(sym.Const(1), a.Extent))
		}
	}
	body, outs := &ir.Region{}, &ir.Outs{}
	nb := b.here().In(body)
	inner := tensor.New(op.Loc, tensor.Comp{Red: c.Red, If: c.If, In: c.In, Body: c.Body, By: c.By})
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
