package num

import "math"

// Cast converts c from one type to another. Float to float and integer to
// float round once; float to integer truncates and saturates, NaN gives 0;
// integer to integer wraps; anything but zero is true; index is an i64.
func Cast(from, to Elem, c Cell) Cell { return Caster(from, to)(c) }

// Caster is Cast staged for a pair of types.
func Caster(from, to Elem) func(Cell) Cell {
	switch {
	case widens(from, to):
		return func(c Cell) Cell { return c }
	case to == Bool && from.IsFloat():
		return func(c Cell) Cell { return FromBool(Float(c) != 0) }
	case to == Bool:
		return func(c Cell) Cell { return FromBool(c != 0) }
	case from.IsFloat() && to.IsFloat():
		round := Rounder(to)
		return func(c Cell) Cell { return FromFloat(round(Float(c))) }
	case from.IsFloat():
		return func(c Cell) Cell { return FromInt(truncate(to, Float(c))) }
	case to == F64:
		return func(c Cell) Cell { return FromFloat(float64(Int(c))) }
	case to == F32:
		return func(c Cell) Cell { return FromFloat(float64(float32(Int(c)))) }
	case to.IsFloat():
		round := Rounder(to)
		return func(c Cell) Cell { return FromFloat(round(intOdd(Int(c)))) }
	}
	return func(c Cell) Cell { return FromInt(Wrap(to, Int(c))) }
}

// widens reports that to holds every value of from in the same Cell.
func widens(from, to Elem) bool {
	return from == to || from.IsFloat() && to.IsFloat() && from.Bytes() < to.Bytes()
}

// truncate is f towards zero, held to the range of integer type e.
func truncate(e Elem, f float64) int64 {
	lo, hi := IntRange(e)
	switch {
	case f != f:
		return 0
	case f <= float64(lo):
		return lo
	case f >= float64(hi): // of i64 this is 2^63, one more than hi
		return hi
	}
	return int64(f)
}

// intOdd is v rounded to odd in 53 bits, so that a second rounding to 11 or 8
// bits gives what one rounding of v would.
func intOdd(v int64) float64 {
	mag := uint64(v)
	if v < 0 {
		mag = -mag
	}
	if mag >= 1<<53 {
		sticky := mag & (1<<11 - 1)
		mag &^= 1<<11 - 1
		if sticky != 0 {
			mag |= 1 << 11
		}
	}
	return math.Copysign(float64(mag), float64(v))
}
