package scalar

import (
	"tenon/internal/num"
	"tenon/ir"
)

func nothing(ir.Machine, *ir.Op) ir.Step { return nil }

// stageArith stages an op of ariths or compares: the arithmetic comes from num,
// the commonest ops of inner loops are one closure without a call.
func stageArith(m ir.Machine, op *ir.Op, name string) ir.Step {
	e := ir.ElemOf(op.Operand(0).Type)
	d := m.Scalar(op.Results[0])
	a := m.Scalar(op.Operand(0))
	var value ir.Step
	switch len(op.Args("")) {
	case 1:
		f := num.Unary(name, e)
		value = func(f2 *ir.Frame) { f2.S[d] = f(f2.S[a]) }
	case 2:
		value = stageBinary(name, e, a, m.Scalar(op.Operand(1)), d)
	default:
		f, b, c := num.Ternary(name, e), m.Scalar(op.Operand(1)), m.Scalar(op.Operand(2))
		value = func(f2 *ir.Frame) { f2.S[d] = f(f2.S[a], f2.S[b], f2.S[c]) }
	}
	return value
}

func stageBinary(name string, e num.Elem, a, b, d int) ir.Step {
	if e == num.F32 {
		switch name {
		case "add":
			return func(f *ir.Frame) { f.S[d] = num.AddF32(f.S[a], f.S[b]) }
		case "sub":
			return func(f *ir.Frame) { f.S[d] = num.SubF32(f.S[a], f.S[b]) }
		case "mul":
			return func(f *ir.Frame) { f.S[d] = num.MulF32(f.S[a], f.S[b]) }
		}
	}
	if e == num.F64 {
		switch name {
		case "add":
			return func(f *ir.Frame) { f.S[d] = num.AddF64(f.S[a], f.S[b]) }
		case "sub":
			return func(f *ir.Frame) { f.S[d] = num.SubF64(f.S[a], f.S[b]) }
		case "mul":
			return func(f *ir.Frame) { f.S[d] = num.MulF64(f.S[a], f.S[b]) }
		}
	}
	g := num.Binary(name, e)
	return func(f *ir.Frame) { f.S[d] = g(f.S[a], f.S[b]) }
}

func stageSelect(m ir.Machine, op *ir.Op) ir.Step {
	c, x, y, d := m.Scalar(op.Operand(0)), m.Scalar(op.Operand(1)), m.Scalar(op.Operand(2)), m.Scalar(op.Results[0])
	return func(f *ir.Frame) { f.S[d] = num.Select(f.S[c], f.S[x], f.S[y]) }
}

func stageConst(m ir.Machine, op *ir.Op) ir.Step {
	c, d := ir.GetClause[*ir.Literal](op, "").Cell, m.Scalar(op.Results[0])
	return func(f *ir.Frame) { f.S[d] = c }
}

func stageIdx(m ir.Machine, op *ir.Op) ir.Step {
	d, e := m.Scalar(op.Results[0]), ir.ElemOf(op.Results[0].Type)
	arg := op.Args("")[0]
	if arg.Value != nil {
		return stageCastSlots(m.Scalar(arg.Value), d, ir.ElemOf(arg.Value.Type), e)
	}
	x := m.Expr(*arg.Expr)
	return func(f *ir.Frame) { f.S[d] = num.FromInt(num.Wrap(e, x(f))) }
}

func stageCast(m ir.Machine, op *ir.Op) ir.Step {
	v := op.Operand(0)
	return stageCastSlots(m.Scalar(v), m.Scalar(op.Results[0]), ir.ElemOf(v.Type), ir.ElemOf(op.Results[0].Type))
}

func stageCastSlots(a, d int, from, to num.Elem) ir.Step {
	g := num.Caster(from, to)
	return func(f *ir.Frame) { f.S[d] = g(f.S[a]) }
}
