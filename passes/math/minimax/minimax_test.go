package minimax

import (
	"math"
	"testing"
)

// The functions agree with each other to nearly all their bits, and with the
// standard library to what it has.
func TestFunctionsAgree(t *testing.T) {
	for _, x := range []float64{0x1p-30, 0.1, 0.75, 1, 2.5, 20, 300} {
		b := F(x)
		for name, pair := range map[string][2]Num{
			"exp and log":      {Log(Exp(b)), b},
			"exp and 1/exp":    {Mul(Exp(b), Exp(Sub(F(0), b))), F(1)},
			"log1p and expm1":  {Log1p(Expm1(b)), b},
			"sin^2 + cos^2":    {Add(Mul(Sin(b), Sin(b)), Mul(Cos(b), Cos(b))), F(1)},
			"cubes":            {Mul(Cbrt(b), Mul(Cbrt(b), Cbrt(b))), b},
			"tanh and sigmoid": {Tanh(b), Sub(Mul(F(2), Sigmoid(Mul(F(2), b))), F(1))},
			"rsqrt":            {Mul(Mul(Rsqrt(b), Rsqrt(b)), b), F(1)},
			"pow":              {Pow(b, F(3)), Mul(b, Mul(b, b))},
		} {
			off := Sub(pair[0], pair[1])
			if off.Sign() != 0 && off.MantExp(nil) > pair[1].MantExp(nil)-Prec+80 {
				t.Errorf("%s at %v: off by 2^%d of 2^%d", name, x, off.MantExp(nil), pair[1].MantExp(nil))
			}
		}
		for name, pair := range map[string][2]float64{
			"exp": {f64(Exp(b)), math.Exp(x)}, "log": {f64(Log(b)), math.Log(x)}, "erf": {f64(Erf(b)), math.Erf(x)},
			"sin": {f64(Sin(b)), math.Sin(x)}, "tanh": {f64(Tanh(b)), math.Tanh(x)}, "pi": {f64(Pi()), math.Pi},
		} {
			if math.Abs(pair[0]-pair[1]) > 0x1p-51*math.Abs(pair[1]) {
				t.Errorf("%s(%v) is %v, the library's is %v", name, x, pair[0], pair[1])
			}
		}
	}
}

func f64(x Num) float64 { v, _ := x.Float64(); return v }

// A fit of a polynomial is that polynomial; the best line under e^x on [0, 1] is
// known in closed form: slope e - 1, error (2 - e + (e-1) log(e-1)) / 2.
func TestFit(t *testing.T) {
	one := func(Num) Num { return F(1) }
	c, worst := Fit{Target: func(x Num) Num { return Add(Mul(x, x), F(3)) }, Weight: one, Lo: -1, Hi: 2, Terms: 4, Bits: 53}.Solve()
	if worst > 0x1p-50 || c[0] != 3 || c[2] != 1 {
		t.Errorf("3 + x^2 became %v, off by %v", c, worst)
	}
	c, worst = Fit{Target: Exp, Weight: one, Lo: 0, Hi: 1, Terms: 2, Bits: 53}.Solve()
	want := (2 - math.E + (math.E-1)*math.Log(math.E-1)) / 2
	if math.Abs(c[1]-(math.E-1)) > 0x1p-12 || math.Abs(worst-want) > 0x1p-12 {
		t.Errorf("the line under e^x has slope %v and error %v; want %v and %v", c[1], worst, math.E-1, want)
	}
}
