package dist

import (
	"errors"
	"fmt"

	"tenon/ir"
	"tenon/ir/ops/access"
)

// NotPartial refuses to read a buffer whose copies are yet to be combined.
func NotPartial(v *ir.Value) error {
	if t, ok := v.Type.(ir.Buf); ok && t.Dist != nil && t.Dist.Partial != "" {
		return fmt.Errorf("%%%s is partial(%s): it is only accumulated, then reduced by dist.reduce", v.Name, t.Dist.Partial)
	}
	return nil
}

// distributed is the type of an operand that must be a whole buffer with a
// distribution.
func distributed(a ir.Arg) (ir.Buf, error) {
	t, err := access.Buffer(a)
	switch {
	case err != nil:
		return t, err
	case a.View != nil:
		return t, fmt.Errorf("all of %%%s must be given, not a view", a.Value.Name)
	case t.Dist == nil:
		return t, fmt.Errorf("%%%s is not distributed; its type needs dist(@grid, ..)", a.Value.Name)
	case t.Strides != nil:
		return t, fmt.Errorf("%%%s is distributed and has strides; a distributed buffer is in C order", a.Value.Name)
	}
	return t, nil
}

// mappedDim is the attribute dim= of op, a dim of t that is distributed.
func mappedDim(op *ir.Op, t ir.Buf) (int, error) {
	d := ir.GetClause[*ir.Attr](op, "dim").Int
	if d < 0 || int(d) >= len(t.Dims) {
		return 0, fmt.Errorf("dim=%d, but the buffer has %d dims", d, len(t.Dims))
	}
	if int(d) >= len(t.Dist.Dims) || t.Dist.Dims[d].Axis < 0 {
		return 0, fmt.Errorf("dim %d of %s is not distributed", d, t)
	}
	return int(d), nil
}

// checkGrid compares a distribution with its grid.
func checkGrid(c *ir.Checker, op *ir.Op, d *ir.Dist) {
	g := ir.Lookup[*ir.Grid](c.Module, d.Grid)
	if g == nil {
		c.Errorf(op, "there is no grid @%s", d.Grid)
		return
	}
	seen := map[int]bool{}
	for _, m := range d.Dims {
		switch {
		case m.Axis >= len(g.Axes):
			c.Errorf(op, "grid @%s has %d axes, so there is no axis %d", g.Name, len(g.Axes), m.Axis)
		case m.Axis >= 0 && seen[m.Axis]:
			c.Errorf(op, "two dims are distributed over axis %d of grid @%s", m.Axis, g.Name)
		}
		seen[m.Axis] = true
	}
}

// pair checks a collective from one distributed buffer to another.
func pair(op *ir.Op) (from, to ir.Buf, err error) {
	if err = access.Count(op, 2, "a source and a destination"); err != nil {
		return
	}
	if from, err = distributed(op.Args("")[0]); err != nil {
		return
	}
	if to, err = distributed(op.Args("")[1]); err != nil {
		return
	}
	switch {
	case from.Elem != to.Elem:
		err = fmt.Errorf("the source has %s elements, the destination %s", from.Elem, to.Elem)
	case len(from.Dims) != len(to.Dims):
		err = errors.New("source and destination have different ranks")
	case from.Dist.Grid != to.Dist.Grid:
		err = fmt.Errorf("the source is on grid @%s, the destination on @%s", from.Dist.Grid, to.Dist.Grid)
	case to.Dist.Partial != "":
		err = errors.New("the destination of a collective cannot be partial")
	}
	return
}

// OnlyAccumulated checks the uses of v, a partial buffer: it stands as what is
// written, and as the source of a reduction. (Element reads check themselves.)
func OnlyAccumulated(c *ir.Checker, v *ir.Value) {
	if c.Func == nil || NotPartial(v) == nil {
		return
	}
	c.Func.Body.Walk(func(op *ir.Op) bool {
		for _, cl := range op.Clauses {
			if reads, ok := cl.(*ir.Reads); ok {
				for _, r := range reads.List {
					if r.Src == v {
						c.Errorf(op, "%v", NotPartial(v))
					}
				}
			}
		}
		return true
	})
}
