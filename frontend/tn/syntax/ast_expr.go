package syntax

// Expr is an expression: *Name, *Lit, *Unary, *Binary, *Paren, *Tuple, *Index,
// *Call or *Reduce.
type Expr interface {
	Node
	expr()
}

// Name is a name used as a value: a tensor, a dim, an index, a scalar.
type Name struct {
	Span
	Name string
}

// LitKind is the kind of a literal.
type LitKind int

// The kinds of literals. `inf` and `nan` are floats.
const (
	IntLit LitKind = iota
	FloatLit
	BoolLit
)

// Lit is a literal as written.
type Lit struct {
	Span
	Kind LitKind
	Text string
}

// Unary is `-x` or `not x`.
type Unary struct {
	Span
	Op string
	X  Expr
}

// Binary is `x op y`: or and == != < <= > >= + - * / %.
type Binary struct {
	Span
	Op    string
	OpPos Position
	X, Y  Expr
}

// Paren is a parenthesised expression, kept so that the formatter leaves the
// author's parentheses alone.
type Paren struct {
	Span
	X Expr
}

// Tuple is `(a, b)`. It is only found as the body of a reduction by a user's
// monoid that has no inject; Values holds the other tuples.
type Tuple struct {
	Span
	List []Expr
}

// Index is `x[i, j]`. Policy is empty (out of range is an error), "zero" or
// "clamp".
type Index struct {
	Span
	X      Expr
	Subs   []*Sub
	Policy string
}

// Sub is a subscript or a dim: an expression, or a pack `..p`.
type Sub struct {
	Span
	Pack string `parser:"'..' @Ident"` // the pack's name; then X is nil
	X    Expr   `parser:"| @@"`
}

// Call is `f(x, axis=j)`: a function, a scalar function, or a cast (`f32(x)`).
type Call struct {
	Span
	Fn   *Ident
	Args []*Arg
}

// Arg is an argument; Name is nil for one given by position.
type Arg struct {
	Span
	Name *Ident `parser:"((?= Ident '=') @@ '=')?"`
	X    Expr   `parser:"@@"`
}

// Reduce is `sum[k, j in A[i] where j <= i] body`.
type Reduce struct {
	Span
	Op    *Ident // a built-in reduction or a monoid
	Axes  []*Axis
	Where []Expr // the guards, all of which must hold
	Body  Expr   // a *Tuple only where Op is a user's monoid
}

// Values is a list of values in a monoid: `x`, or `(x, y)`.
type Values struct {
	Span
	List []Expr
}

func (*Name) expr()   {}
func (*Lit) expr()    {}
func (*Unary) expr()  {}
func (*Binary) expr() {}
func (*Paren) expr()  {}
func (*Tuple) expr()  {}
func (*Index) expr()  {}
func (*Call) expr()   {}
func (*Reduce) expr() {}

// Unparen is e without the parentheses around it.
func Unparen(e Expr) Expr {
	for {
		p, ok := e.(*Paren)
		if !ok {
			return e
		}
		e = p.X
	}
}
