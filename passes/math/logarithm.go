package math

import std "math"

// normal is x = 2^n (1 + f) with sqrt(1/2) <= 1 + f < sqrt 2: n as a float, and
// an exact f. i has n in the place of the exponent; of f64, n + bias.
type normal struct{ n, f, i val }

// normalised takes positive finite x apart. With subnormal, x may be one: it is
// scaled first.
func (t *terms) normalised(x val, subnormal bool) normal {
	var extra val
	if subnormal {
		tiny := t.lt(x, t.c(std.Ldexp(1, int(1-t.bias))))
		x = t.pick(tiny, t.mul(x, t.c(std.Ldexp(1, int(t.mant+1)))), x)
		extra = t.pick(tiny, t.c(float64(t.mant+1)), t.c(0))
	}
	i, n := t.bits(x), val(nil)
	if t.wide() {
		i = t.add(i, t.k(t.bias<<t.mant-t.rootHalf()))
		n = t.quotient(i)
	} else {
		i = t.sub(i, t.k(t.rootHalf()))
		n = t.Cast(t.shr(i, t.mant), t.flt)
	}
	if subnormal {
		n = t.sub(n, extra)
	}
	m := t.float(t.add(t.and(i, t.fraction()), t.k(t.rootHalf())))
	return normal{n, t.sub(m, t.c(1)), i}
}

// inverse is 2^-n, or 0 where that is not a normal number.
func (t *terms) inverse(x normal) val {
	from := t.bias
	if t.wide() {
		from = 2 * t.bias
	}
	e := t.sub(t.k(from<<t.mant), t.and(x.i, t.k(-1<<t.mant)))
	return t.float(t.Scalar("max", e, t.k(0)))
}

// quotient is floor(i / 2^mant) - bias as a float, for i without a sign. Few
// machines convert integers of 64 bits: here the quotient becomes the last bits
// of a float, whose ulp is 1.
func (t *terms) quotient(i val) val {
	e := t.and(t.shr(i, t.mant), t.k(4*t.bias+3))
	whole := float64(int64(1) << t.mant)
	return t.sub(t.float(t.or(e, t.k((t.bias+t.mant)<<t.mant))), t.c(whole+float64(t.bias)))
}

// rootHalf is the bits of sqrt(1/2).
func (t *terms) rootHalf() int64 {
	if t.wide() {
		return int64(std.Float64bits(std.Sqrt2 / 2))
	}
	return int64(std.Float32bits(std.Sqrt2 / 2))
}

// log over the whole range.
func (t *terms) log(x val) val {
	m := t.normalised(x, true)
	return t.logEdges(x, 0, t.logSum(m.n, m.f))
}

// logSum is n log 2 + log(1 + f).
func (t *terms) logSum(n, f val) val {
	if t.wide() {
		return t.logQuotient(n, f, logF64)
	}
	return t.logSeries(n, f)
}

// logEdges settles the function's pole, where x is least, infinity, NaN and what
// is below least.
func (t *terms) logEdges(x val, least float64, r val) val {
	r = t.pick(t.lt(x, t.c(std.Inf(1))), r, x)
	pole := t.pick(t.eq(x, t.c(least)), t.c(std.Inf(-1)), t.c(std.NaN()))
	return t.pick(t.gt(x, t.c(least)), r, pole)
}

// logSeries is n log 2 + f - f^2/2 + f^3 P(f).
func (t *terms) logSeries(n, f val) val {
	p := t.fma(f, t.poly(f, logF32), t.c(-0.5))
	low := t.fma(n, t.c(ln2F32[1]), t.mul(t.mul(f, f), p))
	return t.fma(n, t.c(ln2F32[0]), t.add(f, low))
}

// logQuotient is n log 2 + f - s (f - z R(z)) with s = f/(2 + f), z = s^2.
func (t *terms) logQuotient(n, f val, rest []float64) val {
	s, inner := t.quotientParts(f, rest)
	low := t.fma(t.neg(s), inner, t.mul(n, t.c(ln2F64[1])))
	return t.fma(n, t.c(ln2F64[0]), t.add(f, low))
}

// quotientParts are s and f - z R(z).
func (t *terms) quotientParts(f val, rest []float64) (s, inner val) {
	s = t.div(f, t.add(f, t.c(2)))
	z := t.mul(s, s)
	return s, t.fma(t.neg(z), t.poly(z, rest), f)
}

// log2 is n + log2(1 + f), which is f times 1 / log 2 in two parts, and the rest
// of the series.
func (t *terms) log2(x val) val {
	m := t.normalised(x, true)
	var low val
	if t.wide() {
		s, inner := t.quotientParts(m.f, logF64)
		low = t.fma(m.f, t.c(log2e[1]), t.mul(t.mul(t.neg(s), inner), t.c(log2e[0])))
		return t.logEdges(x, 0, t.add(m.n, t.fma(m.f, t.c(log2e[0]), low)))
	}
	low = t.mul(m.f, t.poly(m.f, log2F32)) // c(log2e[0]) is rounded to f32
	return t.logEdges(x, 0, t.add(m.n, t.fma(m.f, t.c(log2e[0]), low)))
}

// log1p takes the logarithm of u = 1 + x, rounded; what u lost goes into f,
// scaled as u is. So f is x again where n is 0.
func (t *terms) log1p(x val) val {
	one := t.c(1)
	u := t.add(x, one)
	m := t.normalised(u, false)
	small := t.lt(t.abs(x), one)
	lost := t.pick(small, t.sub(x, t.sub(u, one)), t.sub(one, t.sub(u, x)))
	f := t.fma(lost, t.inverse(m), m.f)
	return t.withSign(t.logEdges(x, -1, t.logSum(m.n, f)), x)
}
