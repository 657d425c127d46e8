package interp

import (
	"math/bits"

	"tenon/internal/diag"
	"tenon/internal/num"
	"tenon/ir"
	"tenon/ir/sym"
)

// overflow stops the run: an index computation left the 64-bit integers.
func overflow(op *ir.Op, e sym.Expr) {
	raise(op, ir.TrapOverflow, "%s leaves the 64-bit integers", e)
}

func addOK(a, b int64) (int64, bool) {
	s := a + b
	return s, (a^s)&(b^s) >= 0
}

func mulOK(a, b int64) (int64, bool) {
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	hi -= uint64(a>>63)&uint64(b) + uint64(b>>63)&uint64(a)
	return int64(lo), int64(hi) == int64(lo)>>63
}

// Expr implements ir.Machine.
func (s *stager) Expr(e sym.Expr) func(*ir.Frame) int64 {
	if e.Overflowed() {
		op := s.op
		return func(*ir.Frame) int64 { overflow(op, e); return 0 }
	}
	terms, c := e.Terms(), e.Constant()
	switch {
	case len(terms) == 0:
		return func(*ir.Frame) int64 { return c }
	case len(terms) == 1 && len(terms[0].Factors) == 1 && terms[0].Coef == 1:
		return s.atomPlus(e, &terms[0].Factors[0], c)
	}
	return s.sum(e, terms, c)
}

// slotAtom is the slot of a name or value.
func (s *stager) slotAtom(a *sym.Atom) (int, bool) {
	switch a.Kind {
	case sym.AtomName:
		return s.Symbol(a.Name), true
	case sym.AtomVal:
		return s.Scalar(a.Ref.(*ir.Value)), true
	}
	return 0, false
}

// atomPlus stages a + c, the commonest subscripts.
func (s *stager) atomPlus(e sym.Expr, a *sym.Atom, c int64) func(*ir.Frame) int64 {
	op := s.op
	slot, plain := s.slotAtom(a)
	switch {
	case plain && c == 0:
		return func(f *ir.Frame) int64 { return num.Int(f.S[slot]) }
	case plain:
		return func(f *ir.Frame) int64 {
			r, ok := addOK(num.Int(f.S[slot]), c)
			if !ok {
				overflow(op, e)
			}
			return r
		}
	}
	x := s.atom(a)
	return func(f *ir.Frame) int64 {
		r, ok := addOK(x(f), c)
		if !ok {
			overflow(op, e)
		}
		return r
	}
}

// sum stages the general form.
func (s *stager) sum(e sym.Expr, terms []sym.Term, c int64) func(*ir.Frame) int64 {
	op := s.op
	staged := make([]func(*ir.Frame) int64, len(terms))
	for i, t := range terms {
		staged[i] = s.term(e, t)
	}
	if len(staged) == 2 {
		x, y := staged[0], staged[1]
		return func(f *ir.Frame) int64 {
			r, ok1 := addOK(x(f), y(f))
			r, ok2 := addOK(r, c)
			if !ok1 || !ok2 {
				overflow(op, e)
			}
			return r
		}
	}
	return func(f *ir.Frame) int64 {
		r := c
		for _, t := range staged {
			var ok bool
			if r, ok = addOK(r, t(f)); !ok {
				overflow(op, e)
			}
		}
		return r
	}
}

func (s *stager) term(e sym.Expr, t sym.Term) func(*ir.Frame) int64 {
	op, coef := s.op, t.Coef
	factors := make([]func(*ir.Frame) int64, len(t.Factors))
	for i := range t.Factors {
		factors[i] = s.atom(&t.Factors[i])
	}
	if len(factors) == 1 {
		x := factors[0]
		if coef == 1 {
			return x
		}
		return func(f *ir.Frame) int64 {
			r, ok := mulOK(coef, x(f))
			if !ok {
				overflow(op, e)
			}
			return r
		}
	}
	return func(f *ir.Frame) int64 {
		r := coef
		for _, x := range factors {
			var ok bool
			if r, ok = mulOK(r, x(f)); !ok {
				overflow(op, e)
			}
		}
		return r
	}
}

func (s *stager) atom(a *sym.Atom) func(*ir.Frame) int64 {
	if slot, ok := s.slotAtom(a); ok {
		return func(f *ir.Frame) int64 { return num.Int(f.S[slot]) }
	}
	op, atom := s.op, *a
	x, y := s.Expr(a.Args[0]), s.Expr(a.Args[1])
	switch a.Kind {
	case sym.AtomMin:
		return func(f *ir.Frame) int64 { return min(x(f), y(f)) }
	case sym.AtomMax:
		return func(f *ir.Frame) int64 { return max(x(f), y(f)) }
	case sym.AtomFloorDiv:
		return func(f *ir.Frame) int64 { return num.FloorDiv(x(f), divisor(op, atom, y(f))) }
	case sym.AtomMod:
		return func(f *ir.Frame) int64 { return num.Mod(x(f), divisor(op, atom, y(f))) }
	}
	diag.Bugf("%s is no atom that can be computed", a)
	return nil
}

func divisor(op *ir.Op, a sym.Atom, y int64) int64 {
	if y <= 0 {
		raise(op, ir.TrapShape, "the divisor of %s is %d; it must be positive", a, y)
	}
	return y
}

// Cond implements ir.Machine.
func (s *stager) Cond(c sym.Cond) func(*ir.Frame) bool {
	x, y := s.Expr(c.L), s.Expr(c.R)
	switch c.Rel {
	case sym.LT:
		return func(f *ir.Frame) bool { return x(f) < y(f) }
	case sym.LE:
		return func(f *ir.Frame) bool { return x(f) <= y(f) }
	}
	rel := c.Rel
	return func(f *ir.Frame) bool { return rel.Holds(x(f), y(f)) }
}
