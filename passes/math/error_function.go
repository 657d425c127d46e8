package math

// erf is x + x P(z) near 0, and beyond 1 - w with w = 1 - erf |x|: the fourth
// power of a polynomial for f32, e^R(|x|) for f64.
func (t *terms) erf(x val) val {
	near := erfNearF32
	if t.wide() {
		near = erfNearF64
	}
	a := t.abs(x)
	low := t.fma(a, t.poly(t.mul(a, a), near), a)
	var high val
	if t.wide() {
		r := t.poly(t.sub(t.atMost(a, 6), t.c(1)), erfFarF64)
		high = t.sub(t.c(1), t.expNormal(r, t.expTable().rest))
	} else {
		q := t.poly(t.sub(t.atMost(a, erfEnd), t.c(erfMid)), erfFarF32)
		q = t.mul(q, q)
		high = t.fma(t.neg(q), q, t.c(1))
	}
	return t.withSign(t.pick(t.gt(a, t.c(0.85)), high, low), x)
}

// onePlusErf is 1 + erf x for f32: w for x < 0 and 2 - w above, with w = 1 - erf |x|,
// the fourth power of 1 + d, d = |x| P(|x|), and 0 from erfEnd on. The square is
// 1 + d (2 + d): an error of 1 + d would count twice as much.
func (t *terms) onePlusErf(x val) val {
	a := t.abs(x)
	p := t.parity(a, erfcF32)
	q := t.fma(t.mul(a, p), t.fma(a, p, t.c(2)), t.c(1))
	q = t.pick(t.gt(a, t.c(erfEnd)), t.c(0), q)
	return t.pick(t.negative(x), t.mul(q, q), t.fma(t.neg(q), q, t.c(2)))
}

// erf of f32 is 1 from erfEnd on; polynomials are in |x| - erfMid.
const erfEnd, erfMid = 3.95, 1
