package access

import (
	"tenon/internal/num"
	"tenon/ir"
)

// ScalarOp computes one element and its shadow from up to three.
type ScalarOp func(f *ir.Frame, c *[3]num.Cell, s *[3]num.Shadow) (num.Cell, num.Shadow)

// HasOp reports whether elements of type e have the scalar op of that name.
func HasOp(name string, arity int, e num.Elem) bool {
	switch arity {
	case 1:
		return num.Unary(name, e) != nil
	case 2:
		return num.Binary(name, e) != nil
	}
	return num.Ternary(name, e) != nil
}

// Op is the scalar op of that name on elements of type e, which must have it.
func Op(name string, arity int, e num.Elem) ScalarOp {
	switch arity {
	case 1:
		op, sh := num.Unary(name, e), num.ShadowUnary(name, e)
		return func(f *ir.Frame, c *[3]num.Cell, s *[3]num.Shadow) (num.Cell, num.Shadow) {
			r := op(c[0])
			if f.E == nil {
				return r, num.Shadow{}
			}
			return r, sh(s[0], c[0], r)
		}
	case 2:
		op, sh := num.Binary(name, e), num.ShadowBinary(name, e)
		return func(f *ir.Frame, c *[3]num.Cell, s *[3]num.Shadow) (num.Cell, num.Shadow) {
			r := op(c[0], c[1])
			if f.E == nil {
				return r, num.Shadow{}
			}
			return r, sh(s[0], s[1], c[0], c[1], r)
		}
	}
	op, sh := num.Ternary(name, e), num.ShadowTernary(name, e)
	return func(f *ir.Frame, c *[3]num.Cell, s *[3]num.Shadow) (num.Cell, num.Shadow) {
		r := op(c[0], c[1], c[2])
		if f.E == nil {
			return r, num.Shadow{}
		}
		return r, sh(s[0], s[1], s[2], c[0], c[1], c[2], r)
	}
}

// Binary is Op for two operands.
func Binary(name string, e num.Elem) func(f *ir.Frame, a num.Cell, as num.Shadow, b num.Cell, bs num.Shadow) (num.Cell, num.Shadow) {
	op := Op(name, 2, e)
	return func(f *ir.Frame, a num.Cell, as num.Shadow, b num.Cell, bs num.Shadow) (num.Cell, num.Shadow) {
		return op(f, &[3]num.Cell{a, b}, &[3]num.Shadow{as, bs})
	}
}

// Cast converts an element and its shadow.
func Cast(from, to num.Elem) func(f *ir.Frame, c num.Cell, s num.Shadow) (num.Cell, num.Shadow) {
	if from == to {
		return func(_ *ir.Frame, c num.Cell, s num.Shadow) (num.Cell, num.Shadow) { return c, s }
	}
	cast, sh := num.Caster(from, to), num.ShadowCast(from, to)
	return func(f *ir.Frame, c num.Cell, s num.Shadow) (num.Cell, num.Shadow) {
		r := cast(c)
		if f.E == nil {
			return r, num.Shadow{}
		}
		return r, sh(s, c, r)
	}
}
