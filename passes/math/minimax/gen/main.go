// Command gen prints the file coefficients.go of package passes/math. Every
// table is a fit of this file's list; none comes from elsewhere.
//
//	go run ./passes/math/minimax/gen > passes/math/coefficients.go
package main

import (
	"fmt"
	"math"
	"math/big"
	"os"
	"strings"
	"sync"

	. "tenon/passes/math/minimax"
)

// table is one variable of the file.
type table struct {
	name, doc string
	fit       Fit
}

const (
	f32 = 24
	f64 = 53
)

func square(x Num) Num { return Mul(x, x) }
func root(z Num) Num   { return new(big.Float).SetPrec(Prec).Sqrt(z) }
func inv(x Num) Num    { return Quo(F(1), x) }

// expRest is (e^r - 1 - r) / r^2.
func expRest(terms int, bits uint) Fit {
	const half = math.Ln2/2 + 0x1p-20
	return Fit{
		Target: func(r Num) Num { return Quo(Sub(Expm1(r), r), square(r)) },
		Weight: func(r Num) Num { return Quo(square(r), Exp(r)) },
		Lo:     -half, Hi: half, Terms: terms, Bits: bits,
	}
}

// exp2Rest is (2^r - 1) / r.
func exp2Rest(terms int, bits uint) Fit {
	exp2 := func(r Num) Num { return Mul(r, Ln2()) }
	return Fit{
		Target: func(r Num) Num { return Quo(Expm1(exp2(r)), r) },
		Weight: func(r Num) Num { return Quo(r, Exp(exp2(r))) },
		Lo:     -0.5, Hi: 0.5, Terms: terms, Bits: bits,
	}
}

// logRest is (log(1 + f) - f + f^2/2) / f^3.
func logRest(terms int, bits uint) Fit {
	return Fit{
		Target: func(f Num) Num {
			return Quo(Add(Sub(Log1p(f), f), Quo(square(f), F(2))), Mul(square(f), f))
		},
		Weight: func(f Num) Num { return Quo(Mul(square(f), f), Log1p(f)) },
		Lo:     math.Sqrt2/2 - 1 - 0x1p-20, Hi: math.Sqrt2 - 1 + 0x1p-20, Terms: terms, Bits: bits,
	}
}

// log2Rest is log2(1 + f)/f less 1/log 2 rounded to f32.
func log2Rest(terms int, bits uint) Fit {
	first, _ := new(big.Float).SetPrec(f32).Set(inv(Ln2())).Float64()
	log2 := func(f Num) Num { return Quo(Log1p(f), Ln2()) }
	return Fit{
		Target: func(f Num) Num { return Sub(Quo(log2(f), f), F(first)) },
		Weight: func(f Num) Num { return Quo(f, log2(f)) },
		Lo:     math.Sqrt2/2 - 1 - 0x1p-20, Hi: math.Sqrt2 - 1 + 0x1p-20, Terms: terms, Bits: bits,
	}
}

// atanhSum is 2 atanh(s)/s in z = s^2.
func atanhSum(z Num) Num {
	s := root(z)
	return Quo(Log1p(Quo(Mul(F(2), s), Sub(F(1), s))), s)
}

// atanhRest is (2 atanh(s)/s - 2) / s^2 in z = s^2, where s = f / (2 + f).
func atanhRest(terms int, bits uint) Fit {
	return Fit{
		Target: func(z Num) Num { return Quo(Sub(atanhSum(z), F(2)), z) },
		Weight: func(z Num) Num { return Quo(z, atanhSum(z)) },
		Lo:     0, Hi: atanhEnd, Terms: terms, Bits: bits,
	}
}

// atanhEnd is the square of (sqrt 2 - 1) / (sqrt 2 + 1), rounded up.
const atanhEnd = 0.02944

