package sym

import (
	"cmp"
	"math"
	"slices"
	"strconv"
)

// Fourier-Motzkin elimination over the monomials of the rows, each taken for a
// variable of its own. Inequalities are tightened to integers (the greatest
// common divisor of the coefficients divides the constant, rounded down).
// Whatever overflows or grows too large is left out: fewer rows prove less.

// maxRows bounds the inequalities of an elimination at any time.
const maxRows = 256

// budget is the work that one question may still cost, in row combinations
// (about a microsecond each); below zero everything gives up.
type budget int

const newBudget budget = 20000

func (b *budget) spend(n int) bool {
	*b -= budget(n)
	return *b >= 0
}

// coef is one entry of a linear form, sorted by variable.
type coef struct {
	v int
	k int64
}

// lin is sum(k*v) + c, which is >= 0 or, with eq, == 0.
type lin struct {
	x  []coef
	c  int64
	eq bool
}

type elimination struct {
	rows []lin
	seen map[string]int // linear part and relation -> row
	left *budget
	bad  bool // no solution
}

// infeasible reports whether no integers satisfy the rows.
func infeasible(rows []row, left *budget) bool {
	el, _ := newElimination(withProducts(rows, left), left)
	return el.run(-1)
}

// project gives the bounds that the rows put on the atom v.
func project(rows []row, v string, left *budget) interval {
	el, vars := newElimination(withProducts(rows, left), left)
	keep, ok := vars[v]
	if !ok {
		keep = -1
	}
	return el.boundsOf(keep)
}

func (el *elimination) boundsOf(keep int) interval {
	if el.run(keep) {
		return interval{empty: true}
	}
	var b interval
	for _, r := range el.rows {
		if len(r.x) != 1 || r.x[0].v != keep {
			continue
		}
		switch k := r.x[0].k; { // rows are divided by the gcd, so k is 1 or -1
		case r.eq && k == 1:
			b = b.meet(interval{-r.c, -r.c, true, true, false})
		case r.eq:
			b = b.meet(interval{r.c, r.c, true, true, false})
		case k == 1:
			b = b.meet(interval{lo: -r.c, okLo: true})
		case k == -1:
			b = b.meet(interval{hi: r.c, okHi: true})
		}
	}
	return b
}

func newElimination(rows []row, left *budget) (*elimination, map[string]int) {
	el := &elimination{seen: map[string]int{}, left: left}
	left.spend(len(rows))
	vars := map[string]int{}
	for _, r := range rows {
		l := lin{c: r.e.constant(), eq: r.rel == EQ}
		for _, t := range r.e.terms() {
			key := monomialKey(t.f)
			v, ok := vars[key]
			if !ok {
				v = len(vars)
				vars[key] = v
			}
			l.x = append(l.x, coef{v, t.coef})
		}
		slices.SortFunc(l.x, func(a, b coef) int { return cmp.Compare(a.v, b.v) })
		el.insert(l)
	}
	return el, vars
}

// insert normalises a row and keeps it unless it says nothing new.
func (el *elimination) insert(r lin) {
	if r.c == math.MinInt64 {
		return // the least int64 has no opposite; below, all may be negated
	}
	g := int64(0)
	for _, x := range r.x {
		g = gcd(g, x.k)
		if x.k == math.MinInt64 {
			return
		}
	}
	if len(r.x) == 0 {
		el.bad = el.bad || r.c < 0 || r.eq && r.c != 0
		return
	}
	if g > 1 {
		if r.eq && r.c%g != 0 {
			el.bad = true
			return
		}
		x := make([]coef, len(r.x))
		for i := range r.x {
			x[i] = coef{r.x[i].v, r.x[i].k / g}
		}
		r.x, r.c = x, floorDiv(r.c, g)
	}
	key := r.key()
	if i, ok := el.seen[key]; ok {
		el.tighten(i, r)
		return
	}
	el.seen[key] = len(el.rows)
	el.rows = append(el.rows, r)
}

// tighten merges r into row i, which has the same linear part and relation.
func (el *elimination) tighten(i int, r lin) {
	switch old := &el.rows[i]; {
	case r.eq:
		el.bad = el.bad || r.c != old.c
	case r.c < old.c:
		old.c = r.c
	}
}

func (r lin) key() string {
	b := make([]byte, 0, 8*len(r.x)+1)
	if r.eq {
		b = append(b, '=')
	}
	for _, x := range r.x {
		b = strconv.AppendInt(b, int64(x.v), 36)
		b = append(b, ':')
		b = strconv.AppendInt(b, x.k, 36)
		b = append(b, ' ')
	}
	return string(b)
}

