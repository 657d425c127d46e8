package sym

// Subst replaces names by expressions, all at once.
func (e Expr) Subst(by map[string]Expr) Expr {
	if len(by) == 0 {
		return e
	}
	return e.substAtoms(func(a *Atom) (Expr, bool) {
		if a.Kind != AtomName {
			return Expr{}, false
		}
		x, ok := by[a.Name]
		return x, ok
	})
}

// SubstRef replaces the SSA values for which by answers true.
func (e Expr) SubstRef(by func(Ref) (Expr, bool)) Expr {
	return e.substAtoms(func(a *Atom) (Expr, bool) {
		if a.Kind != AtomVal {
			return Expr{}, false
		}
		return by(a.Ref)
	})
}

// substAtoms replaces atoms, outermost first; what by declines is rebuilt from
// its replaced arguments. An expression without a replaced atom stays shared.
func (e Expr) substAtoms(by func(*Atom) (Expr, bool)) Expr {
	var keep []term
	var sum Expr
	for _, t := range e.terms() {
		if x, changed := t.subst(by); changed {
			sum = Add(sum, x)
		} else {
			keep = append(keep, t)
		}
	}
	if len(keep) == len(e.terms()) {
		return e
	}
	return Add(ofTerms(keep, e.constant()), sum)
}

func (t term) subst(by func(*Atom) (Expr, bool)) (Expr, bool) {
	changed := false
	prod := Const(t.coef)
	for _, a := range t.f {
		x, c := a.subst(by)
		changed = changed || c
		prod = Mul(prod, x)
	}
	return prod, changed
}

var rebuild = map[Kind]func(a, b Expr) Expr{
	AtomFloorDiv: FloorDiv, AtomMod: Mod, AtomMin: Min, AtomMax: Max,
}

func (a *Atom) subst(by func(*Atom) (Expr, bool)) (Expr, bool) {
	if x, ok := by(a); ok {
		return x, true
	}
	make, ok := rebuild[a.Kind]
	if !ok {
		return ofAtom(a), false
	}
	x, y := a.Args[0].substAtoms(by), a.Args[1].substAtoms(by)
	if x.n == a.Args[0].n && y.n == a.Args[1].n {
		return ofAtom(a), false
	}
	return make(x, y), true
}
