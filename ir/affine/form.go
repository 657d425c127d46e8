package affine

import "tenon/ir/sym"

// Form is a subscript as sum(Coefs[i]*axes[i]) + Rest. A coefficient is free
// of axes; it may be symbolic, as in N*i.
type Form struct {
	Coefs []sym.Expr // one per axis, 0 where the axis does not stand linearly
	Rest  sym.Expr
	// Opaque holds the atoms of Rest that are no plain names: //, mod, min, max
	// and SSA values, in order of appearance.
	Opaque []sym.Atom
	// Affine is set if no axis is left in Rest, so that the subscript is affine
	// in the axes; an SSA value in Rest may still depend on the point.
	Affine bool
}

// Linear splits a subscript over the given axes.
func Linear(sub sym.Expr, axes []string) Form {
	f := Form{Coefs: make([]sym.Expr, len(axes)), Affine: !sub.Overflowed()}
	if sub.Overflowed() {
		f.Rest = sub
		return f
	}
	at := map[string]int{}
	for i, a := range axes {
		at[a] = i
	}
	f.Rest = sym.Const(sub.Constant())
	for _, t := range sub.Terms() {
		i, coef := splitTerm(t, at)
		if i >= 0 {
			f.Coefs[i] = sym.Add(f.Coefs[i], coef)
			continue
		}
		f.Rest = sym.Add(f.Rest, t.Expr())
		f.Affine = f.Affine && !usesAny(t.Expr(), at)
		for _, a := range t.Factors {
			if a.Kind != sym.AtomName {
				f.Opaque = append(f.Opaque, a)
			}
		}
	}
	return f
}

// splitTerm finds the axis that a term is linear in and its coefficient; -1 if
// there is none, or more than that axis.
func splitTerm(t sym.Term, at map[string]int) (axis int, coef sym.Expr) {
	axis = -1
	coef = sym.Const(t.Coef)
	for _, a := range t.Factors {
		i, isAxis := at[a.Name]
		switch {
		case a.Kind == sym.AtomName && isAxis && axis < 0:
			axis = i
		case usesAny(a.Expr(), at):
			return -1, coef
		default:
			coef = sym.Mul(coef, a.Expr())
		}
	}
	return axis, coef
}

func usesAny(e sym.Expr, names map[string]int) bool {
	found := false
	e.Walk(func(a *sym.Atom) bool {
		_, is := names[a.Name]
		found = found || a.Kind == sym.AtomName && is
		return !found
	})
	return found
}
