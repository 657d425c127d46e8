package num

import "math"

// The functions here are for f64 programs: within 1 ulp, computed in
// double-double where the standard library is not (its Pow loses thousands of
// ulps at large exponents, its Tanh and Log differ by platform).

// ln2 is the natural logarithm of 2 in three parts: 159 bits.
const (
	ln2hi  = 0x1.62e42fefa39efp-1
	ln2mid = 0x1.abc9e3b39803fp-56
	ln2lo  = 0x1.7b57a079a1934p-111
)

var (
	ln2    = dd{ln2hi, ln2mid}
	invLn2 = dd{1, 0}.div(ln2)

	factorials = reciprocals(14, func(n int) float64 { return float64(n + 1) })
	oddRecips  = oddReciprocals(24)
)

// reciprocals is 1/(f(0)), 1/(f(0) f(1)), ..
func reciprocals(n int, f func(int) float64) []dd {
	r, p := make([]dd, n), dd{1, 0}
	for i := range r {
		p = p.div(dd{f(i), 0})
		r[i] = p
	}
	return r
}

// oddReciprocals is 1, 1/3, 1/5, ..
func oddReciprocals(n int) []dd {
	r := make([]dd, n)
	for i := range r {
		r[i] = dd{1, 0}.div(dd{float64(2*i + 1), 0})
	}
	return r
}

// horner is c[0] + c[1] z + c[2] z^2 + .., the first exact terms in
// double-double, the rest, whose weight is small, in float64.
func horner(z dd, c []dd, exact int) dd {
	tail := 0.0
	for i := len(c) - 1; i >= exact; i-- {
		tail = math.FMA(tail, z.hi, c[i].hi)
	}
	r := z.mulf(tail)
	for i := exact - 1; i > 0; i-- {
		r = r.add(c[i]).mul(z)
	}
	return r.add(c[0])
}

// expReduced is (k, e^r - 1) with e^x = 2^k e^r, |r| <= ln2/2, for |x| < 800.
func expReduced(x dd) (k float64, m dd) {
	k = math.RoundToEven(x.hi * invLn2.hi)
	p, e := twoProd(k, ln2hi)
	r := x.sub(dd{p, e})
	p, e = twoProd(k, ln2mid)
	r = r.sub(dd{p, e}).addf(-k * ln2lo)
	// The series at r/16, then four squarings of 1 + m.
	r = r.scale(1.0 / 16)
	m = r.mul(horner(r, factorials, 7))
	for range 4 {
		m = m.scale(2).add(m.mul(m))
	}
	return k, m
}

// expDD is e^x as a double-double times 2^k.
func expDD(x dd) (m dd, k int) {
	kf, m := expReduced(x)
	return m.addf(1), int(kf)
}

// expRange tells the exponents beyond which e^x is 0 or infinite from the rest.
func expRange(x float64) (result float64, done bool) {
	switch {
	case x != x:
		return x, true
	case x > 710:
		return math.Inf(1), true
	case x < -746:
		return 0, true
	}
	return 0, false
}

func expValue(x dd) float64 {
	if r, done := expRange(x.hi); done {
		return r
	}
	m, k := expDD(x)
	return math.Ldexp(m.value(), k)
}

// Exp is e^x.
func Exp(x float64) float64 { return expValue(dd{x, 0}) }

// Exp2 is 2^x.
func Exp2(x float64) float64 {
	switch {
	case x != x:
		return x
	case x >= 1024:
		return math.Inf(1)
	case x < -1076:
		return 0
	}
	k := math.RoundToEven(x)
	m, j := expDD(ln2.mulf(x - k))
	return math.Ldexp(m.value(), j+int(k))
}

// expm1DD keeps its relative precision as x goes to 0. |x| < 700.
func expm1DD(x dd) dd {
	k, m := expReduced(x)
	if k == 0 {
		return m
	}
	s := math.Ldexp(1, int(k))
	return m.scale(s).addf(s).addf(-1)
}

