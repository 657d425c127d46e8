package sym

import (
	"cmp"
	"strconv"
	"sync/atomic"
)

// Ref is an SSA value used as an integer, printed %name. Two refs are the same
// value iff they are equal by ==. The name may change later; nothing in this
// package but printing depends on it.
type Ref interface{ RefName() string }

// Kind says what an atom is. The order is the order inside a normal form.
type Kind uint8

// The kinds of atoms.
const (
	AtomName     Kind = iota // a dim, axis or loop index; also "nnz#p"
	AtomFloorDiv             // Args[0]//Args[1]
	AtomMod                  // Args[0] mod Args[1]
	AtomMin                  // min(Args[0], Args[1])
	AtomMax                  // max(Args[0], Args[1])
	AtomVal                  // an SSA value
)

// Atom is an indivisible factor of a term.
type Atom struct {
	Kind Kind
	Name string  // of AtomName
	Ref  Ref     // of AtomVal
	Args [2]Expr // of the others
	id   uint64  // of AtomVal: its identity
	key  string  // two atoms are the same iff their keys are
	size int32   // atoms in the tree under this one, itself included
}

// Term is Coef times the product of Factors; Coef is not 0, Factors not empty.
type Term struct {
	Coef    int64
	Factors []Atom
}

// Expr is a symbolic integer in normal form: a sum of terms and a constant.
// The zero value is the constant 0. An Expr is immutable, small and cheap to
// copy. It cannot be compared with ==; use Equal, or Key in maps.
type Expr struct {
	_ [0]func()
	n *node // nil: the constant 0
}

// node is the shared, immutable body of an Expr.
type node struct {
	terms []term // sorted by cmpFactors, no two with the same factors
	c     int64
	over  bool  // a coefficient overflowed: no value; terms and c are empty
	size  int32 // atoms in the whole tree
	key   atomic.Pointer[string]
}

// term shares its atoms with other terms; f is sorted by cmpAtom.
type term struct {
	coef int64
	f    []*Atom
}

// maxSize bounds the tree of one expression. Beyond it an expression counts as
// overflowed: no program needs it, and repeated substitution could double the
// size at each step.
const maxSize = 1 << 14

var overflowed = Expr{n: &node{over: true, size: 1}}

// Const is the integer c.
func Const(c int64) Expr {
	if c == 0 {
		return Expr{}
	}
	return Expr{n: &node{c: c, size: 1}}
}

// Name is a named integer: a dim, an axis, a loop index.
func Name(s string) Expr { return ofAtom(&Atom{Kind: AtomName, Name: s, size: 1, key: s}) }

// NNZ is the edge dim of pattern #id; it is the name "nnz#id".
func NNZ(id string) Expr { return Name(nnzPrefix + id) }

const nnzPrefix = "nnz#"

// Val is an SSA value used as an integer.
func Val(r Ref) Expr {
	id := refID(r)
	return ofAtom(&Atom{Kind: AtomVal, Ref: r, id: id, size: 1, key: "%" + strconv.FormatUint(id, 36)})
}

func ofAtom(a *Atom) Expr {
	return Expr{n: &node{terms: []term{{1, []*Atom{a}}}, size: a.size}}
}

// binary makes the atom kind(a, b) as it stands.
func binary(k Kind, a, b Expr) Expr {
	size := a.size() + b.size() + 1
	if size > maxSize || a.isOver() || b.isOver() {
		return overflowed
	}
	key := "(" + "?/mnx"[k:k+1] + " " + a.Key() + "," + b.Key() + ")"
	return ofAtom(&Atom{Kind: k, Args: [2]Expr{a, b}, size: size, key: key})
}

// ofTerms takes terms that are sorted, merged and free of zero coefficients.
func ofTerms(ts []term, c int64) Expr {
	if len(ts) == 0 {
		return Const(c)
	}
	size := 0
	for _, t := range ts {
		for _, a := range t.f {
			size += int(a.size)
		}
	}
	if size > maxSize {
		return overflowed
	}
	return Expr{n: &node{terms: ts, c: c, size: int32(size)}}
}

func (e Expr) terms() []term {
	if e.n == nil {
		return nil
	}
	return e.n.terms
}

func (e Expr) constant() int64 {
	if e.n == nil {
		return 0
	}
	return e.n.c
}

func (e Expr) isOver() bool { return e.n != nil && e.n.over }

func (e Expr) size() int32 {
	if e.n == nil {
		return 1
	}
	return e.n.size
}

// atom gives the atom that e is, if it is one with coefficient 1.
func (e Expr) atom() *Atom {
	if e.n == nil || e.n.c != 0 || len(e.n.terms) != 1 {
		return nil
	}
	if t := e.n.terms[0]; t.coef == 1 && len(t.f) == 1 {
		return t.f[0]
	}
	return nil
}

// cmpExpr is a total order on normal forms; constants come first.
func cmpExpr(a, b Expr) int {
	if a.n == b.n {
		return 0
	}
	if a.isOver() || b.isOver() {
		return cmp.Compare(b2i(a.isOver()), b2i(b.isOver()))
	}
	at, bt := a.terms(), b.terms()
	for i := 0; i < len(at) && i < len(bt); i++ {
		if c := cmpFactors(at[i].f, bt[i].f); c != 0 {
			return c
		}
		if c := cmp.Compare(at[i].coef, bt[i].coef); c != 0 {
			return c
		}
	}
	if c := cmp.Compare(len(at), len(bt)); c != 0 {
		return c
	}
	return cmp.Compare(a.constant(), b.constant())
}

func cmpFactors(a, b []*Atom) int {
	for i := 0; i < len(a) && i < len(b); i++ {
		if c := cmpAtom(a[i], b[i]); c != 0 {
			return c
		}
	}
	return cmp.Compare(len(a), len(b))
}

func cmpAtom(a, b *Atom) int {
	if a == b {
		return 0
	}
	if c := cmp.Compare(a.Kind, b.Kind); c != 0 {
		return c
	}
	switch a.Kind {
	case AtomName:
		return cmp.Compare(a.Name, b.Name)
	case AtomVal:
		return cmp.Compare(a.id, b.id)
	}
	if c := cmpExpr(a.Args[0], b.Args[0]); c != 0 {
		return c
	}
	return cmpExpr(a.Args[1], b.Args[1])
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}
