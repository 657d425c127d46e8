package vec

import (
	"errors"

	"tenon/internal/num"
	"tenon/ir"
	"tenon/ir/ops/access"
)

// The ops of this file are what the pass sanitize puts before accesses of
// vectors, as loop.inside and loop.defined before those of elements.

var guardClauses = []ir.ClauseSpec{operandsClause, {Kind: ir.KindAttr, KW: "lanes", Optional: true}, maskClause}

// Inside checks that the elements of enabled lanes lie in their buffer.
var Inside = ir.Register(&ir.OpDef{
	Name: "vec.inside",
	Doc: "Stops the program where an enabled lane's element leaves its buffer, whatever is known of it: neighbours in a row, or\n" +
		"elements by number.\nvec.inside(%A[i, j]) lanes=16 [mask(%m)]\nvec.inside(%A[i, 0], %idx) [mask(%m)]",
	Clauses: guardClauses,
	Verify:  access.Report(checkGuard),
	Effects: func(*ir.Op) []ir.Effect { return []ir.Effect{access.Trap} },
	Eval: func(m ir.Machine, op *ir.Op) ir.Step {
		visit := guarded(m, op, ir.TrapBounds)
		return func(f *ir.Frame) { visit(f, func(int, *ir.Array, int64) {}) }
	},
})

// Defined checks that the elements of enabled lanes have been written.
var Defined = ir.Register(&ir.OpDef{
	Name: "vec.defined",
	Doc: "Stops the program where an enabled lane's element, a float, holds what loop.poison fills buffers with.\n" +
		"vec.defined(%A[i, j]) lanes=16 [mask(%m)]\nvec.defined(%A[i, 0], %idx) [mask(%m)]",
	Clauses: guardClauses,
	Verify: access.Report(func(op *ir.Op) error {
		err := checkGuard(op)
		if a := op.Args("")[0]; err == nil && !ir.ElemOf(a.Value.Type).IsFloat() {
			err = errors.New("any integer may be meant; only floats can be checked")
		}
		return err
	}),
	Effects: func(op *ir.Op) []ir.Effect { return append(access.Reads(op.Args("")[0].Value), access.Trap) },
	Eval: func(m ir.Machine, op *ir.Op) ir.Step {
		a := op.Args("")[0].Value
		visit, poison := guarded(m, op, ir.TrapIndex), num.Poison(ir.ElemOf(a.Type))
		return func(f *ir.Frame) {
			visit(f, func(i int, arr *ir.Array, pos int64) {
				if c, _ := access.Read(f, op, arr, pos); c == poison {
					m.Trap(op, ir.TrapUndefined, "lane %d is an element of %%%s that nothing has written", i, a.Name)
				}
			})
		}
	},
})

// checkGuard wants an element and either a number of lanes or their elements.
func checkGuard(op *ir.Op) error {
	args, lanes := op.Args(""), Lanes(op)
	switch {
	case len(args) == 1 && lanes <= 0:
		return errors.New("say how many neighbours are meant: lanes=16")
	case len(args) == 1:
		return checkRow(op, args[0], elementsOf(args[0], lanes))
	case len(args) != 2 || op.Has("lanes"):
		return errors.New("one element with lanes=n, or an element and a vector of integers are wanted")
	}
	idx, err := vecArg(op, 1)
	if err != nil {
		return err
	}
	return checkIndexed(op, args[0], idx, ir.Vec{Lanes: idx.Lanes, Elem: elemOf(args[0])})
}

// elementsOf is the type of so many neighbours in a buffer; bools are a mask.
func elementsOf(a ir.Arg, lanes int) ir.Type {
	if e := elemOf(a); e != num.Bool {
		return ir.Vec{Lanes: lanes, Elem: e}
	}
	return ir.Mask{Lanes: lanes}
}

// elemOf is the element type of a buffer, Invalid for anything else.
func elemOf(a ir.Arg) num.Elem {
	if t, err := access.Buffer(a); err == nil {
		return t.Elem
	}
	return num.Invalid
}

// Lanes is the attribute lanes of op, 0 if it has none.
func Lanes(op *ir.Op) int {
	if a := ir.GetClause[*ir.Attr](op, "lanes"); a != nil {
		return int(a.Int)
	}
	return 0
}

// guarded stages a visit of the elements; one outside stops the run with code.
func guarded(m ir.Machine, op *ir.Op, code ir.TrapCode) func(f *ir.Frame, visit func(i int, arr *ir.Array, pos int64)) {
	args := op.Args("")
	if len(args) == 1 {
		return lanesAt(m, op, args[0], Lanes(op), code)
	}
	return indexedLanes(m, op, args[0], args[1].Value, code)
}
