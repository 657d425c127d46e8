package num

import "math"

// dd is an unevaluated sum of two float64, |lo| at most half an ulp of hi:
// about 106 bits. The explicit float64 conversions keep the Go compiler from
// contracting a product and a sum.
type dd struct{ hi, lo float64 }

func twoSum(a, b float64) (s, err float64) {
	s = a + b
	t := s - a
	return s, (a - (s - t)) + (b - t)
}

// quickSum needs |a| >= |b| or a == 0.
func quickSum(a, b float64) dd {
	s := a + b
	return dd{s, b - (s - a)}
}

func twoProd(a, b float64) (p, err float64) {
	p = float64(a * b)
	return p, math.FMA(a, b, -p)
}

func (a dd) add(b dd) dd {
	s, e := twoSum(a.hi, b.hi)
	t, f := twoSum(a.lo, b.lo)
	r := quickSum(s, e+t)
	return quickSum(r.hi, r.lo+f)
}

func (a dd) addf(b float64) dd {
	s, e := twoSum(a.hi, b)
	return quickSum(s, e+a.lo)
}

func (a dd) neg() dd            { return dd{-a.hi, -a.lo} }
func (a dd) sub(b dd) dd        { return a.add(b.neg()) }
func (a dd) value() float64     { return a.hi + a.lo }
func (a dd) scale(k float64) dd { return dd{float64(a.hi * k), float64(a.lo * k)} } // k a power of two

func (a dd) mul(b dd) dd {
	p, e := twoProd(a.hi, b.hi)
	return quickSum(p, e+(float64(a.hi*b.lo)+float64(a.lo*b.hi)))
}

func (a dd) mulf(b float64) dd {
	p, e := twoProd(a.hi, b)
	return quickSum(p, e+float64(a.lo*b))
}

func (a dd) div(b dd) dd {
	q := a.hi / b.hi
	r := a.sub(b.mulf(q))
	q2 := r.hi / b.hi
	r = r.sub(b.mulf(q2))
	return quickSum(q, q2).addf(r.hi / b.hi)
}

func (a dd) sqrt() dd {
	if a.hi == 0 {
		return a
	}
	s := math.Sqrt(a.hi)
	p, e := twoProd(s, s)
	r := a.sub(dd{p, e})
	return quickSum(s, r.hi/(2*s))
}
