package affine

import "tenon/ir/sym"

// Injective reports whether different points of the axes under the facts are
// proved to give different subscripts. Names that are no axes are the same at
// all points: a caller with a name that varies otherwise (the column of a
// pattern entry) must leave out the subscripts and facts that use it. A
// subscript or fact that uses an SSA value counts for nothing, for the value
// may vary; one in the bounds of an axis is taken to be the same at all points.
func Injective(subs []sym.Expr, axes []Axis, facts *sym.Facts) bool {
	open := map[string]int{}
	for i, a := range axes {
		open[a.Name] = i
	}
	var usable []sym.Expr
	for _, s := range subs {
		if len(s.Refs()) == 0 && !s.Overflowed() {
			usable = append(usable, s)
		}
	}
	isolate(usable, open)
	return len(open) == 0 || newTwins(usable, axes, open, facts).merge()
}

// isolate takes away the axes that a subscript determines by itself: it is
// c*axis + rest, c a constant but 0, rest free of open axes.
func isolate(subs []sym.Expr, open map[string]int) {
	for again := true; again; {
		again = false
		for _, s := range subs {
			if name, ok := determined(s, open); ok {
				delete(open, name)
				again = true
			}
		}
	}
}

func determined(s sym.Expr, open map[string]int) (string, bool) {
	for _, name := range s.Names() {
		if _, ok := open[name]; !ok {
			continue
		}
		coef, rest, ok := s.Linear(name)
		c, isConst := coef.IsConst()
		return name, ok && isConst && c != 0 && !usesAny(rest, open)
	}
	return "", false
}

// twins are two points with the same subscripts; the second writes the open
// axes with a prime. Injectivity is that all twins are one.
type twins struct {
	facts *sym.Facts
	axes  []Axis
	open  map[string]int
	prime map[string]sym.Expr
}

func newTwins(subs []sym.Expr, axes []Axis, open map[string]int, facts *sym.Facts) *twins {
	t := &twins{Bind(facts, axes), axes, open, map[string]sym.Expr{}}
	for name := range open {
		t.prime[name] = sym.Name(name + "'")
	}
	t.primeRanges()
	if facts != nil {
		t.primeFacts(facts.Conds())
	}
	for _, s := range subs {
		t.facts.Add(sym.Eq(s, s.Subst(t.prime)))
	}
	return t
}

func (t *twins) primeRanges() {
	for _, a := range t.axes {
		self := sym.Name(a.Name).Subst(t.prime)
		t.facts.Add(sym.Le(a.Lo.Subst(t.prime), self))
		t.facts.Add(sym.Lt(self, a.Extent.Subst(t.prime)))
	}
}

// primeFacts says the given facts of the second point, but those about SSA
// values, which may be others there.
func (t *twins) primeFacts(conds []sym.Cond) {
	for _, c := range conds {
		if p := c.Subst(t.prime); !p.Equal(c) && len(c.L.Refs())+len(c.R.Refs()) == 0 {
			t.facts.Add(p)
		}
	}
}

// merge proves one axis after the other equal; each helps the next.
func (t *twins) merge() bool {
	for again := true; again && len(t.open) > 0; {
		again = false
		for _, a := range t.axes {
			same := sym.Eq(sym.Name(a.Name), t.prime[a.Name])
			if _, ok := t.open[a.Name]; ok && t.facts.Prove(same) {
				t.facts.Add(same)
				delete(t.open, a.Name)
				again = true
			}
		}
	}
	return len(t.open) == 0
}
