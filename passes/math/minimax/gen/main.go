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

// cosRest is (cos(r) - 1 + r^2/2) / r^4 in z = r^2.
func cosRest(terms int, bits uint) Fit {
	return Fit{
		Target: func(z Num) Num { return Quo(Add(Sub(Cos(root(z)), F(1)), Quo(z, F(2))), square(z)) },
		Weight: func(z Num) Num { return Quo(square(z), Cos(root(z))) },
		Lo:     0, Hi: quarter * quarter, Terms: terms, Bits: bits,
	}
}

// quarter is pi/4, rounded up.
const quarter = math.Pi/4 + 0x1p-20

// cbrtStart is the cube root of m on [1, 2].
func cbrtStart(terms int) Fit {
	return Fit{Target: Cbrt, Weight: func(m Num) Num { return inv(Cbrt(m)) }, Lo: 1, Hi: 2, Terms: terms, Bits: f64}
}

var tables = []table{
	{"expF32", "(e^r - 1 - r) / r^2 on |r| <= ln(2)/2", expRest(5, f32)},
	{"expF64", "(e^r - 1 - r) / r^2 on |r| <= ln(2)/2", expRest(10, f64)},
	{"expMid", "the same, for f32 results in f64", expRest(6, f64)},
	{"logF32", "(log(1+f) - f + f^2/2) / f^3 for 1+f between the roots of 1/2 and 2", logRest(9, f32)},
	{"logF64", "(2 atanh(s)/s - 2) / z, z = s^2 <= 0.0295", atanhRest(7, f64)},
	{"logMid", "the same, for f32 results in f64", atanhRest(4, f64)},
	{"logTail", "(2 atanh(t/2)/t - 1 - w/12) / w^2, w = t^2 <= 0.118", atanhTail(8, f64)},
	{"tanhF32", "(tanh(x)/x - 1) / z, z = x^2, |x| <= 0.55", odd(Tanh, 0.55, 5, f32)},
	{"tanhF64", "(tanh(x)/x - 1) / z, z = x^2, |x| <= 0.55", odd(Tanh, 0.55, 10, f64)},
	{"erfNearF32", "erf(x)/x - 1 in z = x^2, |x| <= 0.85", erfNear(0.85, 6, f32)},
	{"erfNearF64", "erf(x)/x - 1 in z = x^2, |x| <= 0.85", erfNear(0.85, 11, f64)},
	{"erfFarF32", "log(1 - erf(u + 1)) for u + 1 from 0.85 to 4", erfFar(0.85, 4, 1, 9, f32)},
	{"erfFarF64", "log(1 - erf(u + 1)) for u + 1 from 0.85 to 6", erfFar(0.85, 6, 1, 21, f64)},
	{"sinF64", "(sin(r)/r - 1) / z, z = r^2, |r| <= pi/4", odd(Sin, quarter, 6, f64)},
	{"cosF64", "(cos(r) - 1 + z/2) / z^2, z = r^2, |r| <= pi/4", cosRest(6, f64)},
	{"sinMid", "the sine's, for f32 results in f64", odd(Sin, quarter, 4, f64)},
	{"cosMid", "the cosine's, for f32 results in f64", cosRest(4, f64)},
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
	split("log2e", "1 / log 2", inv(Ln2()), 53)
	split("halfPi", "pi/2", Quo(Pi(), F(2)), 53, 53, 53)
	split("twoOverPi", "2/pi", Quo(F(2), Pi()), 53)
	split("twelfth", "1/12", inv(F(12)), 53, 53)
	split("cbrtOf2", "2^(1/3)", Cbrt(F(2)), 53)
	split("cbrtOf4", "4^(1/3)", Cbrt(F(4)), 53)
	const words = 40
	p := PiTo(32*words + 64)
	q := new(big.Float).SetPrec(32*words+64).Quo(new(big.Float).SetPrec(p.Prec()).SetInt64(2), p)
	n, _ := q.SetMantExp(q, 32*words).Int(nil)
	fmt.Fprintf(&b, "\n// twoOverPiWords are the %d bits of 2/pi behind the point, the greatest first.\nvar twoOverPiWords = []int64{", 32*words)
	for i := range words {
		if i%6 == 0 {
			b.WriteString("\n\t")
		} else {
			b.WriteString(" ")
		}
		w := new(big.Int).Rsh(n, uint(32*(words-1-i)))
		fmt.Fprintf(&b, "0x%08x,", w.And(w, big.NewInt(0xffffffff)).Int64())
	}
	b.WriteString("\n}\n")
	return b.String()
}
