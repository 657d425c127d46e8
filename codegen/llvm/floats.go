package llvm

import (
	"math"
	"strings"

	"github.com/llir/llvm/ir"
	"github.com/llir/llvm/ir/enum"
	lltypes "github.com/llir/llvm/ir/types"
	"github.com/llir/llvm/ir/value"

	"tenon/internal/diag"
	"tenon/internal/num"
)

func fadd(f *Func, _ num.Elem, a []value.Value) value.Value {
	x := f.cur.NewFAdd(a[0], a[1])
	x.FastMathFlags = f.Flags.list()
	return x
}

func fsub(f *Func, _ num.Elem, a []value.Value) value.Value {
	x := f.cur.NewFSub(a[0], a[1])
	x.FastMathFlags = f.Flags.list()
	return x
}

func fmul(f *Func, _ num.Elem, a []value.Value) value.Value {
	x := f.cur.NewFMul(a[0], a[1])
	x.FastMathFlags = f.Flags.list()
	return x
}

func fdiv(f *Func, _ num.Elem, a []value.Value) value.Value { return f.cur.NewFDiv(a[0], a[1]) }

var fpreds = map[string]enum.FPred{
	"oeq": enum.FPredOEQ, "one": enum.FPredONE, "une": enum.FPredUNE, "olt": enum.FPredOLT, "ole": enum.FPredOLE, "ogt": enum.FPredOGT, "oge": enum.FPredOGE,
}

func fcmp(pred string) emit {
	p, ok := fpreds[pred]
	if !ok {
		diag.Bugf("no float compare %s", pred)
	}
	return func(f *Func, _ num.Elem, a []value.Value) value.Value { return f.cur.NewFCmp(p, a[0], a[1]) }
}

// floatNeg flips the sign bit, of a NaN too.
func floatNeg(f *Func, e num.Elem, a []value.Value) value.Value {
	if e.Bytes() == 2 {
		return f.cur.NewXor(a[0], f.half(0x8000))
	}
	return f.cur.NewFNeg(a[0])
}

// floatAbs clears the sign bit, of a NaN too.
func floatAbs(f *Func, e num.Elem, a []value.Value) value.Value {
	if e.Bytes() == 2 {
		return f.cur.NewAnd(a[0], f.half(0x7fff))
	}
	return intrinsic("fabs")(f, e, a)
}

func floatMax(f *Func, e num.Elem, a []value.Value) value.Value {
	switch {
	case e.Bytes() == 2:
		return f.halfExtreme(e, enum.IPredSGT, a)
	case fromIntrinsic(a):
		return f.wideExtreme(e, enum.IPredSGT, a)
	}
	return intrinsic("maximum")(f, e, a)
}

func floatMin(f *Func, e num.Elem, a []value.Value) value.Value {
	switch {
	case e.Bytes() == 2:
		return f.halfExtreme(e, enum.IPredSLT, a)
	case fromIntrinsic(a):
		return f.wideExtreme(e, enum.IPredSLT, a)
	}
	return intrinsic("minimum")(f, e, a)
}

// fromIntrinsic reports an operand that fma or copysign gives. LLVM 19 crashes
// where such a call and a max or min of the same two operands meet in another
// max or min: maximum(fma(x, y, z), maximum(x, y)).
func fromIntrinsic(a []value.Value) bool {
	for _, x := range a {
		call, ok := x.(*ir.InstCall)
		if !ok {
			continue
		}
		name := call.Callee.Ident()
		if strings.HasPrefix(name, "@llvm.fma.") || strings.HasPrefix(name, "@llvm.copysign.") {
			return true
		}
	}
	return false
}

// wideExtreme is halfExtreme for f32 and f64.
func (f *Func) wideExtreme(e num.Elem, better enum.IPred, a []value.Value) value.Value {
	c, bits := f.cur, f.like(lltypes.NewInt(uint64(8*e.Bytes())))
	number := func(n int) value.Value { return literal(bits, uint64(n), num.Invalid) }
	key := func(x value.Value) value.Value {
		raw := c.NewBitCast(x, bits)
		return c.NewXor(raw, c.NewLShr(c.NewAShr(raw, number(8*e.Bytes()-1)), number(1)))
	}
	best := f.pick(c.NewICmp(better, key(a[0]), key(a[1])), a[0], a[1])
	return f.pick(isNaN(f, e, a[:1]), a[0], f.pick(isNaN(f, e, a[1:]), a[1], best))
}