// run eliminates every variable but keep (-1: all) and reports whether that
// showed the rows to have no solution.
func (el *elimination) run(keep int) bool {
	for !el.bad {
		if i, v := el.pickEquality(keep); i >= 0 {
			if !el.left.spend(len(el.rows)) {
				return false
			}
			el.useEquality(i, v)
			continue
		}
		v := el.pickVariable(keep)
		if v < 0 {
			return false
		}
		if !el.combineAll(v) {
			return el.bad
		}
	}
	return true
}

// pickEquality finds an equality to solve for a variable, best one with
// coefficient 1 or -1, for that loses nothing over the integers.
func (el *elimination) pickEquality(keep int) (row, v int) {
	row, least := -1, int64(0)
	for i, r := range el.rows {
		if !r.eq {
			continue
		}
		for _, x := range r.x {
			k := int64(abs64(x.k))
			if x.v != keep && (row < 0 || k < least) {
				row, v, least = i, x.v, k
			}
		}
	}
	return row, v
}

// useEquality eliminates v from all other rows with equality i and drops it.
func (el *elimination) useEquality(i, v int) {
	eq, old := el.rows[i], el.rows
	k := eq.at(v)
	el.reset()
	for j, r := range old {
		b := r.at(v)
		switch {
		case j == i:
		case b == 0:
			el.insert(r)
		default: // |k|*r - sign(k)*b*eq
			m, n := int64(abs64(k)), -b
			if k < 0 {
				n = b
			}
			el.insertSum(r, m, eq, n)
		}
	}
}

func (el *elimination) reset() {
	el.rows, el.seen = nil, map[string]int{}
}

// pickVariable finds the variable whose elimination adds the fewest rows.
func (el *elimination) pickVariable(keep int) int {
	pos, neg := map[int]int{}, map[int]int{}
	for _, r := range el.rows {
		for _, x := range r.x {
			if x.k > 0 {
				pos[x.v]++
			} else {
				neg[x.v]++
			}
		}
	}
	best, cost := -1, 0
	for _, r := range el.rows {
		for _, x := range r.x {
			c := pos[x.v]*neg[x.v] - pos[x.v] - neg[x.v]
			if x.v != keep && (best < 0 || c < cost || c == cost && x.v < best) {
				best, cost = x.v, c
			}
		}
	}
	return best
}

// combineAll eliminates v, which no equality holds by now, from the
// inequalities; false means giving up.
func (el *elimination) combineAll(v int) bool {
	var pos, neg []lin
	old := el.rows
	el.reset()
	for _, r := range old {
		switch k := r.at(v); {
		case k > 0:
			pos = append(pos, r)
		case k < 0:
			neg = append(neg, r)
		default:
			el.insert(r)
		}
	}
	if len(pos)*len(neg)+len(el.rows) > maxRows || !el.left.spend(len(pos)*len(neg)) {
		return false
	}
	for _, p := range pos {
		for _, n := range neg {
			a, b := p.at(v), -n.at(v)
			g := gcd(a, b)
			el.insertSum(p, b/g, n, a/g)
		}
	}
	return true
}

// insertSum inserts m*a + n*b unless it overflows; m > 0, and n > 0 unless b
// is an equality.
func (el *elimination) insertSum(a lin, m int64, b lin, n int64) {
	sum := lin{eq: a.eq && b.eq}
	c1, ok1 := mul64(m, a.c)
	c2, ok2 := mul64(n, b.c)
	c, ok3 := add64(c1, c2)
	if !ok1 || !ok2 || !ok3 {
		return
	}
	sum.c = c
	i, j := 0, 0
	for i < len(a.x) || j < len(b.x) {
		var k1, k2 int64
		v := 0
		switch {
		case j == len(b.x) || i < len(a.x) && a.x[i].v < b.x[j].v:
			v, k1 = a.x[i].v, a.x[i].k
			i++
		case i == len(a.x) || b.x[j].v < a.x[i].v:
			v, k2 = b.x[j].v, b.x[j].k
			j++
		default:
			v, k1, k2 = a.x[i].v, a.x[i].k, b.x[j].k
			i, j = i+1, j+1
		}
		p, ok1 := mul64(m, k1)
		q, ok2 := mul64(n, k2)
		k, ok3 := add64(p, q)
		if !ok1 || !ok2 || !ok3 {
			return
		}
		if k != 0 {
			sum.x = append(sum.x, coef{v, k})
		}
	}
	el.insert(sum)
}

func (r lin) at(v int) int64 {
	for _, x := range r.x {
		if x.v == v {
			return x.k
		}
	}
	return 0
}
