package gpu

import (
	"errors"
	"fmt"

	"tenon/internal/num"
	"tenon/ir"
	"tenon/ir/ops/access"
)

// Shared makes memory that a block's threads share.
var Shared = ir.Register(&ir.OpDef{
	Name: "gpu.shared",
	Doc: "Makes a buffer that the threads of a block share; its size is constant and its elements are undefined.\n" +
		"%sh = gpu.shared : buf<f32[256], space(shared)>",
	Clauses: nil,
	Traits:  ir.Allocates,
	Infer: func(_ *ir.Op, declared []ir.Type) ([]ir.Type, error) {
		t, err := access.One[ir.Buf](declared, "buf<f32[256], space(shared)>")
		if err != nil {
			return nil, err
		}
		if t.Space != "shared" {
			return nil, fmt.Errorf("the type %s must say space(shared)", t)
		}
		for i, d := range t.Dims {
			if c, ok := d.IsConst(); !ok || c < 0 {
				return nil, fmt.Errorf("dim %d is %s, but sizes of shared memory are constant", i, d)
			}
		}
		return []ir.Type{t}, nil
	},
	Effects: func(op *ir.Op) []ir.Effect { return []ir.Effect{{Kind: ir.EffectAlloc, Value: op.Results[0]}} },
	// The launch has made the memory before its threads start.
	Eval: func(ir.Machine, *ir.Op) ir.Step { return func(*ir.Frame) {} },
})

// queue holds a thread's copies that are under way, oldest group first. The
// last group is the one not yet committed.
type queue struct{ groups [][]pending }

type pending struct {
	dst    *ir.Array
	pos    int64
	cell   num.Cell
	shadow num.Shadow
}

// asyncQueue is the slot in which a thread keeps its queue.
var asyncQueue = &ir.Value{Name: "async copies", Type: ir.Mask{Lanes: 1}}

// CopyAsync starts a copy.
var CopyAsync = ir.Register(&ir.OpDef{
	Name: "gpu.copy_async",
	Doc: "Starts copying a view of ordinary memory to a view of shared memory; the destination is undefined until this\n" +
		"thread has waited for it.\ngpu.copy_async(%x[i:4], %sh[4*t:4])",
	Clauses: []ir.ClauseSpec{{Kind: ir.KindOperands}},
	Verify:  access.Report(checkCopyAsync),
	Effects: func(op *ir.Op) []ir.Effect {
		args := op.Args("")
		return append(append(access.Reads(args[0].Value), access.Writes(args[1].Value)...), access.Trap)
	},
	Eval: evalCopyAsync,
})

func checkCopyAsync(op *ir.Op) error {
	if err := access.Count(op, 2, "a source and a destination"); err != nil {
		return err
	}
	args := op.Args("")
	src, err := access.Buffer(args[0])
	if err != nil {
		return err
	}
	dst, err := access.Buffer(args[1])
	switch {
	case err != nil:
		return err
	case src.Space != "" || dst.Space != "shared":
		return errors.New("asynchronous copies go from ordinary to shared memory")
	case src.Elem != dst.Elem:
		return fmt.Errorf("%s elements are copied to %s ones; copying does not convert", src.Elem, dst.Elem)
	case len(access.ViewDims(args[0])) != len(access.ViewDims(args[1])):
		return errors.New("source and destination have different ranks")
	}
	return nil
}

func evalCopyAsync(m ir.Machine, op *ir.Op) ir.Step {
	src, dst := access.View(m, op, op.Args("")[0]), access.View(m, op, op.Args("")[1])
	slot := m.Object(asyncQueue)
	return func(f *ir.Frame) {
		from, to := src(f), dst(f)
		for d := range from.Shape {
			if from.Shape[d] != to.Shape[d] {
				m.Trap(op, ir.TrapShape, "a view of shape %v is copied to one of shape %v", from.Shape, to.Shape)
			}
		}
		poison := m.Array(f, to.Elem, []int64{1})
		q := f.O[slot].(*queue)
		if len(q.groups) == 0 {
			q.groups = append(q.groups, nil)
		}
		last := len(q.groups) - 1
		access.Each(from.Shape, func(idx []int64) {
			i, _ := from.Cell(idx)
			j, _ := to.Cell(idx)
			c, s := access.Read(f, op, from, i)
			q.groups[last] = append(q.groups[last], pending{to, j, c, s})
			pc, ps := access.Read(f, op, poison, 0)
			access.Write(f, op, to, j, pc, ps)
		})
	}
}

// Commit closes a group of copies.
var Commit = ir.Register(&ir.OpDef{
	Name:    "gpu.commit",
	Doc:     "Makes this thread's copies since the last commit a group.\ngpu.commit",
	Effects: func(*ir.Op) []ir.Effect { return []ir.Effect{{Kind: ir.EffectSync}} },
	Eval: func(m ir.Machine, _ *ir.Op) ir.Step {
		slot := m.Object(asyncQueue)
		return func(f *ir.Frame) {
			q := f.O[slot].(*queue)
			if len(q.groups) == 0 {
				q.groups = append(q.groups, nil)
			}
			q.groups = append(q.groups, nil)
		}
	},
})

// Wait waits for groups of copies.
var Wait = ir.Register(&ir.OpDef{
	Name: "gpu.wait",
	Doc: "Waits until at most that many of this thread's committed groups are under way; other threads see the data\n" +
		"after the next barrier.\ngpu.wait groups=0",
	Clauses: []ir.ClauseSpec{{Kind: ir.KindAttr, KW: "groups"}},
	Verify: access.Report(func(op *ir.Op) error {
		if ir.GetClause[*ir.Attr](op, "groups").Int < 0 {
			return errors.New("the number of groups cannot be negative")
		}
		return nil
	}),
	Effects: func(*ir.Op) []ir.Effect { return []ir.Effect{{Kind: ir.EffectSync}} },
	Eval: func(m ir.Machine, op *ir.Op) ir.Step {
		slot, left := m.Object(asyncQueue), int(ir.GetClause[*ir.Attr](op, "groups").Int)
		return func(f *ir.Frame) {
			q := f.O[slot].(*queue)
			for len(q.groups)-1 > left {
				for _, p := range q.groups[0] {
					access.Write(f, op, p.dst, p.pos, p.cell, p.shadow)
				}
				q.groups = q.groups[1:]
			}
		}
	},
})
