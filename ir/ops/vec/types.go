package vec

import (
	"errors"
	"fmt"

	"tenon/ir"
	"tenon/ir/ops/access"
)

// vecArg is the type of operand i of op, a vector.
func vecArg(op *ir.Op, i int) (ir.Vec, error) {
	args := op.Args("")
	if i < len(args) && args[i].Value != nil && args[i].View == nil {
		if t, ok := args[i].Value.Type.(ir.Vec); ok {
			return t, nil
		}
	}
	return ir.Vec{}, fmt.Errorf("operand %d must be a vector", i+1)
}

// lanesArg is the type of operand i of op, a vector or a mask.
func lanesArg(op *ir.Op, i int) (ir.Type, error) {
	args := op.Args("")
	if i < len(args) && args[i].Value != nil && args[i].View == nil {
		if t := args[i].Value.Type; isLanes(t) {
			return t, nil
		}
	}
	return nil, fmt.Errorf("operand %d must be a vector or a mask", i+1)
}

func isLanes(t ir.Type) bool {
	_, _, err := lanesOf(t)
	return err == nil
}

// maskOf is the mask in the clause mask(..), nil if it is left out.
func maskOf(op *ir.Op) *ir.Value {
	if vs := op.OperandValues("mask"); len(vs) == 1 {
		return vs[0]
	}
	return nil
}

// checkMask wants a mask of that many lanes in the clause, if it is there.
func checkMask(op *ir.Op, lanes int) error {
	if !op.Has("mask") {
		return nil
	}
	m := maskOf(op)
	if m == nil {
		return errors.New("mask takes one mask")
	}
	if !ir.SameType(m.Type, ir.Mask{Lanes: lanes}) {
		return fmt.Errorf("%%%s is a %s, want a mask<%d>", m.Name, m.Type, lanes)
	}
	return nil
}

// declaredVec is the vector type that must be written.
func declaredVec(declared []ir.Type) (ir.Vec, error) {
	t, err := access.One[ir.Vec](declared, "vec<16 x f32>")
	if err == nil && t.Lanes <= 0 {
		err = errors.New("a vector has at least one lane")
	}
	return t, err
}

// declaredLanes is the vector or mask type that must be written.
func declaredLanes(declared []ir.Type) (ir.Type, error) {
	if len(declared) == 1 {
		if m, ok := declared[0].(ir.Mask); ok && m.Lanes > 0 {
			return m, nil
		}
	}
	t, err := declaredVec(declared)
	return t, err
}

func one(t ir.Type, err error) ([]ir.Type, error) {
	if err != nil {
		return nil, err
	}
	return []ir.Type{t}, nil
}

// intAttr is the attribute kw of op.
func intAttr(op *ir.Op, kw string) int64 { return ir.GetClause[*ir.Attr](op, kw).Int }

// maskClause and operandsClause are clauses that many rows have.
var (
	operandsClause = ir.ClauseSpec{Kind: ir.KindOperands}
	maskClause     = ir.ClauseSpec{Kind: ir.KindOperands, KW: "mask", Optional: true}
)

// lanes is the vector or mask in a slot.
func lanes(f *ir.Frame, slot int) *ir.Lanes { return f.O[slot].(*ir.Lanes) }

// fresh is a vector for the frame, with shadows if the run has them.
func fresh(f *ir.Frame, n int) *ir.Lanes {
	l := &ir.Lanes{Cells: make([]cell, n)}
	if f.E != nil {
		l.Shadow = make([]shadow, n)
	}
	return l
}

// set puts a lane; get takes one.
func set(l *ir.Lanes, i int, c cell, s shadow) {
	l.Cells[i] = c
	if l.Shadow != nil {
		l.Shadow[i] = s
	}
}

func get(l *ir.Lanes, i int) (cell, shadow) {
	if l.Shadow == nil {
		return l.Cells[i], shadow{}
	}
	return l.Cells[i], l.Shadow[i]
}

// enabled stages the mask of op: whether lane i takes part.
func enabled(m ir.Machine, op *ir.Op) func(f *ir.Frame, i int) bool {
	v := maskOf(op)
	if v == nil {
		return func(*ir.Frame, int) bool { return true }
	}
	slot := m.Object(v)
	return func(f *ir.Frame, i int) bool { return lanes(f, slot).Cells[i] != 0 }
}
