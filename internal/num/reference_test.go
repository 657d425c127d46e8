package num

import (
	"math"
	"math/big"
)

// A slow second arithmetic on math/big, against which the package is tested.

const refPrec = 320

func bf(x float64) *big.Float         { return new(big.Float).SetPrec(refPrec).SetFloat64(x) }
func badd(a, b *big.Float) *big.Float { return new(big.Float).SetPrec(refPrec).Add(a, b) }
func bsub(a, b *big.Float) *big.Float { return new(big.Float).SetPrec(refPrec).Sub(a, b) }
func bmul(a, b *big.Float) *big.Float { return new(big.Float).SetPrec(refPrec).Mul(a, b) }
func bquo(a, b *big.Float) *big.Float { return new(big.Float).SetPrec(refPrec).Quo(a, b) }
func bneg(a *big.Float) *big.Float    { return new(big.Float).SetPrec(refPrec).Neg(a) }
func bscale(a *big.Float, k int) *big.Float {
	return new(big.Float).SetPrec(refPrec).SetMantExp(a, k)
}

// series sums first, first*next(1), first*next(1)*next(2), .. until the terms vanish.
func series(first *big.Float, next func(n int, term *big.Float) *big.Float) *big.Float {
	sum, term := first, first
	for n := 1; term.Sign() != 0 && n < 4000; n++ {
		term = next(n, term)
		sum = badd(sum, term)
		if term.Sign() != 0 && sum.Sign() != 0 && term.MantExp(nil) < sum.MantExp(nil)-refPrec && n > 40 {
			break
		}
	}
	return sum
}

// bigLn2 is 2 atanh(1/3).
var bigLn2 = atanhSeries(bquo(bf(1), bf(3)))

// atanhSeries is 2 atanh(s).
func atanhSeries(s *big.Float) *big.Float {
	sum, p, z := bf(0), s, bmul(s, s)
	for n := 1; n < 800 && p.Sign() != 0; n += 2 {
		sum = badd(sum, bquo(p, bf(float64(n))))
		p = bmul(p, z)
	}
	return bscale(sum, 1)
}

func bigExp(x *big.Float) *big.Float {
	q, _ := bquo(x, bigLn2).Float64()
	k := math.Round(q)
	r := bscale(bsub(x, bmul(bf(k), bigLn2)), -16)
	// expm1 of the small part, squared up so that no bit of a small x is lost
	m := series(r, func(n int, term *big.Float) *big.Float { return bquo(bmul(term, r), bf(float64(n+1))) })
	for range 16 {
		m = badd(bscale(m, 1), bmul(m, m))
	}
	return bscale(badd(m, bf(1)), int(k))
}

// bigLog by Halley's iteration from the standard library's value.
func bigLog(x *big.Float) *big.Float {
	m := new(big.Float).SetPrec(refPrec)
	e := x.MantExp(m)
	f, _ := m.Float64()
	y := bf(math.Log(f))
	for range 4 {
		ey := bigExp(y)
		y = badd(y, bscale(bquo(bsub(m, ey), badd(m, ey)), 1))
	}
	return badd(y, bmul(bf(float64(e)), bigLn2))
}

// bigPi is long enough to reduce any float64.
var bigPi = func() *big.Float {
	const prec = 1800
	arctan := func(n int64) *big.Float {
		sum, p := new(big.Float).SetPrec(prec), new(big.Float).SetPrec(prec).Quo(big.NewFloat(1), new(big.Float).SetPrec(prec).SetInt64(n))
		sq := new(big.Float).SetPrec(prec).SetInt64(-n * n)
		for k := int64(1); p.MantExp(nil) > -prec; k += 2 {
			sum.Add(sum, new(big.Float).SetPrec(prec).Quo(p, new(big.Float).SetPrec(prec).SetInt64(k)))
			p = new(big.Float).SetPrec(prec).Quo(p, sq)
		}
		return sum
	}
	// Gauss: pi/4 = 12 arctan(1/18) + 8 arctan(1/57) - 5 arctan(1/239)
	sum := new(big.Float).SetPrec(prec)
	for _, t := range [][2]int64{{48, 18}, {32, 57}, {-20, 239}} {
		sum.Add(sum, new(big.Float).SetPrec(prec).Mul(new(big.Float).SetPrec(prec).SetInt64(t[0]), arctan(t[1])))
	}
	return sum
}()

// bigSin takes x plus so many quarter turns.
func bigSin(x float64, turns int) *big.Float {
	const prec = 1800
	v := new(big.Float).SetPrec(prec).SetFloat64(x)
	half := new(big.Float).SetPrec(prec).SetMantExp(bigPi, -1)
	v.Add(v, new(big.Float).SetPrec(prec).Mul(half, new(big.Float).SetInt64(int64(turns))))
	q, _ := new(big.Float).SetPrec(prec).Quo(v, bigPi).Int(nil)
	v.Sub(v, new(big.Float).SetPrec(prec).Mul(bigPi, new(big.Float).SetPrec(prec).SetInt(q)))
	r := new(big.Float).SetPrec(refPrec).Set(v)
	z := bneg(bmul(r, r))
	s := series(r, func(n int, term *big.Float) *big.Float {
		return bquo(bmul(term, z), bf(float64(2*n*(2*n+1))))
	})
	if q.Bit(0) == 1 {
		return bneg(s)
	}
	return s
}

