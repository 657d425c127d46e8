package num

// Binary returns the scalar op of that name on type e, or nil where the type
// has no such op.
//
// Floats: add sub mul div max min pow. Integers: add sub mul max min, tdiv trem
// (truncating), floordiv mod (flooring), and or xor shl shr. Bool: and or xor,
// max min. All types: eq ne lt le gt ge, which give a bool.
//
// Division by zero gives 0, so does its remainder; the least value divided by
// -1 wraps. Shifts by a negative count or by the width or more give 0, or -1
// for a shr of a negative value. max and min give NaN if either operand is one,
// and order -0.0 below +0.0, so that no result depends on operand order.
func Binary(name string, e Elem) func(a, b Cell) Cell {
	if f := hotBinary[opKey{name, e}]; f != nil {
		return f
	}
	switch {
	case e.IsFloat() && floatBinary[name] != nil:
		return roundedBinary(e, floatBinary[name])
	case e.IsFloat() && floatCompare[name] != nil:
		return floatCompare[name]
	case e.IsFloat():
		return nil
	case intCompare[name] != nil:
		return intCompare[name]
	case e == Bool && boolBinary[name] != nil:
		return boolBinary[name]
	case e.IsInt() && (name == "shl" || name == "shr"):
		return shift(name, e)
	case e.IsInt() && intBinary[name] != nil:
		return wrappedBinary(e, intBinary[name])
	}
	return nil
}

type opKey struct {
	name string
	e    Elem
}

// hotBinary holds the ops of inner loops, one closure deep. For f32 the float64
// result rounded once more is the f32 result: 53 >= 2*24 + 2.
var hotBinary = map[opKey]func(a, b Cell) Cell{
	{"add", F32}:   AddF32,
	{"sub", F32}:   SubF32,
	{"mul", F32}:   MulF32,
	{"div", F32}:   DivF32,
	{"add", F64}:   AddF64,
	{"sub", F64}:   SubF64,
	{"mul", F64}:   MulF64,
	{"div", F64}:   DivF64,
	{"add", I64}:   func(a, b Cell) Cell { return a + b },
	{"sub", I64}:   func(a, b Cell) Cell { return a - b },
	{"mul", I64}:   func(a, b Cell) Cell { return a * b },
	{"add", Index}: func(a, b Cell) Cell { return a + b },
	{"sub", Index}: func(a, b Cell) Cell { return a - b },
	{"mul", Index}: func(a, b Cell) Cell { return a * b },
}

// AddF32 is the f32 sum.
func AddF32(a, b Cell) Cell { return FromFloat(float64(float32(Float(a) + Float(b)))) }

// SubF32 is the f32 difference.
func SubF32(a, b Cell) Cell { return FromFloat(float64(float32(Float(a) - Float(b)))) }

// MulF32 is the f32 product.
func MulF32(a, b Cell) Cell { return FromFloat(float64(float32(Float(a) * Float(b)))) }

// DivF32 is the f32 quotient.
func DivF32(a, b Cell) Cell { return FromFloat(float64(float32(Float(a) / Float(b)))) }

// AddF64 is the f64 sum.
func AddF64(a, b Cell) Cell { return FromFloat(Float(a) + Float(b)) }

// SubF64 is the f64 difference.
func SubF64(a, b Cell) Cell { return FromFloat(Float(a) - Float(b)) }

// MulF64 is the f64 product.
func MulF64(a, b Cell) Cell { return FromFloat(float64(Float(a) * Float(b))) }

// DivF64 is the f64 quotient.
func DivF64(a, b Cell) Cell { return FromFloat(Float(a) / Float(b)) }

// MaxFloat is the greater of two floats of any type, NaN if either is.
func MaxFloat(a, b Cell) Cell { return FromFloat(max(Float(a), Float(b))) }

// MinFloat is the lesser of two floats of any type, NaN if either is.
func MinFloat(a, b Cell) Cell { return FromFloat(min(Float(a), Float(b))) }

// floatBinary computes in float64, correctly rounded for the first four: one
// more rounding to a narrower type is then the correct one (bf16 sums are not
// exact in float64, but 53 >= 2p + 2 holds for every narrow type).
var floatBinary = map[string]func(a, b float64) float64{
	"add": func(a, b float64) float64 { return a + b },
	"sub": func(a, b float64) float64 { return a - b },
	"mul": func(a, b float64) float64 { return float64(a * b) },
	"div": func(a, b float64) float64 { return a / b },
	"max": func(a, b float64) float64 { return max(a, b) },
	"min": func(a, b float64) float64 { return min(a, b) },
	"pow": Pow,
}

