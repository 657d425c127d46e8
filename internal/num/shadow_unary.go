package num

import "math"

// ShadowUnary is Unary on shadows, staged: cx is the operand's Cell, res the
// Cell that Unary computed. nil where Unary is.
func ShadowUnary(name string, e Elem) func(x Shadow, cx, res Cell) Shadow {
	switch {
	case Unary(name, e) == nil:
		return nil
	case !e.IsFloat() || floatTests[name] != nil:
		return func(x Shadow, cx, res Cell) Shadow { return discrete(x, res) }
	case name == "neg":
		return func(x Shadow, cx, res Cell) Shadow { return Shadow{-x.Hi, -x.Lo, x.Err} }
	case name == "abs":
		return shadowAbs
	case name == "sign":
		return shadowStep(func(x dd) dd { return dd{signFloat(x.hi), 0} })
	case exactUnary[name] != nil:
		return shadowStep(integerStep(exactUnary[name]))
	}
	f := functions[name]
	if e != F64 { // float64 accuracy is plenty beside the roundoff of a narrow type
		f.value = narrowUnary[name]
	}
	return shadowOf(e).apply(f)
}

// discrete is a result that is right or undecided as its operand is. An operand
// with a finite bound is finite for every implementation, so isnan and isinf of
// it are decided.
func discrete(x Shadow, res Cell) Shadow {
	if x.Undecided() {
		return Undecided(Invalid, res)
	}
	return Shadow{Hi: Float(res)}
}

func shadowAbs(x Shadow, cx, res Cell) Shadow {
	if math.Signbit(x.Hi) {
		return Shadow{-x.Hi, -x.Lo, x.Err}
	}
	return x
}

// shadowStep is a step function, which never falls: exact where the bound of
// the operand crosses no step, otherwise off by the steps it crosses.
func shadowStep(f func(dd) dd) func(x Shadow, cx, res Cell) Shadow {
	return func(x Shadow, cx, res Cell) Shadow {
		r := f(x.dd())
		if !finite(x.Hi) || x.Err == 0 && x.Lo == 0 || x.Undecided() {
			return Shadow{Hi: r.hi, Err: x.Err}
		}
		reach := slack * x.Err
		below, above := f(x.dd().addf(-reach)), f(x.dd().addf(reach))
		return Shadow{Hi: r.hi, Lo: r.lo, Err: max(above.sub(r).value(), r.sub(below).value())}
	}
}

// integerStep applies a rounding to integers to a double-double: where the high
// part is one, the low part decides.
func integerStep(f func(float64) float64) func(dd) dd {
	return func(x dd) dd {
		r := f(x.hi)
		if x.lo == 0 || r != x.hi {
			return dd{r, 0}
		}
		return quickSum(r, f(x.lo))
	}
}

// function is how far an implementation may be off that meets the stated 2 ulps
// (an ulp is at most two unit roundoffs), and the shadow's own float64 evaluation.
func (t *shadowType) function(r float64) float64 {
	if t.wide {
		return 6*math.Abs(r)*t.u + 3*t.tiny
	}
	return 4*math.Abs(r)*t.u + 2*t.tiny
}

// A function's row: its value; its slope at x, where it takes r; a bound on how
// far r is from the value at any point within e of x, NaN where there is none.
type function struct {
	value   func(x float64) float64
	slope   func(x, r float64) float64
	reach   func(x, e, r float64) float64
	rounded bool // correctly rounded, like an arithmetic op
}

