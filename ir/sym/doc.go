// Package sym holds symbolic integers: the dims, axes, loop indices and
// index-typed SSA values of the IR, and the arithmetic that shapes, subscripts
// and bounds are written in (+, -, *, floor division, mod, min, max).
//
// An [Expr] is an immutable value in normal form: products are expanded, like
// terms merged, constants folded. Only rewrites that hold for every integer
// value of the atoms are applied while building, under one assumption: a
// divisor is positive (an expression whose divisor is not has no value, and
// [Expr.Eval] says so). What holds only under facts, such as K mod 8 == 0, is
// the matter of [Facts]: it proves conditions by Fourier-Motzkin elimination
// with integer tightening, never answers a wrong "true" and may give up.
//
// Arithmetic is that of unbounded integers. A coefficient that leaves int64
// turns the expression into an overflow marker, which Eval reports as
// [ErrOverflow]; nothing wraps or saturates.
//
// The package imports nothing of Tenon's. An SSA value enters as a [Ref].
package sym
