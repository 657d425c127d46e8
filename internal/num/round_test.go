package num

import (
	"math"
	"math/big"
	"math/rand"
	"testing"
)

// Between each pair of neighbours of a 16-bit type: the middle goes to the even
// one, the float64 just beside it to the nearer one; so do the borders of zero
// and of infinity.
func TestRoundAtEveryBorder(t *testing.T) {
	for _, e := range []Elem{F16, BF16} {
		inf := Bits(e, FromFloat(math.Inf(1)))
		for b := uint64(0); b < inf; b++ {
			lo, hi := Float(FromBits(e, b)), Float(FromBits(e, b+1))
			mid := lo + (hi-lo)/2
			even := lo
			if b&1 == 1 {
				even = hi
			}
			if b+1 == inf {
				mid = lo + (lo-Float(FromBits(e, b-1)))/2
			}
			for _, s := range []float64{1, -1} {
				check := func(x, want float64) {
					if got := Round(e, s*x); FromFloat(got) != FromFloat(s*want) {
						t.Fatalf("%s: %v rounds to %v, want %v", e, s*x, got, s*want)
					}
				}
				check(lo, lo)
				check(mid, even)
				check(math.Nextafter(mid, 0), lo)
				check(math.Nextafter(mid, math.Inf(1)), hi)
			}
		}
	}
}

// The reference rounds by integer division; it shares no code with Round.
func TestRoundAgainstIntegers(t *testing.T) {
	r := rand.New(rand.NewSource(6))
	for range 20000 {
		x := Float(r.Uint64())
		if r.Intn(2) == 0 {
			x = math.Ldexp(r.NormFloat64(), r.Intn(300)-150)
		}
		if !finite(x) {
			continue
		}
		for _, e := range []Elem{F32, F16, BF16} {
			if got, want := Round(e, x), refRound(e, rat(x)); got != want {
				t.Fatalf("%s: %v rounds to %v, want %v", e, x, got, want)
			}
		}
	}
}

func randomFloat(r *rand.Rand, e Elem) float64 {
	for {
		if r.Intn(2) == 0 {
			return Round(e, math.Ldexp(r.NormFloat64(), r.Intn(20)-10))
		}
		if x := Float(FromBits(e, r.Uint64())); finite(x) {
			return x
		}
	}
}

// Arithmetic is the exact result rounded once, from subnormals to overflow, and
// so is fma, whose sum nearly cancels or nearly ties.
func TestArithmeticRoundsOnce(t *testing.T) {
	r := rand.New(rand.NewSource(7))
	for _, e := range []Elem{F64, F32, F16, BF16} {
		for range 4000 {
			x, y := randomFloat(r, e), randomFloat(r, e)
			z := randomFloat(r, e)
			if p := Round(e, x*y); r.Intn(2) == 0 && finite(p) {
				z = Round(e, -p*(1+float64(r.Intn(3)-1)*formats[e].u*2))
			}
			if r.Intn(4) == 0 && x*y != 0 {
				z = Round(e, math.Ldexp(1, math.Ilogb(x*y)+e.Bits()-1+r.Intn(3)))
			}
			if !finite(z) {
				continue
			}
			for name, exact := range map[string]*big.Rat{
				"add": new(big.Rat).Add(rat(x), rat(y)), "sub": new(big.Rat).Sub(rat(x), rat(y)), "mul": new(big.Rat).Mul(rat(x), rat(y)),
			} {
				if got := Float(Binary(name, e)(FromFloat(x), FromFloat(y))); got != refRound(e, exact) {
					t.Fatalf("%s %s(%v, %v) = %v, want %v", e, name, x, y, got, refRound(e, exact))
				}
			}
			if y != 0 {
				if got, want := Float(Binary("div", e)(FromFloat(x), FromFloat(y))), refRound(e, new(big.Rat).Quo(rat(x), rat(y))); got != want {
					t.Fatalf("%s: %v / %v = %v, want %v", e, x, y, got, want)
				}
			}
			sum := new(big.Rat).Add(new(big.Rat).Mul(rat(x), rat(y)), rat(z))
			if got, want := Float(Ternary("fma", e)(FromFloat(x), FromFloat(y), FromFloat(z))), refRound(e, sum); got != want {
				t.Fatalf("%s: fma(%v, %v, %v) = %v, want %v", e, x, y, z, got, want)
			}
		}
	}
}

