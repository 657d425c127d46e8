package num

import (
	"math"
	"math/big"
	"sync"
)

// pi2 is half of pi in four parts.
const (
	pi2a = 0x1.921fb54442d18p+0
	pi2b = 0x1.1a62633145c07p-54
	pi2c = -0x1.f1976b7ed8fbcp-110
	pi2d = 0x1.4cf98e804177dp-164
)

// Sin is the sine of x radians.
func Sin(x float64) float64 { return circular(x, 0) }

// Cos is the cosine of x radians.
func Cos(x float64) float64 { return circular(x, 1) }

var (
	sinTerms = alternating(13, 1)
	cosTerms = alternating(13, 0)
)

// alternating is (-1)^i / (2i + first)!
func alternating(n, first int) []dd {
	c := make([]dd, n)
	p := dd{1, 0}
	for i := range c {
		c[i] = p
		d := float64((2*i + first + 1) * (2*i + first + 2))
		p = p.div(dd{-d, 0})
	}
	return c
}

// circular is the sine of x plus the given number of quarter turns.
func circular(x float64, turns int64) float64 {
	if x == 0 && turns == 0 || x != x {
		return x
	}
	if math.IsInf(x, 0) {
		return math.NaN()
	}
	q, r := reduceQuarter(x)
	q += turns
	z := r.mul(r)
	var s dd
	if q&1 == 0 {
		s = r.mul(horner(z, sinTerms, 6))
	} else {
		s = horner(z, cosTerms, 6)
	}
	if q&2 != 0 {
		s = s.neg()
	}
	return s.value()
}

// reduceQuarter is x = q pi/2 + r, |r| a little over pi/4 at most, q modulo 4.
func reduceQuarter(x float64) (q int64, r dd) {
	if math.Abs(x) > 1<<20 {
		return reduceLarge(x)
	}
	k := math.RoundToEven(x / pi2a)
	r = dd{x, 0}
	for _, part := range [...]float64{pi2a, pi2b, pi2c, pi2d} {
		p, e := twoProd(k, part)
		r = r.sub(dd{p, e})
	}
	return int64(k) & 3, r
}

// piBits is the number of bits to which reduceLarge knows pi: the exponent of the
// greatest float64, its fraction twice, and 64 bits past the nearest that a
// float64 comes to a multiple of pi/2 (2^-61).
const piBits = 1024 + 2*53 + 128

// reduceLarge reduces by integer arithmetic on pi at full length. It costs
// microseconds, which arguments beyond 2^20 are rare enough to bear.
func reduceLarge(x float64) (q int64, r dd) {
	m, e := math.Frexp(x)
	v := big.NewInt(int64(m * (1 << 53)))
	v.Lsh(v, uint(e-53+piBits))
	half := halfPi()
	quot, rem := new(big.Int).DivMod(v, half, new(big.Int))
	if new(big.Int).Lsh(rem, 1).Cmp(half) > 0 {
		quot.Add(quot, big.NewInt(1))
		rem.Sub(rem, half)
	}
	f := new(big.Float).SetPrec(200).SetInt(rem)
	f.SetMantExp(f, -piBits) // before leaving big.Float: 2^piBits is beyond float64
	hi, _ := f.Float64()
	lo, _ := f.Sub(f, big.NewFloat(hi)).Float64()
	q = int64(new(big.Int).And(quot, big.NewInt(3)).Uint64())
	return q, dd{hi, lo}
}

// halfPi is pi/2 * 2^piBits, by Machin's formula, once.
var halfPi = sync.OnceValue(func() *big.Int {
	const guard = 32
	sum := new(big.Int).Lsh(arctanInverse(5, piBits+guard), 2)
	sum.Sub(sum, arctanInverse(239, piBits+guard))
	return sum.Rsh(sum.Lsh(sum, 1), guard)
})

// arctanInverse is arctan(1/n) * 2^bits.
func arctanInverse(n int64, bits uint) *big.Int {
	power := new(big.Int).Lsh(big.NewInt(1), bits)
	power.Div(power, big.NewInt(n))
	sum, square := new(big.Int).Set(power), big.NewInt(n*n)
	for k := int64(3); power.Sign() != 0; k += 2 {
		power.Div(power, square)
		term := new(big.Int).Div(power, big.NewInt(k))
		if k&2 != 0 {
			term.Neg(term)
		}
		sum.Add(sum, term)
	}
	return sum
}
