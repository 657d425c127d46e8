package minimax

import (
	"math"
	"math/big"
	"sync"
)

// Prec is the working precision in bits. Fits cancel leading terms of series,
// which costs up to 120 of them.
const Prec = 400

// Num is the big float that all functions take and give.
type Num = *big.Float

// F is x exactly.
func F(x float64) Num { return new(big.Float).SetPrec(Prec).SetFloat64(x) }

func zero() Num { return new(big.Float).SetPrec(Prec) }

// Add, Sub, Mul and Quo are the operations, each into a new number.
func Add(a, b Num) Num { return zero().Add(a, b) }
func Sub(a, b Num) Num { return zero().Sub(a, b) }
func Mul(a, b Num) Num { return zero().Mul(a, b) }
func Quo(a, b Num) Num { return zero().Quo(a, b) }

// ldexp is x * 2^k.
func ldexp(x Num, k int) Num { return zero().SetMantExp(x, k) }

// small reports a term that no longer changes sum.
func small(term, sum Num) bool {
	return term.Sign() == 0 || sum.Sign() != 0 && term.MantExp(nil) < sum.MantExp(nil)-Prec-4
}

// Expm1 is e^x - 1 with full relative precision: the series at x/2^k, then
// m <- 2m + m^2, k times.
func Expm1(x Num) Num {
	if x.Sign() == 0 {
		return zero()
	}
	k := max(0, x.MantExp(nil)+12)
	r := ldexp(x, -k)
	sum, term := zero().Set(r), zero().Set(r)
	for n := 2; !small(term, sum); n++ {
		term = Quo(Mul(term, r), F(float64(n)))
		sum = Add(sum, term)
	}
	for range k {
		sum = Add(ldexp(sum, 1), Mul(sum, sum))
	}
	return sum
}

// Exp is e^x. Below 0 it is a reciprocal, since expm1 keeps bits behind the
// point alone.
func Exp(x Num) Num {
	if x.Sign() < 0 {
		return Quo(F(1), Add(F(1), Expm1(zero().Neg(x))))
	}
	return Add(F(1), Expm1(x))
}

// Exp2 is 2^x.
func Exp2(x Num) Num { return Exp(Mul(x, Ln2())) }

// Log1p is log(1 + x) by Newton's iteration on expm1.
func Log1p(x Num) Num {
	if x.Sign() == 0 {
		return zero()
	}
	f, _ := x.Float64()
	y := F(math.Log1p(f))
	if y.Sign() == 0 || f == 0 {
		y = zero().Set(x)
	}
	for range 5 { // 50, 100, .. bits
		m := Expm1(y)
		y = Sub(y, Quo(Sub(m, x), Add(m, F(1))))
	}
	return y
}

// Log is the natural logarithm of x > 0.
func Log(x Num) Num {
	e := x.MantExp(nil)
	m := ldexp(x, -e)
	if m.Cmp(F(0.75)) < 0 {
		m, e = ldexp(m, 1), e-1
	}
	return Add(Mul(F(float64(e)), Ln2()), Log1p(Sub(m, F(1))))
}

// Log2 is the logarithm of x > 0 to base 2.
func Log2(x Num) Num { return Quo(Log(x), Ln2()) }

// Ln2 is log 2.
var Ln2 = sync.OnceValue(func() Num { return Log1p(F(1)) })

// Pi by Machin's formula: 16 atan(1/5) - 4 atan(1/239).
var Pi = sync.OnceValue(func() Num { return PiTo(Prec) })

// PiTo is pi to the given number of bits.
func PiTo(prec uint) Num {
	p := prec + 32
	f := func(x float64) Num { return new(big.Float).SetPrec(p).SetFloat64(x) }
	atanInv := func(n float64) Num {
		t := new(big.Float).SetPrec(p).Quo(f(1), f(n))
		sum, n2 := f(0).Set(t), f(n*n)
		for k := 3.0; t.Sign() != 0 && t.MantExp(nil) > -int(p); k += 2 {
			t = f(0).Neg(f(0).Quo(t, n2))
			sum = f(0).Add(sum, f(0).Quo(t, f(k)))
		}
		return sum
	}
	a, b := f(0).Mul(f(16), atanInv(5)), f(0).Mul(f(4), atanInv(239))
	return f(0).Sub(a, b)
}

// Sin and Cos are of x radians; arguments are reduced by a pi of enough bits.
func Sin(x Num) Num { return circular(x, 0) }
func Cos(x Num) Num { return circular(x, 1) }

func circular(x Num, quarter int64) Num {
	p := uint(Prec + max(0, x.MantExp(nil)) + 64)
	f := func() *big.Float { return new(big.Float).SetPrec(p) }
	half := f().Quo(PiTo(p), f().SetInt64(2))
	q := f().Quo(x, half)
	n, _ := q.Add(q, f().SetFloat64(0.5)).Int(nil)
	if q.Sign() < 0 {
		n.Sub(n, big.NewInt(1))
	}
	r := zero().Set(f().Sub(x, f().Mul(f().SetInt(n), half)))
	k := new(big.Int).And(n.Add(n, big.NewInt(quarter)), big.NewInt(3)).Int64()
	v := alternating(r, int(k&1))
	if k >= 2 {
		v.Neg(v)
	}
	return v
}

// alternating is the series of the sine (first 0: from x) or cosine (1: from 1).
func alternating(x Num, first int) Num {
	term, n := zero().Set(x), 1.0
	if first == 1 {
		term, n = F(1), 0
	}
	sum, z := zero().Set(term), Mul(x, x)
	for ; !small(term, sum); n += 2 {
		term = Quo(Mul(term, z), F((n+1)*(n+2)))
		term.Neg(term)
		sum = Add(sum, term)
	}
	return sum
}

// Erf is the error function: 2/sqrt(pi) e^(-x^2) sum 2^n x^(2n+1) / (2n+1)!!,
// whose terms are all of one sign.
func Erf(x Num) Num {
	z := Mul(x, x)
	term := zero().Set(x)
	sum := zero().Set(x)
	for n := 1.0; !small(term, sum); n++ {
		term = Quo(Mul(ldexp(term, 1), z), F(2*n+1))
		sum = Add(sum, term)
	}
	scale := Quo(F(2), zero().Sqrt(Pi()))
	return Mul(Mul(scale, Exp(zero().Neg(z))), sum)
}

// Tanh is the hyperbolic tangent.
func Tanh(x Num) Num {
	m := Expm1(ldexp(x, 1))
	return Quo(m, Add(m, F(2)))
}

// Sigmoid is 1 / (1 + e^-x).
func Sigmoid(x Num) Num { return Quo(F(1), Add(F(1), Exp(zero().Neg(x)))) }

// Cbrt is the cube root, by Newton's iteration.
func Cbrt(x Num) Num {
	if x.Sign() == 0 {
		return zero()
	}
	e := x.MantExp(nil) / 3
	m, _ := ldexp(x, -3*e).Float64()
	y := F(math.Cbrt(m))
	target := ldexp(x, -3*e)
	for range 5 {
		y = Sub(y, Quo(Sub(Mul(Mul(y, y), y), target), Mul(F(3), Mul(y, y))))
	}
	return ldexp(y, e)
}

// Pow is x^y for x > 0.
func Pow(x, y Num) Num { return Exp(Mul(y, Log(x))) }

// Rsqrt is 1/sqrt(x).
func Rsqrt(x Num) Num { return Quo(F(1), zero().Sqrt(x)) }
