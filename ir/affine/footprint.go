package affine

import "tenon/ir/sym"

// Span is the values a subscript takes, Lo <= sub <= Hi, each end known or not.
// The ends are free of the axes.
type Span struct {
	Lo, Hi     sym.Expr
	OkLo, OkHi bool
}

// Footprint bounds a subscript over all points of the axes. Where the subscript
// is affine in them and their extents do not depend on one another, the ends
// are attained (unless the box is empty, when they say nothing).
func Footprint(sub sym.Expr, axes []Axis, facts *sym.Facts) Span {
	b := &bounder{facts: Bind(facts, axes)}
	s := Span{sub, sub, !sub.Overflowed(), !sub.Overflowed()}
	for i := len(axes) - 1; i >= 0; i-- { // the last first: its bounds may use the others
		b.axis = axes[i]
		if s.OkLo {
			s.Lo, s.OkLo = b.bound(s.Lo, -1)
		}
		if s.OkHi {
			s.Hi, s.OkHi = b.bound(s.Hi, 1)
		}
	}
	return s
}

// bounder takes one axis out of expressions.
type bounder struct {
	facts *sym.Facts
	axis  Axis
}

// bound is the largest (dir 1) or least (dir -1) value of e along the axis, or
// a bound of it, one term after the other.
func (b *bounder) bound(e sym.Expr, dir int) (sym.Expr, bool) {
	if !e.Uses(b.axis.Name) {
		return e, true
	}
	if coef, rest, ok := e.Linear(b.axis.Name); ok { // all terms in the axis at once
		end, ok := b.end(coef, dir)
		sum := sym.Add(rest, sym.Mul(coef, end))
		return sum, ok && !sum.Overflowed()
	}
	sum := sym.Const(e.Constant())
	for _, t := range e.Terms() {
		x, ok := b.boundTerm(t, dir)
		if !ok {
			return sym.Expr{}, false
		}
		sum = sym.Add(sum, x)
	}
	return sum, !sum.Overflowed()
}

// end is the end of the axis where coef*axis is largest (dir 1) or least.
func (b *bounder) end(coef sym.Expr, dir int) (sym.Expr, bool) {
	s := b.sign(coef)
	if s*dir > 0 {
		return sym.Sub(b.axis.Extent, sym.Const(1)), true
	}
	return b.axis.Lo, s != 0
}

// sign is 1 or -1 for what is known to be >= 0 or <= 0, else 0.
func (b *bounder) sign(e sym.Expr) int {
	switch {
	case b.facts.Prove(sym.Ge(e, sym.Const(0))):
		return 1
	case b.facts.Prove(sym.Le(e, sym.Const(0))):
		return -1
	}
	return 0
}

// boundTerm bounds a term in which at most one factor holds the axis.
func (b *bounder) boundTerm(t sym.Term, dir int) (sym.Expr, bool) {
	coef, inner, found := sym.Const(t.Coef), sym.Atom{}, false
	for _, a := range t.Factors {
		switch {
		case !a.Expr().Uses(b.axis.Name):
			coef = sym.Mul(coef, a.Expr())
		case found:
			return sym.Expr{}, false
		default:
			inner, found = a, true
		}
	}
	if !found {
		return coef, true
	}
	s := b.sign(coef)
	if s == 0 {
		return sym.Expr{}, false
	}
	x, ok := b.boundAtom(inner, s*dir)
	return sym.Mul(coef, x), ok
}

// boundAtom bounds //, min and max by bounds of their arguments, in which they
// are monotone, and mod by its divisor.
func (b *bounder) boundAtom(a sym.Atom, dir int) (sym.Expr, bool) {
	x, y := a.Args[0], a.Args[1]
	if a.Kind == sym.AtomName {
		return b.bound(a.Expr(), dir)
	}
	if a.Kind == sym.AtomMod {
		if dir < 0 {
			return sym.Expr{}, true
		}
		return sym.Sub(y, sym.Const(1)), !y.Uses(b.axis.Name)
	}
	bx, ok := b.bound(x, dir)
	if !ok {
		return sym.Expr{}, false
	}
	if a.Kind == sym.AtomFloorDiv {
		return sym.FloorDiv(bx, y), !y.Uses(b.axis.Name)
	}
	by, ok := b.bound(y, dir)
	if a.Kind == sym.AtomMin {
		return sym.Min(bx, by), ok
	}
	return sym.Max(bx, by), ok
}
