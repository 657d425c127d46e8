package math

import std "math"

// exponent is the table for each format of exp's polynomial, of 2^r's, and of
// log 2.
type exponent struct{ rest, base2, ln2 []float64 }

func (t *terms) expTable() exponent {
	if t.wide() {
		return exponent{expF64, exp2F64, ln2F64}
	}
	return exponent{expF32, exp2F32, ln2F32}
}

// reduced splits e^(by x) as 2^n * e^(by r) with |by r| <= log(2)/2, where by is
// a power of 2 or its negative. raw holds n + low in its lowest bits. n * ln2[0]
// leaves x without rounding: the difference is a multiple of ln2[0]'s last bit
// and less than 1/2. tail (nil: none) is added to r.
func (t *terms) reduced(x, tail val, by float64, low int64) (raw, r val) {
	ln2 := t.expTable().ln2
	shifted := t.fma(x, t.c(by*log2e[0]), t.c(t.magic(low)))
	n := t.neg(t.sub(shifted, t.c(t.magic(low))))
	r = t.fma(n, t.c(ln2[0]/by), x)
	if tail == nil {
		return t.bits(shifted), t.fma(n, t.c(ln2[1]/by), r)
	}
	return t.bits(shifted), t.add(r, t.fma(n, t.c(ln2[1]/by), tail))
}

// expOf is k e^(by r) = k + k by r (1 + by r rest(by r)); by and k are powers of
// 2 or their negatives.
func (t *terms) expOf(r val, by, k float64, rest []float64) val {
	return t.fma(t.fma(t.poly(r, stretched(rest, by, k*by*by)), r, t.c(k*by)), r, t.c(k))
}

// stretched has the coefficients of k p(by x) for those of p.
func stretched(p []float64, by, k float64) []float64 {
	out := make([]float64, len(p))
	for i, c := range p {
		out[i] = c * k
		k *= by
	}
	return out
}

// halves gives 2^floor(n/2) and 2^ceil(n/2) for raw = n + 2*bias: two factors
// reach subnormal results and round once.
func (t *terms) halves(raw val) (a, b val) {
	if !t.wide() {
		h := t.shr(raw, 1)
		return t.float(t.shl(h, t.mant)), t.float(t.shl(t.sub(raw, h), t.mant))
	}
	// AVX2 has no arithmetic shift of 64 bits; here a mask does.
	half := t.halfExponent(raw)
	return t.float(half), t.float(t.sub(t.shl(raw, t.mant), half))
}

// halfExponent has floor(raw/2) in the place of the exponent.
func (t *terms) halfExponent(raw val) val {
	return t.and(t.shl(raw, t.mant-1), t.k(-1<<t.mant))
}

// expRange is where e^x is neither 0 nor infinite, and a little more.
func (t *terms) expRange() (lo, hi float64) {
	if t.wide() {
		return -746, 710
	}
	return -104, 89
}

// exp over the whole range.
func (t *terms) exp(x val) val {
	lo, hi := t.expRange()
	return t.expBounded(t.within(x, lo, hi), nil)
}

// expBounded is e^(x + tail) for x within expRange.
func (t *terms) expBounded(x, tail val) val {
	raw, r := t.reduced(x, tail, 1, 2*t.bias)
	a, b := t.halves(raw)
	return t.mul(t.mul(t.expOf(r, 1, 1, t.expTable().rest), a), b)
}

// expBelow is e^x for x that is not positive, or NaN. All that it can be and 2^half
// times that are in range, so that one factor of 2^n is enough: the polynomial has
// coefficients less by 2^half, and 2^(n + half) is a normal number. The product
// rounds once, to a subnormal number too.
func (t *terms) expBelow(x val) val {
	lo, _ := t.expRange()
	half := (t.bias + 1) / 2
	raw, r := t.reduced(t.atLeast(x, lo), nil, 1, t.bias+half)
	p := t.expOf(r, 1, std.Ldexp(1, -int(half)), t.expTable().rest)
	return t.mul(p, t.float(t.shl(raw, t.mant)))
}

// expNormal is e^x where that is a normal number: n is added to the exponent. A
// NaN is not kept.
func (t *terms) expNormal(x val, rest []float64) val {
	raw, r := t.reduced(x, nil, 1, 0)
	return t.float(t.add(t.bits(t.expOf(r, 1, 1, rest)), t.shl(raw, t.mant)))
}

