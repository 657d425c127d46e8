package math

import std "math"

// rsqrt rounds twice.
func (t *terms) rsqrt(x val) val { return t.div(t.c(1), t.Scalar("sqrt", x)) }

// cbrtSingle is the cube root of f32. y = x^(-1/3), guessed from x's bits, takes
// one step by a polynomial in 1 - x y^3; then r = x y^2 takes Newton's step with a
// residual that is rounded once. Subnormals are scaled by 2^24 and back by 2^-8.
func (t *terms) cbrtSingle(x val) val {
	a := t.abs(x)
	tiny := t.lt(a, t.c(0x1p-126))
	a = t.pick(tiny, t.mul(a, t.c(0x1p24)), a)
	i := t.Cast(t.shr(t.bits(a), 9), t.flt)
	y := t.float(t.shl(t.bits(t.fma(i, t.c(-1.0/3), t.c(0x1p23+rootGuess))), 9))
	e := t.fma(t.neg(t.mul(t.mul(y, y), a)), y, t.c(1))
	y = t.fma(t.mul(y, e), t.poly(e, rootStep), y)
	y2 := t.mul(y, y)
	r := t.mul(a, y2)
	over := t.fma(t.neg(t.mul(r, r)), r, a)
	r = t.fma(over, t.mul(y2, t.c(1.0/3)), r)
	r = t.mul(r, t.pick(tiny, t.c(0x1p-8), t.c(1)))
	return t.cbrtEdges(x, r)
}

// cbrt of f64 scales subnormals by 2^54 and the result by 2^-18.
func (t *terms) cbrt(x val) val {
	a := t.abs(x)
	tiny := t.lt(a, t.c(0x1p-1022))
	scaled := t.pick(tiny, t.mul(a, t.c(0x1p54)), a)
	return t.cbrtEdges(x, t.cbrtScaled(scaled, 2, t.pick(tiny, t.k(18), t.k(0))))
}

// cbrtScaled takes a = 2^(3k) * m with 1 <= m < 8 apart; the root starts as a
// polynomial and doubles its 16 bits with each step of Newton's iteration. down
// is subtracted from the exponent of the result.
func (t *terms) cbrtScaled(a val, steps int, down val) val {
	i := t.bits(a)
	e := t.shr(i, t.mant)
	third := t.shr(t.mul(e, t.k(0x5556)), 16) // e/3 for e < 2^15
	rest := t.sub(e, t.mul(third, t.k(3)))
	m := t.float(t.or(t.and(i, t.fraction()), t.one()))
	second, none := t.eq(rest, t.k(1)), t.eq(rest, t.k(0))
	choose := func(a, b, c float64) val { return t.pick(none, t.c(a), t.pick(second, t.c(b), t.c(c))) }
	y := t.mul(t.poly(m, cbrtStart), choose(1, cbrtOf2[0], cbrtOf4[0]))
	m = t.mul(m, choose(1, 2, 4))
	for range steps {
		y = t.cbrtStep(y, m)
	}
	k := t.sub(t.add(third, t.k(t.bias-t.bias/3)), down)
	return t.mul(y, t.float(t.shl(k, t.mant)))
}

// cbrtStep is y - (y^3 - m) / (3 y^2); the residual is exact but for one rounding
// of itself.
func (t *terms) cbrtStep(y, m val) val {
	y2 := t.mul(y, y)
	low := t.fma(y, y, t.neg(y2))
	over := t.fma(low, y, t.fma(y2, y, t.neg(m)))
	return t.fma(t.neg(over), t.div(t.c(1), t.mul(y2, t.c(3))), y)
}

// cbrtEdges keeps zeros, infinities and NaN as they are.
func (t *terms) cbrtEdges(x, r val) val {
	a := t.abs(x)
	usual := t.and(t.gt(a, t.c(0)), t.lt(a, t.c(std.Inf(1))))
	return t.pick(usual, t.withSign(r, x), x)
}
