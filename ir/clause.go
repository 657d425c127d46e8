package ir

import (
	"fmt"
	"strconv"

	"tenon/internal/num"
	"tenon/ir/sym"
)

// ClauseKind is the syntactic kind of a clause. The parser, the printer, the
// cloner and the verifier have one function a kind and none an op.
type ClauseKind uint8

// The clause kinds of the text form.
const (
	KindLiteral    ClauseKind = iota // the literal of a const
	KindOperands                     // KW(arg, ..)
	KindAttr                         // KW=value; the value alone where KW is ""
	KindFlag                         // KW
	KindAxes                         // KW(i < N, j:e in %p[i])
	KindConds                        // KW(expr REL expr, ..)
	KindReads                        // KW(%v = %t[..] zero, ..)
	KindOuts                         // KW(%buf[..], ..) or KW([i, j], ..)
	KindCarry                        // KW(%v = %init, ..)
	KindBy                           // by monoid
	KindRange                        // i:n = lo to hi step s
	KindExists                       // KW(n: 0 <= n and n <= N, ..)
	KindBlock                        // [KW] [(params)] { region }
	KindVariants                     // variant NAME [where] { .. } .. pick { .. }
	KindDirectives                   // directives("tile(i: 32)", ..)
)

// ClauseSpec is one clause of an op's row.
type ClauseSpec struct {
	Kind     ClauseKind
	KW       string // the word that introduces it; "" for none
	Optional bool
	Exprs    bool // of KindOperands: every operand is an index expression (idx, sizes)
}

// Clause is one clause of an op, of the kind its row says.
type Clause interface{ Kind() ClauseKind }

// Arg is one operand: a value (whole, or a view of it), an index expression, or
// a literal. Exactly one of Value, Expr and Lit is set.
type Arg struct {
	Value *Value
	View  *View // with Value: the part of it that is meant
	Expr  *sym.Expr
	Lit   *Literal
}

// View selects an element (%v[i, j], no sizes) or a sub-view (%v[i:n, j:m]).
type View struct{ Dims []ViewDim }

// ViewDim is start, or start:size when HasSize.
type ViewDim struct {
	Start   sym.Expr
	Size    sym.Expr
	HasSize bool
}

// ValueArg, ExprArg and ElemArg build operands.
func ValueArg(v *Value) Arg  { return Arg{Value: v} }
func ExprArg(e sym.Expr) Arg { return Arg{Expr: &e} }
func LitArg(l Literal) Arg   { return Arg{Lit: &l} }
func ElemArg(v *Value, subs ...sym.Expr) Arg {
	w := &View{}
	for _, s := range subs {
		w.Dims = append(w.Dims, ViewDim{Start: s})
	}
	return Arg{Value: v, View: w}
}

// AsExpr is a as an index expression: an Expr as it is, an index-typed value
// without a view as %v. A bare %v in the text is read as a value.
func (a Arg) AsExpr() (sym.Expr, bool) {
	switch {
	case a.Expr != nil:
		return *a.Expr, true
	case a.Value != nil && a.View == nil:
		return sym.Val(a.Value), true
	}
	return sym.Expr{}, false
}

// AsLiteral is a as a constant of type e. A bare integer in the text is read as
// an index expression, and serves as a literal here.
func (a Arg) AsLiteral(e num.Elem) (Literal, error) {
	l := Literal{}
	switch {
	case a.Lit != nil:
		l = *a.Lit
	case a.Expr == nil:
		return l, fmt.Errorf("operand is no literal")
	default:
		c, ok := a.Expr.IsConst()
		if !ok {
			return l, fmt.Errorf("operand %s is no literal", *a.Expr)
		}
		l.Text = strconv.FormatInt(c, 10)
	}
	err := l.Resolve(e)
	return l, err
}

// Operands is a parenthesised list of operands.
type Operands struct{ Args []Arg }

// AttrKind says which field of an Attr counts.
type AttrKind uint8

// The kinds of attribute values.
const (
	AttrInt AttrKind = iota
	AttrFloat
	AttrString
	AttrItem // @name
	AttrName
)