// exp2 is 2^n (1 + r P(r)) with an exact r = x - n.
func (t *terms) exp2(x val) val {
	lo, hi := -151.0, 129.0
	if t.wide() {
		lo, hi = -1076, 1025
	}
	x = t.within(x, lo, hi)
	shifted := t.add(x, t.c(t.magic(2*t.bias)))
	r := t.sub(x, t.sub(shifted, t.c(t.magic(2*t.bias))))
	a, b := t.halves(t.bits(shifted))
	return t.mul(t.mul(t.fma(t.poly(r, t.expTable().base2), r, t.c(1)), a), b)
}

// expm1 is s p + (s - 1) with s = 2^n and p = e^r - 1, which is x itself near
// 0. Where s is 2 the sum cancels, so p takes in the rounding of r. Of great x
// half is computed, since s may be too great by one step.
func (t *terms) expm1(x val) val {
	_, hi := t.expRange()
	bounded := t.within(x, -float64(2*t.mant), hi)
	raw, r, lost := t.reducedPair(bounded)
	p := t.add(r, t.fma(t.mul(r, r), t.poly(r, t.expTable().rest), lost))
	great := t.gt(x, t.c(32))
	unit, down := t.pick(great, t.c(0.5), t.c(1)), t.pick(great, t.k(1), t.k(0))
	s := t.float(t.shl(t.sub(raw, down), t.mant))
	v := t.fma(s, p, t.sub(s, unit))
	return t.withSign(t.pick(great, t.mul(v, t.c(2)), v), x)
}

// reducedPair is reduced with by = 1 and low = bias, and what r lost in rounding.
func (t *terms) reducedPair(x val) (raw, r, lost val) {
	ln2 := t.expTable().ln2
	shifted := t.fma(x, t.c(log2e[0]), t.c(t.magic(t.bias)))
	n := t.neg(t.sub(shifted, t.c(t.magic(t.bias))))
	exact := t.fma(n, t.c(ln2[0]), x)
	r = t.fma(n, t.c(ln2[1]), exact)
	return t.bits(shifted), r, t.fma(n, t.c(ln2[1]), t.sub(exact, r))
}

// sigmoid is a / (a + b + b p) with x = m log 2 + r, p = e^-r - 1, a = 2^floor(m/2)
// and b = 2^-ceil(m/2): so no step leaves the range of normal numbers, and a
// result that is subnormal is rounded once. The greater of a and b comes last
// into the sum, so that the first rounding is small.
func (t *terms) sigmoid(x val) val {
	lo, _ := t.expRange()
	x = t.within(x, lo, -lo)
	raw, r := t.reduced(x, nil, 1, 2*t.bias)
	p := t.mul(t.fma(t.poly(r, stretched(t.expTable().rest, -1, 1)), r, t.c(-1)), r)
	var half val
	if t.wide() {
		half = t.halfExponent(raw)
	} else {
		half = t.shl(t.shr(raw, 1), t.mant)
	}
	// In the place of the exponent half has floor(m/2) + bias, raw m + 2*bias.
	a, b := t.float(half), t.float(t.add(t.sub(half, t.shl(raw, t.mant)), t.k(2*t.bias<<t.mant)))
	swap := t.lt(a, b)
	least, most := t.pick(swap, a, b), t.pick(swap, b, a)
	return t.div(a, t.add(t.fma(p, b, least), most))
}

// tanh is x + x z P(z) near 0, and 1 - 2/(e^2|x| + 1) from where it exceeds 1/2:
// there the exponential's error weighs half. A NaN takes the first.
func (t *terms) tanh(x val) val {
	near, end := tanhF32, 10.0
	if t.wide() {
		near, end = tanhF64, 20
	}
	a := t.abs(x)
	z := t.mul(a, a)
	low := t.fma(t.mul(a, z), t.poly(z, near), a)
	high := t.sub(t.c(1), t.halfLogistic(t.atMost(a, end), 2, 0.5))
	return t.withSign(t.pick(t.gt(a, t.c(0.549)), high, low), x)
}

// onePlusTanh is 1 + tanh x = 2/(1 + e^-2x). From the lower bound on, e^-2x is
// infinite.
func (t *terms) onePlusTanh(x val) val {
	if t.wide() {
		return t.halfLogistic(t.within(x, -355, 300), -2, 0.5)
	}
	return t.halfLogistic(t.within(x, -44.5, 40), -2, 0.5)
}

// halfLogistic is 1/(k + k e^(by x)) where e^(by x) is a normal number.
func (t *terms) halfLogistic(x val, by, k float64) val {
	raw, r := t.reduced(x, nil, by, t.bias)
	s := t.float(t.shl(raw, t.mant))
	return t.div(t.c(1), t.fma(t.expOf(r, by, k, t.expTable().rest), s, t.c(k)))
}
