package math

import (
	std "math"

	"tenon/internal/num"
	"tenon/ir"
)

// val is a value of the formula being built.
type val = *ir.Value

// format is a binary float format and the integer of its width.
type format struct {
	flt, integer num.Elem
	mant         int64 // stored bits of the significand
	bias         int64
}

var (
	single = format{num.F32, num.I32, 23, 127}
	double = format{num.F64, num.I64, 52, 1023}
)

// terms appends the ops of one formula.
type terms struct {
	*ir.Builder
	format
	*Constants
}

// Constants are made once for all formulas of a function, in a place of their own.
type Constants struct {
	b    *ir.Builder
	made map[constant]val
}

type constant struct {
	e num.Elem
	c num.Cell
}

// NewConstants has constants that b makes.
func NewConstants(b *ir.Builder) *Constants { return &Constants{b, map[constant]val{}} }

func (s *Constants) literal(e num.Elem, c num.Cell) val {
	k := constant{e, c}
	if s.made[k] == nil {
		s.made[k] = s.b.Const(e, c)
	}
	return s.made[k]
}

// c is a float constant, rounded to the format.
func (t *terms) c(x float64) val { return t.literal(t.flt, num.Cast(num.F64, t.flt, num.FromFloat(x))) }

// k is an integer constant.
func (t *terms) k(x int64) val { return t.literal(t.integer, num.FromInt(num.Wrap(t.integer, x))) }

// The ops that formulas use.
func (t *terms) add(a, b val) val       { return t.Scalar("add", a, b) }
func (t *terms) sub(a, b val) val       { return t.Scalar("sub", a, b) }
func (t *terms) mul(a, b val) val       { return t.Scalar("mul", a, b) }
func (t *terms) div(a, b val) val       { return t.Scalar("div", a, b) }
func (t *terms) fma(a, b, c val) val    { return t.Scalar("fma", a, b, c) }
func (t *terms) neg(a val) val          { return t.Scalar("neg", a) }
func (t *terms) abs(a val) val          { return t.Scalar("abs", a) }
func (t *terms) lt(a, b val) val        { return t.Scalar("lt", a, b) }
func (t *terms) gt(a, b val) val        { return t.Scalar("gt", a, b) }
func (t *terms) eq(a, b val) val        { return t.Scalar("eq", a, b) }
func (t *terms) and(a, b val) val       { return t.Scalar("and", a, b) }
func (t *terms) or(a, b val) val        { return t.Scalar("or", a, b) }
func (t *terms) xor(a, b val) val       { return t.Scalar("xor", a, b) }
func (t *terms) shl(a val, n int64) val { return t.Scalar("shl", a, t.k(n)) }
func (t *terms) shr(a val, n int64) val { return t.Scalar("shr", a, t.k(n)) }
func (t *terms) pick(c, a, b val) val   { return t.Scalar("select", c, a, b) }

// bits and float read a value in the other type of its width.
func (t *terms) bits(x val) val  { return t.bitcast(x, t.integer) }
func (t *terms) float(x val) val { return t.bitcast(x, t.flt) }

func (t *terms) bitcast(x val, e num.Elem) val {
	op := ir.NewOp("bitcast", t.Loc, &ir.Operands{Args: []ir.Arg{ir.ValueArg(x)}})
	return t.Add(op, []ir.Type{ir.Scalar{Elem: e}}).Results[0]
}

// poly is c[0] + c[1] x + .. by Horner's rule, an fma a term.
func (t *terms) poly(x val, c []float64) val {
	r := t.c(c[len(c)-1])
	for i := len(c) - 2; i >= 0; i-- {
		r = t.fma(r, x, t.c(c[i]))
	}
	return r
}

// parity is poly as e(x^2) + x o(x^2): one multiplication more, and half as long
// from x to the result. That is worth it from about eight coefficients on: a core
// has room for a few elements in flight, so that what waits for long is slow. (Zen
// 3: x * (1 + erf x) in 12.9 cycles for 8 elements, by Horner's rule in 14.4.)
func (t *terms) parity(x val, c []float64) val {
	var even, odd []float64
	for i := 0; i < len(c); i += 2 {
		even = append(even, c[i])
		if i+1 < len(c) {
			odd = append(odd, c[i+1])
		}
	}
	s := t.mul(x, x)
	return t.fma(t.poly(s, odd), x, t.poly(s, even))
}

// negative says that x has a sign, which is x < 0 but for zeros and NaN: a select
// by it is one instruction.
func (t *terms) negative(x val) val { return t.lt(t.bits(x), t.k(0)) }

// atMost and atLeast bound x; a NaN stays one, unlike with a select the other
// way round.
func (t *terms) atMost(x val, hi float64) val { return t.pick(t.gt(x, t.c(hi)), t.c(hi), x) }
func (t *terms) atLeast(x val, lo float64) val {
	return t.pick(t.lt(x, t.c(lo)), t.c(lo), x)
}

func (t *terms) within(x val, lo, hi float64) val { return t.atMost(t.atLeast(x, lo), hi) }

// signOf has x's sign bit alone; withSign puts it on r, which has none.
func (t *terms) signOf(x val) val      { return t.and(t.bits(x), t.k(std.MinInt64>>(63-t.signAt()))) }
func (t *terms) withSign(r, x val) val { return t.float(t.or(t.bits(r), t.signOf(x))) }

func (t *terms) signAt() int64 { return int64(8*t.flt.Bytes() - 1) }

// one is the bits of 1.0, and fraction the mask of the stored significand.
func (t *terms) one() val      { return t.k(t.bias << t.mant) }
func (t *terms) fraction() val { return t.k(1<<t.mant - 1) }

// magic is 1.5 * 2^mant + low: added to a small number it leaves the nearest
// integer, plus low, in the lowest bits.
func (t *terms) magic(low int64) float64 {
	return 1.5*float64(int64(1)<<t.mant) + float64(low)
}

// wide says that the format is f64.
func (t *terms) wide() bool { return t.mant == double.mant }

// in continues the formula in another format.
func (t *terms) in(f format) *terms { return &terms{t.Builder, f, t.Constants} }
