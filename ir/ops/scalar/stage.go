package scalar

import (
	"tenon/internal/num"
	"tenon/ir"
)

func nothing(ir.Machine, *ir.Op) ir.Step { return nil }

// then runs the shadow's step after the value's where the run has shadows.
func then(m ir.Machine, value ir.Step, shadow func() ir.Step) ir.Step {
	if !m.Shadowed() {
		return value
	}
	s := shadow()
	return func(f *ir.Frame) { value(f); s(f) }
}

// stageArith stages an op of ariths or compares; the arithmetic is num's.
func stageArith(m ir.Machine, op *ir.Op, name string) ir.Step {
	e := ir.ElemOf(op.Operand(0).Type)
	slots := []int{m.Scalar(op.Results[0])}
	for _, v := range op.OperandValues("") {
		slots = append(slots, m.Scalar(v))
	}
	switch len(slots) {
	case 2:
		return stageUnary(m, name, e, slots[1], slots[0])
	case 3:
		return StageBinary(m, name, e, slots[1], slots[2], slots[0])
	}
	return stageTernary(m, name, e, slots)
}

func stageUnary(m ir.Machine, name string, e num.Elem, a, d int) ir.Step {
	g := num.Unary(name, e)
	return then(m, func(f *ir.Frame) { f.S[d] = g(f.S[a]) }, func() ir.Step {
		s := num.ShadowUnary(name, e)
		return func(f *ir.Frame) { f.E[d] = s(f.E[a], f.S[a], f.S[d]) }
	})
}

// StageBinary stages S[d] = name(S[a], S[b]) on type e; d is neither a nor b.
func StageBinary(m ir.Machine, name string, e num.Elem, a, b, d int) ir.Step {
	return then(m, binaryValue(name, e, a, b, d), func() ir.Step {
		s := num.ShadowBinary(name, e)
		return func(f *ir.Frame) { f.E[d] = s(f.E[a], f.E[b], f.S[a], f.S[b], f.S[d]) }
	})
}

// inlined are the ops of inner loops, staged as one closure without a call.
var inlined = map[string]func(a, b, d int) ir.Step{
	"add f32": func(a, b, d int) ir.Step {
		return func(f *ir.Frame) { f.S[d] = num.AddF32(f.S[a], f.S[b]) }
	},
	"sub f32": func(a, b, d int) ir.Step {
		return func(f *ir.Frame) { f.S[d] = num.SubF32(f.S[a], f.S[b]) }
	},
	"mul f32": func(a, b, d int) ir.Step {
		return func(f *ir.Frame) { f.S[d] = num.MulF32(f.S[a], f.S[b]) }
	},
	"div f32": func(a, b, d int) ir.Step {
		return func(f *ir.Frame) { f.S[d] = num.DivF32(f.S[a], f.S[b]) }
	},
	"add f64": func(a, b, d int) ir.Step {
		return func(f *ir.Frame) { f.S[d] = num.AddF64(f.S[a], f.S[b]) }
	},
	"sub f64": func(a, b, d int) ir.Step {
		return func(f *ir.Frame) { f.S[d] = num.SubF64(f.S[a], f.S[b]) }
	},
	"mul f64": func(a, b, d int) ir.Step {
		return func(f *ir.Frame) { f.S[d] = num.MulF64(f.S[a], f.S[b]) }
	},
	"div f64": func(a, b, d int) ir.Step {
		return func(f *ir.Frame) { f.S[d] = num.DivF64(f.S[a], f.S[b]) }
	},
}

func binaryValue(name string, e num.Elem, a, b, d int) ir.Step {
	if stage := inlined[name+" "+e.String()]; stage != nil {
		return stage(a, b, d)
	}
	g := num.Binary(name, e)
	return func(f *ir.Frame) { f.S[d] = g(f.S[a], f.S[b]) }
}

