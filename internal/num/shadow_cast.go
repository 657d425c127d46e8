package num

import "math"

// ShadowCast is Cast on shadows, staged.
func ShadowCast(from, to Elem) func(x Shadow, cx, res Cell) Shadow {
	switch {
	case widens(from, to):
		return func(x Shadow, cx, res Cell) Shadow { return x }
	case from.IsFloat() && to.IsFloat():
		return shadowOf(to).narrow
	case from.IsFloat():
		return shadowToInt(Caster(from, to))
	case to.IsFloat() && from == Bool:
		return shadowFromBool
	case to.IsFloat():
		return shadowOf(to).fromInt
	}
	return func(x Shadow, cx, res Cell) Shadow { return discrete(x, res) }
}

// ShadowBitcast is Bitcast on shadows. The bits of a value that may differ say
// nothing about the value that they are read as; a NaN's may always differ.
func ShadowBitcast(x Shadow, res Cell) Shadow {
	if x.Err != 0 || x.Lo != 0 || x.Hi != x.Hi {
		return Undecided(Invalid, res)
	}
	return Shadow{Hi: Float(res)}
}

// narrow rounds where the type does not hold the value.
func (t *shadowType) narrow(x Shadow, cx, res Cell) Shadow {
	if !finite(x.Hi) {
		return t.finishSpecial(x.Hi, 0, res, x.Err == 0)
	}
	r, err := dd{x.dd().value(), 0}, x.Err
	if err != 0 || x.Lo != 0 || !t.holds(r.hi) {
		err += t.rounding(r.hi)
	}
	return t.finish(r, err, res, finite(x.Err))
}

// shadowToInt is decided where all values within the bound give one integer.
func shadowToInt(cast func(Cell) Cell) func(x Shadow, cx, res Cell) Shadow {
	return func(x Shadow, cx, res Cell) Shadow {
		if x.Err == 0 && x.Lo == 0 {
			return Shadow{Hi: Float(res)}
		}
		reach := slack*x.Err + math.Abs(x.Lo)
		if cast(FromFloat(x.Hi-reach)) == cast(FromFloat(x.Hi+reach)) && finite(x.Err) {
			return Shadow{Hi: Float(res)}
		}
		return Undecided(Invalid, res)
	}
}

// shadowFromBool lets an undecided bool be 0 or 1.
func shadowFromBool(x Shadow, cx, res Cell) Shadow {
	if x.Err != 0 {
		return Shadow{Hi: Float(res), Err: 1}
	}
	return Shadow{Hi: Float(res)}
}

func (t *shadowType) fromInt(x Shadow, cx, res Cell) Shadow {
	if x.Err != 0 {
		return Undecided(Invalid, res)
	}
	v := Int(cx)
	r := quickSum(float64(v>>32)*0x1p32, float64(v&0xffffffff))
	err := 0.0
	if r.lo != 0 || !t.holds(r.hi) {
		err = math.Abs(r.hi) * t.u
	}
	if !t.wide {
		r.lo = 0
	}
	return t.finish(r, err, res, true)
}

// ShadowSelect is Select on shadows of type e, staged: of c ? a : b with their
// Cells. An undecided condition covers both arms.
func ShadowSelect(e Elem) func(c, a, b Shadow, cc, ca, cb Cell) Shadow {
	cover := coverDiscrete
	if e.IsFloat() {
		cover = coverFloat
	}
	return func(c, a, b Shadow, cc, ca, cb Cell) Shadow {
		if cc == 0 {
			a, b, ca, cb = b, a, cb, ca
		}
		if c.Err == 0 {
			return a
		}
		return cover(a, b, ca, cb)
	}
}

// coverDiscrete is an integer that may be either.
func coverDiscrete(a, b Shadow, ca, cb Cell) Shadow {
	if ca == cb && b.Err == 0 {
		return a
	}
	return Undecided(Invalid, ca)
}

// coverFloat is a, with a bound that takes in b.
func coverFloat(a, b Shadow, ca, cb Cell) Shadow {
	d := (a.Hi - b.Hi) + (a.Lo - b.Lo)
	switch {
	case !finite(a.Err + b.Err):
		return Undecided(Invalid, ca)
	case a.Hi == b.Hi && !finite(a.Hi), a.Hi != a.Hi && b.Hi != b.Hi:
		return a
	case !finite(d):
		return Undecided(Invalid, ca)
	}
	a.Err = max(a.Err, b.Err+math.Abs(d))
	return a
}