// atanhTail is (2 atanh(s) - t - t^3/12) / t^5 in w = t^2, where t = 2s = 2f / (2 + f).
func atanhTail(terms int, bits uint) Fit {
	sum := func(w Num) Num { return Quo(atanhSum(Quo(w, F(4))), F(2)) }
	return Fit{
		Target: func(w Num) Num { return Quo(Sub(Sub(sum(w), F(1)), Quo(w, F(12))), square(w)) },
		Weight: func(w Num) Num { return Quo(square(w), sum(w)) },
		Lo:     0, Hi: 4 * atanhEnd, Terms: terms, Bits: bits,
	}
}

// odd is (g(x)/x - 1) / x^2 in z = x^2 for an odd g, on |x| <= end.
func odd(g func(Num) Num, end float64, terms int, bits uint) Fit {
	return Fit{
		Target: func(z Num) Num { x := root(z); return Quo(Sub(Quo(g(x), x), F(1)), z) },
		Weight: func(z Num) Num { x := root(z); return Quo(Mul(z, x), g(x)) },
		Lo:     0, Hi: end * end, Terms: terms, Bits: bits,
	}
}

// erfNear is erf(x)/x - 1 in z = x^2.
func erfNear(end float64, terms int, bits uint) Fit {
	return Fit{
		Target: func(z Num) Num { x := root(z); return Sub(Quo(Erf(x), x), F(1)) },
		Weight: func(z Num) Num { x := root(z); return Quo(x, Erf(x)) },
		Lo:     0, Hi: end * end, Terms: terms, Bits: bits,
	}
}

// erfRoot is the fourth root of 1 - erf(x) in u = x - mid: an error e in it is
// one of 4 (1 - erf(x))^(3/4) e in erf(x).
func erfRoot(lo, hi, mid float64, terms int, bits uint) Fit {
	q := func(u Num) Num { return root(root(Sub(F(1), Erf(Add(u, F(mid)))))) }
	return Fit{
		Target: q,
		Weight: func(u Num) Num { return Mul(F(4), Mul(q(u), square(q(u)))) },
		Lo:     lo - mid, Hi: hi - mid, Terms: terms, Bits: bits,
	}
}

// erfcRoot is ((1 - erf(x))^(1/4) - 1) / x.
func erfcRoot(hi float64, terms int, bits uint) Fit {
	q := func(x Num) Num { return root(root(Sub(F(1), Erf(x)))) }
	return Fit{
		Target: func(x Num) Num { return Quo(Sub(q(x), F(1)), x) },
		Weight: func(x Num) Num { return Mul(Mul(F(4), x), Mul(q(x), square(q(x)))) },
		Lo:     0, Hi: hi, Terms: terms, Bits: bits,
	}
}

// erfFar is log(1 - erf(x)) in u = x - mid: an error e in it is one of
// (1 - erf(x)) e in erf(x).
func erfFar(lo, hi, mid float64, terms int, bits uint) Fit {
	erfc := func(u Num) Num { return Sub(F(1), Erf(Add(u, F(mid)))) }
	return Fit{
		Target: func(u Num) Num { return Log(erfc(u)) },
		Weight: func(u Num) Num { c := erfc(u); return Quo(c, Sub(F(1), c)) },
		Lo:     lo - mid, Hi: hi - mid, Terms: terms, Bits: bits,
	}
}

// sinTurn is sin(pi f)/f in z = f^2 for |f| <= end.
func sinTurn(end float64, terms int, bits uint) Fit {
	sine := func(f Num) Num { return Sin(Mul(Pi(), f)) }
	return Fit{
		Target: func(z Num) Num { f := root(z); return Quo(sine(f), f) },
		Weight: func(z Num) Num { f := root(z); return Quo(f, sine(f)) },
		Lo:     0, Hi: end * end, Terms: terms, Bits: bits,
	}
}

// cbrtStart is the cube root of m on [1, 2].
func cbrtStart(terms int) Fit {
	return Fit{Target: Cbrt, Weight: func(m Num) Num { return inv(Cbrt(m)) }, Lo: 1, Hi: 2, Terms: terms, Bits: f64}
}

