package num

// poisonNaN is a signalling NaN of every float type: no operation gives one.
const poisonNaN Cell = 0x7ff4_dead_0000_0000

// Poison is what an element of type e holds that nobody has written: for floats
// a signalling NaN, for integers a large negative number, whose use as a
// subscript or size is an error.
func Poison(e Elem) Cell {
	switch {
	case e.IsFloat():
		return FromBits(e, Bits(e, poisonNaN))
	case e == Bool:
		return FromBool(true)
	}
	return FromInt(Wrap(e, -0x21524111_21524111))
}
