package num

import "math"

// ShadowBinary is Binary on shadows, staged: a and b are the operands' shadows,
// ca and cb their Cells, res the Cell that Binary computed. nil where Binary is.
func ShadowBinary(name string, e Elem) func(a, b Shadow, ca, cb, res Cell) Shadow {
	switch {
	case Binary(name, e) == nil:
		return nil
	case e == Bool && (name == "and" || name == "min"):
		return shadowAbsorbing(0)
	case e == Bool && (name == "or" || name == "max"):
		return shadowAbsorbing(1)
	case !e.IsFloat():
		return shadowDiscrete
	case floatCompare[name] != nil:
		return shadowCompare
	}
	return shadowArithmetic[name](shadowOf(e))
}

type shadowBinary = func(a, b Shadow, ca, cb, res Cell) Shadow

// shadowArithmetic has a row for each name in floatBinary.
var shadowArithmetic = map[string]func(t *shadowType) shadowBinary{
	"add": shadowAdd, "sub": shadowSub, "mul": shadowMul, "div": shadowDiv,
	"max": shadowMax, "min": shadowMin, "pow": shadowPow,
}

// shadowDiscrete is any op on integers: exact, undecided if an operand is.
func shadowDiscrete(a, b Shadow, ca, cb, res Cell) Shadow {
	return Shadow{Hi: Float(res), Err: a.Err + b.Err}
}

// shadowAbsorbing is a bool op that the value by of one operand decides.
func shadowAbsorbing(by Cell) shadowBinary {
	return func(a, b Shadow, ca, cb, res Cell) Shadow {
		if a.Err == 0 && ca == by || b.Err == 0 && cb == by {
			return Shadow{Hi: Float(res)}
		}
		return shadowDiscrete(a, b, ca, cb, res)
	}
}

// shadowCompare is undecided where the operands are within their bounds.
func shadowCompare(a, b Shadow, ca, cb, res Cell) Shadow {
	if _, known := apart(a, b); !known {
		return Undecided(Bool, res)
	}
	return Shadow{Hi: Float(res)}
}

func shadowAdd(t *shadowType) shadowBinary {
	if t.wide {
		return t.addWide
	}
	return func(a, b Shadow, ca, cb, res Cell) Shadow {
		r, err := a.Hi+b.Hi, a.Err+b.Err
		if err != 0 || !t.exactSum(a.Hi, b.Hi, r) {
			err += math.Abs(r) * t.u
		}
		return t.finish(dd{r, 0}, err, res, finite(a.Err+b.Err))
	}
}

func (t *shadowType) exactSum(a, b, r float64) bool {
	_, low := twoSum(a, b)
	return low == 0 && t.holds(r)
}

func (t *shadowType) addWide(a, b Shadow, ca, cb, res Cell) Shadow {
	r, err := a.dd().add(b.dd()), a.Err+b.Err
	if err != 0 || r.lo != 0 {
		err += math.Abs(r.hi) * t.u
	}
	if !finite(r.hi) {
		r = dd{a.Hi + b.Hi, 0}
	}
	return t.finish(r, err, res, finite(a.Err+b.Err))
}

func shadowSub(t *shadowType) shadowBinary {
	add := shadowAdd(t)
	return func(a, b Shadow, ca, cb, res Cell) Shadow {
		return add(a, Shadow{-b.Hi, -b.Lo, b.Err}, ca, cb, res)
	}
}

func shadowMul(t *shadowType) shadowBinary {
	if t.wide {
		return t.mulWide
	}
	return func(a, b Shadow, ca, cb, res Cell) Shadow {
		r, err := float64(a.Hi*b.Hi), productError(a, b)
		if err != 0 || !t.holds(r) {
			err += t.rounding(r)
		}
		if math.Abs(r)+slack*err < t.max && finite(Float(res)) {
			return Shadow{r, 0, err}
		}
		return t.productSpecial(a, b, r, err, res)
	}
}

// productSpecial has an operand that is not finite, or a product that is not or
// may not be. A target may contract a product with the sum it goes into: one
// beyond the greatest value may then come back into range, or meet an infinity
// of the other sign as the finite number that it is.
func (t *shadowType) productSpecial(a, b Shadow, r, err float64, res Cell) Shadow {
	if finite(a.Hi) && finite(b.Hi) {
		if r == Float(res) && err == 0 && finite(r) { // the greatest value itself
			return Shadow{Hi: r}
		}
		return Undecided(Invalid, res)
	}
	return t.finishSpecial(r, err, res, productKnown(a, b))
}

func productError(a, b Shadow) float64 {
	if a.Err == 0 && b.Err == 0 {
		return 0
	}
	return float64(math.Abs(a.Hi)*b.Err) + float64(math.Abs(b.Hi)*a.Err) + float64(a.Err*b.Err)
}

// productKnown says whether a product or quotient that is not finite is the
// same for all operands within their bounds.
func productKnown(a, b Shadow) bool {
	if !finite(a.Err + b.Err) {
		return false
	}
	return a.Hi != a.Hi || b.Hi != b.Hi || a.signKnown() && b.signKnown()
}

func (t *shadowType) mulWide(a, b Shadow, ca, cb, res Cell) Shadow {
	r, err := a.dd().mul(b.dd()), productError(a, b)
	if err != 0 || r.lo != 0 || math.Abs(r.hi) < 0x1p-900 && a.Hi != 0 && b.Hi != 0 {
		err += t.rounding(r.hi)
	}
	if math.Abs(r.hi)+slack*err < t.max && finite(Float(res)) {
		return Shadow{r.hi, r.lo, err}
	}
	return t.productSpecial(a, b, float64(a.Hi*b.Hi), err, res)
}