// rootGuess is the constant c for which the float with the bits (c - i/3) 2^9 is
// nearest to x^(-1/3), where x of f32 has the bits i 2^9; and the greatest of
// |1 - x y^3| for such a y.
func rootGuess() (c int, worst float64) {
	worst = 1
	for try := 2_770_000; try < 2_776_000; try += 50 {
		top := 0.0
		for k := range 999 {
			x := math.Float32bits(float32(math.Exp2(float64(k) / 333)))
			i := math.Round(float64(try) - float64(x>>9)/3)
			y := float64(math.Float32frombits(uint32(i) << 9))
			top = max(top, math.Abs(1-float64(math.Float32frombits(x))*y*y*y))
		}
		if top < worst {
			c, worst = try, top
		}
	}
	return c, worst
}

// rootStep is ((1-e)^(-1/3) - 1) / e.
func rootStep(terms int) Fit {
	_, end := rootGuess()
	minus1 := func(e Num) Num { return Expm1(Quo(Log1p(Sub(F(0), e)), F(-3))) }
	return Fit{
		Target: func(e Num) Num { return Quo(minus1(e), e) },
		Weight: func(e Num) Num { return e },
		Lo:     -end - 0x1p-10, Hi: end + 0x1p-10, Terms: terms, Bits: f32,
	}
}

var tables = []table{
	{"expF32", "(e^r - 1 - r) / r^2 on |r| <= ln(2)/2", expRest(5, f32)},
	{"expF64", "(e^r - 1 - r) / r^2 on |r| <= ln(2)/2", expRest(10, f64)},
	{"expMid", "the same, for f32 results in f64", expRest(6, f64)},
	{"exp2F32", "(2^r - 1) / r on |r| <= 1/2", exp2Rest(6, f32)},
	{"exp2F64", "(2^r - 1) / r on |r| <= 1/2", exp2Rest(12, f64)},
	{"logF32", "(log(1+f) - f + f^2/2) / f^3 for 1+f between the roots of 1/2 and 2", logRest(8, f32)},
	{"log2F32", "log2(1+f)/f - 1/log 2, rounded to f32, for the same f", log2Rest(10, f32)},
	{"logF64", "(2 atanh(s)/s - 2) / z, z = s^2 <= 0.0295", atanhRest(7, f64)},
	{"logMid", "the same, for f32 results in f64", atanhRest(4, f64)},
	{"logTail", "(2 atanh(t/2)/t - 1 - w/12) / w^2, w = t^2 <= 0.118", atanhTail(8, f64)},
	{"tanhF32", "(tanh(x)/x - 1) / z, z = x^2, |x| <= 0.55", odd(Tanh, 0.55, 4, f32)},
	{"tanhF64", "(tanh(x)/x - 1) / z, z = x^2, |x| <= 0.55", odd(Tanh, 0.55, 10, f64)},
	{"erfNearF32", "erf(x)/x - 1 in z = x^2, |x| <= 0.85", erfNear(0.85, 6, f32)},
	{"erfNearF64", "erf(x)/x - 1 in z = x^2, |x| <= 0.85", erfNear(0.85, 11, f64)},
	{"erfFarF32", "(1 - erf(u + 1))^(1/4) for u + 1 from 0.85 to 3.95", erfRoot(0.85, 3.95, 1, 10, f32)},
	{"erfcF32", "((1 - erf(x))^(1/4) - 1) / x, 0 <= x <= 3.95", erfcRoot(3.95, 10, f32)},
	{"erfFarF64", "log(1 - erf(u + 1)) for u + 1 from 0.85 to 6", erfFar(0.85, 6, 1, 21, f64)},
	{"sinTurnMid", "sin(pi f)/f in z = f^2, |f| <= 0.57, for f32 results in f64", sinTurn(0.57, 6, f64)},
	{"rootStep", "((1-e)^(-1/3) - 1)/e for |1 - x y^3| of a guess y", rootStep(3)},
	{"cbrtStart", "the cube root on [1, 2]", cbrtStart(5)},
}

