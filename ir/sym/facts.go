package sym

import "slices"

// Facts is a set of conditions known to hold, and what follows from them.
// Everything it claims is true for all values of the atoms that satisfy the
// facts and give the expressions at hand a value (positive divisors); what it
// does not claim may still be true.
type Facts struct {
	conds []Cond
}

// NewFacts is the empty set of facts.
func NewFacts() *Facts { return &Facts{} }

// Clone is an independent copy.
func (f *Facts) Clone() *Facts { return &Facts{conds: slices.Clone(f.conds)} }

// Conds lists the facts in the order they were added.
func (f *Facts) Conds() []Cond { return slices.Clone(f.conds) }

// Add adds a fact. One with an overflowed side says nothing.
func (f *Facts) Add(c Cond) {
	if c.Rel.Valid() && !c.L.isOver() && !c.R.isOver() {
		f.conds = append(f.conds, c)
	}
}

// AddRange adds lo <= name < hi; hi is exclusive, as in `i < E`.
func (f *Facts) AddRange(name string, lo, hi Expr) {
	f.Add(Le(lo, Name(name)))
	f.Add(Lt(Name(name), hi))
}
