package syntax

import "strconv"

// Item is a declaration with the directives written before it.
type Item struct {
	Span
	Directives []*Directive `parser:"@@*"`
	Decl       Decl         `parser:"@@"`
}

// Decl is *Import, *Fn, *Proc or *Monoid.
type Decl interface {
	Node
	decl()
}

// Import is `import "other.tn"`.
type Import struct {
	Span
	Path string `parser:"'import' @String"` // as written, with its quotes
}

// File is the path without its quotes.
func (i *Import) File() string {
	s, err := strconv.Unquote(i.Path)
	if err != nil {
		return i.Path[1 : len(i.Path)-1]
	}
	return s
}

// Fn is a pure function: tensors in, tensors out.
type Fn struct {
	Span
	Name       *Ident       `parser:"'fn' @@"`
	TypeParams []*TypeParam `parser:"('[' @@ (',' @@)* ']')?"`
	Params     []*Param     `parser:"'(' (@@ (',' @@)*)? ')'"`
	Results    []*Result    `parser:"'->' ('(' @@ (',' @@)* ')' | @@)"`
	Where      []Expr       `parser:"('where' @@ (',' @@)*)?"` // facts about dims
	Body       *FnBody      `parser:"@@"`
}

// Proc is a loop program over buffers.
type Proc struct {
	Span
	Name       *Ident       `parser:"'proc' @@"`
	TypeParams []*TypeParam `parser:"('[' @@ (',' @@)* ']')?"`
	Params     []*Param     `parser:"'(' (@@ (',' @@)*)? ')'"`
	Where      []Expr       `parser:"('where' @@ (',' @@)*)?"`
	Body       *ProcBody    `parser:"@@"`
}

// Monoid is a user's reduction over a tuple of components, Params. It is plain
// (Identity, Combine) or rescaled (Base, Act), as in the IR. Inject makes the
// tuple of one element (without it the body of the reduction is the tuple);
// Result, if given, is what the reduction returns instead of all components.
type Monoid struct {
	Span
	Name       *Ident       `parser:"'monoid' @@"`
	TypeParams []*TypeParam `parser:"('[' @@ (',' @@)* ']')?"`
	Params     []*Param     `parser:"'(' @@ (',' @@)* ')'"`
	Props      []string     `parser:"@('assoc' | 'comm')* '{'"`
	Identity   *Values      `parser:"('identity' @@"`
	Combine    *Combine     `parser:" @@"`
	Base       *Base        `parser:"| @@"`
	Act        *Act         `parser:" @@)"`
	Inject     *Inject      `parser:"@@?"`
	Result     *Values      `parser:"('result' @@)? '}'"`
}

// Combine merges two tuples: `combine (n1, u1) (n2, u2) = (..)` or a body.
type Combine struct {
	Span
	Left  []*Ident    `parser:"'combine' '(' @@ (',' @@)* ')'"`
	Right []*Ident    `parser:"'(' @@ (',' @@)* ')'"`
	Body  *MonoidBody `parser:"@@"`
}

// Base is `base B(n, u) over V(v)`: the components n, u are folded with B, the
// components v with V after Act has carried them to the combined base.
type Base struct {
	Span
	Monoid *Ident   `parser:"'base' @@"`
	Comps  []*Ident `parser:"'(' @@ (',' @@)* ')'"`
	Over   *Ident   `parser:"'over' @@"`
	Scaled []*Ident `parser:"'(' @@ (',' @@)* ')'"`
}

// Act is `act (v.., from.., to..) = ..`: the scaled components v, moved from
// the base `from` to the base `to`.
type Act struct {
	Span
	Params []*Ident    `parser:"'act' '(' @@ (',' @@)* ')'"`
	Body   *MonoidBody `parser:"@@"`
}

// Inject is `inject x = (1.0, x)`: the tuple of one element x.
type Inject struct {
	Span
	Params []*Ident    `parser:"'inject' (@@ | '(' @@ (',' @@)* ')')"`
	Body   *MonoidBody `parser:"@@"`
}

// MonoidBody is `= value`, `= (a, b)`, or a body of lets that returns the
// values.
type MonoidBody struct {
	Span
	Values *Values `parser:"'=' @@"`
	Body   *FnBody `parser:"| @@"`
}

// TypeParam is `E: float`: a parameter that stands for an element type.
type TypeParam struct {
	Span
	Name  *Ident `parser:"@@"`
	Class *Ident `parser:"':' @@"` // the class of types it ranges over
}

// Param is a parameter of a fn, a proc or a monoid.
type Param struct {
	Span
	Const bool   `parser:"@'const'?"` // bound once, when the compiled function is opened
	Name  *Ident `parser:"@@ ':'"`
	Mode  string `parser:"@('in' | 'out' | 'inout')?"` // of a proc's buffer; empty means in
	Type  *Type  `parser:"@@"`
}

// Result is a result of a fn; Name is nil where none is written.
type Result struct {
	Span
	Name *Ident `parser:"((?= Ident ':') @@ ':')?"`
	Type *Type  `parser:"@@"`
}

// Type is written in one of three ways: a scalar or dense tensor (`f32`,
// `E[..P, N]`), a pattern with or without values (`csr[N, N]`, `bsr(4, 4)[N, M]
// f32`), or a quantised storage (`vq(vec=8) f16[N, K]`, `int4(group=32)
// f32[N, K]`). Name says which; Elem is the element type written last in the
// second and third ways.
type Type struct {
	Span
	Name *Ident    `parser:"@@"`
	Opts []*Arg    `parser:"('(' (@@ (',' @@)*)? ')')?"`
	Dims *Dims     `parser:"@@?"`
	Elem *ElemType `parser:"@@?"`
}

// ElemType is an element type with or without dims.
type ElemType struct {
	Span
	Name *Ident `parser:"@@"`
	Dims *Dims  `parser:"@@?"`
}

// Dims is `[N, K]`; `[]` is rank 0.
type Dims struct {
	Span
	List []*Sub `parser:"'[' (@@ (',' @@)*)? ']'"`
}

// Directive is `@name(arg, ..)`: it constrains a choice of the compiler.
type Directive struct {
	Span
	Name *Ident          `parser:"'@' @@"`
	Args []*DirectiveArg `parser:"('(' (@@ (',' @@)*)? ')')?"`
}

// DirectiveArg is one argument of a directive. An argument without a key
// belongs to the last key before it: `A: block, *` is A with two values.
type DirectiveArg struct {
	Span
	Key  *Ident `parser:"((?= Ident ':') @@ ':')?"`
	Star bool   `parser:"(@'*'"`
	Str  string `parser:"| @String"`
	Lo   Expr   `parser:"| @@"`
	Hi   Expr   `parser:"(':' @@)?)"`
}

func (*Import) decl() {}
func (*Fn) decl()     {}
func (*Proc) decl()   {}
func (*Monoid) decl() {}