func main() {
	texts := make([]string, len(tables))
	var all sync.WaitGroup
	slots := make(chan bool, 2)
	for i, t := range tables {
		if len(os.Args) > 1 && os.Args[1] != t.name {
			continue
		}
		all.Add(1)
		go func() {
			defer all.Done()
			slots <- true
			texts[i] = t.text()
			<-slots
		}()
	}
	all.Wait()
	fmt.Println("// Code generated by passes/math/minimax/gen. DO NOT EDIT.\n\npackage math")
	fmt.Print(strings.Join(texts, ""))
	fmt.Print(constants())
}

func (t table) text() string {
	c, worst := t.fit.Solve()
	var b strings.Builder
	fmt.Fprintf(&b, "\n// %s is %s:\n// the function that it serves is off by at most 2^%.1f.\nvar %s = []float64{\n", t.name, t.doc, math.Log2(worst), t.name)
	for _, x := range c {
		fmt.Fprintf(&b, "\t%x,\n", x)
	}
	b.WriteString("}\n")
	return b.String()
}

// constants splits log 2 and pi/2, and gives the bits of 2/pi.
func constants() string {
	var b strings.Builder
	split := func(name, doc string, x Num, bits ...uint) {
		fmt.Fprintf(&b, "\n// %s is %s in parts of %v bits.\nvar %s = []float64{", name, doc, bits, name)
		for i, p := range bits {
			v, _ := new(big.Float).SetPrec(p).Set(x).Float64()
			if i > 0 {
				b.WriteString(", ")
			}
			fmt.Fprintf(&b, "%x", v)
			x = Sub(x, F(v))
		}
		b.WriteString("}\n")
	}
	split("ln2F32", "log 2", Ln2(), 24, 24)
	split("ln2F64", "log 2", Ln2(), 53, 53)
	split("ln2Long", "log 2, the first exact when multiplied by an exponent,", Ln2(), 42, 53)
	split("log2e", "1 / log 2", inv(Ln2()), 53, 53)
	split("twelfth", "1/12", inv(F(12)), 53, 53)
	split("cbrtOf2", "2^(1/3)", Cbrt(F(2)), 53)
	split("cbrtOf4", "4^(1/3)", Cbrt(F(4)), 53)
	c, _ := rootGuess()
	fmt.Fprintf(&b, "\n// rootGuess less a third of x's bits, all over 2^9, are about the bits of x^(-1/3).\nconst rootGuess = %d\n", c)
	b.WriteString(windows(24, 128))
	return b.String()
}

// Where arguments have rows of their own, and how many powers of 2 a row serves.
const windowFrom, windowStep = 50, 26

// windows are parts of 1/pi: for a significand of the given bits, times a power
// of 2 from 2^k on, the bits of 2^(bits-k) and above contribute even integers.
func windows(bits, end int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n// turnWindows has what is left of 1/pi for arguments of %d bits, in two floats:\n// for any, and for those from 2^turnWindowFrom on and every turnWindowStep powers\n// of 2 more.\nvar turnWindows = [][2]float64{", bits)
	part := inv(PiTo(Prec))
	for k := windowFrom; ; k += windowStep {
		first, _ := part.Float64()
		second, _ := Sub(part, F(first)).Float64()
		fmt.Fprintf(&b, "\n\t{%x, %x},", first, second)
		if k >= end {
			break
		}
		unit := F(math.Ldexp(1, bits-k))
		part = Sub(part, Mul(nearest(Quo(part, unit)), unit))
	}
	fmt.Fprintf(&b, "\n}\n\nconst turnWindowFrom, turnWindowStep = %d, %d\n", windowFrom, windowStep)
	return b.String()
}

// nearest is the integer nearest to x.
func nearest(x Num) Num {
	n, _ := Add(x, F(math.Copysign(0.5, float64(x.Sign())))).Int(nil)
	return new(big.Float).SetPrec(Prec).SetInt(n)
}