// halfExtreme is max or min of f16 and bf16 on their bits: NaN wins, then the
// order of the sign-magnitude integers, which puts -0.0 below +0.0. Widening
// would do as well, but LLVM 19 narrows llvm.maximum of widened halves back to
// half and legalises that wrongly on AVX-512: max(0, NaN) came out as 0.
func (f *Func) halfExtreme(e num.Elem, better enum.IPred, a []value.Value) value.Value {
	c := f.cur
	inf := f.half(uint16(num.Bits(e, num.FromFloat(math.Inf(1)))))
	isNaN := func(x value.Value) value.Value {
		return c.NewICmp(enum.IPredUGT, c.NewAnd(x, f.half(0x7fff)), inf)
	}
	key := func(x value.Value) value.Value {
		return c.NewXor(x, c.NewLShr(c.NewAShr(x, f.half(15)), f.half(1)))
	}
	best := f.pick(c.NewICmp(better, key(a[0]), key(a[1])), a[0], a[1])
	return f.pick(isNaN(a[0]), a[0], f.pick(isNaN(a[1]), a[1], best))
}

// floatSign is -1 or 1, and the operand itself for zeros and NaN.
func floatSign(f *Func, e num.Elem, a []value.Value) value.Value {
	ordered := wide(fcmp("one"))(f, e, []value.Value{a[0], f.floatLit(e, 0)})
	one := wide(intrinsic("copysign"))(f, e, []value.Value{f.floatLit(e, 1), a[0]})
	return f.pick(ordered, one, a[0])
}

func isNaN(f *Func, _ num.Elem, a []value.Value) value.Value {
	return f.cur.NewFCmp(enum.FPredUNO, a[0], a[0])
}

func isInf(f *Func, e num.Elem, a []value.Value) value.Value {
	return f.cur.NewFCmp(enum.FPredOEQ, intrinsic("fabs")(f, e, a), f.floatLit(e, math.Inf(1)))
}

// fma rounds once. f16 and bf16 go through f64, where the product is exact and
// the sum is rounded to odd, so that rounding to 11 or 8 bits is the only one.
func fma(f *Func, e num.Elem, a []value.Value) value.Value {
	if e.Bytes() > 2 {
		return intrinsic("fma")(f, e, a)
	}
	var w [3]value.Value
	for i, x := range a {
		w[i] = f.cur.NewFPExt(f.widen(e, x), f.like(lltypes.Double))
	}
	return f.narrow(e, f.addOdd(f.cur.NewFMul(w[0], w[1]), w[2]))
}

// addOdd adds doubles and rounds to odd: an inexact sum whose last bit is even
// moves by one towards the exact one (Knuth's two-sum gives the error).
func (f *Func) addOdd(a, b value.Value) value.Value {
	c := f.cur
	s := c.NewFAdd(a, b)
	bb := c.NewFSub(s, a)
	err := c.NewFAdd(c.NewFSub(a, c.NewFSub(s, bb)), c.NewFSub(b, bb))
	raw := c.NewBitCast(s, f.like(lltypes.I64))
	even := c.NewICmp(enum.IPredEQ, c.NewAnd(raw, f.int64Lit(1)), f.int64Lit(0))
	inexact := c.NewFCmp(enum.FPredONE, err, f.double(0)) // false for the NaN of an infinite sum
	up := c.NewICmp(enum.IPredSGE, c.NewXor(raw, c.NewBitCast(err, f.like(lltypes.I64))), f.int64Lit(0))
	step := f.pick(up, f.int64Lit(1), f.int64Lit(-1))
	moved := c.NewAdd(raw, f.pick(c.NewAnd(even, inexact), step, f.int64Lit(0)))
	return c.NewBitCast(moved, f.like(lltypes.Double))
}

// double, float, half, int64Lit and the like are constants by value or bits, in
// each lane of the vectors at hand.
func (f *Func) double(x float64) value.Value { return f.floatLit(num.F64, x) }
func (f *Func) float(x float64) value.Value  { return f.floatLit(num.F32, x) }
func (f *Func) half(raw uint16) value.Value {
	return literal(f.like(lltypes.I16), uint64(raw), num.Invalid)
}
func (f *Func) int64Lit(x int64) value.Value { return f.intLit(num.I64, x) }
func (f *Func) int32Lit(x uint32) value.Value {
	return literal(f.like(lltypes.I32), uint64(x), num.Invalid)
}
func (f *Func) intLit(e num.Elem, x int64) value.Value {
	return literal(f.register(e), num.Bits(e, num.FromInt(x)), e)
}
func (f *Func) floatLit(e num.Elem, x float64) value.Value {
	return literal(f.register(e), num.Bits(e, num.Cast(num.F64, e, num.FromFloat(x))), e)
}
