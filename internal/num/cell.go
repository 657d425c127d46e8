package num

import "math"

// Cell holds one scalar of any element type: a float as the bits of the
// float64 with the same value, an integer or index as its sign- or
// zero-extended int64, a bool as 0 or 1. NaN payloads and signs of zero are
// kept, so a Cell determines the bits in memory and the other way round.
type Cell = uint64

// FromFloat is the Cell of f, which must already be rounded to its type.
func FromFloat(f float64) Cell { return math.Float64bits(f) }

// Float is the value of a float Cell.
func Float(c Cell) float64 { return math.Float64frombits(c) }

// FromInt is the Cell of v, which must already lie in its type.
func FromInt(v int64) Cell { return Cell(v) }

// Int is the value of an integer, index or bool Cell.
func Int(c Cell) int64 { return int64(c) }

// FromBool is the Cell of b.
func FromBool(b bool) Cell {
	if b {
		return 1
	}
	return 0
}

// IsTrue is the value of a bool Cell (Bool is the element type).
func IsTrue(c Cell) bool { return c != 0 }

// Same reports whether a and b are the same value of type e: equal bits, or
// two NaNs of any payload. Zeros of different sign are not the same.
func Same(e Elem, a, b Cell) bool {
	return a == b || e.IsFloat() && Float(a) != Float(a) && Float(b) != Float(b)
}

// Wrap reduces v to the integer type e in two's complement, as hardware of
// that width would; bool keeps the lowest bit.
func Wrap(e Elem, v int64) int64 {
	switch e {
	case I32:
		return int64(int32(v))
	case I16:
		return int64(int16(v))
	case I8:
		return int64(int8(v))
	case U8:
		return int64(uint8(v))
	case Bool:
		return v & 1
	}
	return v
}

// IntRange is the least and the greatest value of an integer type, index or bool.
func IntRange(e Elem) (lo, hi int64) {
	if !e.IsSigned() {
		return 0, 1<<e.Bits() - 1
	}
	return math.MinInt64 >> (64 - e.Bits()), math.MaxInt64 >> (64 - e.Bits())
}
