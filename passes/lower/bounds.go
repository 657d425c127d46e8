package lower

import (
	"tenon/ir"
	"tenon/ir/sym"
)

// bound narrows r, the range of a loop, to the points where the conditions hold,
// and gives those that it cannot express. What is known around the loop decides
// which bound is the narrower one: what is known inside, where there is a point,
// may not hold where there is none. It is for loop programs alone: the comps of
// a func are loops over one box, which are merged more easily with their guards.
func (l *lowerer) bound(r *ir.Range, conds []sym.Cond, around *sym.Facts) (left []sym.Cond) {
	if !l.inLoops {
		return conds
	}
	lo, hi := r.Lo, r.Hi
	for _, k := range conds {
		first, end, ok := limits(k, r.Name)
		if !ok {
			left = append(left, k)
			continue
		}
		if first != nil {
			lo = larger(lo, l.m.Expr(*first), around)
		}
		if end != nil {
			hi = smaller(hi, l.m.Expr(*end), around)
		}
	}
	r.Lo, r.Hi = lo, hi
	return left
}

// limits solves k for the index: it holds from first on, or before end.
func limits(k sym.Cond, index string) (first, end *sym.Expr, ok bool) {
	gap := sym.Sub(k.R, k.L) // >= 0
	switch k.Rel {
	case sym.LE:
	case sym.LT:
		gap = sym.Sub(gap, sym.Const(1))
	case sym.GE:
		gap = sym.Neg(gap)
	case sym.GT:
		gap = sym.Sub(sym.Neg(gap), sym.Const(1))
	default:
		return nil, nil, false
	}
	coef, rest, linear := gap.Linear(index)
	c, known := coef.IsConst()
	if !linear || !known || len(gap.Refs()) > 0 {
		return nil, nil, false
	}
	switch c {
	case 1:
		e := sym.Neg(rest)
		return &e, nil, true
	case -1:
		e := sym.Add(rest, sym.Const(1))
		return nil, &e, true
	}
	return nil, nil, false
}

// larger is the larger one of a and b.
func larger(a, b sym.Expr, facts *sym.Facts) sym.Expr {
	switch {
	case facts.Prove(sym.Ge(b, a)):
		return b
	case facts.Prove(sym.Ge(a, b)):
		return a
	}
	return sym.Max(a, b)
}

func smaller(a, b sym.Expr, facts *sym.Facts) sym.Expr {
	switch {
	case facts.Prove(sym.Le(b, a)):
		return b
	case facts.Prove(sym.Le(a, b)):
		return a
	}
	return sym.Min(a, b)
}
