package vec

import (
	"errors"
	"fmt"

	"tenon/internal/num"
	"tenon/ir"
	"tenon/ir/ops/access"
)

type (
	cell   = num.Cell
	shadow = num.Shadow
)

// Load reads neighbouring elements.
var Load = ir.Register(&ir.OpDef{
	Name: "vec.load",
	Doc: "Reads neighbouring elements of a row, from the one given on; lanes that the mask leaves out are 0 and are not\n" +
		"touched in memory. Bools are read into a mask.\n%v = vec.load(%A[i, j]) [mask(%m)] : vec<16 x f32>",
	Clauses: []ir.ClauseSpec{operandsClause, maskClause},
	Infer: func(op *ir.Op, declared []ir.Type) ([]ir.Type, error) {
		return one(declaredLanes(declared))
	},
	Verify: access.Report(func(op *ir.Op) error {
		if err := access.Count(op, 1, "one element"); err != nil {
			return err
		}
		return checkRow(op, op.Args("")[0], op.Results[0].Type)
	}),
	Effects: func(op *ir.Op) []ir.Effect { return append(access.Reads(op.Args("")[0].Value), access.Trap) },
	Eval: func(m ir.Machine, op *ir.Op) ir.Step {
		n, _, _ := lanesOf(op.Results[0].Type)
		dst := m.Object(op.Results[0])
		row := lanesAt(m, op, op.Args("")[0], n, ir.TrapIndex)
		return func(f *ir.Frame) {
			v := fresh(f, n)
			row(f, func(i int, arr *ir.Array, pos int64) {
				c, s := access.Read(f, op, arr, pos)
				set(v, i, c, s)
			})
			f.O[dst] = v
		}
	},
})

// Store writes neighbouring elements.
var Store = ir.Register(&ir.OpDef{
	Name: "vec.store",
	Doc: "Writes neighbouring elements of a row, from the one given on; lanes that the mask leaves out are not touched.\n" +
		"stream=n hints that a buffer of more than n bytes may be written around the caches: its elements are not read\n" +
		"soon, and stores nearby fill their cache lines.\n" +
		"vec.store(%v, %A[i, j]) [mask(%m)] [stream=33554432]",
	Clauses: []ir.ClauseSpec{operandsClause, maskClause, {Kind: ir.KindAttr, KW: "stream", Optional: true}},
	Verify: access.Report(func(op *ir.Op) error {
		if err := access.Count(op, 2, "a vector or mask and an element"); err != nil {
			return err
		}
		if s := ir.GetClause[*ir.Attr](op, "stream"); s != nil && s.Int <= 0 {
			return errors.New("stream is a positive number of bytes")
		}
		t, err := lanesArg(op, 0)
		if err != nil {
			return err
		}
		return checkRow(op, op.Args("")[1], t)
	}),
	Effects: func(op *ir.Op) []ir.Effect { return append(access.Writes(op.Args("")[1].Value), access.Trap) },
	Eval: func(m ir.Machine, op *ir.Op) ir.Step {
		src := m.Object(op.Operand(0))
		n, _, _ := lanesOf(op.Operand(0).Type)
		row := lanesAt(m, op, op.Args("")[1], n, ir.TrapIndex)
		return func(f *ir.Frame) {
			v := lanes(f, src)
			row(f, func(i int, arr *ir.Array, pos int64) {
				c, s := get(v, i)
				access.Write(f, op, arr, pos, c, s)
			})
		}
	},
})

// checkRow wants an element of a buffer whose rows lie densely in memory.
func checkRow(op *ir.Op, a ir.Arg, v ir.Type) error {
	if err := checkElements(op, a, v); err != nil {
		return err
	}
	if s := a.Value.Type.(ir.Buf).Strides; len(s) > 0 {
		if c, ok := s[len(s)-1].IsConst(); !ok || c != 1 {
			return fmt.Errorf("neighbours in a row of %%%s are not adjacent in memory: its last stride is %s", a.Value.Name, s[len(s)-1])
		}
	}
	return nil
}

func checkElements(op *ir.Op, a ir.Arg, v ir.Type) error {
	t, err := access.Element(a)
	n, e, _ := lanesOf(v)
	switch {
	case err != nil:
		return err
	case len(t.Dims) == 0:
		return fmt.Errorf("%%%s has rank 0, so its element has no neighbours", a.Value.Name)
	case t.Elem != e:
		return fmt.Errorf("lanes are %s, elements of %%%s are %s", e, a.Value.Name, t.Elem)
	case e == num.Bool && !ir.SameType(v, ir.Mask{Lanes: n}):
		return fmt.Errorf("bools in lanes are a mask<%d>", n)
	}
	return checkMask(op, n)
}

// lanesAt stages a visit of the enabled lanes with their places in memory: lane
// i is i elements right of operand a in its row. Leaving the row traps with code.
func lanesAt(m ir.Machine, op *ir.Op, a ir.Arg, n int, code ir.TrapCode) func(f *ir.Frame, visit func(i int, arr *ir.Array, pos int64)) {
	slot, subs, on := m.Object(a.Value), access.Exprs(m, access.Subs(a)), enabled(m, op)
	return func(f *ir.Frame, visit func(i int, arr *ir.Array, pos int64)) {
		arr, idx := f.O[slot].(*ir.Array), make([]int64, len(subs))
		for d, sub := range subs {
			idx[d] = sub(f)
		}
		last := len(idx) - 1
		for i := 0; i < n; i++ {
			if on(f, i) {
				pos, ok := arr.Cell(idx)
				if !ok {
					m.Trap(op, code, "lane %d is element %v of %%%s, whose shape is %v", i, idx, a.Value.Name, arr.Shape)
				}
				visit(i, arr, pos)
			}
			idx[last]++
		}
	}
}

