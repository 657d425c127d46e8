package conformance

import (
	std "math"

	"tenon/internal/num"
	"tenon/passes/math/minimax"
)

// function is what the tests know of one elementary function.
type function struct {
	name string
	args int
	// value is good to an ulp of f64 or nearly so, for any arguments.
	value func(x, y float64) float64
	// exact takes finite arguments inside the domain to any precision.
	exact  func(x, y minimax.Num) minimax.Num
	domain func(x, y float64) bool
	// span is what most of the sampled arguments lie within.
	span float64
}

func one(f func(float64) float64) func(x, y float64) float64 {
	return func(x, _ float64) float64 { return f(x) }
}

func exactly(f func(minimax.Num) minimax.Num) func(x, y minimax.Num) minimax.Num {
	return func(x, _ minimax.Num) minimax.Num { return f(x) }
}

func anywhere(x, _ float64) bool    { return true }
func positive(x, _ float64) bool    { return x > 0 }
func aboveMinus1(x, _ float64) bool { return x > -1 }
func within(r float64) func(x, y float64) bool {
	return func(x, _ float64) bool { return std.Abs(x) < r }
}

var functions = []function{
	{"exp", 1, one(num.Exp), exactly(minimax.Exp), within(800), 100},
	{"exp2", 1, one(num.Exp2), exactly(minimax.Exp2), within(1100), 100},
	{"expm1", 1, one(num.Expm1), exactly(minimax.Expm1), within(800), 3},
	{"log", 1, one(num.Log), exactly(minimax.Log), positive, 4},
	{"log2", 1, one(num.Log2), exactly(minimax.Log2), positive, 4},
	{"log1p", 1, one(num.Log1p), exactly(minimax.Log1p), aboveMinus1, 4},
	{"pow", 2, num.Pow, minimax.Pow, powDomain, 8},
	{"tanh", 1, one(num.Tanh), exactly(minimax.Tanh), within(25), 3},
	{"erf", 1, one(std.Erf), exactly(minimax.Erf), within(7), 3},
	{"sigmoid", 1, one(num.Sigmoid), exactly(minimax.Sigmoid), within(800), 20},
	{"sin", 1, one(num.Sin), exactly(minimax.Sin), anywhere, 20},
	{"cos", 1, one(num.Cos), exactly(minimax.Cos), anywhere, 20},
	{"rsqrt", 1, one(func(x float64) float64 { return 1 / std.Sqrt(x) }), exactly(minimax.Rsqrt), positive, 10},
	{"cbrt", 1, one(std.Cbrt), exactly(minimax.Cbrt), anywhere, 10},
}

func powDomain(x, y float64) bool { return x > 0 && std.Abs(y*std.Log(x)) < 800 }

// ulps is the distance of got from a value that is want to more precision, in
// units of the last place that e has there. Beyond the greatest number the next
// power of 2 stands for infinity. A zero of the wrong sign, and a NaN or infinity
// that should be none or is missing, are infinitely far.
func ulps(e num.Elem, got, want float64) float64 {
	rounded := want
	if e != num.F64 {
		rounded = num.Round(e, want)
	}
	switch {
	case got != got || rounded != rounded:
		if got != got && rounded != rounded {
			return 0
		}
		return std.Inf(1)
	case std.IsInf(got, 0) || std.IsInf(rounded, 0):
		return overflow(e, got, rounded, want)
	case got == 0 && rounded == 0 && std.Signbit(got) != std.Signbit(want):
		return std.Inf(1)
	}
	return std.Abs(got-want) / ulp(e, want)
}

// overflow has an infinity among got and what was wanted.
func overflow(e num.Elem, got, rounded, want float64) float64 {
	limit := greatest[e]
	switch {
	case got == rounded:
		return 0
	case std.Signbit(got) != std.Signbit(rounded), std.IsInf(want, 0) && e == num.F64 && std.Abs(got) < limit:
		return std.Inf(1)
	}
	return std.Abs(min(std.Abs(got), limit)-min(std.Abs(want), limit)) / ulp(e, limit)
}

// greatest is the power of 2 at which a type overflows; f64 has no room for it.
var greatest = map[num.Elem]float64{num.F64: std.MaxFloat64, num.F32: 0x1p128, num.F16: 0x1p16, num.BF16: 0x1p128}

// ulp is the distance of neighbours of type e around x.
func ulp(e num.Elem, x float64) float64 {
	least := -149
	switch e {
	case num.F64:
		least = -1074
	case num.F16:
		least = -24
	case num.BF16:
		least = -133
	}
	_, exp := std.Frexp(x)
	return std.Ldexp(1, max(exp-e.Bits(), least))
}
