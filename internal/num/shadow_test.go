package num

import (
	"fmt"
	"math"
	"math/big"
	"math/rand"
	"testing"
)

// machine is an implementation that rounds otherwise than the program does but
// no worse than it may: each result of a rounding op moves by up to its ulps.
type machine struct {
	r *rand.Rand
	e Elem
}

// nudge moves c by at most ulps values of the type, but no step of an op that
// is exact.
func (m machine) nudge(c Cell, ulps int, exact bool) Cell {
	f := Float(c)
	if exact || !finite(f) || f == 0 {
		return c
	}
	b := Bits(m.e, c)
	return FromBits(m.e, b+uint64(m.r.Intn(2*ulps+1)-ulps)) // past the greatest value comes infinity
}

// Three values side by side: the program's, another machine's, the shadow.
type triple struct {
	cell, native Cell
	s            Shadow
}

func (m machine) input() triple {
	x := Round(m.e, math.Ldexp(m.r.NormFloat64(), m.r.Intn(7)-3))
	switch m.r.Intn(16) {
	case 0, 1:
		x = float64(m.r.Intn(5) - 2)
	case 2:
		x = randomFloat(m.r, m.e)
	case 3:
		x = []float64{math.Inf(1), math.Inf(-1), math.NaN(), formats[m.e].max}[m.r.Intn(4)]
	}
	c := FromFloat(x)
	return triple{c, c, Exact(m.e, c)}
}

var mathUlps = map[string]int{"exp": 1, "exp2": 1, "expm1": 1, "log": 1, "log2": 1, "log1p": 1, "tanh": 1, "erf": 1, "sigmoid": 1,
	"sin": 1, "cos": 1, "rsqrt": 1, "cbrt": 1, "pow": 1}

func (m machine) unary(name string, x triple) triple {
	op := Unary(name, m.e)
	c, n := op(x.cell), op(x.native)
	return triple{c, m.nudge(n, 1, mathUlps[name] == 0), ShadowUnary(name, m.e)(x.s, x.cell, c)}
}

// binary adds no step of its own to + - * /: it rounds them correctly, from operands
// that differ.
func (m machine) binary(name string, a, b triple) triple {
	op := Binary(name, m.e)
	c, n := op(a.cell, b.cell), op(a.native, b.native)
	exact := mathUlps[name] == 0 || Float(b.native) == 0 || math.Abs(Float(a.native)) == 1 // C fixes these powers
	return triple{c, m.nudge(n, 1, exact), ShadowBinary(name, m.e)(a.s, b.s, a.cell, b.cell, c)}
}

var chainUnary = []string{"neg", "abs", "sqrt", "rsqrt", "cbrt", "exp", "exp2", "expm1", "log", "log2", "log1p", "tanh", "erf",
	"sigmoid", "sin", "cos", "floor", "ceil", "trunc", "round", "sign"}
var chainBinary = []string{"add", "sub", "mul", "div", "max", "min", "add", "mul", "pow"}

// A correct implementation agrees with the shadow of any chain of ops, and the
// bound stays tight enough to reject a result that is far off.
func TestChainsAgree(t *testing.T) {
	for _, e := range []Elem{F64, F32, F16, BF16} {
		m := machine{rand.New(rand.NewSource(3)), e}
		undecided, rejected, checked := 0, 0, 0
		for range 10000 {
			vals, trace := []triple{m.input(), m.input(), m.input()}, ""
			for range 5 {
				a, b := vals[m.r.Intn(len(vals))], vals[m.r.Intn(len(vals))]
				var name string
				var res triple
				if m.r.Intn(2) == 0 {
					name = chainUnary[m.r.Intn(len(chainUnary))]
					res = m.unary(name, a)
				} else {
					name = chainBinary[m.r.Intn(len(chainBinary))]
					res = m.binary(name, a, b)
				}
				trace += fmt.Sprintf("\n%s(%v, %v) = %v, natively %v, shadow %v", name, Float(a.cell), Float(b.cell), Float(res.cell), Float(res.native), res.s)
				if !Agree(e, res.cell, res.s) || !Agree(e, res.native, res.s) {
					t.Fatalf("%s: a correct result is rejected:%s", e, trace)
				}
				vals = append(vals, res)
				checked++
				if res.s.Undecided() {
					undecided++
				}
				if off := Round(e, Float(res.cell)*(1+4096*formats[e].u)); finite(off) && off != Float(res.cell) && !Agree(e, FromFloat(off), res.s) {
					rejected++
				}
			}
		}
		t.Logf("%s: %d undecided, %d rejected of %d", e, undecided, rejected, checked)
		if undecided > checked/8 || rejected < checked/3 {
			t.Errorf("%s: of %d results %d are undecided and %d wrong ones rejected", e, checked, undecided, rejected)
		}
	}
}

// The shadow of an f64 program knows the exact value much better than its bound:
// the low half of an operand counts.
func TestWideShadowIsNearTheExactValue(t *testing.T) {
	r := rand.New(rand.NewSource(41))
	mul, smul := Binary("mul", F64), ShadowBinary("mul", F64)
	exact := map[string]func(*big.Float) *big.Float{
		"exp": bigExp, "log": bigLog, "expm1": bigExpm1, "cbrt": bigCbrt, "log1p": bigLog1p, "erf": bigErf,
		"sqrt":    func(x *big.Float) *big.Float { return new(big.Float).SetPrec(refPrec).Sqrt(x) },
		"rsqrt":   func(x *big.Float) *big.Float { return bquo(bf(1), new(big.Float).SetPrec(refPrec).Sqrt(x)) },
		"sigmoid": func(x *big.Float) *big.Float { return bquo(bf(1), badd(bf(1), bigExp(bneg(x)))) },
		"tanh": func(x *big.Float) *big.Float {
			m := bigExpm1(bscale(x, 1))
			return bquo(m, badd(m, bf(2)))
		},
	}
	for name, f := range exact {
		op, sop := Unary(name, F64), ShadowUnary(name, F64)
		for range 150 {
			a, b := fl(1+r.Float64()), fl(1+r.Float64())
			p := mul(a, b)
			s := smul(Exact(F64, a), Exact(F64, b), a, b, p)
			got := sop(s, p, op(p))
			off, _ := bsub(f(bmul(bf(Float(a)), bf(Float(b)))), badd(bf(got.Hi), bf(got.Lo))).Float64()
			if math.Abs(off) > got.Err/3 {
				t.Fatalf("%s(%v * %v): the shadow is %v off, its bound %v", name, Float(a), Float(b), off, got.Err)
			}
			if got.Err > 40*0x1p-53*math.Max(1, math.Abs(got.Hi)) {
				t.Fatalf("%s(%v * %v) = %v: a bound of %v is loose", name, Float(a), Float(b), got.Hi, got.Err)
			}
		}
	}
}
