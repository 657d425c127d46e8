package num

import (
	"math"
	"math/big"
	"math/rand"
	"testing"
)

// bracketed adds or multiplies terms in a random order and bracketing.
func bracketed(r *rand.Rand, op func(a, b Cell) Cell, terms []Cell) Cell {
	terms = append([]Cell(nil), terms...)
	for len(terms) > 1 {
		i := r.Intn(len(terms))
		x := terms[i]
		terms[i] = terms[len(terms)-1]
		terms = terms[:len(terms)-1]
		j := r.Intn(len(terms))
		terms[j] = op(x, terms[j])
	}
	return terms[0]
}

// Sums of terms that have bounds of their own (products), in any order, with
// and without contraction, agree; a sum that misses its largest term does not.
func TestSumAgreesInAnyOrder(t *testing.T) {
	r := rand.New(rand.NewSource(20))
	for _, e := range []Elem{F64, F32, F16, BF16} {
		mul, smul, add, fma := Binary("mul", e), ShadowBinary("mul", e), Binary("add", e), Ternary("fma", e)
		for round := range 1500 {
			var s SumShadow
			var terms []Cell
			chain, largest := FromFloat(0), 0.0
			exact := new(big.Float).SetPrec(400)
			for range 1 + r.Intn(40) {
				x, y := FromFloat(Round(e, r.NormFloat64())), FromFloat(Round(e, r.NormFloat64()))
				p := mul(x, y)
				s.Add(smul(Exact(e, x), Exact(e, y), x, y, p))
				terms = append(terms, p)
				chain = fma(x, y, chain)
				largest = max(largest, math.Abs(Float(p)))
				exact.Add(exact, new(big.Float).Mul(bf(Float(x)), bf(Float(y))))
			}
			res := s.Result(e)
			if sum := bracketed(r, add, terms); !Agree(e, sum, res) || !Agree(e, chain, res) {
				t.Fatalf("%s round %d: %v or %v is not within %v", e, round, Float(sum), Float(chain), res)
			}
			off, _ := new(big.Float).Sub(exact, new(big.Float).Add(bf(res.Hi), bf(res.Lo))).Float64()
			if math.Abs(off) > res.Err*1e-3 && off != 0 {
				t.Fatalf("%s: the shadow itself is %v off, its bound is %v", e, off, res.Err)
			}
			if missing := FromFloat(Float(chain) - largest); e != BF16 && e != F16 && Agree(e, missing, res) {
				t.Fatalf("%s: a lost term of %v passes, bound %v", e, largest, res.Err)
			}
		}
	}
}

// Integer-valued sums within the precision have no error, so that ties and
// comparisons of counts and of squared integer distances are decided.
func TestSumOfIntegersIsExact(t *testing.T) {
	var s SumShadow
	for i := range 64 {
		s.Add(Exact(F32, FromFloat(float64(i*i))))
	}
	if got := s.Result(F32); got != (Shadow{Hi: 85344}) {
		t.Errorf("sum of squares: %v", got)
	}
	s.Add(Exact(F32, FromFloat(1<<24)))
	s.Add(Exact(F32, FromFloat(-1<<24)))
	if got := s.Result(F32); got.Hi != 85344 || got.Err == 0 {
		t.Errorf("with partial sums past 2^24: %v", got)
	}
	var half SumShadow
	half.Add(Exact(BF16, FromFloat(256)))
	half.Add(Exact(BF16, FromFloat(0.5)))
	if got := half.Result(BF16); got.Hi != 256.5 || got.Err == 0 {
		t.Errorf("a sum bf16 cannot hold: %v", got)
	}
	var past SumShadow
	past.Add(Exact(F64, FromFloat(1<<53)))
	past.Add(Exact(F64, FromFloat(1)))
	if got := past.Result(F64); got.Hi+got.Lo != 1<<53 || got.Err == 0 || !Agree(F64, FromFloat(1<<53), got) {
		t.Errorf("magnitudes whose sum f64 cannot hold: %v", got)
	}
	var none SumShadow
	if none.Result(F64) != (Shadow{}) {
		t.Errorf("empty sum: %v", none.Result(F64))
	}
}

