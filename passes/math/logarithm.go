package math

import std "math"

// normalised is x = 2^n * m with sqrt(1/2) <= m < sqrt 2, for positive finite x:
// n as a float, and f = m - 1, which is exact. With subnormal, x may be one: it
// is scaled first.
func (t *terms) normalised(x val, subnormal bool) (n, f val) {
	least := std.Ldexp(1, int(1-t.bias))
	shift := t.mant + 1
	base := int64(1)<<t.mant + t.offset()
	bias := t.c(float64(base))
	if subnormal {
		tiny := t.lt(x, t.c(least))
		x = t.pick(tiny, t.mul(x, t.c(std.Ldexp(1, int(shift)))), x)
		bias = t.pick(tiny, t.c(float64(base+shift)), bias)
	}
	// Subtracting sqrt(1/2) as an integer makes the exponent field n; the offset
	// keeps it positive, and 2^mant turns it into a float.
	i := t.add(t.bits(x), t.k(t.offset()<<t.mant-t.rootHalf()))
	m := t.float(t.add(t.and(i, t.fraction()), t.k(t.rootHalf())))
	e := t.and(t.shr(i, t.mant), t.k(2*t.bias+1))
	n = t.sub(t.float(t.or(e, t.k((t.bias+t.mant)<<t.mant))), bias)
	return n, t.sub(m, t.c(1))
}

// offset makes n positive and leaves it within the bits of an exponent: n is at
// least 1 - bias (a scaled subnormal is normal) and at most bias + 1.
func (t *terms) offset() int64 { return t.bias }

// rootHalf is the bits of sqrt(1/2).
func (t *terms) rootHalf() int64 {
	if t.mant == single.mant {
		return int64(std.Float32bits(std.Sqrt2 / 2))
	}
	return int64(std.Float64bits(std.Sqrt2 / 2))
}

// log over the whole range.
func (t *terms) log(x val) val {
	n, f := t.normalised(x, true)
	var r val
	if t.mant == single.mant {
		r = t.logSeries(n, f)
	} else {
		r = t.logQuotient(n, f, logF64)
	}
	return t.logEdges(x, r)
}

// logEdges settles 0, infinity, NaN and what is below 0.
func (t *terms) logEdges(x, r val) val {
	inf := t.c(std.Inf(1))
	r = t.pick(t.lt(x, inf), r, x)
	return t.pick(t.gt(x, t.c(0)), r, t.pick(t.eq(x, t.c(0)), t.c(std.Inf(-1)), t.c(std.NaN())))
}

// logSeries is n log 2 + f - f^2/2 + f^3 P(f).
func (t *terms) logSeries(n, f val) val {
	p := t.fma(f, t.poly(f, logF32), t.c(-0.5))
	low := t.fma(n, t.c(ln2F32[1]), t.mul(t.mul(f, f), p))
	return t.fma(n, t.c(ln2F32[0]), t.add(f, low))
}

// logQuotient is n log 2 + f - s (f - z R(z)) with s = f/(2 + f), z = s^2.
func (t *terms) logQuotient(n, f val, rest []float64) val {
	s := t.div(f, t.add(f, t.c(2)))
	z := t.mul(s, s)
	inner := t.fma(t.neg(z), t.poly(z, rest), f)
	low := t.fma(t.neg(s), inner, t.mul(n, t.c(ln2F64[1])))
	return t.fma(n, t.c(ln2F64[0]), t.add(f, low))
}