var floatCompare = map[string]func(a, b Cell) Cell{
	"eq": func(a, b Cell) Cell { return FromBool(Float(a) == Float(b)) },
	"ne": func(a, b Cell) Cell { return FromBool(Float(a) != Float(b)) },
	"lt": func(a, b Cell) Cell { return FromBool(Float(a) < Float(b)) },
	"le": func(a, b Cell) Cell { return FromBool(Float(a) <= Float(b)) },
	"gt": func(a, b Cell) Cell { return FromBool(Float(a) > Float(b)) },
	"ge": func(a, b Cell) Cell { return FromBool(Float(a) >= Float(b)) },
}

func roundedBinary(e Elem, f func(a, b float64) float64) func(a, b Cell) Cell {
	switch e {
	case F64:
		return func(a, b Cell) Cell { return FromFloat(f(Float(a), Float(b))) }
	case F32:
		return func(a, b Cell) Cell { return FromFloat(float64(float32(f(Float(a), Float(b))))) }
	}
	round := Rounder(e)
	return func(a, b Cell) Cell { return FromFloat(round(f(Float(a), Float(b)))) }
}

var intCompare = map[string]func(a, b Cell) Cell{
	"eq": func(a, b Cell) Cell { return FromBool(a == b) },
	"ne": func(a, b Cell) Cell { return FromBool(a != b) },
	"lt": func(a, b Cell) Cell { return FromBool(Int(a) < Int(b)) },
	"le": func(a, b Cell) Cell { return FromBool(Int(a) <= Int(b)) },
	"gt": func(a, b Cell) Cell { return FromBool(Int(a) > Int(b)) },
	"ge": func(a, b Cell) Cell { return FromBool(Int(a) >= Int(b)) },
}

var boolBinary = map[string]func(a, b Cell) Cell{
	"and": func(a, b Cell) Cell { return a & b },
	"or":  func(a, b Cell) Cell { return a | b },
	"xor": func(a, b Cell) Cell { return a ^ b },
	"max": func(a, b Cell) Cell { return a | b },
	"min": func(a, b Cell) Cell { return a & b },
}

// intBinary computes in 64 bits; wrapping to the type follows.
var intBinary = map[string]func(a, b int64) int64{
	"add": func(a, b int64) int64 { return a + b },
	"sub": func(a, b int64) int64 { return a - b },
	"mul": func(a, b int64) int64 { return a * b },
	"max": func(a, b int64) int64 { return max(a, b) },
	"min": func(a, b int64) int64 { return min(a, b) },
	"and": func(a, b int64) int64 { return a & b },
	"or":  func(a, b int64) int64 { return a | b },
	"xor": func(a, b int64) int64 { return a ^ b },

	"tdiv": TDiv, "trem": TRem, "floordiv": FloorDiv, "mod": Mod,
}

// TDiv is a/b towards zero, 0 if b is 0. Go wraps the least value over -1.
func TDiv(a, b int64) int64 {
	if b == 0 {
		return 0
	}
	return a / b
}

// TRem is a - TDiv(a, b)*b, 0 if b is 0: the sign is that of a.
func TRem(a, b int64) int64 {
	if b == 0 {
		return 0
	}
	return a % b
}

// FloorDiv is a/b towards minus infinity, 0 if b is 0.
func FloorDiv(a, b int64) int64 {
	q := TDiv(a, b)
	if r := TRem(a, b); r != 0 && (r < 0) != (b < 0) {
		q--
	}
	return q
}

// Mod is a - FloorDiv(a, b)*b, 0 if b is 0: the sign is that of b.
func Mod(a, b int64) int64 {
	r := TRem(a, b)
	if r != 0 && (r < 0) != (b < 0) {
		r += b
	}
	return r
}

func wrappedBinary(e Elem, f func(a, b int64) int64) func(a, b Cell) Cell {
	if e.Bits() == 64 {
		return func(a, b Cell) Cell { return FromInt(f(Int(a), Int(b))) }
	}
	if e == I32 {
		return func(a, b Cell) Cell { return FromInt(int64(int32(f(Int(a), Int(b))))) }
	}
	return func(a, b Cell) Cell { return FromInt(Wrap(e, f(Int(a), Int(b)))) }
}

func shift(name string, e Elem) func(a, b Cell) Cell {
	width := Cell(e.Bits())
	if name == "shl" {
		return func(a, b Cell) Cell {
			if b >= width { // a negative count is a huge one
				return 0
			}
			return FromInt(Wrap(e, Int(a<<b)))
		}
	}
	return func(a, b Cell) Cell { return FromInt(Int(a) >> min(b, 63)) }
}
