package math

import std "math"

// powMid is x^y of f32 as e^(y log|x|) in f64, of which 38 bits survive.
func (t *terms) powMid(x, y val) val {
	d := t.in(double)
	xd, yd := t.Cast(x, d.flt), t.Cast(y, d.flt)
	a := d.abs(xd)
	m := d.normalised(a, false)
	l := d.logEdges(a, 0, d.logQuotient(m.n, m.f, logMid))
	p := d.exponentOf(xd, yd, d.mul(yd, l))
	e := d.expNormal(d.atMost(d.atLeast(p, -300), 300), expMid)
	e = d.pick(d.eq(p, p), e, p)
	return t.Cast(d.powSigns(xd, yd, e), t.flt)
}

// exponentOf is p = y log|x|, or 0 where the power is 1 whatever the other
// operand, infinite or NaN: 1^y, (-1)^y and x^0.
func (t *terms) exponentOf(x, y, p val) val {
	return t.pick(t.or(t.eq(t.abs(x), t.c(1)), t.eq(y, t.c(0))), t.c(0), p)
}

// powSigns gives |x|^y its sign for negative x and odd y, NaN for finite x < 0
// and y that is no integer.
func (t *terms) powSigns(x, y, r val) val {
	half := t.mul(y, t.c(0.5))
	whole := t.eq(t.Scalar("floor", y), y)
	odd := t.and(whole, t.Scalar("ne", t.Scalar("floor", half), half))
	negative := t.lt(t.bits(x), t.k(0))
	r = t.pick(t.and(negative, odd), t.neg(r), r)
	invalid := t.and(t.and(t.lt(x, t.c(0)), t.gt(x, t.c(std.Inf(-1)))), t.Scalar("not", whole))
	return t.pick(invalid, t.c(std.NaN()), r)
}

// pow of f64 needs y log|x| to 2^-64 of itself, since e^ turns its absolute
// error into a relative one: logarithm and product are pairs of numbers.
func (t *terms) pow(x, y val) val {
	a := t.abs(x)
	hi, lo := t.logPair(a)
	p := t.mul(y, t.logEdges(a, 0, hi))
	tail := t.fma(y, lo, t.fma(y, hi, t.neg(p)))
	tail = t.pick(t.lt(t.abs(tail), t.c(0x1p-30)), tail, t.c(0)) // within the range it is 2^-33 at most
	low, high := t.expRange()
	r := t.expBounded(t.atMost(t.atLeast(t.exponentOf(x, y, p), low), high), tail)
	return t.powSigns(x, y, r)
}

// logPair is the logarithm of positive finite x as a pair: n log 2 + 2 atanh(t/2)
// with t = 2f/(2 + f), and 2 atanh(t/2) = t + t w (1/12 + w T(w)), w = t^2.
// Error terms follow Dekker (1971) with fma for the products.
func (t *terms) logPair(x val) (hi, lo val) {
	m := t.normalised(x, true)
	n := m.n
	th, tl := t.quotientPair(m.f)
	wh := t.mul(th, th)
	wl := t.fma(th, tl, t.fma(th, tl, t.fma(th, th, t.neg(wh))))
	tail := t.poly(wh, logTail)
	// u = 1/12 + w T, v = w u
	uh := t.fma(wh, tail, t.c(twelfth[0]))
	ul := t.add(t.fma(wh, tail, t.sub(t.c(twelfth[0]), uh)), t.c(twelfth[1]))
	vh := t.mul(wh, uh)
	vl := t.fma(wl, uh, t.fma(wh, ul, t.fma(wh, uh, t.neg(vh))))
	// l = t + t v
	lh := t.fma(th, vh, th)
	ll := t.fma(th, vh, t.sub(th, lh))
	ll = t.add(ll, t.fma(tl, vh, t.fma(th, vl, tl)))
	// n * ln2Long[0] is exact.
	hi = t.fma(n, t.c(ln2Long[0]), lh)
	lost := t.sub(lh, t.fma(t.neg(n), t.c(ln2Long[0]), hi))
	lo = t.add(lost, t.fma(n, t.c(ln2Long[1]), ll))
	return hi, lo
}

// quotientPair is 2f/(2 + f) as a pair.
func (t *terms) quotientPair(f val) (hi, lo val) {
	dh := t.add(f, t.c(2))
	dl := t.sub(f, t.sub(dh, t.c(2)))
	twice := t.add(f, f)
	hi = t.div(twice, dh)
	rest := t.fma(t.neg(hi), dl, t.fma(t.neg(hi), dh, twice))
	return hi, t.div(rest, dh)
}
