package num

import (
	"math"
	"math/big"
	"math/rand"
	"testing"
)

// samples are arguments of every magnitude and where the functions turn.
func samples(r *rand.Rand, n int) []float64 {
	xs := []float64{1, -1, 0.5, -0.5, 2, 3, -3, 1e-8, 1e-300, 5e-324, -5e-324, 0x1p-1022, 709.7, -708.4, -745.1, -744, -740, 88, -104,
		1023.9, -1074, -1022.5, -1073.5, math.Pi, math.Pi / 2, 3 * math.Pi / 4, 1e22, 1e300, math.MaxFloat64, 0x1p20, 0x1p20 + 1, 22, 21.9, 45, -45, -46,
		0.9999999999999999, 1.0000000000000002, 1 - 0x1p-30, 1 + 0x1p-30, 0.70710678118654746, 1.4142135623730951, 0x1.921fb54442d18p+22,
		6381956970095103 * 0x1p797, 0.34657359, 0.3465736, 1e5, -0.9999999999999999, -0.999, 5.9, 0.84375, 1.25, 2.857}
	for range n {
		xs = append(xs, math.Ldexp(r.Float64()*2-1, r.Intn(40)-30), math.Ldexp(r.Float64()*2-1, r.Intn(2097)-1073),
			(r.Float64()*2-1)*750, 1+math.Ldexp(r.Float64()-0.5, -r.Intn(40)), float64(r.Intn(1000))*math.Pi/2)
	}
	return xs
}

// Every function of f64 is within 1.5 ulp of the exact value (rsqrt and the
// standard library's cbrt and erf need more than 0.51), subnormal results included,
// and gives an infinity only where the exact value is beyond float64.
func TestFloat64FunctionsAgainstBig(t *testing.T) {
	for name, f := range float64Unary {
		r := rand.New(rand.NewSource(2))
		worst, at := 0.0, 0.0
		for _, x := range samples(r, 250) {
			got := f(x)
			if x == 0 || outside(name, x) {
				continue
			}
			want := bigUnary[name](x)
			if got != got {
				t.Fatalf("%s(%v) is NaN", name, x)
			}
			if math.IsInf(got, 0) {
				if v, _ := want.Float64(); v != got {
					t.Errorf("%s(%v) = %v, want %v", name, x, got, v)
				}
				continue
			}
			if off := ulpsOff(got, want); off > worst {
				worst, at = off, x
			}
		}
		t.Logf("%s: %.3f ulp at %v", name, worst, at)
		limit := 1.5
		if name == "sqrt" {
			limit = 0.5
		}
		if worst > limit {
			t.Errorf("%s is %.3f ulp off at %v: %v", name, worst, at, f(at))
		}
	}
}

// outside are arguments at which the reference would be slow, or has no value.
func outside(name string, x float64) bool {
	switch name {
	case "exp", "sigmoid", "exp2", "expm1":
		return math.Abs(x) > 1e5
	case "tanh":
		return math.Abs(x) > 30
	case "erf":
		return math.Abs(x) > 6.5
	case "log", "log2", "sqrt", "rsqrt":
		return x <= 0
	case "log1p":
		return x <= -1
	}
	return false
}

func TestFloat64FunctionsAtTheEnds(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	neg0 := math.Copysign(0, -1)
	for _, c := range []struct {
		name    string
		x, want float64
	}{
		{"exp", -inf, 0}, {"exp", inf, inf}, {"exp", 0, 1}, {"exp", 710, inf}, {"exp", -746, 0}, {"exp2", 1023, 0x1p1023}, {"exp2", -1074, 5e-324},
		{"exp2", 1024, inf}, {"exp2", -1080, 0}, {"exp2", inf, inf}, {"exp2", -inf, 0}, {"expm1", neg0, neg0}, {"expm1", -inf, -1}, {"expm1", inf, inf},
		{"log", 0, -inf}, {"log", 1, 0}, {"log", -1, nan}, {"log", inf, inf}, {"log2", 0x1p-1074, -1074}, {"log2", 8, 3}, {"log1p", -1, -inf},
		{"log1p", neg0, neg0}, {"log1p", -2, nan}, {"log1p", inf, inf}, {"tanh", inf, 1}, {"tanh", -inf, -1}, {"tanh", neg0, neg0}, {"sigmoid", -inf, 0},
		{"sigmoid", inf, 1}, {"sigmoid", 0, 0.5}, {"sin", neg0, neg0}, {"sin", inf, nan}, {"cos", 0, 1}, {"cos", -inf, nan}, {"erf", 7, 1}, {"erf", inf, 1}, {"erf", -inf, -1},
		{"sqrt", neg0, neg0}, {"sqrt", -1, nan}, {"rsqrt", 0, inf}, {"rsqrt", neg0, -inf}, {"rsqrt", inf, 0}, {"cbrt", -8, -2}, {"cbrt", inf, inf},
		{"erf", neg0, neg0}, {"sigmoid", -745, 5e-324}, {"sigmoid", -800, 0},
	} {
		for _, e := range []Elem{F64, F32, F16, BF16} {
			got, want := Unary(c.name, e)(FromFloat(c.x)), FromFloat(Round(e, c.want))
			if Round(e, c.x) == c.x && !Same(e, got, want) && !(c.x != c.x) {
				t.Errorf("%s %s(%v) = %v, want %v", e, c.name, c.x, Float(got), Float(want))
			}
		}
		if f := float64Unary[c.name]; !math.IsNaN(f(nan)) {
			t.Errorf("%s(NaN) = %v", c.name, f(nan))
		}
	}
}

