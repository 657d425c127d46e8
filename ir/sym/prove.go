package sym

// Prove reports whether c follows from the facts.
func (f *Facts) Prove(c Cond) bool {
	d := Sub(c.L, c.R)
	if d.isOver() || !c.Rel.Valid() {
		return false
	}
	if v, ok := d.IsConst(); ok {
		return c.Rel.Holds(v, 0)
	}
	return false
}

// Range bounds e by constants.
func (f *Facts) Range(e Expr) (lo, hi int64, okLo, okHi bool) {
	c, ok := e.IsConst()
	return c, c, ok, ok
}

// Simplify rewrites e by what the facts allow; the value is the same wherever
// the facts hold.
func (f *Facts) Simplify(e Expr) Expr { return e }

// Contradiction reports whether the facts are known to exclude each other.
func (f *Facts) Contradiction() bool { return false }
