package loop

import (
	"errors"
	"fmt"

	"tenon/ir"
	"tenon/ir/ops/access"
	"tenon/ir/ops/dist"
)

// Load reads an element of a buffer.
var Load = ir.Register(&ir.OpDef{
	Name:          "load",
	Doc:           "Reads one element of a buffer; out of range is an error.\n%x = load(%A[i, j])",
	Clauses:       []ir.ClauseSpec{{Kind: ir.KindOperands}},
	TypesInferred: true,
	Infer: func(op *ir.Op, _ []ir.Type) ([]ir.Type, error) {
		if err := access.Count(op, 1, "one, an element such as %A[i]"); err != nil {
			return nil, err
		}
		t, err := access.Element(op.Args("")[0])
		return []ir.Type{ir.Scalar{Elem: t.Elem}}, err
	},
	Verify: access.Report(func(op *ir.Op) error { return dist.NotPartial(op.Operand(0)) }),
	Effects: func(op *ir.Op) []ir.Effect {
		return append(access.Reads(op.Operand(0)), access.Trap)
	},
	Eval: func(m ir.Machine, op *ir.Op) ir.Step {
		a := op.Args("")[0]
		return m.Element(op, a.Value, access.Subs(a), ir.PolicyError, m.Scalar(op.Results[0]))
	},
})

// Store writes an element of a buffer.
var Store = ir.Register(&ir.OpDef{
	Name:    "store",
	Doc:     "Writes a scalar to one element of a buffer; out of range is an error.\nstore(%x, %A[i, j])",
	Clauses: []ir.ClauseSpec{{Kind: ir.KindOperands}},
	Verify:  access.Report(checkStore),
	Effects: func(op *ir.Op) []ir.Effect {
		return append(access.Writes(op.Args("")[1].Value), access.Trap)
	},
	Eval: func(m ir.Machine, op *ir.Op) ir.Step {
		src, at := m.Scalar(op.Operand(0)), access.ArgAt(m, op, op.Args("")[1])
		return func(f *ir.Frame) {
			arr, pos := at(f)
			c, s := access.Get(f, src)
			access.Write(f, op, arr, pos, c, s)
		}
	},
})

func checkStore(op *ir.Op) error {
	if err := access.Count(op, 2, "a scalar and an element such as %A[i]"); err != nil {
		return err
	}
	e, err := access.ScalarElem(op.Args("")[0])
	if err != nil {
		return err
	}
	t, err := access.Element(op.Args("")[1])
	if err == nil && t.Elem != e {
		err = fmt.Errorf("a %s is stored into a buffer of %s; cast it first", e, t.Elem)
	}
	return err
}

// Alloc makes a buffer that lives to the end of its region.
var Alloc = ir.Register(&ir.OpDef{
	Name: "loop.alloc",
	Doc: "Makes a buffer, freed at the end of the region; its elements are undefined until written.\n" +
		"%A = loop.alloc [slot=0] : buf<f32[M, N]>\n" +
		"A buffer distributed over ranks is made by all of them at once. Buffers of one slot share memory: making one\n" +
		"ends the life of the one before.",
	Clauses: []ir.ClauseSpec{{Kind: ir.KindAttr, KW: "slot", Optional: true}},
	Traits:  ir.Allocates,
	Infer: func(_ *ir.Op, declared []ir.Type) ([]ir.Type, error) {
		t, err := access.One[ir.Buf](declared, "buf<f32[M, N]>")
		return []ir.Type{t}, err
	},
	Verify: func(c *ir.Checker, op *ir.Op) {
		dist.OnlyAccumulated(c, op.Results[0])
		checkSlot(c, op)
	},
	Effects: func(op *ir.Op) []ir.Effect {
		return []ir.Effect{{Kind: ir.EffectAlloc, Value: op.Results[0]}, access.Trap}
	},
	Eval: func(m ir.Machine, op *ir.Op) ir.Step {
		t, slot := op.Results[0].Type.(ir.Buf), m.Object(op.Results[0])
		fresh := inSlot(m, op, access.Allocate(m, op, t))
		if t.Dist == nil {
			return func(f *ir.Frame) { f.O[slot] = fresh(f) }
		}
		join := dist.JoinAlloc(m, op, t)
		return func(f *ir.Frame) {
			arr := fresh(f)
			join(f, arr)
			f.O[slot] = arr
		}
	},
})

// Copy copies a buffer or a part of it.
var Copy = ir.Register(&ir.OpDef{
	Name:    "loop.copy",
	Doc:     "Copies a view to another of the same shape and element type; they must not overlap.\nloop.copy(%A[0:m, j:n], %B)",
	Clauses: []ir.ClauseSpec{{Kind: ir.KindOperands}},
	Verify:  access.Report(checkCopy),
	Effects: func(op *ir.Op) []ir.Effect {
		args := op.Args("")
		return append(append(access.Reads(args[0].Value), access.Writes(args[1].Value)...), access.Trap)
	},
	Eval: func(m ir.Machine, op *ir.Op) ir.Step {
		src, dst := access.View(m, op, op.Args("")[0]), access.View(m, op, op.Args("")[1])
		return func(f *ir.Frame) {
			from, to := src(f), dst(f)
			for d := range from.Shape {
				if from.Shape[d] != to.Shape[d] {
					m.Trap(op, ir.TrapShape, "a view of shape %v is copied to one of shape %v", from.Shape, to.Shape)
				}
			}
			if access.Overlap(from, to) {
				m.Trap(op, ir.TrapAlias, "source and destination overlap in memory; copy by way of another buffer")
			}
			access.Copy(f, op, from, to)
		}
	},
})

func checkCopy(op *ir.Op) error {
	if err := access.Count(op, 2, "a source and a destination"); err != nil {
		return err
	}
	args := op.Args("")
	from, err := access.Buffer(args[0])
	if err != nil {
		return err
	}
	to, err := access.Buffer(args[1])
	switch {
	case err != nil:
		return err
	case from.Elem != to.Elem:
		return fmt.Errorf("%s elements are copied to %s ones; copying does not convert", from.Elem, to.Elem)
	case len(access.ViewDims(args[0])) != len(access.ViewDims(args[1])):
		return errors.New("source and destination have different ranks")
	}
	return dist.NotPartial(args[0].Value)
}