// Gather reads elements by number.
var Gather = ir.Register(&ir.OpDef{
	Name: "vec.gather",
	Doc: "Reads, in lane i, the element that lies %idx's lane i right of the one given; masked lanes are 0.\n" +
		"%v = vec.gather(%A[i, 0], %idx) [mask(%m)]",
	Clauses:       []ir.ClauseSpec{operandsClause, maskClause},
	TypesInferred: true,
	Infer: func(op *ir.Op, _ []ir.Type) ([]ir.Type, error) {
		if err := access.Count(op, 2, "an element and a vector of integers"); err != nil {
			return nil, err
		}
		t, err := access.Element(op.Args("")[0])
		if err != nil {
			return nil, err
		}
		idx, err := vecArg(op, 1)
		return one(ir.Vec{Lanes: idx.Lanes, Elem: t.Elem}, err)
	},
	Verify: access.Report(func(op *ir.Op) error {
		return checkIndexed(op, op.Args("")[0], op.Operand(1).Type.(ir.Vec), op.Results[0].Type.(ir.Vec))
	}),
	Effects: func(op *ir.Op) []ir.Effect { return append(access.Reads(op.Args("")[0].Value), access.Trap) },
	Eval: func(m ir.Machine, op *ir.Op) ir.Step {
		dst, n := m.Object(op.Results[0]), op.Results[0].Type.(ir.Vec).Lanes
		visit := indexedLanes(m, op, op.Args("")[0], op.Operand(1), ir.TrapIndex)
		return func(f *ir.Frame) {
			v := fresh(f, n)
			visit(f, func(i int, arr *ir.Array, pos int64) {
				c, s := access.Read(f, op, arr, pos)
				set(v, i, c, s)
			})
			f.O[dst] = v
		}
	},
})

// Scatter writes elements by number.
var Scatter = ir.Register(&ir.OpDef{
	Name: "vec.scatter",
	Doc: "Writes lane i of a vector to the element that lies %idx's lane i right of the one given, in the order of lanes.\n" +
		"vec.scatter(%v, %A[i, 0], %idx) [mask(%m)]",
	Clauses: []ir.ClauseSpec{operandsClause, maskClause},
	Verify:  access.Report(checkScatter),
	Effects: func(op *ir.Op) []ir.Effect { return append(access.Writes(op.Args("")[1].Value), access.Trap) },
	Eval: func(m ir.Machine, op *ir.Op) ir.Step {
		src := m.Object(op.Operand(0))
		visit := indexedLanes(m, op, op.Args("")[1], op.Args("")[2].Value, ir.TrapIndex)
		return func(f *ir.Frame) {
			v := lanes(f, src)
			visit(f, func(i int, arr *ir.Array, pos int64) {
				c, s := get(v, i)
				access.Write(f, op, arr, pos, c, s)
			})
		}
	},
})

func checkScatter(op *ir.Op) error {
	if err := access.Count(op, 3, "a vector, an element and a vector of integers"); err != nil {
		return err
	}
	v, err := vecArg(op, 0)
	if err != nil {
		return err
	}
	idx, err := vecArg(op, 2)
	if err != nil {
		return err
	}
	return checkIndexed(op, op.Args("")[1], idx, v)
}

func checkIndexed(op *ir.Op, a ir.Arg, idx, v ir.Vec) error {
	switch {
	case !idx.Elem.IsInt():
		return errors.New("the vector of element numbers must hold integers")
	case idx.Lanes != v.Lanes:
		return fmt.Errorf("%d element numbers are given for %d lanes", idx.Lanes, v.Lanes)
	}
	return checkElements(op, a, v)
}

// indexedLanes stages a visit of the enabled lanes with the places that the
// vector idx says.
func indexedLanes(m ir.Machine, op *ir.Op, a ir.Arg, idx *ir.Value, code ir.TrapCode) func(f *ir.Frame, visit func(i int, arr *ir.Array, pos int64)) {
	slot, subs, on, numbers := m.Object(a.Value), access.Exprs(m, access.Subs(a)), enabled(m, op), m.Object(idx)
	return func(f *ir.Frame, visit func(i int, arr *ir.Array, pos int64)) {
		arr, at := f.O[slot].(*ir.Array), make([]int64, len(subs))
		for d, sub := range subs {
			at[d] = sub(f)
		}
		last := len(at) - 1
		base := at[last]
		for i, c := range lanes(f, numbers).Cells {
			if !on(f, i) {
				continue
			}
			at[last] = base + num.Int(c)
			pos, ok := arr.Cell(at)
			if !ok {
				m.Trap(op, code, "lane %d is element %v of %%%s, whose shape is %v", i, at, a.Value.Name, arr.Shape)
			}
			visit(i, arr, pos)
		}
	}
}

// Prefetch is a hint.
var Prefetch = ir.Register(&ir.OpDef{
	Name: "vec.prefetch",
	Doc: "Hints that an element will be read soon; it may lie out of range, and nothing is read.\n" +
		"vec.prefetch(%A[i + 8, j]) [level=1]",
	Clauses: []ir.ClauseSpec{operandsClause, {Kind: ir.KindAttr, KW: "level", Optional: true}},
	Verify: access.Report(func(op *ir.Op) error {
		if err := access.Count(op, 1, "one element"); err != nil {
			return err
		}
		_, err := access.Element(op.Args("")[0])
		return err
	}),
	Effects: func(op *ir.Op) []ir.Effect { return access.Reads(op.Args("")[0].Value) },
	Eval:    func(ir.Machine, *ir.Op) ir.Step { return func(*ir.Frame) {} },
})