// stageTernary has the slots of result and operands.
func stageTernary(m ir.Machine, name string, e num.Elem, slots []int) ir.Step {
	d, a, b, c := slots[0], slots[1], slots[2], slots[3]
	g := num.Ternary(name, e)
	return then(m, func(f *ir.Frame) { f.S[d] = g(f.S[a], f.S[b], f.S[c]) }, func() ir.Step {
		s := num.ShadowTernary(name, e)
		return func(f *ir.Frame) { f.E[d] = s(f.E[a], f.E[b], f.E[c], f.S[a], f.S[b], f.S[c], f.S[d]) }
	})
}

func stageSelect(m ir.Machine, op *ir.Op) ir.Step {
	c, x, y, d := m.Scalar(op.Operand(0)), m.Scalar(op.Operand(1)), m.Scalar(op.Operand(2)), m.Scalar(op.Results[0])
	return then(m, func(f *ir.Frame) { f.S[d] = num.Select(f.S[c], f.S[x], f.S[y]) }, func() ir.Step {
		s := num.ShadowSelect(ir.ElemOf(op.Results[0].Type))
		return func(f *ir.Frame) { f.E[d] = s(f.E[c], f.E[x], f.E[y], f.S[c], f.S[x], f.S[y]) }
	})
}

func stageConst(m ir.Machine, op *ir.Op) ir.Step {
	c, d := ir.GetClause[*ir.Literal](op, "").Cell, m.Scalar(op.Results[0])
	return then(m, func(f *ir.Frame) { f.S[d] = c }, func() ir.Step {
		s := num.Exact(ir.ElemOf(op.Results[0].Type), c)
		return func(f *ir.Frame) { f.E[d] = s }
	})
}

func stageIdx(m ir.Machine, op *ir.Op) ir.Step {
	d, e := m.Scalar(op.Results[0]), ir.ElemOf(op.Results[0].Type)
	arg := op.Args("")[0]
	if arg.Value != nil {
		return stageCastSlots(m, m.Scalar(arg.Value), d, ir.ElemOf(arg.Value.Type), e)
	}
	x := m.Expr(*arg.Expr)
	value := func(f *ir.Frame) { f.S[d] = num.FromInt(num.Wrap(e, x(f))) }
	refs := valueSlots(m, arg)
	return then(m, value, func() ir.Step {
		return func(f *ir.Frame) {
			f.E[d] = num.Exact(e, f.S[d])
			for _, r := range refs {
				if f.E[r].Undecided() {
					f.E[d] = num.Undecided(e, f.S[d])
				}
			}
		}
	})
}

// valueSlots are the slots of the values that an index expression uses.
func valueSlots(m ir.Machine, a ir.Arg) []int {
	var slots []int
	for _, r := range a.Expr.Refs() {
		slots = append(slots, m.Scalar(r.(*ir.Value)))
	}
	return slots
}

func stageCast(m ir.Machine, op *ir.Op) ir.Step {
	v := op.Operand(0)
	return stageCastSlots(m, m.Scalar(v), m.Scalar(op.Results[0]), ir.ElemOf(v.Type), ir.ElemOf(op.Results[0].Type))
}

func stageBitcast(m ir.Machine, op *ir.Op) ir.Step {
	v := op.Operand(0)
	a, d, from, to := m.Scalar(v), m.Scalar(op.Results[0]), ir.ElemOf(v.Type), ir.ElemOf(op.Results[0].Type)
	return then(m, func(f *ir.Frame) { f.S[d] = num.Bitcast(from, to, f.S[a]) }, func() ir.Step {
		return func(f *ir.Frame) { f.E[d] = num.ShadowBitcast(f.E[a], f.S[d]) }
	})
}

func stageCastSlots(m ir.Machine, a, d int, from, to num.Elem) ir.Step {
	g := num.Caster(from, to)
	return then(m, func(f *ir.Frame) { f.S[d] = g(f.S[a]) }, func() ir.Step {
		s := num.ShadowCast(from, to)
		return func(f *ir.Frame) { f.E[d] = s(f.E[a], f.S[a], f.S[d]) }
	})
}
