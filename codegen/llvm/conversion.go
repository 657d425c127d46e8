package llvm

import (
	"github.com/llir/llvm/ir/enum"
	lltypes "github.com/llir/llvm/ir/types"
	"github.com/llir/llvm/ir/value"

	"tenon/internal/num"
)

// widen turns the bits of an f16 or bf16 into the f32 of the same value.
func (f *Func) widen(e num.Elem, x value.Value) value.Value {
	switch {
	case e == num.BF16:
		wide := f.cur.NewShl(f.cur.NewZExt(x, f.like(lltypes.I32)), f.int32Lit(16))
		return f.cur.NewBitCast(wide, f.like(lltypes.Float))
	case f.m.desc.HalfConvert:
		return f.cur.NewFPExt(f.cur.NewBitCast(x, f.like(lltypes.Half)), f.like(lltypes.Float))
	}
	return f.widenHalf(x)
}

// widenHalf is the conversion without hardware: exponent and mantissa move into
// place, then the exponent is rebiased; infinities and NaN need the rest of the
// way to the greatest exponent, and a subnormal is one subtraction away.
func (f *Func) widenHalf(x value.Value) value.Value {
	c := f.cur
	w := c.NewZExt(x, f.like(lltypes.I32))
	body := c.NewShl(c.NewAnd(w, f.int32Lit(0x7fff)), f.int32Lit(13))
	exp := c.NewAnd(body, f.int32Lit(0x7c00<<13))
	rebiased := c.NewAdd(body, f.int32Lit((127-15)<<23))
	special := c.NewAdd(rebiased, f.int32Lit((128-16)<<23))
	sub := c.NewFSub(c.NewBitCast(c.NewAdd(rebiased, f.int32Lit(1<<23)), f.like(lltypes.Float)), c.NewBitCast(f.int32Lit(113<<23), f.like(lltypes.Float)))
	out := f.pick(c.NewICmp(enum.IPredEQ, exp, f.int32Lit(0x7c00<<13)), special, rebiased)
	out = f.pick(c.NewICmp(enum.IPredEQ, exp, f.int32Lit(0)), c.NewBitCast(sub, f.like(lltypes.I32)), out)
	sign := c.NewShl(c.NewAnd(w, f.int32Lit(0x8000)), f.int32Lit(16))
	return c.NewBitCast(c.NewOr(out, sign), f.like(lltypes.Float))
}

// narrow rounds an f32 or f64 to the bits of an f16 or bf16, once.
func (f *Func) narrow(e num.Elem, x value.Value) value.Value {
	if x.Type().Equal(f.like(lltypes.Double)) {
		x = f.oddFloat(x)
	}
	switch {
	case e == num.BF16:
		return f.narrowBF16(x)
	case f.m.desc.HalfConvert:
		return f.cur.NewBitCast(f.cur.NewFPTrunc(x, f.like(lltypes.Half)), f.like(lltypes.I16))
	}
	return f.narrowHalf(x)
}

// oddFloat rounds a double to f32 and to odd, so that rounding on to 11 or 8
// bits is right: truncation, with the last bit set if anything was lost.
func (f *Func) oddFloat(x value.Value) value.Value {
	c := f.cur
	near := c.NewFPTrunc(x, f.like(lltypes.Float))
	back := c.NewFPExt(near, f.like(lltypes.Double))
	abs := func(v value.Value) value.Value { return intrinsic("fabs")(f, num.F64, []value.Value{v}) }
	away := c.NewZExt(c.NewFCmp(enum.FPredOGT, abs(back), abs(x)), f.like(lltypes.I32))
	lost := c.NewZExt(c.NewFCmp(enum.FPredONE, back, x), f.like(lltypes.I32))
	raw := c.NewSub(c.NewBitCast(near, f.like(lltypes.I32)), away)
	return c.NewBitCast(c.NewOr(raw, lost), f.like(lltypes.Float))
}

// narrowBF16 keeps the upper half, rounded to nearest even; NaN stays NaN. The
// hardware instruction of AVX-512 is not used: it flushes subnormals.
func (f *Func) narrowBF16(x value.Value) value.Value {
	c := f.cur
	raw := c.NewBitCast(x, f.like(lltypes.I32))
	odd := c.NewAnd(c.NewLShr(raw, f.int32Lit(16)), f.int32Lit(1))
	rounded := c.NewAdd(raw, c.NewAdd(odd, f.int32Lit(0x7fff)))
	quiet := c.NewOr(raw, f.int32Lit(0x400000))
	out := f.pick(c.NewFCmp(enum.FPredUNO, x, x), quiet, rounded)
	return c.NewTrunc(c.NewLShr(out, f.int32Lit(16)), f.like(lltypes.I16))
}

// narrowHalf rounds to nearest even without hardware. A result below 2^-14 is
// rounded by adding 0.5, whose last bit is that of the least subnormal; above,
// integer arithmetic on the bits carries into the exponent as it should.
func (f *Func) narrowHalf(x value.Value) value.Value {
	c := f.cur
	raw := c.NewBitCast(x, f.like(lltypes.I32))
	sign := c.NewAnd(raw, f.int32Lit(0x80000000))
	mag := c.NewXor(raw, sign)
	odd := c.NewAnd(c.NewLShr(mag, f.int32Lit(13)), f.int32Lit(1))
	normal := c.NewLShr(c.NewAdd(mag, c.NewAdd(odd, f.int32Lit(0xc8000fff))), f.int32Lit(13)) // (15-127)<<23 + 0xfff
	sum := c.NewFAdd(c.NewBitCast(mag, f.like(lltypes.Float)), f.float(0.5))
	small := c.NewSub(c.NewBitCast(sum, f.like(lltypes.I32)), f.int32Lit(0x3f000000))
	nan := c.NewOr(c.NewAnd(c.NewLShr(mag, f.int32Lit(13)), f.int32Lit(0x3ff)), f.int32Lit(0x7e00))
	out := f.pick(c.NewICmp(enum.IPredULT, mag, f.int32Lit(0x38800000)), small, normal)
	out = f.pick(c.NewICmp(enum.IPredUGE, mag, f.int32Lit(0x47800000)), f.int32Lit(0x7c00), out)
	out = f.pick(c.NewICmp(enum.IPredUGT, mag, f.int32Lit(0x7f800000)), nan, out)
	return c.NewTrunc(c.NewOr(out, c.NewLShr(sign, f.int32Lit(16))), f.like(lltypes.I16))
}

// oddDouble turns an i64 into a double rounded to odd. Below 2^53 it is exact;
// above, the lowest 11 bits fold into one that says whether any was set.
func (f *Func) oddDouble(x value.Value) value.Value {
	c := f.cur
	exact := c.NewICmp(enum.IPredULT, c.NewAdd(x, f.int64Lit(1<<53)), f.int64Lit(1<<54))
	rest := c.NewICmp(enum.IPredNE, c.NewAnd(x, f.int64Lit(1<<11-1)), f.int64Lit(0))
	top := c.NewOr(c.NewAShr(x, f.int64Lit(11)), c.NewZExt(rest, f.like(lltypes.I64)))
	scaled := c.NewFMul(c.NewSIToFP(top, f.like(lltypes.Double)), f.double(2048))
	return f.pick(exact, c.NewSIToFP(x, f.like(lltypes.Double)), scaled)
}