// Attr is KW=value.
type Attr struct {
	Value AttrKind
	Int   int64
	Float float64
	Str   string // text of a string, item or name
}

// Flag is a bare word; the clause is present or nil.
type Flag struct{}

// Axis is one axis of a domain. Dense: Name runs over 0 <= Name < Extent. Over
// the entries of a pattern row (Pattern not nil): Entry runs over the entries of
// row Row in storage order and Name is the entry's column.
type Axis struct {
	Name    string
	Extent  sym.Expr
	Pattern *Value
	Entry   string
	Row     sym.Expr
}

// Axes is a list of axes, outermost first.
type Axes struct{ List []Axis }

// Conds is a conjunction.
type Conds struct{ List []sym.Cond }

// Policy says what an out-of-range subscript means.
type Policy uint8

// The policies of a read.
const (
	PolicyError Policy = iota // an error: proved away, or checked
	PolicyZero                // the value is 0
	PolicyClamp               // each subscript is moved into its range
)

func (p Policy) String() string { return [...]string{"", "zero", "clamp"}[p] }

// Read binds Res to an element of Src.
type Read struct {
	Res    *Value
	Src    *Value
	Subs   []sym.Expr
	Policy Policy
}

// Reads are done in order; a later one may use an earlier one in a subscript.
type Reads struct{ List []Read }

// Out is where a comp's result goes: an element of a buffer, or (Buf nil) the
// axes that a value-form result has.
type Out struct {
	Buf  *Value
	Subs []sym.Expr
}

// Outs has one Out a result.
type Outs struct{ List []Out }

// Carry is a loop's carried values: inside the region Params, before the first
// iteration Inits.
type Carry struct {
	Params []*Value
	Inits  []*Value
}

// By is the reduction of a comp.
type By struct {
	Monoid     *Monoid
	Ordered    bool      // drop assoc and comm at this use
	Empty      []Literal // the value over no point, nil: the identity
	EmptyError bool      // no point is an error
	FromOut    bool      // start from the old element (buffer form)
}

// Range is the iteration space of a loop. Size, if not "", names the size of
// the step that starts at Name: min(Step, Hi - Name).
type Range struct {
	Name, Size string
	Lo, Hi     sym.Expr
	Step       sym.Expr // the constant 1 when none is written
}

// ExDim is an existential dim and what is known of it.
type ExDim struct {
	Name  string
	Conds []sym.Cond
}

// Exists binds dims.
type Exists struct{ Dims []ExDim }

// BlockParam is a symbol (an element number, say) or a value.
type BlockParam struct {
	Sym string
	Val *Value // not nil: a value parameter
}

// Block is a region with parameters.
type Block struct {
	Params []BlockParam
	Region *Region
}

// Variant is one alternative of a tile.choose.
type Variant struct {
	Name   string
	Where  []Fact
	Region *Region
}

// Variants are the alternatives and the region that picks one.
type Variants struct {
	List []Variant
	Pick *Region
}

// Directives are the user's constraints on a loop or function, as text such as
// `tile(i: 32, j: 32)`.
type Directives struct{ List []string }

// Kind makes the clause types Clauses.
func (*Literal) Kind() ClauseKind    { return KindLiteral }
func (*Operands) Kind() ClauseKind   { return KindOperands }
func (*Attr) Kind() ClauseKind       { return KindAttr }
func (*Flag) Kind() ClauseKind       { return KindFlag }
func (*Axes) Kind() ClauseKind       { return KindAxes }
func (*Conds) Kind() ClauseKind      { return KindConds }
func (*Reads) Kind() ClauseKind      { return KindReads }
func (*Outs) Kind() ClauseKind       { return KindOuts }
func (*Carry) Kind() ClauseKind      { return KindCarry }
func (*By) Kind() ClauseKind         { return KindBy }
func (*Range) Kind() ClauseKind      { return KindRange }
func (*Exists) Kind() ClauseKind     { return KindExists }
func (*Block) Kind() ClauseKind      { return KindBlock }
func (*Variants) Kind() ClauseKind   { return KindVariants }
func (*Directives) Kind() ClauseKind { return KindDirectives }