func TestPowAgainstBig(t *testing.T) {
	r := rand.New(rand.NewSource(4))
	worst := 0.0
	for range 2500 {
		x := math.Ldexp(r.Float64()+0.5, r.Intn(1+1<<r.Intn(11)))
		if r.Intn(2) == 0 {
			x = 1 / x
		}
		y := (r.Float64()*2 - 1) * 744 / (math.Abs(math.Log(x)) + 1e-9)
		got, want := Pow(x, y), bigPow(x, y)
		if v, _ := want.Float64(); math.IsInf(got, 0) && v == got {
			continue
		}
		if off := ulpsOff(got, want); off > worst {
			worst = off
			if off > 1 {
				t.Fatalf("pow(%v, %v) = %v is %.3f ulp off", x, y, got, off)
			}
		}
	}
	t.Logf("pow: %.3f ulp", worst)
	for x := 1.0; x < 40; x++ {
		for y := 0.0; y < 9; y++ {
			want, _ := new(big.Float).SetInt(new(big.Int).Exp(big.NewInt(int64(x)), big.NewInt(int64(y)), nil)).Float64()
			if got := Pow(x, y); got != want && y < 9 && want < 1<<53 {
				t.Errorf("pow(%v, %v) = %v", x, y, got)
			}
			if got := Pow(-x, y); math.Abs(got) != want || (got < 0) != (int(y)&1 == 1) {
				t.Errorf("pow(%v, %v) = %v", -x, y, got)
			}
		}
	}
}

func TestPowSpecialCases(t *testing.T) {
	inf, nan, neg0 := math.Inf(1), math.NaN(), math.Copysign(0, -1)
	for _, c := range [][3]float64{
		{nan, 0, 1}, {1, nan, 1}, {nan, 1, nan}, {2, nan, nan}, {0, -1, inf}, {neg0, -1, -inf}, {neg0, -2, inf}, {neg0, 3, neg0}, {0, 2, 0}, {0, inf, 0}, {0, -inf, inf},
		{-1, inf, 1}, {-1, -inf, 1}, {2, inf, inf}, {0.5, inf, 0}, {0.5, -inf, inf}, {inf, -1, 0}, {inf, 0.5, inf}, {-inf, 3, -inf}, {-inf, 2, inf}, {-inf, -3, neg0},
		{-8, 1.0 / 3, nan}, {-2, 3, -8}, {-2, 0x1p60, inf}, {-1, 0x1p53, 1}, {-1, 0x1p53 - 1, -1}, {2, 1024, inf}, {2, -1075.5, 0}, {2, -1074, 5e-324},
	} {
		if got := Pow(c[0], c[1]); !Same(F64, FromFloat(got), FromFloat(c[2])) {
			t.Errorf("pow(%v, %v) = %v, want %v", c[0], c[1], got, c[2])
		}
	}
}

// Every function of every 16-bit float, and of random f32, is within 1 ulp.
func TestNarrowFunctions(t *testing.T) {
	for name, f := range float64Unary {
		r := rand.New(rand.NewSource(5))
		for _, e := range []Elem{F16, BF16, F32} {
			op := Unary(name, e)
			for b := range uint64(1 << 16) {
				if e == F32 {
					b = uint64(r.Uint32())
				}
				x := FromBits(e, b)
				got, want := Float(op(x)), f(Float(x))
				if !withinUlp(e, got, want) {
					t.Fatalf("%s %s(%v) = %v, want %v", e, name, Float(x), got, want)
				}
			}
		}
	}
}

// withinUlp compares a result of a narrow type with a float64 value.
func withinUlp(e Elem, got, want float64) bool {
	rounded := Round(e, want)
	if !finite(rounded) || !finite(want) {
		return got == rounded || got != got && want != want
	}
	_, exp := math.Frexp(want)
	ulp := max(math.Ldexp(1, exp-e.Bits()), formats[e].tiny)
	return math.Abs(got-want) <= ulp*(0.5+1e-4)
}
