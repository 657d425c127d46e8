package math

import std "math"

// circularMid is the sine of f32 (quarter 0) or the cosine (quarter 1), in f64.
// |x| / pi = n + f, and the sine is that of pi f, negative for odd n; of the
// cosine n is whole plus 1/2.
func (t *terms) circularMid(x val, quarter int64) val {
	d := t.in(double)
	a := d.Cast(t.abs(x), d.flt)
	f, n := d.halfTurns(a, quarter)
	v := d.mul(f, d.poly(d.mul(f, f), sinTurnMid))
	v = d.float(d.xor(d.bits(v), d.shl(n, 63)))
	s := t.Cast(v, t.flt)
	if quarter == 1 {
		return s
	}
	return t.float(t.xor(t.bits(s), t.signOf(x)))
}

// halfTurns is a / pi = n + f for a >= 0 of f32, with n in the lowest bits; for
// quarter 1, n - 1/2 + f. The less of a / pi's bits are even integers, the
// greater a is: a row of turnWindows has the bits of 1/pi that are left from some
// a on, in two parts (M. Payne and R. Hanek, 1983, on floats instead of words).
// Infinity becomes NaN.
func (t *terms) halfTurns(a val, quarter int64) (f, n val) {
	first, second := t.c(turnWindows[0][0]), t.c(turnWindows[0][1])
	for i, w := range turnWindows[1:] {
		from := t.Scalar("ge", a, t.c(std.Ldexp(1, turnWindowFrom+i*turnWindowStep)))
		first, second = t.pick(from, t.c(w[0]), first), t.pick(from, t.c(w[1]), second)
	}
	p := t.fma(a, first, t.c(0)) // a product that no sum takes in
	rest := t.fma(a, second, t.fma(a, first, t.neg(p)))
	magic := t.c(t.magic(quarter))
	if quarter == 0 {
		shifted := t.add(p, magic)
		return t.add(t.sub(p, t.sub(shifted, magic)), rest), t.bits(shifted)
	}
	half := t.c(0.5)
	shifted := t.add(t.sub(p, half), magic)
	whole := t.add(t.sub(shifted, magic), half)
	return t.add(t.sub(p, whole), rest), t.bits(shifted)
}
