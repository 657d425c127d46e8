package sym

// Prove reports whether c follows from the facts. From facts that exclude each
// other everything follows. Divisors in c and in the facts are taken to be
// positive: a proof says nothing of points where one is not.
func (f *Facts) Prove(c Cond) bool {
	if f.prove(c) {
		return true
	}
	if !composite(c.L) && !composite(c.R) {
		return false // Simplify could only rename
	}
	simple := Cond{f.Simplify(c.L), f.Simplify(c.R), c.Rel}
	return !simple.Equal(c) && f.prove(simple)
}

// prove is Prove by elimination alone; Simplify builds on it.
func (f *Facts) prove(c Cond) bool {
	if !c.Rel.Valid() || undefined(c.L) || undefined(c.R) {
		return false
	}
	d := Sub(c.L, c.R)
	if v, ok := d.IsConst(); ok {
		return c.Rel.Holds(v, 0)
	}
	negated, ok := lower(Cond{d, Expr{}, c.Rel.Not()})
	return ok && f.newSystem([]row{negated}, false).refuted(nil, 0)
}

// composite reports whether e has atoms with arguments.
func composite(e Expr) bool {
	found := false
	e.Walk(func(a *Atom) bool {
		found = found || a.Kind != AtomName && a.Kind != AtomVal
		return !found
	})
	return found
}

// undefined reports whether e has no value whatever its atoms are.
func undefined(e Expr) bool {
	bad := e.isOver()
	e.Walk(func(a *Atom) bool {
		if a.Kind == AtomFloorDiv || a.Kind == AtomMod {
			c, ok := a.Args[1].IsConst()
			bad = bad || ok && c <= 0
		}
		return true
	})
	return bad
}

// Contradiction reports whether the facts are known to exclude each other.
func (f *Facts) Contradiction() bool { return f.newSystem(nil, true).refuted(nil, 0) }

// Range bounds e by constants, lo <= e <= hi, each end where one is known.
func (f *Facts) Range(e Expr) (lo, hi int64, okLo, okHi bool) {
	if c, ok := e.IsConst(); ok {
		return c, c, true, true
	}
	x := expandMods(e)
	if undefined(e) || x.isOver() {
		return 0, 0, false, false
	}
	self := Name("=") // no program's name
	b := f.newSystem([]row{{Sub(self, x), EQ}}, false).bounds("=", nil, 0)
	if b.empty {
		return 0, 0, false, false
	}
	return b.lo, b.hi, b.okLo, b.okHi
}
