package sym

import "slices"

// Facts is a set of conditions known to hold, and what follows from them.
// Everything it claims is true for all values of the atoms that satisfy the
// facts and give the expressions at hand a value (positive divisors); what it
// does not claim may still be true. Facts may be read from several goroutines.
type Facts struct {
	facts []fact
}

// fact is a condition, lowered once: the row without mod atoms, and the keys of
// the atoms in it, nested ones included.
type fact struct {
	cond  Cond
	row   row
	atoms []string
}

// row says e == 0, e >= 0 or, for NE, e != 0.
type row struct {
	e   Expr
	rel Rel // EQ, GE or NE
}

// NewFacts is the empty set of facts.
func NewFacts() *Facts { return &Facts{} }

// Clone is an independent copy.
func (f *Facts) Clone() *Facts { return &Facts{facts: slices.Clip(f.facts)} }

// Conds lists the facts in the order they were added.
func (f *Facts) Conds() []Cond {
	out := make([]Cond, len(f.facts))
	for i, x := range f.facts {
		out[i] = x.cond
	}
	return out
}

// Add adds a fact. One that overflows says nothing.
func (f *Facts) Add(c Cond) {
	if r, ok := lower(c); ok {
		f.facts = append(f.facts, fact{c, r, atomKeys(r.e)})
	}
}

// AddRange adds lo <= name < hi; hi is exclusive, as in `i < E`.
func (f *Facts) AddRange(name string, lo, hi Expr) {
	f.Add(Le(lo, Name(name)))
	f.Add(Lt(Name(name), hi))
}

// lower writes c as a row without mod atoms.
func lower(c Cond) (row, bool) {
	if !c.Rel.Valid() {
		return row{}, false
	}
	d := expandMods(Sub(c.L, c.R))
	r := row{d, c.Rel}
	switch c.Rel {
	case GT:
		r = row{Sub(d, Const(1)), GE}
	case LE:
		r = row{Neg(d), GE}
	case LT:
		r = row{Sub(Const(-1), d), GE}
	}
	return r, !r.e.isOver()
}

// expandMods replaces x mod m by x - m*(x//m) everywhere, so that one kind of
// atom carries all that is known of a division.
func expandMods(e Expr) Expr {
	return e.substAtoms(func(a *Atom) (Expr, bool) {
		if a.Kind != AtomMod {
			return Expr{}, false
		}
		x, m := expandMods(a.Args[0]), expandMods(a.Args[1])
		return Sub(x, Mul(m, FloorDiv(x, m))), true
	})
}

func atomKeys(e Expr) []string {
	var keys []string
	e.Walk(func(a *Atom) bool {
		keys = append(keys, a.key)
		return true
	})
	return keys
}
