package sym

import "strings"

// maxSplits bounds the case distinctions of one proof, so its branches to 2^n.
const maxSplits = 5

// system is what one proof works on: the negated goal, the facts that share
// atoms with it, and what the definitions of those atoms say. A proof shows
// that no integers satisfy it.
type system struct {
	rows   []row      // EQ and GE only
	splits [][2][]row // one of the two alternatives holds
	atoms  map[string]*Atom
	left   budget
}

// newSystem collects what bears on the given rows; with all set, every fact.
func (f *Facts) newSystem(goal []row, all bool) *system {
	s := &system{atoms: map[string]*Atom{}, left: newBudget}
	for _, r := range goal {
		s.add(r)
	}
	used := make([]bool, len(f.facts))
	for again := true; again; {
		again = false
		for i, x := range f.facts {
			if !used[i] && (all || s.touches(x)) {
				used[i], again = true, true
				s.add(x.row)
			}
		}
	}
	return s
}

func (s *system) touches(x fact) bool {
	for _, k := range x.atoms {
		if s.atoms[k] != nil {
			return true
		}
	}
	return len(x.atoms) == 0
}

// add takes a row and the definitions of its atoms. A row NE is a distinction.
func (s *system) add(r row) {
	if r.e.isOver() {
		return // knowing less is safe
	}
	if r.rel == NE {
		s.splits = append(s.splits, [2][]row{
			{{Sub(r.e, Const(1)), GE}}, {{Sub(Const(-1), r.e), GE}}})
	} else {
		s.rows = append(s.rows, r)
	}
	for _, t := range r.e.terms() {
		for _, a := range t.f {
			if s.atoms[a.key] == nil {
				s.atoms[a.key] = a
				if def := definitions[a.Kind]; def != nil {
					def(s, ofAtom(a), a.Args[0], a.Args[1])
				}
			}
		}
	}
}

func (s *system) ge(e Expr) { s.add(row{e, GE}) }

// definitions says what an atom v of a kind with arguments x, y obeys.
var definitions map[Kind]func(s *system, v, x, y Expr)

func init() { // init, for the functions refer back to the table
	definitions = map[Kind]func(s *system, v, x, y Expr){
		AtomFloorDiv: defineFloorDiv, AtomMin: defineMin, AtomMax: defineMax,
	}
}

// y*v <= x <= y*v + y - 1, and y >= 1 wherever v has a value.
func defineFloorDiv(s *system, v, x, y Expr) {
	below := Sub(x, Mul(y, v))
	s.ge(below)
	s.ge(Sub(Sub(y, Const(1)), below))
	if _, ok := y.IsConst(); !ok {
		s.ge(Sub(y, Const(1)))
	}
}

func defineMin(s *system, v, x, y Expr) {
	s.ge(Sub(x, v))
	s.ge(Sub(y, v))
	s.oneOf(v, x, y, Sub(y, x))
}

func defineMax(s *system, v, x, y Expr) {
	s.ge(Sub(v, x))
	s.ge(Sub(v, y))
	s.oneOf(v, x, y, Sub(x, y))
}

// oneOf says that v is x, where d >= 0, or y, where -d >= 0.
func (s *system) oneOf(v, x, y, d Expr) {
	if dx, dy := Sub(v, x), Sub(v, y); !dx.isOver() && !dy.isOver() && !d.isOver() {
		s.splits = append(s.splits, [2][]row{
			{{dx, EQ}, {d, GE}}, {{dy, EQ}, {Neg(d), GE}}})
	}
}

// refuted reports whether the system, with extra rows, has no solution: by
// elimination alone, else in both cases of a distinction.
func (s *system) refuted(extra []row, from int) bool {
	rows := append(s.rows[:len(s.rows):len(s.rows)], extra...)
	if infeasible(rows, &s.left) {
		return true
	}
	if from >= len(s.splits) || from >= maxSplits || s.left < 0 {
		return false
	}
	for _, alt := range s.splits[from] {
		if !s.refuted(append(extra[:len(extra):len(extra)], alt...), from+1) {
			return false
		}
	}
	return true
}

// bounds finds constants lo <= v <= hi for the atom v over all cases.
func (s *system) bounds(v string, extra []row, from int) interval {
	rows := append(s.rows[:len(s.rows):len(s.rows)], extra...)
	b := project(rows, v, &s.left)
	if b.empty || from >= len(s.splits) || from >= maxSplits || s.left < 0 || b.okLo && b.okHi && b.lo == b.hi {
		return b
	}
	union := interval{empty: true}
	for _, alt := range s.splits[from] {
		union = union.join(s.bounds(v, append(extra[:len(extra):len(extra)], alt...), from+1))
	}
	return b.meet(union)
}

// interval is lo..hi, each end known or not.
type interval struct {
	lo, hi     int64
	okLo, okHi bool
	empty      bool // no value at all
}

func (a interval) join(b interval) interval {
	switch {
	case a.empty:
		return b
	case b.empty:
		return a
	}
	return interval{min(a.lo, b.lo), max(a.hi, b.hi), a.okLo && b.okLo, a.okHi && b.okHi, false}
}

func (a interval) meet(b interval) interval {
	if a.empty || b.empty {
		return interval{empty: true}
	}
	if b.okLo && (!a.okLo || b.lo > a.lo) {
		a.lo, a.okLo = b.lo, true
	}
	if b.okHi && (!a.okHi || b.hi < a.hi) {
		a.hi, a.okHi = b.hi, true
	}
	a.empty = a.okLo && a.okHi && a.lo > a.hi
	return a
}

// monomialKey names a product of atoms.
func monomialKey(f []*Atom) string {
	if len(f) == 1 {
		return f[0].key
	}
	var b strings.Builder
	for _, a := range f {
		b.WriteByte('*')
		b.WriteString(a.key)
	}
	return b.String()
}