func shadowDiv(t *shadowType) shadowBinary {
	return func(a, b Shadow, ca, cb, res Cell) Shadow {
		q := a.Hi / b.Hi
		if !finite(q) || !finite(a.Err+b.Err) || !finite(b.Hi) {
			return t.divSpecial(q, a, b, res)
		}
		low := math.Abs(b.Hi) - b.Err
		if !(low > (slack-1)*b.Err) {
			return Undecided(Invalid, res)
		}
		r := dd{q, 0}
		if t.wide && math.Abs(q) > 0x1p-900 && math.Abs(a.Hi) > 0x1p-900 {
			r = a.dd().div(b.dd())
		}
		err := (a.Err + float64(math.Abs(q)*b.Err)) / low
		if err != 0 || !t.exactQuotient(a, b, q) {
			err += t.rounding(q)
		}
		return t.finish(r, err, res, true)
	}
}

// exactQuotient needs exact operands.
func (t *shadowType) exactQuotient(a, b Shadow, q float64) bool {
	if q == 0 {
		return a.Hi == 0
	}
	return a.Lo == 0 && b.Lo == 0 && math.Abs(a.Hi) > 0x1p-900 && t.holds(q) && math.FMA(q, b.Hi, -a.Hi) == 0
}

// divSpecial has an operand that is not finite, or a divisor of zero.
func (t *shadowType) divSpecial(q float64, a, b Shadow, res Cell) Shadow {
	if q == 0 && Float(res) == 0 && finite(a.Err+b.Err) { // a finite number over an infinity
		return Shadow{Hi: q}
	}
	return t.finishSpecial(q, 0, res, productKnown(a, b))
}

func shadowMax(t *shadowType) shadowBinary { return t.extremum(1) }
func shadowMin(t *shadowType) shadowBinary { return t.extremum(-1) }

// extremum takes the winner, and the greater of both bounds where either may win.
func (t *shadowType) extremum(sign float64) shadowBinary {
	return func(a, b Shadow, ca, cb, res Cell) Shadow {
		d, known := apart(a, b)
		switch {
		case d != d:
			return t.extremumSpecial(a, b, res)
		case d*sign < 0:
			a, b = b, a
		}
		if !known {
			a.Err = max(a.Err, b.Err)
		}
		return a
	}
}

// extremumSpecial has a NaN, or twice the same infinity.
func (t *shadowType) extremumSpecial(a, b Shadow, res Cell) Shadow {
	if a.Hi == b.Hi {
		return t.finishSpecial(a.Hi, 0, res, finite(a.Err+b.Err))
	}
	return t.finishSpecial(math.NaN(), 0, res, finite(a.Err+b.Err))
}

func shadowPow(t *shadowType) shadowBinary {
	return func(a, b Shadow, ca, cb, res Cell) Shadow {
		r := Pow(a.Hi, b.Hi)
		if !finite(r) || !finite(a.Err+b.Err) || !finite(a.Hi) || !finite(b.Hi) {
			return t.finishSpecial(r, 0, res, a.Err == 0 && b.Err == 0)
		}
		rel, known := powRelative(a, b)
		if !known {
			return Undecided(Invalid, res)
		}
		lo := 0.0
		if a.Lo != 0 || b.Lo != 0 {
			lo = r * (b.Hi*a.Lo/a.Hi + math.Log(math.Abs(a.Hi))*b.Lo)
		}
		err := math.Abs(r)*math.Expm1(rel) + t.function(r)
		return t.finish(quickSum(r, lo), err, res, true)
	}
}

// powRelative bounds the logarithm of the quotient of two powers whose operands
// lie within their bounds; it knows nothing where the base may change sign, or
// is negative and the exponent is not exact.
func powRelative(a, b Shadow) (rel float64, known bool) {
	if a.Err == 0 && b.Err == 0 {
		return 0, true
	}
	m := math.Abs(a.Hi)
	if slack*a.Err >= m || a.Hi < 0 && b.Err != 0 {
		return 0, false
	}
	base := -math.Log1p(-a.Err / m)
	return (math.Abs(b.Hi)+b.Err)*base + math.Abs(math.Log(m))*b.Err, true
}

// ShadowTernary is Ternary on shadows.
func ShadowTernary(name string, e Elem) func(a, b, c Shadow, ca, cb, cc, res Cell) Shadow {
	switch {
	case Ternary(name, e) == nil:
		return nil
	case !e.IsFloat():
		return func(a, b, c Shadow, ca, cb, cc, res Cell) Shadow {
			return Shadow{Hi: Float(res), Err: a.Err + b.Err + c.Err}
		}
	}
	return shadowOf(e).fma
}

func (t *shadowType) fma(a, b, c Shadow, ca, cb, cc, res Cell) Shadow {
	r := dd{math.FMA(a.Hi, b.Hi, c.Hi), 0}
	err := productError(a, b) + c.Err
	if t.wide && finite(r.hi) {
		r = a.dd().mul(b.dd()).add(c.dd())
	}
	p := float64(a.Hi * b.Hi)
	if err != 0 || r.lo != 0 || !t.exactSum(p, c.Hi, r.hi) || t.wide && math.FMA(a.Hi, b.Hi, -p) != 0 {
		err += t.rounding(r.hi)
	}
	if finite(r.hi) && finite(err) {
		return t.finish(r, err, res, true)
	}
	return t.finishSpecial(r.hi, err, res, finite(c.Err) && productKnown(a, b))
}