func TestSumNotFinite(t *testing.T) {
	inf := math.Inf(1)
	big := formats[F32].max
	for _, c := range []struct {
		terms     []float64
		want      float64
		undecided bool
	}{
		{[]float64{1, inf, 2}, inf, false}, {[]float64{inf, -inf}, math.NaN(), false}, {[]float64{math.NaN(), 1}, math.NaN(), false},
		{[]float64{-inf, -inf}, -inf, false}, {[]float64{big, big}, inf, false}, {[]float64{-big, -big, -big}, -inf, false},
		{[]float64{big, big, -big}, 0, true}, {[]float64{big}, big, false}, {[]float64{big, 1}, 0, true},
	} {
		var s SumShadow
		for _, x := range c.terms {
			s.Add(Exact(F32, FromFloat(x)))
		}
		got := s.Result(F32)
		if got.Undecided() != c.undecided || !c.undecided && !Agree(F32, FromFloat(c.want), got) {
			t.Errorf("%v: %v", c.terms, got)
		}
		if !c.undecided && Agree(F32, FromFloat(7), got) {
			t.Errorf("%v: 7 agrees with %v", c.terms, got)
		}
	}
}

func TestProductAgreesInAnyOrder(t *testing.T) {
	r := rand.New(rand.NewSource(21))
	for _, e := range []Elem{F64, F32, F16, BF16} {
		decided := 0
		for range 1500 {
			p := NewProdShadow(e)
			var terms []Cell
			spread := 1 + r.Intn(6)
			for range 1 + r.Intn(20) {
				x := FromFloat(Round(e, math.Ldexp(r.NormFloat64(), r.Intn(spread)-spread/2)))
				p.Add(Exact(e, x))
				terms = append(terms, x)
			}
			res := p.Result()
			if got := bracketed(r, Binary("mul", e), terms); !Agree(e, got, res) {
				t.Fatalf("%s: %v is not within %v", e, Float(got), res)
			}
			if !res.Undecided() {
				decided++
			}
		}
		if decided < 500 {
			t.Errorf("%s: %d decided", e, decided)
		}
	}
}

func TestProductEnds(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range []struct {
		terms []float64
		want  float64
	}{
		{nil, 1}, {[]float64{3}, 3}, {[]float64{0, 5}, 0}, {[]float64{inf, 0}, math.NaN()}, {[]float64{inf, -2}, -inf},
		{[]float64{0x1p100, 0x1p100}, inf}, {[]float64{0x1p-100, 0x1p-100}, 0}, {[]float64{2, 3, 4}, 24},
	} {
		p := NewProdShadow(F32)
		for _, x := range c.terms {
			p.Add(Exact(F32, FromFloat(x)))
		}
		if got := p.Result(); got.Undecided() || !Agree(F32, FromFloat(c.want), got) || Agree(F32, FromFloat(-7), got) {
			t.Errorf("%v: %v, want %v", c.terms, got, c.want)
		}
	}
	p := NewProdShadow(F32)
	for _, x := range []float64{0x1p100, 0x1p100, 0x1p-100} {
		p.Add(Exact(F32, FromFloat(x)))
	}
	if !p.Result().Undecided() {
		t.Errorf("an order overflows, another does not: %v", p.Result())
	}
}

// A partial sum may overflow before it meets an infinity of the other sign, or
// not, as the order is; an infinity alone decides.
func TestSumOfAnOverflowAndAnInfinity(t *testing.T) {
	for _, c := range []struct {
		terms     []float64
		undecided bool
	}{{[]float64{3e38, 3e38, math.Inf(-1)}, true}, {[]float64{1, 2, math.Inf(-1)}, false}, {[]float64{3e38, 3e38, math.Inf(-1), math.Inf(1)}, false}} {
		var s SumShadow
		for _, x := range c.terms {
			s.Add(Exact(F32, fl(float64(float32(x)))))
		}
		if got := s.Result(F32); got.Undecided() != c.undecided {
			t.Errorf("%v: %v", c.terms, got)
		}
	}
}