func TestIntToFloatRoundsOnce(t *testing.T) {
	r := rand.New(rand.NewSource(8))
	values := []int64{0, 1, -1, math.MaxInt64, math.MinInt64, 65504, 65519, 65520, 65536, -65520, 1<<24 + 1, 1<<53 + 1, 1<<63 - 1<<38}
	for range 3000 {
		v := r.Int63() >> r.Intn(63)
		// a middle between two f32, f16 or bf16 values, and its neighbours
		m := (v | 1<<62) &^ (1<<(62-[]int{24, 11, 8}[r.Intn(3)]) - 1) >> r.Intn(40)
		values = append(values, v, -v, m, m+1, m-1, -m-1)
	}
	for _, v := range values {
		for _, e := range []Elem{F64, F32, F16, BF16} {
			got, want := Float(Cast(I64, e, FromInt(v))), refRound(e, new(big.Rat).SetInt64(v))
			if got != want {
				t.Fatalf("%s(%d) = %v, want %v", e, v, got, want)
			}
		}
	}
}

// Every 16-bit float to every integer type, and random wide ones.
func TestFloatToIntSaturates(t *testing.T) {
	r := rand.New(rand.NewSource(9))
	for _, from := range []Elem{F16, BF16, F32, F64} {
		for b := range uint64(1 << 16) {
			if from.Bytes() > 2 {
				b = r.Uint64()
			}
			c := FromBits(from, b)
			for _, to := range []Elem{I64, I32, I16, I8, U8, Index} {
				if got, want := Int(Cast(from, to, c)), refTruncate(to, Float(c)); got != want {
					t.Fatalf("%s(%v: %s) = %d, want %d", to, Float(c), from, got, want)
				}
			}
			if got := IsTrue(Cast(from, Bool, c)); got != (Float(c) != 0) {
				t.Fatalf("bool(%v: %s) = %v", Float(c), from, got)
			}
		}
	}
}

func refTruncate(e Elem, f float64) int64 {
	width := map[Elem]int64{I64: 63, Index: 63, I32: 31, I16: 15, I8: 7}[e]
	lo, hi := new(big.Float), new(big.Float)
	switch {
	case f != f:
		return 0
	case e == U8:
		hi.SetInt64(255)
	default:
		hi.SetPrec(64).Sub(new(big.Float).SetMantExp(big.NewFloat(1), int(width)), big.NewFloat(1))
		lo.SetPrec(64).Sub(new(big.Float).Neg(hi), big.NewFloat(1))
	}
	x := new(big.Float).SetFloat64(f)
	if x.Cmp(lo) < 0 {
		x = lo
	}
	if x.Cmp(hi) > 0 {
		x = hi
	}
	v, _ := x.Int64()
	return v
}

func TestFloatToFloatCast(t *testing.T) {
	r := rand.New(rand.NewSource(10))
	floats := []Elem{F64, F32, F16, BF16}
	for range 4000 {
		for _, from := range floats {
			x := randomFloat(r, from)
			for _, to := range floats {
				if got, want := Float(Cast(from, to, FromFloat(x))), refRound(to, rat(x)); got != want {
					t.Fatalf("%s(%v: %s) = %v, want %v", to, x, from, got, want)
				}
			}
		}
	}
	if c := Cast(F64, F16, 0x7ff8000000000001); Bits(F16, c) != 0x7e00 {
		t.Errorf("a payload f16 cannot hold: %#x", Bits(F16, c))
	}
	if c := Cast(F32, BF16, FromBits(F32, 0xffe10000)); Bits(BF16, c) != 0xffe1 {
		t.Errorf("a payload bf16 can hold: %#x", Bits(BF16, c))
	}
}
