package sym

import (
	"math/bits"
	"slices"
)

// Add is the sum of its arguments, 0 if there are none.
func Add(a ...Expr) Expr {
	var sum Expr
	for _, x := range a {
		sum = addScaled(sum, 1, x)
	}
	return sum
}

// Sub is a - b.
func Sub(a, b Expr) Expr { return addScaled(a, -1, b) }

// Neg is -a.
func Neg(a Expr) Expr { return addScaled(Expr{}, -1, a) }

// addScaled is a + k*b.
func addScaled(a Expr, k int64, b Expr) Expr {
	switch {
	case a.isOver() || b.isOver():
		return overflowed
	case b.n == nil || k == 0:
		return a
	case a.n == nil && k == 1:
		return b
	}
	kc, ok1 := mul64(k, b.constant())
	c, ok2 := add64(a.constant(), kc)
	ts, ok3 := mergeTerms(a.terms(), k, b.terms())
	if !ok1 || !ok2 || !ok3 {
		return overflowed
	}
	return ofTerms(ts, c)
}

// mergeTerms merges two sorted lists of terms into as + k*bs.
func mergeTerms(as []term, k int64, bs []term) ([]term, bool) {
	if len(bs) == 0 {
		return as, true
	}
	out := make([]term, 0, len(as)+len(bs))
	for len(bs) > 0 {
		c := 1
		if len(as) > 0 {
			c = cmpFactors(as[0].f, bs[0].f)
		}
		if c < 0 {
			out, as = append(out, as[0]), as[1:]
			continue
		}
		coef, ok := mul64(k, bs[0].coef)
		if c == 0 && ok {
			coef, ok = add64(coef, as[0].coef)
			as = as[1:]
		}
		if !ok {
			return nil, false
		}
		if coef != 0 {
			out = append(out, term{coef, bs[0].f})
		}
		bs = bs[1:]
	}
	return append(out, as...), true
}

// Mul is the product a*b, expanded.
func Mul(a, b Expr) Expr {
	if a.isOver() || b.isOver() {
		return overflowed
	}
	if c, ok := a.IsConst(); ok {
		return addScaled(Expr{}, c, b)
	}
	if c, ok := b.IsConst(); ok {
		return addScaled(Expr{}, c, a)
	}
	if len(a.terms())*len(b.terms()) > maxSize {
		return overflowed
	}
	prod := make([]term, 0, (len(a.terms())+1)*(len(b.terms())+1))
	ok := true
	for _, s := range a.withConst() {
		for _, t := range b.withConst() {
			c, ok1 := mul64(s.coef, t.coef)
			ok = ok && ok1
			prod = append(prod, term{c, mergeFactors(s.f, t.f)})
		}
	}
	ts, c, ok2 := collect(prod)
	if !ok || !ok2 {
		return overflowed
	}
	return ofTerms(ts, c)
}

// withConst lists the terms, the constant as one without factors.
func (e Expr) withConst() []term {
	if e.constant() == 0 {
		return e.terms()
	}
	return append(slices.Clip(e.terms()), term{coef: e.constant()})
}

func mergeFactors(a, b []*Atom) []*Atom {
	if len(a) == 0 {
		return b
	}
	if len(b) == 0 {
		return a
	}
	f := append(append(make([]*Atom, 0, len(a)+len(b)), a...), b...)
	slices.SortFunc(f, cmpAtom)
	return f
}

// collect sorts and merges terms, and splits off the constant.
func collect(ts []term) (out []term, c int64, ok bool) {
	slices.SortFunc(ts, func(a, b term) int { return cmpFactors(a.f, b.f) })
	for i := 0; i < len(ts); {
		t := ts[i]
		for i++; i < len(ts) && cmpFactors(ts[i].f, t.f) == 0; i++ {
			if t.coef, ok = add64(t.coef, ts[i].coef); !ok {
				return nil, 0, false
			}
		}
		switch {
		case len(t.f) == 0:
			c = t.coef
		case t.coef != 0:
			out = append(out, t)
		}
	}
	return out, c, true
}

func add64(a, b int64) (int64, bool) {
	s := a + b
	return s, (s > a) == (b > 0)
}

func sub64(a, b int64) (int64, bool) {
	s := a - b
	return s, (s < a) == (b > 0)
}

func mul64(a, b int64) (int64, bool) {
	hi, lo := bits.Mul64(abs64(a), abs64(b))
	neg := (a < 0) != (b < 0)
	limit := uint64(1)<<63 - 1
	if neg {
		limit++
	}
	if hi != 0 || lo > limit {
		return 0, false
	}
	if neg {
		return -int64(lo), true
	}
	return int64(lo), true
}

// quo64 is a/b if that is a whole int64.
func quo64(a, b int64) (int64, bool) {
	if a%b != 0 || b == -1 && a == -a && a != 0 {
		return 0, false
	}
	return a / b, true
}

func abs64(a int64) uint64 {
	if a < 0 {
		return -uint64(a)
	}
	return uint64(a)
}

// gcd is the greatest common divisor of |a| and |b|; gcd(0, b) = |b|.
func gcd(a, b int64) int64 {
	x, y := abs64(a), abs64(b)
	for y != 0 {
		x, y = y, x%y
	}
	if x > 1<<63-1 {
		return 1 // |MinInt64|: no use to anyone, and it does not fit
	}
	return int64(x)
}

// floorDiv and floorMod want b > 0.
func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

func floorMod(a, b int64) int64 {
	if r := a % b; r < 0 {
		return r + b
	} else {
		return r
	}
}
