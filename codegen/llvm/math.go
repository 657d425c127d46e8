package llvm

import (
	"github.com/llir/llvm/ir/enum"
	lltypes "github.com/llir/llvm/ir/types"
	"github.com/llir/llvm/ir/value"

	"tenon/internal/num"
)

// libm calls the C library's function: name for f64, name with an f for f32.
// Those used here are within 1.5 ulp in glibc.
func libm(name string) emit {
	return func(f *Func, e num.Elem, a []value.Value) value.Value {
		t := a[0].Type()
		full := name
		if e == num.F32 {
			full += "f"
		}
		params := make([]lltypes.Type, len(a))
		for i := range a {
			params[i] = t
		}
		return f.cur.NewCall(f.m.declare(full, t, true, params...), a...)
	}
}

// inDouble evaluates an f64 formula for f32 as well and rounds the result,
// where the formula or the C library's float version loses more than 2 ulp.
func inDouble(inner emit) emit {
	return func(f *Func, e num.Elem, a []value.Value) value.Value {
		if e == num.F64 {
			return inner(f, e, a)
		}
		w := make([]value.Value, len(a))
		for i, x := range a {
			w[i] = f.cur.NewFPExt(x, f.like(lltypes.Double))
		}
		return f.cur.NewFPTrunc(inner(f, num.F64, w), f.like(lltypes.Float))
	}
}

func call1(f *Func, e emit, x value.Value) value.Value { return e(f, num.F64, []value.Value{x}) }

// sigmoid is 1 / (1 + z) for x >= 0 and z / (1 + z) below, with z = exp(-|x|):
// neither side overflows or cancels.
func sigmoid(f *Func, _ num.Elem, a []value.Value) value.Value {
	z := call1(f, libm("exp"), f.cur.NewFNeg(call1(f, intrinsic("fabs"), a[0])))
	den := f.cur.NewFAdd(z, f.double(1))
	top := f.pick(f.cur.NewFCmp(enum.FPredOGE, a[0], f.double(0)), f.double(1), z)
	return f.cur.NewFDiv(top, den)
}

// rsqrt rounds twice, which stays within 1.5 ulp.
func rsqrt(f *Func, _ num.Elem, a []value.Value) value.Value {
	return f.cur.NewFDiv(f.double(1), call1(f, intrinsic("sqrt"), a[0]))
}

// tanh is t / (t + 2) with t = expm1(2|x|). glibc's own reaches 2.2 ulp; here
// the division's error and that of t + 2 are fed back, which leaves expm1's.
// Beyond 20 the result is 1.
func tanh(f *Func, _ num.Elem, a []value.Value) value.Value {
	c := f.cur
	mag := call1(f, intrinsic("fabs"), a[0])
	mag = f.pick(c.NewFCmp(enum.FPredOGT, mag, f.double(20)), f.double(20), mag)
	t := call1(f, libm("expm1"), c.NewFAdd(mag, mag))
	den := c.NewFAdd(t, f.double(2))
	big := c.NewFCmp(enum.FPredOGT, t, f.double(2))
	hi, lo := f.pick(big, t, f.double(2)), f.pick(big, f.double(2), t)
	err := c.NewFSub(lo, c.NewFSub(den, hi)) // t + 2 = den + err
	q := c.NewFDiv(t, den)
	rest := f.fma64(c.NewFNeg(q), den, t)
	rest = f.fma64(c.NewFNeg(q), err, rest)
	out := c.NewFAdd(q, c.NewFDiv(rest, den))
	// A subnormal quotient has no room for a correction; there tanh x is x.
	tiny := c.NewFCmp(enum.FPredOLT, mag, f.double(0x1p-30))
	out2 := f.pick(tiny, mag, out)
	return intrinsic("copysign")(f, num.F64, []value.Value{out2, a[0]})
}

// cbrt refines glibc's 3.7 ulp by one Newton step with an exact residual.
// Subnormal and very small arguments are scaled by 2^600 first.
func cbrt(f *Func, _ num.Elem, a []value.Value) value.Value {
	c := f.cur
	small := c.NewFCmp(enum.FPredOLT, call1(f, intrinsic("fabs"), a[0]), f.double(0x1p-800))
	x := f.pick(small, c.NewFMul(a[0], f.double(0x1p600)), a[0])
	y := call1(f, libm("cbrt"), x)
	y2 := c.NewFMul(y, y)
	e2 := f.fma64(y, y, c.NewFNeg(y2))
	y3 := c.NewFMul(y2, y)
	e3 := f.fma64(y2, y, c.NewFNeg(y3))
	over := c.NewFAdd(c.NewFSub(y3, x), f.fma64(e2, y, e3))
	better := c.NewFSub(y, c.NewFDiv(over, c.NewFMul(f.double(3), y2)))
	// 0, infinities and NaN: the step computes 0/0 or inf - inf.
	usual := c.NewFCmp(enum.FPredORD, better, better)
	out := f.pick(usual, better, y)
	return f.pick(small, c.NewFMul(out, f.double(0x1p-200)), out)
}

func (f *Func) fma64(a, b, c value.Value) value.Value {
	return intrinsic("fma")(f, num.F64, []value.Value{a, b, c})
}
