package sym

// Products of variables are variables of their own in the elimination. What
// ties them to their factors are products of rows: e >= 0 and f - lo >= 0 give
// (f - lo)*e >= 0, kept if it speaks of products that occur already. That is
// enough for row-major offsets: i <= M - 1 times N >= 0 gives N*i <= M*N - N.

const (
	maxMonomials = 48  // distinct products considered
	maxProducts  = 300 // rows, with those added
	productCost  = 2   // of the budget, each
)

// products is the work of one call of withProducts.
type products struct {
	rows    []row
	known   map[string]bool  // keys of products that may occur, with their divisors
	factors map[string]*Atom // atoms of the products
	keys    []string         // of factors, in order of appearance
	degree  int
	left    *budget
}

// withProducts adds the products of rows that bear on the products in them.
func withProducts(rows []row, left *budget) []row {
	p := &products{left: left, known: map[string]bool{}, factors: map[string]*Atom{}}
	p.rows = rows[:len(rows):len(rows)]
	for _, r := range rows {
		for _, t := range r.e.terms() {
			if len(t.f) > 1 && len(p.known) < maxMonomials {
				p.note(t.f)
			}
		}
	}
	if len(p.known) == 0 {
		return rows
	}
	p.multiply(rows)
	return p.rows
}

// note records a product, its divisors and its atoms.
func (p *products) note(f []*Atom) {
	key := monomialKey(f)
	if p.known[key] || len(f) > 5 {
		return
	}
	p.known[key] = true
	p.degree = max(p.degree, len(f))
	if len(f) == 2 && f[0].key == f[1].key {
		p.rows = append(p.rows, row{ofTerms([]term{{1, f}}, 0), GE}) // a square
	}
	for i, a := range f {
		if p.factors[a.key] == nil {
			p.factors[a.key] = a
			p.keys = append(p.keys, a.key)
		}
		if len(f) > 2 {
			p.note(append(append([]*Atom{}, f[:i]...), f[i+1:]...))
		}
	}
}

// multiply adds every row times every factor that is known not to be negative
// and times products of two or three such.
func (p *products) multiply(rows []row) {
	var nonneg, any []Expr
	for _, key := range p.keys {
		f := ofAtom(p.factors[key])
		any = append(any, f)
		el, vars := newElimination(rows, p.left)
		v, ok := vars[key]
		if !ok {
			continue
		}
		b := el.boundsOf(v)
		if b.okLo {
			nonneg = append(nonneg, Sub(f, Const(b.lo)))
		}
		if b.okHi {
			nonneg = append(nonneg, Sub(Const(b.hi), f))
		}
	}
	for _, r := range rows {
		by := nonneg
		if r.rel == EQ {
			by = any
		}
		for i, x := range by {
			if !p.left.spend(productCost) {
				return
			}
			e := Mul(r.e, x)
			p.keep(row{e, r.rel})
			for j := i; p.degree > 2 && j < len(by) && p.left.spend(productCost); j++ {
				p.keep(row{Mul(e, by[j]), r.rel})
			}
		}
	}
}

// keep adds a row if all its products are known ones.
func (p *products) keep(r row) {
	if r.e.isOver() || len(p.rows) > maxProducts {
		return
	}
	for _, t := range r.e.terms() {
		if len(t.f) > 1 && !p.known[monomialKey(t.f)] {
			return
		}
	}
	p.rows = append(p.rows, r)
}