var functions = map[string]function{
	"sqrt": {math.Sqrt, func(x, r float64) float64 { return 0.5 / r }, reachSqrt, true},
	"rsqrt": {rsqrt, func(x, r float64) float64 { return -r / (2 * x) }, func(x, e, r float64) float64 {
		return rsqrt(positive(x, e)) - r
	}, false},
	"cbrt": {math.Cbrt, func(x, r float64) float64 { return r / (3 * x) }, reachCbrt, false},
	"exp":  {Exp, func(x, r float64) float64 { return r }, func(x, e, r float64) float64 { return r * math.Expm1(e) }, false},
	"exp2": {Exp2, func(x, r float64) float64 { return r * math.Ln2 }, func(x, e, r float64) float64 {
		return r * math.Expm1(e*math.Ln2)
	}, false},
	"expm1": {Expm1, func(x, r float64) float64 { return r + 1 }, func(x, e, r float64) float64 {
		return (r + 1) * math.Expm1(e)
	}, false},
	"log": {Log, func(x, r float64) float64 { return 1 / x }, func(x, e, r float64) float64 {
		return math.Log1p(e / positive(x, e))
	}, false},
	"log2": {Log2, func(x, r float64) float64 { return 1 / (x * math.Ln2) }, func(x, e, r float64) float64 {
		return math.Log1p(e/positive(x, e)) / math.Ln2
	}, false},
	"log1p": {Log1p, func(x, r float64) float64 { return 1 / (1 + x) }, func(x, e, r float64) float64 {
		return math.Log1p(e / positive(1+x, e))
	}, false},
	"tanh": {Tanh, func(x, r float64) float64 { return 1 - r*r }, func(x, e, r float64) float64 {
		return e * min(1, 4*math.Exp(-2*inner(x, e)))
	}, false},
	"erf": {math.Erf, erfSlope, func(x, e, r float64) float64 { return e * erfSlope(inner(x, e), 0) }, false},
	"sigmoid": {Sigmoid, func(x, r float64) float64 { return r * (1 - r) }, func(x, e, r float64) float64 {
		return e * min(0.25, math.Exp(-inner(x, e)))
	}, false},
	"sin": {Sin, func(x, r float64) float64 { return Cos(x) }, func(x, e, r float64) float64 {
		return e * min(1, math.Abs(Cos(x))+e)
	}, false},
	"cos": {Cos, func(x, r float64) float64 { return -Sin(x) }, func(x, e, r float64) float64 {
		return e * min(1, math.Abs(Sin(x))+e)
	}, false},
}

// inner is the least magnitude within e of x.
func inner(x, e float64) float64 { return max(math.Abs(x)-e, 0) }

// positive is the least value within e of x, NaN if one within slack*e is not positive.
func positive(x, e float64) float64 {
	if x <= slack*e {
		return math.NaN()
	}
	return x - e
}

func reachSqrt(x, e, r float64) float64 { return r - math.Sqrt(positive(x, e)) }

// reachCbrt: the slope is greatest at the end nearer to zero; across zero the
// difference is at most 2 cbrt(e/2) at distance e.
func reachCbrt(x, e, r float64) float64 {
	if m := inner(x, e); m > e {
		return e * math.Cbrt(m) / (3 * m)
	}
	return 2 * math.Cbrt(e/2)
}

func erfSlope(x, _ float64) float64 { return 2 / math.Sqrt(math.Pi) * math.Exp(-x*x) }

// apply runs a function's row.
func (t *shadowType) apply(f function) func(x Shadow, cx, res Cell) Shadow {
	return func(x Shadow, cx, res Cell) Shadow {
		r := dd{f.value(x.Hi), 0}
		if !finite(r.hi) || !finite(x.Err) || !finite(x.Hi) {
			return t.applySpecial(f, r.hi, x, res)
		}
		err := 0.0
		if x.Err != 0 {
			if err = f.reach(x.Hi, x.Err, r.hi); err != err {
				return Undecided(Invalid, res)
			}
		}
		r = t.refine(f, x, r)
		return t.finish(r, err+t.functionError(f, r), res, true)
	}
}

// refine accounts for the low half of the operand, and computes the root of a
// double-double in kind, as its bound allows no other error.
func (t *shadowType) refine(f function, x Shadow, r dd) dd {
	switch {
	case f.rounded && t.wide && x.Hi > 0x1p-900:
		return x.dd().sqrt()
	case x.Lo != 0 && finite(f.slope(x.Hi, r.hi)):
		return quickSum(r.hi, f.slope(x.Hi, r.hi)*x.Lo)
	}
	return r
}

func (t *shadowType) functionError(f function, r dd) float64 {
	switch {
	case r.hi == 0 && f.rounded:
		return 0
	case f.rounded:
		return t.rounding(r.hi)
	}
	return t.function(r.hi)
}

// applySpecial has an operand or a result that is not finite. What is so at both
// ends of the operand's bound is so within it.
func (t *shadowType) applySpecial(f function, r float64, x Shadow, res Cell) Shadow {
	if finite(r) && x.Err == 0 {
		return Shadow{Hi: r, Err: t.function(r)}
	}
	below, above := f.value(x.Hi-slack*x.Err), f.value(x.Hi+slack*x.Err)
	same := below == r && above == r || below != below && above != above && r != r
	return t.finishSpecial(r, 0, res, finite(x.Err) && same)
}
