package num

import (
	"math"
	"math/bits"
)

// SumShadow accumulates the shadow of a sum whose terms may be added in any
// order and bracketing. The zero value is the empty sum.
//
// The bound is ((1+u)^n - 1) times the sum of the terms' magnitudes, which is
// gamma_n where n u is small, plus the sum of their bounds. A sum that no order
// rounds has no error of its own: the terms are exact multiples of one power of
// 2 and their magnitudes add up to what the type's precision holds of it, as in
// sums of integers and counts.
type SumShadow struct {
	sum   dd
	plain float64 // the sum without compensation, for infinities and NaN
	abs   float64 // sum of magnitudes
	err   float64 // sum of bounds
	low   int     // biased exponent of the lowest bit of any term, plus 1; 0: none yet
	n     int
	fin   float64 // sum of magnitudes of the terms that are finite
	inf   bool    // a term was infinite or NaN
}

// Add accumulates a term.
func (s *SumShadow) Add(term Shadow) {
	hi, e := twoSum(s.sum.hi, term.Hi)
	s.sum = dd{hi, s.sum.lo + (e + term.Lo)}
	s.plain += term.Hi
	s.abs += math.Abs(term.Hi)
	s.err += term.Err
	s.n++
	if finite(term.Hi) {
		s.fin += math.Abs(term.Hi)
	} else {
		s.inf = true
	}
	if term.Err != 0 || term.Hi == 0 {
		return
	}
	b := math.Float64bits(term.Hi)
	low := int(b>>52&0x7ff) + bits.TrailingZeros64(b|1<<52) + 1
	if term.Lo != 0 {
		low = 1
	}
	if s.low == 0 || low < s.low {
		s.low = low
	}
}

// Result is the shadow of the sum as a value of type e.
func (s *SumShadow) Result(e Elem) Shadow {
	t := shadowOf(e)
	r := quickSum(s.sum.hi, s.sum.lo)
	if !t.wide {
		r = dd{r.hi + r.lo, 0}
	}
	err := s.err
	if !s.exact(e) {
		err += power1(t.u, s.n) * (s.abs + s.err)
	}
	if s.abs+slack*err < t.max {
		return Shadow{r.hi, r.lo, err}
	}
	return s.special(t, r.hi, err)
}

// exact: no partial sum, in whatever order, needs more bits than e has. Where e is
// f64, the magnitudes' sum is rounded itself: at the limit it may stand for more.
func (s *SumShadow) exact(e Elem) bool {
	if s.n <= 1 || s.err == 0 && s.low == 0 {
		return true
	}
	limit := math.Ldexp(1, s.low-1-1075+e.Bits())
	return s.err == 0 && (s.abs < limit || s.abs == limit && e != F64)
}

// power1 is (1+u)^n - 1.
func power1(u float64, n int) float64 { return math.Expm1(float64(n) * math.Log1p(u)) }

// special has an infinite or NaN term, or partial sums that may overflow.
func (s *SumShadow) special(t *shadowType, r, err float64) Shadow {
	switch {
	case !finite(s.err):
	case s.inf && s.plain == s.plain && s.fin+slack*s.err >= t.max: // an overflow may meet the infinity
	case s.inf:
		return Shadow{Hi: s.plain}
	case math.Abs(r)-slack*err >= t.over && math.Abs(r) >= s.abs*(1-0x1p-50): // all of one sign
		return Shadow{Hi: math.Copysign(math.Inf(1), r)}
	case s.n <= 1 && err == 0:
		return Shadow{Hi: r}
	}
	return Shadow{Hi: r, Err: math.Inf(1)}
}

// ProdShadow accumulates the shadow of a product whose factors may be
// multiplied in any order and bracketing. NewProdShadow is the empty product.
type ProdShadow struct {
	t        *shadowType
	value    Shadow
	up, down float64 // sums of the factors' positive and negative exponents
	n        int
	decided  bool
}

// NewProdShadow is the empty product, 1, in type e.
func NewProdShadow(e Elem) ProdShadow {
	return ProdShadow{t: shadowOf(e), value: Shadow{Hi: 1}, decided: true}
}

// Add accumulates a factor.
func (p *ProdShadow) Add(x Shadow) {
	p.n++
	err := productError(p.value, x)
	r := dd{float64(p.value.Hi * x.Hi), 0}
	known := productKnown(p.value, x)
	p.decided = p.decided && (finite(r.hi) && finite(err) || known)
	if p.t.wide && finite(r.hi) {
		r = p.value.dd().mul(x.dd())
	}
	if p.n > 1 && (err != 0 || r.lo != 0 || !p.t.holds(r.hi)) {
		err += p.t.rounding(r.hi)
	}
	if !finite(r.hi) {
		err = 0
	}
	p.value = Shadow{r.hi, r.lo, err}
	if x.Hi != 0 && math.Abs(x.Hi) != 1 && finite(x.Hi) {
		exp := float64(math.Ilogb(x.Hi))
		p.up += max(exp+1, 0)
		p.down += min(exp, 0)
	}
}

// Result is the shadow of the product as a value of the type. It is undecided
// where some orders overflow, or lose a partial product to underflow, and
// others do not.
func (p *ProdShadow) Result() Shadow {
	v, emax, emin := p.value, float64(math.Ilogb(p.t.max)), float64(math.Ilogb(p.t.minNorm))
	switch {
	case !p.decided || v.Err != v.Err:
	case !finite(v.Hi):
		return Shadow{Hi: v.Hi}
	case p.up < emax && (p.down > emin || p.up == 0):
		return v
	case p.down == 0 && math.Abs(v.Hi)-slack*v.Err >= p.t.over:
		return Shadow{Hi: math.Copysign(math.Inf(1), v.Hi)}
	case p.down == 0 && math.Abs(v.Hi)+slack*v.Err < p.t.max, p.n == 1 && v.Err == 0:
		return v
	}
	return Shadow{Hi: v.Hi, Err: math.Inf(1)}
}