// Expm1 is e^x - 1.
func Expm1(x float64) float64 {
	switch {
	case x == 0 || x != x || math.Abs(x) < 0x1p-60:
		return x
	case x < -60:
		return -1
	case x > 690:
		return Exp(x)
	}
	return expm1DD(dd{x, 0}).value()
}

// log1pDD is the logarithm of 1 + f for |f| < 0.5, with full relative precision:
// 2 atanh(f / (2 + f)).
func log1pDD(f dd) dd {
	s := f.div(f.addf(2))
	return s.mul(horner(s.mul(s), oddRecips, 6)).scale(2)
}

// logDD is (k, log m) with x = 2^k m and m near 1; x is positive and finite.
func logDD(x dd) (k float64, l dd) {
	m, e := math.Frexp(x.hi)
	if m < math.Sqrt2/2 {
		m, e = m*2, e-1
	}
	lo := 0.0
	if x.lo != 0 {
		lo = math.Ldexp(x.lo, -e)
	}
	return float64(e), log1pDD(dd{m - 1, 0}.addf(lo))
}

// logFull is the logarithm of a positive finite x.
func logFull(x dd) dd {
	k, l := logDD(x)
	p, e := twoProd(k, ln2hi)
	return dd{p, e}.add(dd{float64(k * ln2mid), 0}).add(l)
}

// logRange settles the arguments outside the positive finite numbers.
func logRange(x float64) (result float64, done bool) {
	switch {
	case x != x || x > math.MaxFloat64:
		return x, true
	case x == 0:
		return math.Inf(-1), true
	case x < 0:
		return math.NaN(), true
	}
	return 0, false
}

// Log is the natural logarithm.
func Log(x float64) float64 {
	if r, done := logRange(x); done {
		return r
	}
	return logFull(dd{x, 0}).value()
}

// Log2 is the logarithm to base 2, exact for powers of 2.
func Log2(x float64) float64 {
	if r, done := logRange(x); done {
		return r
	}
	k, l := logDD(dd{x, 0})
	return l.mul(invLn2).addf(k).value()
}

// Log1p is log(1 + x).
func Log1p(x float64) float64 {
	if x == 0 || math.Abs(x) < 0x1p-60 {
		return x
	}
	if r, done := logRange(1 + x); done {
		return r
	}
	if math.Abs(x) < 0.25 {
		return log1pDD(dd{x, 0}).value()
	}
	s, e := twoSum(1, x)
	return logFull(dd{s, e}).value()
}

// Tanh is the hyperbolic tangent.
func Tanh(x float64) float64 {
	a := math.Abs(x)
	switch {
	case x != x || a < 0x1p-30:
		return x // the next term is x^3/3
	case a > 22:
		return math.Copysign(1, x)
	}
	m := expm1DD(dd{2 * a, 0})
	return math.Copysign(m.div(m.addf(2)).value(), x)
}

// Sigmoid is 1 / (1 + e^-x), down to the subnormal e^x on the far left.
func Sigmoid(x float64) float64 {
	switch {
	case x < -45:
		return Exp(x) // 1 + e^x is 1
	case x > 45:
		return 1
	case x != x:
		return x
	}
	m, k := expDD(dd{-x, 0})
	return dd{1, 0}.div(m.scale(math.Ldexp(1, k)).addf(1)).value()
}

// Pow is x to the y, with the special cases of C.
func Pow(x, y float64) float64 {
	a := math.Abs(x)
	switch {
	case y == 0 || x == 1 || x != x || y != y || a == 0 || a > math.MaxFloat64 || math.Abs(y) > math.MaxFloat64:
		return math.Pow(x, y)
	case x < 0 && y != math.Trunc(y):
		return math.NaN()
	}
	r := powPositive(a, y)
	if x < 0 && math.Abs(y) < 0x1p53 && int64(y)&1 == 1 {
		r = -r
	}
	return r
}

func powPositive(a, y float64) float64 {
	l := logFull(dd{a, 0})
	if estimate := l.hi * y; math.Abs(estimate) > 800 {
		return math.Exp(estimate)
	}
	return expValue(l.mulf(y))
}
