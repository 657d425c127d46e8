package tensor

import (
	"slices"

	"tenon/internal/num"
	"tenon/ir"
)

// A result whose out list leaves a par axis out is written at each point of that
// axis, always with the same value. Where the axis is empty there is no point,
// yet the result has elements: they come from the part of the comp that the
// result depends on, over the axes that it has.

// stageUncovered is the step that fills such results; nil if there are none.
func (c *compRun) stageUncovered() ir.Step {
	if c.Out == nil || c.InBuffers() {
		return nil
	}
	var steps []ir.Step
	for r := range c.Out.List {
		axes, err := c.resultAxes(r)
		if err != nil || len(axes) == len(c.Par) {
			continue
		}
		left := c.leftOut(axes)
		if part, ok := c.part(r, left); ok && len(left) > 0 {
			steps = append(steps, c.whereEmpty(left, part))
		}
	}
	if len(steps) == 0 {
		return nil
	}
	return func(f *ir.Frame) {
		for _, s := range steps {
			s(f)
		}
	}
}

// leftOut are the dense par axes that are neither covered nor the row of a
// covered entry axis.
func (c Comp) leftOut(covered []ir.Axis) []ir.Axis {
	has := func(a ir.Axis) bool {
		return slices.ContainsFunc(covered, func(b ir.Axis) bool { return a.Name == b.Name })
	}
	var left []ir.Axis
	for i, a := range c.Par {
		row := i+1 < len(c.Par) && c.Par[i+1].Pattern != nil && has(c.Par[i+1])
		if !has(a) && !row && a.Pattern == nil {
			left = append(left, a)
		}
	}
	return left
}

// whereEmpty runs part if one of the axes has no points.
func (c *compRun) whereEmpty(left []ir.Axis, part ir.Step) ir.Step {
	extents := make([]func(*ir.Frame) int64, len(left))
	for i, a := range left {
		extents[i] = c.m.Expr(a.Extent)
	}
	return func(f *ir.Frame) {
		for _, n := range extents {
			if n(f) == 0 {
				part(f)
				return
			}
		}
	}
}

// part stages the comp without the axes left and without what depends on them;
// it writes result r. ok is false where a nested comp mixes both.
func (c *compRun) part(r int, left []ir.Axis) (ir.Step, bool) {
	d := flow{left: map[string]bool{}, dirty: map[*ir.Value]bool{}}
	for _, a := range left {
		d.left[a.Name] = true
	}
	d.comp(c.Comp)
	p := &compRun{m: c.m, Comp: c.Comp, outs: slices.Clone(c.outs)}
	p.Par = slices.DeleteFunc(slices.Clone(c.Par), func(a ir.Axis) bool { return d.left[a.Name] })
	p.In = slices.DeleteFunc(slices.Clone(c.In), func(x ir.Read) bool { return d.dirty[x.Res] })
	p.Body = &ir.Region{}
	b := ir.NewBuilder(p.Body)
	for _, op := range c.Body.Ops[:len(c.Body.Ops)-1] {
		dirty := 0
		for _, v := range op.Results {
			if d.dirty[v] {
				dirty++
			}
		}
		if dirty > 0 && dirty < len(op.Results) {
			return nil, false
		}
		if dirty == 0 {
			p.Body.Ops = append(p.Body.Ops, op)
		}
	}
	var yields []*ir.Value
	for _, v := range c.Yields() {
		if d.dirty[v] {
			v = b.Const(ir.ElemOf(v.Type), num.Cell(0))
		}
		yields = append(yields, v)
	}
	b.Yield(yields...)
	for i := range p.outs {
		p.outs[i].skip = i != r
	}
	if p.By != nil {
		return p.reduced(), true
	}
	return p.mapped(), true
}
