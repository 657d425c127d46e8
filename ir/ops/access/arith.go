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
		op := num.Unary(name, e)
		return func(_ *ir.Frame, c *[3]num.Cell, _ *[3]num.Shadow) (num.Cell, num.Shadow) {
			r := op(c[0])
			return r, Exact(e, r)
		}
	case 2:
		op := num.Binary(name, e)
		return func(_ *ir.Frame, c *[3]num.Cell, _ *[3]num.Shadow) (num.Cell, num.Shadow) {
			r := op(c[0], c[1])
			return r, Exact(e, r)
		}
	}
	op := num.Ternary(name, e)
	return func(_ *ir.Frame, c *[3]num.Cell, _ *[3]num.Shadow) (num.Cell, num.Shadow) {
		r := op(c[0], c[1], c[2])
		return r, Exact(e, r)
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
func Cast(from, to num.Elem) func(c num.Cell, s num.Shadow) (num.Cell, num.Shadow) {
	if from == to {
		return func(c num.Cell, s num.Shadow) (num.Cell, num.Shadow) { return c, s }
	}
	cast := num.Caster(from, to)
	return func(c num.Cell, _ num.Shadow) (num.Cell, num.Shadow) {
		r := cast(c)
		return r, Exact(to, r)
	}
}
