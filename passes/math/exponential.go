package math

// exponent is the table for each format of exp's polynomial and of log 2.
type exponent struct{ rest, ln2 []float64 }

func (t *terms) expTable() exponent {
	if t.mant == single.mant {
		return exponent{expF32, ln2F32}
	}
	return exponent{expF64, ln2F64}
}

// reduced splits e^x as 2^n * e^r with |r| <= log(2)/2. raw holds n + low in its
// lowest bits. n * ln2[0] leaves x without rounding: the difference is a multiple
// of ln2[0]'s last bit and less than 1/2. tail (nil: none) is added to r.
func (t *terms) reduced(x, tail val, low int64, ln2 []float64) (raw, r val) {
	shifted := t.fma(x, t.c(log2e[0]), t.c(t.magic(low)))
	n := t.neg(t.sub(shifted, t.c(t.magic(low))))
	r = t.fma(n, t.c(ln2[0]), x)
	if tail == nil {
		return t.bits(shifted), t.fma(n, t.c(ln2[1]), r)
	}
	return t.bits(shifted), t.add(r, t.fma(n, t.c(ln2[1]), tail))
}

// expOf is e^r = 1 + r (1 + r rest(r)).
func (t *terms) expOf(r val, rest []float64) val {
	one := t.c(1)
	return t.fma(t.fma(t.poly(r, rest), r, one), r, one)
}

// halves gives 2^floor(n/2) and 2^ceil(n/2) for raw = n + 2*bias: two factors
// reach subnormal results and round once.
func (t *terms) halves(raw val) (a, b val) {
	if t.mant == single.mant {
		h := t.shr(raw, 1)
		return t.float(t.shl(h, t.mant)), t.float(t.shl(t.sub(raw, h), t.mant))
	}
	// AVX2 has no arithmetic shift of 64 bits; here a mask does.
	mask := t.k(-1 << t.mant)
	next := t.add(raw, t.k(1))
	return t.float(t.and(t.shl(raw, t.mant-1), mask)), t.float(t.and(t.shl(next, t.mant-1), mask))
}

// expRange is where e^x is neither 0 nor infinite, and a little more.
func (t *terms) expRange() (lo, hi float64) {
	if t.mant == single.mant {
		return -104, 89
	}
	return -746, 710
}

// exp over the whole range.
func (t *terms) exp(x val) val {
	lo, hi := t.expRange()
	return t.expBounded(t.atMost(t.atLeast(x, lo), hi), nil)
}

// expBounded is e^(x + tail) for x within expRange.
func (t *terms) expBounded(x, tail val) val { return t.mul(t.expFactors(x, tail)) }

// expFactors gives the two factors of expBounded; the second is a power of 2.
func (t *terms) expFactors(x, tail val) (p, scale val) {
	e := t.expTable()
	raw, r := t.reduced(x, tail, 2*t.bias, e.ln2)
	p = t.expOf(r, e.rest)
	a, b := t.halves(raw)
	return t.mul(p, a), b
}

// expNormal is e^x where that is a normal number: n is added to the exponent. A
// NaN is not kept.
func (t *terms) expNormal(x val, rest []float64) val {
	raw, r := t.reduced(x, nil, 0, t.expTable().ln2)
	return t.float(t.add(t.bits(t.expOf(r, rest)), t.shl(raw, t.mant)))
}

// sigmoid has z = e^-|x|; below 0 it is q = z/(1+z), above 1 - q. The quotient
// gets one correction for the rounding of 1 + z and its own, by the reciprocal
// 1/(1+z) = 1 - q.
func (t *terms) sigmoid(x val) val {
	lo, _ := t.expRange()
	p, scale := t.expFactors(t.atLeast(t.neg(t.abs(x)), lo), nil)
	z := t.mul(p, scale)
	den := t.fma(p, scale, t.c(1))
	lost := t.fma(p, scale, t.sub(t.c(1), den))
	q := t.div(z, den)
	rest := t.fma(t.neg(q), lost, t.fma(t.neg(q), den, z))
	q = t.fma(rest, t.sub(t.c(1), q), q)
	return t.pick(t.lt(x, t.c(0)), q, t.sub(t.c(1), q))
}

// tanh is x + x z P(z) near 0, and 1 - 2/(e^2|x| + 1) from where it exceeds 1/2:
// there the exponential's error weighs half. A NaN takes the first.
func (t *terms) tanh(x val) val {
	near, end := tanhF32, 10.0
	if t.mant != single.mant {
		near, end = tanhF64, 20
	}
	a := t.abs(x)
	z := t.mul(a, a)
	low := t.fma(t.mul(a, z), t.poly(z, near), a)
	b := t.atMost(a, end)
	e := t.expNormal(t.mul(b, t.c(2)), t.expTable().rest)
	high := t.sub(t.c(1), t.div(t.c(2), t.add(e, t.c(1))))
	return t.withSign(t.pick(t.gt(a, t.c(0.549)), high, low), x)
}

// erf is x + x P(z) near 0, and 1 - e^R(|x|) beyond, with R = log(1 - erf).
func (t *terms) erf(x val) val {
	near, far, mid, end := erfNearF32, erfFarF32, 1.0, 4.0
	if t.mant != single.mant {
		near, far, mid, end = erfNearF64, erfFarF64, 1, 6
	}
	a := t.abs(x)
	low := t.fma(a, t.poly(t.mul(a, a), near), a)
	r := t.poly(t.sub(t.atMost(a, end), t.c(mid)), far)
	high := t.sub(t.c(1), t.expNormal(r, t.expTable().rest))
	return t.withSign(t.pick(t.gt(a, t.c(0.85)), high, low), x)
}