// bigExpm1 of a tiny x is x: the next term is 2^-100 of it, and a difference
// from 1 would not see it.
func bigExpm1(x *big.Float) *big.Float {
	if x.MantExp(nil) < -100 {
		return x
	}
	return bsub(bigExp(x), bf(1))
}

func bigLog1p(x *big.Float) *big.Float {
	if x.MantExp(nil) < -100 {
		return x
	}
	return bigLog(badd(x, bf(1)))
}

func bigErf(x *big.Float) *big.Float {
	z, p := bneg(bmul(x, x)), x
	sum := x
	for n := 1; n < 2000; n++ {
		p = bquo(bmul(p, z), bf(float64(n)))
		t := bquo(p, bf(float64(2*n+1)))
		sum = badd(sum, t)
		if t.Sign() == 0 || t.MantExp(nil) < sum.MantExp(nil)-refPrec {
			break
		}
	}
	pi := new(big.Float).SetPrec(refPrec).Set(bigPi)
	return bquo(bscale(sum, 1), new(big.Float).SetPrec(refPrec).Sqrt(pi))
}

func bigCbrt(x *big.Float) *big.Float {
	f, _ := x.Float64()
	y := bf(math.Cbrt(f))
	for range 4 {
		y = bquo(badd(bscale(y, 1), bquo(x, bmul(y, y))), bf(3))
	}
	return y
}

// bigUnary has the functions of float64Unary, for finite arguments with finite
// results.
var bigUnary = map[string]func(float64) *big.Float{
	"sqrt":  func(x float64) *big.Float { return new(big.Float).SetPrec(refPrec).Sqrt(bf(x)) },
	"rsqrt": func(x float64) *big.Float { return bquo(bf(1), new(big.Float).SetPrec(refPrec).Sqrt(bf(x))) },
	"cbrt":  func(x float64) *big.Float { return bigCbrt(bf(x)) },
	"exp":   func(x float64) *big.Float { return bigExp(bf(x)) },
	"exp2":  func(x float64) *big.Float { return bigExp(bmul(bf(x), bigLn2)) },
	"expm1": func(x float64) *big.Float { return bigExpm1(bf(x)) },
	"log":   func(x float64) *big.Float { return bigLog(bf(x)) },
	"log2":  func(x float64) *big.Float { return bquo(bigLog(bf(x)), bigLn2) },
	"log1p": func(x float64) *big.Float { return bigLog1p(bf(x)) },
	"tanh": func(x float64) *big.Float {
		m := bigExpm1(bf(2 * x))
		return bquo(m, badd(m, bf(2)))
	},
	"erf":     func(x float64) *big.Float { return bigErf(bf(x)) },
	"sigmoid": func(x float64) *big.Float { return bquo(bf(1), badd(bf(1), bigExp(bf(-x)))) },
	"sin":     func(x float64) *big.Float { return bigSin(x, 0) },
	"cos":     func(x float64) *big.Float { return bigSin(x, 1) },
}

func bigPow(x, y float64) *big.Float { return bigExp(bmul(bf(y), bigLog(bf(x)))) }

// ulpsOff is the distance of got from the exact value in units of the last
// place that float64 has there.
func ulpsOff(got float64, want *big.Float) float64 {
	exp := max(want.MantExp(nil)-53, -1074)
	if want.Sign() == 0 {
		exp = -1074
	}
	d, _ := bscale(bsub(bf(got), want), -exp).Float64()
	return math.Abs(d)
}

// refRound rounds an exact value to e by integer arithmetic.
func refRound(e Elem, x *big.Rat) float64 {
	if x.Sign() == 0 {
		return 0
	}
	p := map[Elem]int{F64: 53, F32: 24, F16: 11, BF16: 8}[e]
	emin := map[Elem]int{F64: -1022, F32: -126, F16: -14, BF16: -126}[e]
	a := new(big.Rat).Abs(x)
	exp := a.Num().BitLen() - a.Denom().BitLen() // floor(log2) or one more
	if a.Cmp(pow2(exp)) < 0 {
		exp--
	}
	quantum := pow2(max(exp, emin) - p + 1)
	n := new(big.Rat).Quo(a, quantum)
	twice := new(big.Int).Lsh(n.Num(), 1)
	i := new(big.Int).Div(twice.Add(twice, n.Denom()), new(big.Int).Lsh(n.Denom(), 1)) // floor(n + 1/2)
	if half := new(big.Rat).Sub(new(big.Rat).SetInt(i), n); half.Cmp(big.NewRat(1, 2)) == 0 && i.Bit(0) == 1 {
		i.Sub(i, big.NewInt(1))
	}
	r := new(big.Rat).Mul(new(big.Rat).SetInt(i), quantum)
	if r.Cmp(pow2(map[Elem]int{F64: 1024, F32: 128, F16: 16, BF16: 128}[e])) >= 0 {
		return math.Inf(x.Sign())
	}
	f, _ := r.Float64()
	return math.Copysign(f, float64(x.Sign()))
}

func pow2(k int) *big.Rat {
	one := new(big.Int).Lsh(big.NewInt(1), uint(max(k, -k)))
	if k < 0 {
		return new(big.Rat).SetFrac(big.NewInt(1), one)
	}
	return new(big.Rat).SetInt(one)
}

func rat(x float64) *big.Rat { return new(big.Rat).SetFloat64(x) }
