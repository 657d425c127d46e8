package sym

import (
	"slices"
	"strconv"
	"strings"
)

// Equal reports whether the normal forms are the same.
func (e Expr) Equal(o Expr) bool { return cmpExpr(e, o) == 0 }

// Compare is a total order on normal forms, constants first. It follows the
// identity of refs, not their names.
func (e Expr) Compare(o Expr) int { return cmpExpr(e, o) }

// Key is a string that two expressions share iff they are Equal; refs count by
// identity. It is no text form.
func (e Expr) Key() string {
	if e.n == nil {
		return "0"
	}
	if k := e.n.key.Load(); k != nil {
		return *k
	}
	var b strings.Builder
	e.writeKey(&b)
	k := b.String()
	e.n.key.Store(&k)
	return k
}

func (e Expr) writeKey(b *strings.Builder) {
	if e.isOver() {
		b.WriteByte('!')
		return
	}
	for _, t := range e.terms() {
		b.WriteString(strconv.FormatInt(t.coef, 10))
		for _, a := range t.f {
			b.WriteByte('*')
			b.WriteString(a.key)
		}
		b.WriteByte('+')
	}
	b.WriteString(strconv.FormatInt(e.constant(), 10))
}

// Overflowed reports whether building e overflowed int64; such an expression
// has no value.
func (e Expr) Overflowed() bool { return e.isOver() }

// IsConst gives the value of a constant.
func (e Expr) IsConst() (int64, bool) {
	return e.constant(), len(e.terms()) == 0 && !e.isOver()
}

// IsName gives the name that e is; an edge dim is the name "nnz#p".
func (e Expr) IsName() (string, bool) {
	if a := e.atom(); a != nil && a.Kind == AtomName {
		return a.Name, true
	}
	return "", false
}

// IsVal gives the SSA value that e is.
func (e Expr) IsVal() (Ref, bool) {
	if a := e.atom(); a != nil && a.Kind == AtomVal {
		return a.Ref, true
	}
	return nil, false
}

// IsNNZ gives the pattern whose edge dim e is.
func (e Expr) IsNNZ() (id string, ok bool) {
	s, ok := e.IsName()
	if !ok {
		return "", false
	}
	return strings.CutPrefix(s, nnzPrefix)
}

// IsAtom gives the atom that e is, if it is one with coefficient 1.
func (e Expr) IsAtom() (Atom, bool) {
	if a := e.atom(); a != nil {
		return *a, true
	}
	return Atom{}, false
}

// Terms lists the terms of e; the value of e is their sum plus Constant. The
// slices are the caller's.
func (e Expr) Terms() []Term {
	ts := make([]Term, len(e.terms()))
	for i, t := range e.terms() {
		f := make([]Atom, len(t.f))
		for j, a := range t.f {
			f[j] = *a
		}
		ts[i] = Term{t.coef, f}
	}
	return ts
}

// Constant is the constant part of e.
func (e Expr) Constant() int64 { return e.constant() }

// Expr is the atom as an expression.
func (a Atom) Expr() Expr { return ofAtom(&a) }

// Expr is the term as an expression.
func (t Term) Expr() Expr {
	e := Const(t.Coef)
	for i := range t.Factors {
		e = Mul(e, t.Factors[i].Expr())
	}
	return e
}

// Walk calls visit for every atom of e, an atom before those inside it. If
// visit returns false, what is inside the atom is left out.
func (e Expr) Walk(visit func(*Atom) bool) {
	for _, t := range e.terms() {
		for _, a := range t.f {
			if visit(a) && a.Kind != AtomName && a.Kind != AtomVal {
				a.Args[0].Walk(visit)
				a.Args[1].Walk(visit)
			}
		}
	}
}

// Names lists the names in e, sorted, each once.
func (e Expr) Names() []string {
	var names []string
	e.Walk(func(a *Atom) bool {
		if a.Kind == AtomName {
			names = append(names, a.Name)
		}
		return true
	})
	slices.Sort(names)
	return slices.Compact(names)
}

// Refs lists the SSA values in e in order of first appearance, each once.
func (e Expr) Refs() []Ref {
	var refs []Ref
	e.Walk(func(a *Atom) bool {
		if a.Kind == AtomVal && !slices.Contains(refs, a.Ref) {
			refs = append(refs, a.Ref)
		}
		return true
	})
	return refs
}

// Uses reports whether the name occurs in e.
func (e Expr) Uses(name string) bool {
	found := false
	e.Walk(func(a *Atom) bool {
		found = found || a.Kind == AtomName && a.Name == name
		return !found
	})
	return found
}

// Degree is the largest number of factors of a term: 0 for a constant, 1 for
// N or N//2, 2 for M*N.
func (e Expr) Degree() int {
	d := 0
	for _, t := range e.terms() {
		d = max(d, len(t.f))
	}
	return d
}

// Linear splits e into coef*name + rest, neither of which mentions name. It
// fails if name stands inside //, mod, min or max or is multiplied by itself.
func (e Expr) Linear(name string) (coef, rest Expr, ok bool) {
	if e.isOver() {
		return Expr{}, e, false
	}
	self := Name(name).atom()
	var in, out []term
	for _, t := range e.terms() {
		f, has := divideFactors(t.f, []*Atom{self})
		for _, a := range f {
			if ofAtom(a).Uses(name) {
				return Expr{}, Expr{}, false
			}
		}
		if has {
			in = append(in, term{t.coef, f})
		} else {
			out = append(out, t)
		}
	}
	ts, c, _ := collect(in)
	return ofTerms(ts, c), ofTerms(out, e.constant()), true
}
