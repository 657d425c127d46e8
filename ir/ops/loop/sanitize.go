package loop

import (
	"fmt"

	"tenon/internal/num"
	"tenon/ir"
	"tenon/ir/ops/access"
)

// The ops of this file are what the pass sanitize puts beside accesses. Unlike
// the checks that are part of an access they are done whatever is known, so that
// a proof that is wrong is found out.

// Inside checks that an element or a part lies in its buffer.
var Inside = ir.Register(&ir.OpDef{
	Name: "loop.inside",
	Doc: "Stops the program where an element, or a part, leaves its buffer, whatever is known of it.\n" +
		"loop.inside(%A[i, j:m])",
	Clauses: []ir.ClauseSpec{{Kind: ir.KindOperands}},
	Verify: access.Report(func(op *ir.Op) error {
		if err := access.Count(op, 1, "an element or a part, such as %A[i]"); err != nil {
			return err
		}
		a := op.Args("")[0]
		if _, err := access.Buffer(a); err != nil {
			return err
		}
		if a.View == nil {
			return fmt.Errorf("%%%s is inside of itself; name an element or a part", a.Value.Name)
		}
		return nil
	}),
	Effects: func(*ir.Op) []ir.Effect { return []ir.Effect{access.Trap} },
	Eval: func(m ir.Machine, op *ir.Op) ir.Step {
		a := op.Args("")[0]
		slot := m.Object(a.Value)
		starts, sizes := make([]func(*ir.Frame) int64, len(a.View.Dims)), make([]func(*ir.Frame) int64, len(a.View.Dims))
		for d, w := range a.View.Dims {
			starts[d], sizes[d] = m.Expr(w.Start), func(*ir.Frame) int64 { return 1 }
			if w.HasSize {
				sizes[d] = m.Expr(w.Size)
			}
		}
		return func(f *ir.Frame) {
			shape := f.O[slot].(*ir.Array).Shape
			for d := range starts {
				if lo, n := starts[d](f), sizes[d](f); lo < 0 || n < 0 || lo > shape[d]-n {
					m.Trap(op, ir.TrapBounds, "%d:%d leaves the %d elements of dim %d of %%%s", lo, n, shape[d], d, a.Value.Name)
				}
			}
		}
	},
})

// Defined checks that an element has been written.
var Defined = ir.Register(&ir.OpDef{
	Name: "loop.defined",
	Doc: "Stops the program where an element of a buffer of floats holds what loop.poison fills buffers with.\n" +
		"loop.defined(%A[i, j])",
	Clauses: []ir.ClauseSpec{{Kind: ir.KindOperands}},
	Verify: access.Report(func(op *ir.Op) error {
		if err := access.Count(op, 1, "an element such as %A[i]"); err != nil {
			return err
		}
		t, err := access.Element(op.Args("")[0])
		if err == nil && !t.Elem.IsFloat() {
			err = fmt.Errorf("elements are %s; any value of it may be meant", t.Elem)
		}
		return err
	}),
	Effects: func(op *ir.Op) []ir.Effect {
		return append(access.Reads(op.Args("")[0].Value), access.Trap)
	},
	Eval: func(m ir.Machine, op *ir.Op) ir.Step {
		a := op.Args("")[0]
		at, poison := access.ArgAt(m, op, a), num.Poison(ir.ElemOf(a.Value.Type))
		return func(f *ir.Frame) {
			arr, pos := at(f)
			if c, _ := access.Read(f, op, arr, pos); c == poison {
				m.Trap(op, ir.TrapUndefined, "an element of %%%s is read that nothing has written", a.Value.Name)
			}
		}
	},
})

// Poison fills a buffer.
var Poison = ir.Register(&ir.OpDef{
	Name: "loop.poison",
	Doc: "Fills a buffer with what no program computes: signalling NaNs, or large negative integers.\n" +
		"loop.poison(%A)",
	Clauses: []ir.ClauseSpec{{Kind: ir.KindOperands}},
	Verify: access.Report(func(op *ir.Op) error {
		if err := access.Count(op, 1, "a buffer"); err != nil {
			return err
		}
		_, err := access.Buffer(op.Args("")[0])
		return err
	}),
	Effects: func(op *ir.Op) []ir.Effect {
		return append(access.Writes(op.Args("")[0].Value), access.Trap)
	},
	Eval: func(m ir.Machine, op *ir.Op) ir.Step {
		a := op.Args("")[0]
		view, c := access.View(m, op, a), num.Poison(ir.ElemOf(a.Value.Type))
		return func(f *ir.Frame) {
			arr := view(f)
			access.Each(arr.Shape, func(idx []int64) {
				pos, _ := arr.Cell(idx)
				access.Write(f, op, arr, pos, c, num.Exact(arr.Elem, c))
			})
		}
	},
})
