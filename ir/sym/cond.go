package sym

import "fmt"

// Rel is a relation between integers, spelled as in the text form.
type Rel string

// The relations.
const (
	EQ Rel = "=="
	NE Rel = "!="
	LT Rel = "<"
	LE Rel = "<="
	GT Rel = ">"
	GE Rel = ">="
)

type relRow struct {
	not, swap Rel
	holds     func(a, b int64) bool
}

var rels = map[Rel]relRow{
	EQ: {NE, EQ, func(a, b int64) bool { return a == b }},
	NE: {EQ, NE, func(a, b int64) bool { return a != b }},
	LT: {GE, GT, func(a, b int64) bool { return a < b }},
	LE: {GT, GE, func(a, b int64) bool { return a <= b }},
	GT: {LE, LT, func(a, b int64) bool { return a > b }},
	GE: {LT, LE, func(a, b int64) bool { return a >= b }},
}

// Valid reports whether r is one of the six relations.
func (r Rel) Valid() bool { _, ok := rels[r]; return ok }

// Not is the relation that holds where r does not.
func (r Rel) Not() Rel { return rels[r].not }

// Swap is the relation with b r' a iff a r b.
func (r Rel) Swap() Rel { return rels[r].swap }

// Holds reports whether a r b.
func (r Rel) Holds(a, b int64) bool { return r.Valid() && rels[r].holds(a, b) }

// Cond is the condition L Rel R.
type Cond struct {
	L   Expr
	R   Expr
	Rel Rel
}

// Eq, Ne, Lt, Le, Gt and Ge build conditions.
func Eq(a, b Expr) Cond { return Cond{a, b, EQ} }

// Ne is a != b.
func Ne(a, b Expr) Cond { return Cond{a, b, NE} }

// Lt is a < b.
func Lt(a, b Expr) Cond { return Cond{a, b, LT} }

// Le is a <= b.
func Le(a, b Expr) Cond { return Cond{a, b, LE} }

// Gt is a > b.
func Gt(a, b Expr) Cond { return Cond{a, b, GT} }

// Ge is a >= b.
func Ge(a, b Expr) Cond { return Cond{a, b, GE} }

// Not is the opposite condition.
func (c Cond) Not() Cond { return Cond{c.L, c.R, c.Rel.Not()} }

// String is the text form, `j <= i`.
func (c Cond) String() string { return fmt.Sprintf("%s %s %s", c.L, c.Rel, c.R) }

// Key is a string that two conditions share iff they are Equal.
func (c Cond) Key() string { return c.L.Key() + string(c.Rel) + c.R.Key() }

// Equal reports whether both conditions are written the same.
func (c Cond) Equal(o Cond) bool { return c.Rel == o.Rel && c.L.Equal(o.L) && c.R.Equal(o.R) }

// Subst replaces names on both sides.
func (c Cond) Subst(by map[string]Expr) Cond { return Cond{c.L.Subst(by), c.R.Subst(by), c.Rel} }

// SubstRef replaces SSA values on both sides.
func (c Cond) SubstRef(by func(Ref) (Expr, bool)) Cond {
	return Cond{c.L.SubstRef(by), c.R.SubstRef(by), c.Rel}
}

// Eval decides the condition in an environment; see Expr.Eval.
func (c Cond) Eval(env Env) (bool, error) {
	l, err := c.L.Eval(env)
	if err != nil {
		return false, err
	}
	r, err := c.R.Eval(env)
	if err != nil {
		return false, err
	}
	return c.Rel.Holds(l, r), nil
}
