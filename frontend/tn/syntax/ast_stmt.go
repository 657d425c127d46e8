package syntax

// Stmt is a statement of a fn (*Let, *Return, *Next, *Stack, *Directive) or of
// a proc (*Var, *Local, *For, *If, *Assign, *CallStmt, *Directive).
type Stmt interface {
	Node
	stmt()
}

// FnStmt is a statement of a fn, of a carry loop or of a monoid.
type FnStmt interface {
	Stmt
	fnStmt()
}

// ProcStmt is a statement of a proc.
type ProcStmt interface {
	Stmt
	procStmt()
}

// Let binds names: `let e[i, j in A[i]] = ...`, `let n[m], u[m] = moments[d]
// x[m, d]`, `let last, y = for t in 0..T carry ...`, `let e = x[n] for n`.
type Let struct {
	Span
	Targets []*Target  `parser:"'let' @@ (',' @@)* '='"`
	Loop    *CarryLoop `parser:"(@@"`
	Value   Expr       `parser:"| @@"`
	For     []*Axis    `parser:"('for' @@ (',' @@)*)?)"`
}

// Target is a name being bound, with the indices that range over it. Indexed
// tells `x[]` (rank 0) from `x`.
type Target struct {
	Span
	Name    *Ident  `parser:"@@"`
	Indexed bool    `parser:"(@'['"`
	Index   []*Axis `parser:"(@@ (',' @@)*)? ']')?"`
}

// Axis is an index that ranges over something: `n`, `..p` (a pack), `j in
// A[i]` (the stored entries of a row), `k in 0..K`.
type Axis struct {
	Span
	Pack string `parser:"'..' @Ident"` // the pack's name; then the rest is empty
	Name *Ident `parser:"| @@"`
	In   Expr   `parser:"('in' @@"` // nil: the operands bound it
	Hi   Expr   `parser:"('..' @@"` // not nil: In..Hi, Hi excluded
	Step Expr   `parser:"('step' @@)?)?)?"`
}

// CarryLoop is the bounded loop of a fn. Its values are the last value of each
// carried name, then one stacked value a `stack`.
type CarryLoop struct {
	Span
	Range *Range       `parser:"'for' @@"`
	Carry []*CarryInit `parser:"'carry' @@ (',' @@)*"`
	Body  *FnBody      `parser:"@@"`
}

// CarryInit is `s[n] = 0.0` after carry.
type CarryInit struct {
	Span
	Target *Target `parser:"@@"`
	Value  Expr    `parser:"'=' @@"`
}

// Range is the range of a loop: `i in 0..N`, `i in 0..N step 2`, or `j in
// A[i]`, where Hi is nil.
type Range struct {
	Span
	Name *Ident `parser:"@@"`
	Lo   Expr   `parser:"'in' @@"`
	Hi   Expr   `parser:"('..' @@"`
	Step Expr   `parser:"('step' @@)?)?"`
}

// Return gives the results of a fn; For ranges over all of Values.
type Return struct {
	Span
	Values []Expr  `parser:"'return' @@ (',' @@)*"`
	For    []*Axis `parser:"('for' @@ (',' @@)*)?"`
}

// Next is `next s[n] = ...`: the carried value for the next iteration.
type Next struct {
	Span
	Target *Target `parser:"'next' @@"`
	Value  Expr    `parser:"'=' @@"`
}

// Stack is `stack s`: the value of s at the end of each iteration, stacked
// along a new leading dim.
type Stack struct {
	Span
	Names []*Ident `parser:"'stack' @@ (',' @@)*"`
}

// Var is a local of a proc that can be assigned: `var s: f64 = 0.0`, `var tmp:
// f64[N]`. Without a value it starts at zero.
type Var struct {
	Span
	Name  *Ident    `parser:"'var' @@"`
	Type  *ElemType `parser:"':' @@"`
	Value Expr      `parser:"('=' @@)?"`
}

// Local is a scalar of a proc that cannot be assigned: `let s = A[i, j]`.
type Local struct {
	Span
	Name  *Ident `parser:"'let' @@"`
	Value Expr   `parser:"'=' @@"`
}

// For is a nest of loops in a proc, the first range outermost.
type For struct {
	Span
	Ranges []*Range  `parser:"'for' @@ (',' @@)*"`
	Body   *ProcBody `parser:"@@"`
}

// If is a branch in a proc. Elifs is flat so that a long chain is no deep tree.
type If struct {
	Span
	Cond  Expr      `parser:"'if' @@"`
	Then  *ProcBody `parser:"@@"`
	Elifs []*Elif   `parser:"((?= 'else' 'if') @@)*"`
	Else  *ProcBody `parser:"('else' @@)?"`
}

// Elif is one `else if`.
type Elif struct {
	Span
	Cond Expr      `parser:"'else' 'if' @@"`
	Then *ProcBody `parser:"@@"`
}

// Assign is `A[i, j] = ...`, `s += ...` in a proc.
type Assign struct {
	Span
	Name *Ident `parser:"@@"`
	Dims *Dims  `parser:"@@?"`                                       // the subscripts; nil for a scalar
	Op   string `parser:"@('=' | '+=' | '-=' | '*=' | '/=' | '%=')"` // the operator with its =
	X    Expr   `parser:"@@"`
}

// CallStmt calls a proc.
type CallStmt struct {
	Span
	Name *Ident `parser:"(?= Ident '(') @@"`
	Args []*Arg `parser:"'(' (@@ (',' @@)*)? ')'"`
}

func (*Let) stmt()       {}
func (*Return) stmt()    {}
func (*Next) stmt()      {}
func (*Stack) stmt()     {}
func (*Directive) stmt() {}
func (*Var) stmt()       {}
func (*Local) stmt()     {}
func (*For) stmt()       {}
func (*If) stmt()        {}
func (*Assign) stmt()    {}
func (*CallStmt) stmt()  {}

func (*Let) fnStmt()       {}
func (*Return) fnStmt()    {}
func (*Next) fnStmt()      {}
func (*Stack) fnStmt()     {}
func (*Directive) fnStmt() {}

func (*Directive) procStmt() {}
func (*Var) procStmt()       {}
func (*Local) procStmt()     {}
func (*For) procStmt()       {}
func (*If) procStmt()        {}
func (*Assign) procStmt()    {}
func (*CallStmt) procStmt()  {}
