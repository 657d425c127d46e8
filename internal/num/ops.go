package num

import "math"

// Unary returns the scalar op of that name on type e, or nil where the type has
// no such op. Floats: neg abs sign sqrt rsqrt cbrt exp exp2 expm1 log log2 log1p
// tanh erf sigmoid sin cos floor ceil trunc round (to even), isnan isinf (to
// bool). Integers: neg abs sign not. Bool: not.
func Unary(name string, e Elem) func(Cell) Cell {
	switch {
	case e == F64 && float64Unary[name] != nil:
		return floatUnary(float64Unary[name])
	case e.IsFloat() && narrowUnary[name] != nil:
		return roundedUnary(e, narrowUnary[name])
	case e.IsFloat() && exactUnary[name] != nil:
		return floatUnary(exactUnary[name])
	case e.IsFloat() && floatTests[name] != nil:
		test := floatTests[name]
		return func(a Cell) Cell { return FromBool(test(Float(a))) }
	case e.IsInt() && intUnary[name] != nil:
		f := intUnary[name]
		return func(a Cell) Cell { return FromInt(Wrap(e, f(Int(a)))) }
	case e == Bool && name == "not":
		return func(a Cell) Cell { return a ^ 1 }
	}
	return nil
}

// exactUnary needs no rounding: the result is in the type of the operand.
var exactUnary = map[string]func(float64) float64{
	"neg":   func(a float64) float64 { return -a },
	"abs":   math.Abs,
	"sign":  signFloat,
	"floor": math.Floor,
	"ceil":  math.Ceil,
	"trunc": math.Trunc,
	"round": math.RoundToEven,
}

// float64Unary is within 2 ulp in float64.
var float64Unary = map[string]func(float64) float64{
	"sqrt": math.Sqrt, "rsqrt": rsqrt, "cbrt": math.Cbrt,
	"exp": Exp, "exp2": Exp2, "expm1": Expm1, "log": Log, "log2": Log2, "log1p": Log1p,
	"tanh": Tanh, "erf": math.Erf, "sigmoid": Sigmoid, "sin": Sin, "cos": Cos,
}

// narrowUnary is accurate enough in float64 that one rounding to f32, f16 or
// bf16 stays within 1 ulp; cheaper than float64Unary where that makes a
// difference.
var narrowUnary = map[string]func(float64) float64{
	"sqrt": math.Sqrt, "rsqrt": rsqrt, "cbrt": math.Cbrt,
	"exp": math.Exp, "exp2": math.Exp2, "expm1": math.Expm1, "log": math.Log, "log2": math.Log2, "log1p": math.Log1p,
	"tanh": math.Tanh, "erf": math.Erf, "sigmoid": narrowSigmoid, "sin": math.Sin, "cos": math.Cos,
}

var floatTests = map[string]func(float64) bool{
	"isnan": math.IsNaN,
	"isinf": func(a float64) bool { return math.IsInf(a, 0) },
}

var intUnary = map[string]func(int64) int64{
	"neg":  func(a int64) int64 { return -a },
	"abs":  func(a int64) int64 { return max(a, -a) }, // the least value is its own negation
	"sign": func(a int64) int64 { return a>>63 | int64(uint64(-a)>>63) },
	"not":  func(a int64) int64 { return ^a },
}

func floatUnary(f func(float64) float64) func(Cell) Cell {
	return func(a Cell) Cell { return FromFloat(f(Float(a))) }
}

func roundedUnary(e Elem, f func(float64) float64) func(Cell) Cell {
	if e == F32 {
		return func(a Cell) Cell { return FromFloat(float64(float32(f(Float(a))))) }
	}
	round := Rounder(e)
	return func(a Cell) Cell { return FromFloat(round(f(Float(a)))) }
}

// signFloat is -1, 1, or a itself for zeros and NaN.
func signFloat(a float64) float64 {
	if a == 0 || a != a {
		return a
	}
	return math.Copysign(1, a)
}

// rsqrt is within 1.5 ulp: the square root and the quotient each round once.
func rsqrt(a float64) float64 { return 1 / math.Sqrt(a) }

// narrowSigmoid has no cancellation on either side; the overflow of exp on the
// far left gives the 0 that every narrow type rounds to.
func narrowSigmoid(a float64) float64 { return 1 / (1 + math.Exp(-a)) }

// Ternary returns the op of that name with three operands of type e, or nil.
// There is one, fma: a*b + c rounded once; on integers, wrapped once.
func Ternary(name string, e Elem) func(a, b, c Cell) Cell {
	switch {
	case name != "fma":
		return nil
	case e == F64:
		return func(a, b, c Cell) Cell { return FromFloat(math.FMA(Float(a), Float(b), Float(c))) }
	case e.IsFloat():
		return func(a, b, c Cell) Cell { return FromFloat(FMA(e, Float(a), Float(b), Float(c))) }
	case e.IsInt():
		return func(a, b, c Cell) Cell { return FromInt(Wrap(e, Int(a)*Int(b)+Int(c))) }
	}
	return nil
}

// Select is c ? a : b.
func Select(c, a, b Cell) Cell {
	if c != 0 {
		return a
	}
	return b
}
