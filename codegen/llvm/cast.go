package llvm

import (
	"github.com/llir/llvm/ir/enum"
	lltypes "github.com/llir/llvm/ir/types"
	"github.com/llir/llvm/ir/value"

	"tenon/internal/num"
)

// Cast converts a scalar, or each lane of a vector, as the IR's cast does: float to float and integer to
// float round once, float to integer truncates and saturates with 0 for NaN,
// integer to integer wraps, and anything but zero is true.
func (f *Func) Cast(v Value, to num.Elem) Value {
	from := v.Elem()
	if from == to {
		return v
	}
	var out Value
	f.lanewise(v.t.lanes, func() { out = Value{f.castRaw(from, to, v.v), v.t.of(to)} })
	return out
}

// Bitcast reads a value's bits in another type of the same width, as the IR's
// bitcast does. f16 and bf16 are integers in registers already.
func (f *Func) Bitcast(v Value, to num.Elem) Value {
	t := v.t.of(to)
	if v.v.Type().Equal(t.register()) {
		return Value{v.v, t}
	}
	return Value{f.cur.NewBitCast(v.v, t.register()), t}
}

func (f *Func) castRaw(from, to num.Elem, x value.Value) value.Value {
	switch {
	case to == num.Bool && from.IsFloat():
		return wide(fcmp("une"))(f, from, []value.Value{x, f.floatLit(from, 0)})
	case to == num.Bool:
		return f.isNonZero(x).v
	case from.IsFloat() && to.IsFloat():
		return f.floatToFloat(from, to, x)
	case from.IsFloat():
		return f.floatToInt(from, to, x)
	case to.IsFloat():
		return f.intToFloat(from, to, x)
	}
	return f.intToInt(from, to, x)
}

func (f *Func) isNonZero(x value.Value) Value {
	zero := literal(x.Type(), 0, num.Invalid)
	return Value{f.cur.NewICmp(enum.IPredNE, x, zero), VecOf(num.Bool, f.lanes)}
}

func (f *Func) icmpEq(p, q Value) Value {
	return Value{f.cur.NewICmp(enum.IPredEQ, p.v, q.v), TypeOf(num.Bool)}
}

func (f *Func) floatToFloat(from, to num.Elem, x value.Value) value.Value {
	if from.Bytes() == 2 {
		x = f.widen(from, x)
	}
	wide := x.Type().Equal(f.like(lltypes.Double))
	switch {
	case to.Bytes() == 2:
		return f.narrow(to, x)
	case to == num.F64 && !wide:
		return f.cur.NewFPExt(x, f.like(lltypes.Double))
	case to == num.F32 && wide:
		return f.cur.NewFPTrunc(x, f.like(lltypes.Float))
	}
	return x
}

func (f *Func) floatToInt(from, to num.Elem, x value.Value) value.Value {
	if from.Bytes() == 2 {
		x = f.widen(from, x)
	}
	name := "llvm.fptosi.sat."
	if !to.IsSigned() {
		name = "llvm.fptoui.sat."
	}
	result := f.register(to)
	callee := f.m.declare(name+short(result)+"."+short(x.Type()), result, true, x.Type())
	return f.cur.NewCall(callee, x)
}

func (f *Func) intToFloat(from, to num.Elem, x value.Value) value.Value {
	switch {
	case to.Bytes() > 2:
		return f.toFloat(from, x, f.register(to))
	case from.Bytes() == 8:
		return f.narrow(to, f.oddDouble(x))
	}
	return f.narrow(to, f.toFloat(from, x, f.like(lltypes.Double)))
}

// toFloat converts with the one rounding of the instruction.
func (f *Func) toFloat(from num.Elem, x value.Value, to lltypes.Type) value.Value {
	if from.IsSigned() {
		return f.cur.NewSIToFP(x, to)
	}
	return f.cur.NewUIToFP(x, to)
}

func (f *Func) intToInt(from, to num.Elem, x value.Value) value.Value {
	result := f.register(to)
	have, want := from.Bits(), to.Bits()
	switch {
	case have == want:
		return x
	case have > want:
		return f.cur.NewTrunc(x, result)
	case from.IsSigned():
		return f.cur.NewSExt(x, result)
	}
	return f.cur.NewZExt(x, result)
}
