package num

import "math"

// Shadow is the value beside a Cell: what the program means without its
// roundings, and how far a correct implementation may be from that.
//
// Of a float the value is Hi + Lo (Lo is 0 except in f64 programs, where the
// pair is a double-double), and a correct implementation in the program's type
// is within Err of it: one unit roundoff of the result per rounding, the stated
// ulps per function, both carried on by each op's derivative, to first order
// where higher orders are negligible beside the factor 4 of Agree.
//
// Of an integer, index or bool, Hi carries the bits of the Cell and Err is 0.
//
// Err = +Inf says undecided: a comparison within its bound, or what depends on
// one, or a float for which two correct implementations may part for good:
//   - the program's value is not finite and the shadow's is, or they are not
//     finite in different ways;
//   - the value is so near the type's greatest that it may or may not overflow;
//   - the operand may or may not be in the op's domain (the square root or the
//     logarithm of something within its bound of zero, a divisor likewise);
//   - a product overflows by less than a factor of 2: contracted with a sum, it may not;
//   - an infinity meets a factor whose sign is within its bound.
//
// Where program and shadow are infinite alike, or both NaN, or the shadow's
// value certainly overflows the type, Hi is that infinity or NaN and Err is 0.
type Shadow struct{ Hi, Lo, Err float64 }

// Undecided reports that any value is accepted.
func (s Shadow) Undecided() bool { return math.IsInf(s.Err, 1) }

// Exact is the shadow of a value that no rounding has touched: an input, a
// literal, an index.
func Exact(e Elem, c Cell) Shadow { return Shadow{Hi: Float(c)} }

// Undecided is the shadow of a value about which nothing is known but what the
// program computed, c.
func Undecided(e Elem, c Cell) Shadow { return Shadow{Hi: Float(c), Err: math.Inf(1)} }

// slack is how many bounds an implementation may be off: semantics.md's 4. Two
// values closer than slack times their bounds are not told apart.
const slack = 4

// Agree reports whether native, computed by some target in type e, is within
// the bound of s. Integers, indices and bools must be equal, unless undecided;
// infinities equal; NaN agrees with NaN of any payload.
func Agree(e Elem, native Cell, s Shadow) bool {
	switch {
	case s.Undecided():
		return true
	case !e.IsFloat():
		return native == FromFloat(s.Hi)
	}
	n := Float(native)
	if s.Hi-s.Hi != 0 {
		return n == s.Hi || n != n && s.Hi != s.Hi
	}
	return math.Abs((n-s.Hi)-s.Lo) <= slack*s.Err
}

// shadowType is what shadow arithmetic knows of a float type.
type shadowType struct {
	*format
	wide bool // f64: double-double
}

func shadowOf(e Elem) *shadowType { return &shadowType{&formats[e], e == F64} }

func (s Shadow) dd() dd { return dd{s.Hi, s.Lo} }

// finite says that the fast paths apply to x.
func finite(x float64) bool { return x-x == 0 }

// holds reports whether the type holds r exactly. It may deny a subnormal.
func (t *shadowType) holds(r float64) bool {
	return math.Float64bits(r)&(1<<t.drop-1) == 0 && (math.Abs(r) >= t.minNorm || r == 0)
}

// rounding is the error of rounding r once.
func (t *shadowType) rounding(r float64) float64 { return math.Abs(r)*t.u + t.tiny }

// finish is the shadow with value r and bound err beside the program's result.
// certain says that no choice within the operands' bounds changes the result,
// should it prove infinite or NaN.
func (t *shadowType) finish(r dd, err float64, res Cell, certain bool) Shadow {
	if math.Abs(r.hi)+slack*err < t.max && finite(Float(res)) {
		return Shadow{r.hi, r.lo, err}
	}
	return t.finishSpecial(r.hi, err, res, certain)
}

func (t *shadowType) finishSpecial(r, err float64, res Cell, certain bool) Shadow {
	c := Float(res)
	switch {
	case !certain:
	case r != r && c != c, r == c && math.IsInf(r, 0):
		return Shadow{Hi: r}
	case finite(r) && math.IsInf(c, 0) && (r > 0) == (c > 0) && math.Abs(r)-slack*err >= t.over:
		return Shadow{Hi: c}
	case r == c && err == 0: // the greatest finite value itself
		return Shadow{Hi: r}
	}
	return Undecided(Invalid, res)
}

// signKnown reports that x is on one side of zero, or exactly there.
func (s Shadow) signKnown() bool { return s.Err == 0 || math.Abs(s.Hi) > slack*s.Err || s.Hi != s.Hi }

// apart is the distance of a and b, and whether it exceeds their bounds; a NaN
// is told apart from anything.
func apart(a, b Shadow) (d float64, known bool) {
	d = (a.Hi - b.Hi) + (a.Lo - b.Lo)
	bound := slack * (a.Err + b.Err)
	return d, bound == 0 || math.Abs(d) > bound || d != d && !math.IsInf(bound, 1)
}
