package loop

import (
	"slices"

	"tenon/ir"
	"tenon/passes/pass"
)

// yieldStores lets the branches of r give the values that both of their sides
// store to a buffer of rank 0, and stores them behind. It looks at the buffers
// that are allocated in r, and at stores beside which the branch does not touch
// the buffer.
func yieldStores(at *pass.Context, r *ir.Region) {
	var scalars []*ir.Value
	for _, op := range r.Ops {
		if !op.Def.Traits.Has(ir.Allocates) {
			continue
		}
		for _, v := range op.Results {
			if t, ok := v.Type.(ir.Buf); ok && len(t.Dims) == 0 && t.Dist == nil && t.Space == "" {
				scalars = append(scalars, v)
			}
		}
	}
	if len(scalars) == 0 {
		return
	}
	kept := make([]*ir.Op, 0, len(r.Ops))
	for _, op := range r.Ops {
		kept = append(kept, op)
		if op.Def.Name == "loop.if" && len(op.Regions()) == 2 {
			kept = append(kept, yielded(at, op, scalars)...)
		}
	}
	r.Ops = kept
}

// yielded moves stores out of both sides of the branch op: the stores that go
// behind it.
func yielded(at *pass.Context, op *ir.Op, scalars []*ir.Value) (after []*ir.Op) {
	_, by := touched([]*ir.Op{op})
	arms := op.Regions()
	for _, buf := range scalars {
		if a := by[buf]; a == nil || !a.writes || a.opaque || len(a.subs) != 2 {
			continue
		}
		x, y := storeTo(arms[0], buf), storeTo(arms[1], buf)
		if x < 0 || y < 0 || !at.Apply(op) {
			continue
		}
		v := &ir.Value{Name: buf.Name, Type: ir.Scalar{Elem: ir.ElemOf(buf.Type)}, Def: op}
		op.Results = append(op.Results, v)
		takeStore(op, arms[0], x)
		takeStore(op, arms[1], y)
		after = append(after, ir.NewOp("store", op.Loc, &ir.Operands{Args: []ir.Arg{ir.ValueArg(v), ir.ElemArg(buf)}}))
	}
	return after
}

// storeTo is the number of the store to buf among the ops of r, -1 if there is
// none.
func storeTo(r *ir.Region, buf *ir.Value) int {
	return slices.IndexFunc(r.Ops, func(op *ir.Op) bool { return op.Def.Name == "store" && op.Args("")[1].Value == buf })
}

// takeStore removes store number i of an arm and yields its value.
func takeStore(op *ir.Op, arm *ir.Region, i int) {
	a := arm.Ops[i].Args("")[0]
	arm.Ops = slices.Delete(arm.Ops, i, i+1)
	if last := arm.Last(); last != nil {
		ops := ir.GetClause[*ir.Operands](last, "")
		ops.Args = append(ops.Args, a)
		return
	}
	b := ir.NewBuilder(arm)
	b.Loc = op.Loc
	b.Yield(a.Value)
}
