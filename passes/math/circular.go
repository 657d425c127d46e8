package math

import std "math"

// circularMid is the sine of f32 (first 0) or the cosine (first 1), in f64.
// Below 2^24 the argument loses n pi/2 in two steps, the first exact. Above,
// the fraction of x * 2/pi comes from an integer product with the bits of 2/pi
// that matter (M. Payne and R. Hanek, 1983). Both are computed.
func (t *terms) circularMid(x val, first int64) val {
	d := t.in(double)
	a := t.abs(x)
	near, nq := d.nearTurn(t.Cast(a, d.flt))
	far, fq := d.farTurn(a)
	large := t.Scalar("ge", a, t.c(0x1p24))
	r, q := d.pick(large, far, near), d.pick(large, fq, nq)
	if first == 1 {
		q = d.add(q, d.k(1))
	}
	z := d.mul(r, r)
	sine := d.fma(d.mul(r, z), d.poly(z, sinMid), r)
	cosine := d.fma(z, d.fma(z, d.poly(z, cosMid), d.c(-0.5)), d.c(1))
	v := d.pick(d.eq(d.and(q, d.k(1)), d.k(0)), sine, cosine)
	v = d.float(d.xor(d.bits(v), d.shl(d.and(q, d.k(2)), 62)))
	s := t.Cast(v, t.flt)
	if first == 0 {
		s = t.float(t.xor(t.bits(s), t.signOf(x)))
	}
	return t.pick(t.lt(a, t.c(std.Inf(1))), s, t.c(std.NaN()))
}

// nearTurn is x - n pi/2 and n, in the lowest bits, for |x| < 2^24.
func (t *terms) nearTurn(x val) (r, n val) {
	shifted := t.fma(x, t.c(twoOverPi[0]), t.c(t.magic(0)))
	turns := t.neg(t.sub(shifted, t.c(t.magic(0))))
	r = t.fma(turns, t.c(halfPi[1]), t.fma(turns, t.c(halfPi[0]), x))
	return r, t.bits(shifted)
}

// farTurn is the same for f32 x from 2^1 to infinity. x = m 2^s with a 24-bit
// integer m; v is the fraction of 2^(s-2) * 2/pi, 96 bits of it, and the fraction
// of m v, in 64 bits, is that of x in full turns.
func (t *terms) farTurn(x val) (r, n val) {
	b := t.Cast(t.bitcast(x, single.integer), t.integer)
	m := t.or(t.and(b, t.k(1<<23-1)), t.k(1<<23))
	at := t.sub(t.and(t.shr(b, 23), t.k(255)), t.k(120)) // the first bit wanted, behind 32 zeros
	v := t.window(at, 3)
	y := t.add(t.shl(t.mul(m, v[0]), 32), t.add(t.mul(m, v[1]), t.shr(t.mul(m, v[2]), 32)))
	q := t.and(t.shr(t.add(y, t.k(1<<61)), 62), t.k(3))
	rest := t.sub(y, t.shl(q, 62))
	return t.mul(t.Cast(rest, t.flt), t.c(halfPi[0]*0x1p-62)), q
}

// window gives words of 32 bits from the bit at of 2/pi behind 32 zeros. The
// words are chosen by the bits of at, most significant first: each level halves
// the places where they may lie.
func (t *terms) window(at val, words int) []val {
	level := make([]val, 16)
	for i := range level {
		level[i] = t.k(0)
		if i > 0 {
			level[i] = t.k(twoOverPiWords[i-1])
		}
	}
	for _, step := range []int{4, 2, 1} {
		set := t.Scalar("ne", t.and(at, t.k(int64(32*step))), t.k(0))
		next := make([]val, words+step)
		for i := range next {
			next[i] = t.pick(set, level[i+step], level[i])
		}
		level = next
	}
	low := t.and(at, t.k(31))
	down := t.sub(t.k(32), low)
	out := make([]val, words)
	for i := range out {
		both := t.or(t.shl(level[i], 32), level[i+1])
		out[i] = t.and(t.Scalar("shr", both, down), t.k(1<<32-1))
	}
	return out
}
