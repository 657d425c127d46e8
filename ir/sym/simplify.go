package sym

import "strings"

// Simplify rewrites e by what the facts allow: equal names become one (the
// first by name) or their constant; divisions, mods, minima and maxima that the
// facts decide go away; m*(x//m) + x mod m becomes x. The value is the same
// wherever the facts hold.
func (f *Facts) Simplify(e Expr) Expr {
	if len(e.terms()) == 0 {
		return e
	}
	e = e.Subst(f.equalNames())
	e = e.substAtoms(f.simplifyAtom)
	return f.joinDivisions(e)
}

// equalNames maps names to the names or constants that the facts equate them
// with.
func (f *Facts) equalNames() map[string]Expr {
	by := map[string]Expr{}
	for _, x := range f.facts {
		if x.cond.Rel != EQ {
			continue
		}
		l, r := x.cond.L.Subst(by), x.cond.R.Subst(by)
		ln, lok := l.IsName()
		rn, rok := r.IsName()
		_, lc := l.IsConst()
		_, rc := r.IsConst()
		switch {
		case lok && (rc || rok && strings.Compare(rn, ln) < 0):
			rename(by, ln, r)
		case rok && (lc || lok && ln != rn):
			rename(by, rn, l)
		}
	}
	return by
}

// rename maps name to e, also in what is mapped already.
func rename(by map[string]Expr, name string, e Expr) {
	one := map[string]Expr{name: e}
	for n, old := range by {
		by[n] = old.Subst(one)
	}
	by[name] = e
}

// simplifyAtom replaces an atom whose value the facts give.
func (f *Facts) simplifyAtom(a *Atom) (Expr, bool) {
	build, ok := rebuild[a.Kind]
	if !ok {
		return Expr{}, false
	}
	x, y := f.Simplify(a.Args[0]), f.Simplify(a.Args[1])
	e := build(x, y)
	if b := e.atom(); b == nil || b.Kind != a.Kind {
		return e, true
	}
	b := e.atom()
	x, y = b.Args[0], b.Args[1]
	if undefined(e) {
		return e, true
	}
	return f.decide(b.Kind, e, x, y), true
}

func (f *Facts) decide(k Kind, e, x, y Expr) Expr {
	switch k {
	case AtomMin, AtomMax:
		if f.prove(Le(x, y)) {
			return []Expr{x, y}[b2i(k == AtomMax)]
		}
		if f.prove(Le(y, x)) {
			return []Expr{x, y}[b2i(k == AtomMin)]
		}
		return e
	}
	if f.prove(Le(Const(0), x)) && f.prove(Lt(x, y)) {
		if k == AtomMod {
			return x
		}
		return Const(0)
	}
	if lo, hi, ok1, ok2 := f.Range(e); ok1 && ok2 && lo == hi {
		return Const(lo)
	}
	if k == AtomMod && f.prove(Eq(e, Const(0))) {
		return Const(0)
	}
	return e
}

// joinDivisions replaces q*y*(x//y) by q*(x - x mod y) where that is shorter:
// the mod is known, or cancels with one in e.
func (f *Facts) joinDivisions(e Expr) Expr {
	for _, t := range e.terms() {
		for i, a := range t.f {
			if a.Kind != AtomFloorDiv || undefined(ofAtom(a)) {
				continue
			}
			rest := Const(t.coef)
			if len(t.f) > 1 {
				rest = ofTerms([]term{{t.coef, append(append([]*Atom{}, t.f[:i]...), t.f[i+1:]...)}}, 0)
			}
			x, y := a.Args[0], a.Args[1]
			q, r := split(rest, y)
			if r.n != nil {
				continue
			}
			m := Mod(x, y).substAtoms(f.simplifyAtom)
			joined := Add(e, Mul(q, Sub(x, m)), Neg(ofTerms([]term{t}, 0)))
			if !joined.isOver() && joined.size() < e.size() {
				return f.joinDivisions(joined)
			}
		}
	}
	return e
}
