package tn

import (
	"fmt"

	"tenon/frontend/tn/syntax"
	"tenon/internal/diag"
	"tenon/internal/num"
	"tenon/ir"
	"tenon/ir/sym"
)

// fnState is the state of one function while it is elaborated, expanded calls
// included.
type fnState struct {
	p      *program
	f      *ir.Func
	region *ir.Region // where statements go: the body, or that of a loop
	names  *names     // what the region's values and symbols are called
	scope  *scope

	dimNames   map[string]bool // dims bound at entry
	dimOrder   map[string]int
	equal      map[string]sym.Expr
	known      []sym.Cond // facts about loop indices and existentials in scope
	want       num.Elem   // the type that the place of a statement's value has
	factsCache *sym.Facts
	exists     map[string]bool       // dims bound while running
	ofResults  map[string]bool       // names that stand alone in the dims of results
	said       map[string]saying     // what directives say, by name and subject
	calls      map[callKey][]*tensor // tensor-level calls inside expressions, done once
}

func newFnState(p *program, f *ir.Func) *fnState {
	return &fnState{p: p, f: f, region: f.Body, names: &names{vals: map[string]bool{}, syms: map[string]bool{}},
		scope: &scope{names: map[string]*binding{}}, dimNames: map[string]bool{}, dimOrder: map[string]int{},
		equal: map[string]sym.Expr{}, calls: map[callKey][]*tensor{}, exists: map[string]bool{}}
}

// tensor is a value with subscripts as the source sees them: an edge tensor
// e[i, j in A[i]] has two, though one dim stores them.
type tensor struct {
	val    *ir.Value
	elem   num.Elem
	axes   []dim
	buf    bool // a buffer of a proc
	scalar *val // a scalar of a region that stands for a tensor of rank 0
}

// dim is one subscript's range: an extent, or the entries of a pattern's rows,
// the row being given by the subscript at position row (-1: the dim is the edge
// dim itself, numbered by entry).
type dim struct {
	name string // the index it was made with, for axis=NAME
	ext  sym.Expr
	pat  *pattern
	row  int
}

// pattern is a sparse structure, with the values stored at its entries if any.
type pattern struct {
	name       string
	val        *ir.Value
	id         string
	rows, cols sym.Expr
	data       *tensor
}

// index is an index in scope: its value as an expression, and for one that runs
// over entries also the entry's number.
type index struct {
	name  string
	value sym.Expr
	ext   sym.Expr
	entry string // symbol of the entry's number; "" for a dense index
	pat   *pattern
	row   sym.Expr
	axis  ir.Axis
}

// bindKind is what a name stands for.
type bindKind int

const (
	bindTensor bindKind = iota
	bindScalar
	bindIndex
	bindDim
	bindPattern
	bindPack
	bindElem
	bindVar    // a mutable scalar of a proc: a buffer of rank 0
	bindRagged // a dim that is the length of a pattern's rows: no one size
	bindBroken // its definition had an error: uses stay silent
)

// binding is a name in scope.
type binding struct {
	kind   bindKind
	at     syntax.Node
	tensor *tensor
	scalar val
	index  *index
	expr   sym.Expr // bindDim
	pat    *pattern
	pack   []*index // bindPack
	dims   []dim    // bindPack of dims
	elem   num.Elem // bindElem
}

// scope is a chain of names; a function's own hides nothing of the caller's,
// since an expanded call starts a chain of its own.
type scope struct {
	up    *scope
	names map[string]*binding
}

func (s *scope) find(name string) *binding {
	for ; s != nil; s = s.up {
		if b := s.names[name]; b != nil {
			return b
		}
	}
	return nil
}

func (s *scope) child() *scope { return &scope{up: s, names: map[string]*binding{}} }

// names hands out SSA and symbol names that are free where they will be visible.
type names struct {
	up         *names
	vals, syms map[string]bool
}

func (n *names) child() *names {
	return &names{up: n, vals: map[string]bool{}, syms: map[string]bool{}}
}

func (n *names) fresh(base string, in func(*names) map[string]bool) string {
	for i := 1; ; i++ {
		name := base
		if i > 1 {
			name = fmt.Sprintf("%s_%d", base, i)
		}
		taken := false
		for s := n; s != nil; s = s.up {
			taken = taken || in(s)[name]
		}
		if !taken {
			in(n)[name] = true
			return name
		}
	}
}

func (n *names) val(base string) string {
	return n.fresh(base, func(n *names) map[string]bool { return n.vals })
}

func (n *names) sym(base string) string {
	if reservedSyms[base] {
		base += "_"
	}
	return n.fresh(base, func(n *names) map[string]bool { return n.syms })
}

// reservedSyms are the words of index expressions and clauses, which no dim or
// index of the text form may be called.
var reservedSyms = map[string]bool{
	"mod": true, "min": true, "max": true, "par": true, "red": true, "if": true, "in": true, "out": true, "by": true,
	"ordered": true, "empty": true, "from": true, "at": true, "to": true, "step": true, "carry": true, "stack": true,
	"where": true, "exists": true, "and": true, "pick": true, "variant": true, "zero": true, "clamp": true, "else": true,
	"true": true, "false": true, "inf": true, "nan": true, "nnz": true, "check": true, "directives": true,
}

// val is a scalar value in the IR and its type in the program; the two differ
// in the body of an f16 or bf16 reduction, which is evaluated in f32.
type val struct {
	v    *ir.Value
	elem num.Elem
}

// site is a place where scalar ops go: the body of a comp, of a monoid, of a
// proc's loop, or a function's top.
type site struct {
	f       *fnState
	up      *site
	region  *ir.Region
	names   *names
	scope   *scope
	reads   *ir.Reads // nil where reads are loads (procs) or rank-0 comps
	cache   map[string]*ir.Value
	promote bool // f16 and bf16 are computed in f32
	buffers bool // reads are loads
	pure    bool // no reads at all (monoids)
}

func (s *site) child() *site {
	return &site{f: s.f, up: s, region: &ir.Region{}, names: s.names.child(), scope: s.scope.child(), reads: &ir.Reads{},
		cache: map[string]*ir.Value{}, promote: s.promote}
}

// top is the site of the function's current statement.
func (f *fnState) top() *site {
	return &site{f: f, region: f.region, names: f.names, scope: f.scope, cache: map[string]*ir.Value{}, buffers: f.f.IsProc}
}

func loc(n syntax.Node) ir.Loc { return ir.At(n.At()) }

// emit appends op with results named after base, the last of which serves for
// all that follow.
func (s *site) emit(op *ir.Op, declared []ir.Type, base ...string) *ir.Op {
	err := ir.Finish(op, declared, func(i int) string { return s.names.val(base[min(i, len(base)-1)]) })
	if err != nil {
		s.f.p.failWith(diag.Errorf(op.Loc.First(), "%s: %v", op.Def.Name, err))
	}
	s.region.Ops = append(s.region.Ops, op)
	return op
}

// scalar appends a scalar op whose types follow from its operands.
func (s *site) scalar(at syntax.Node, name string, args ...*ir.Value) *ir.Value {
	ops := &ir.Operands{}
	for _, a := range args {
		ops.Args = append(ops.Args, ir.ValueArg(a))
	}
	return s.emit(ir.NewOp(name, loc(at), ops), nil, "v").Results[0]
}

func (s *site) constant(at syntax.Node, e num.Elem, c num.Cell) *ir.Value {
	op := ir.NewOp("const", loc(at), &ir.Literal{Elem: e, Cell: c})
	return s.emit(op, []ir.Type{ir.Scalar{Elem: e}}, "c").Results[0]
}

func (s *site) floatConst(at syntax.Node, e num.Elem, x float64) *ir.Value {
	if e.IsFloat() {
		return s.constant(at, e, num.FromFloat(num.Round(e, x)))
	}
	return s.constant(at, e, num.FromInt(int64(x)))
}

func (s *site) cast(at syntax.Node, v *ir.Value, e num.Elem) *ir.Value {
	if ir.ElemOf(v.Type) == e {
		return v
	}
	op := ir.NewOp("cast", loc(at), &ir.Operands{Args: []ir.Arg{ir.ValueArg(v)}})
	return s.emit(op, []ir.Type{ir.Scalar{Elem: e}}, "v").Results[0]
}

func (s *site) idx(at syntax.Node, x sym.Expr, e num.Elem) *ir.Value {
	op := ir.NewOp("idx", loc(at), &ir.Operands{Args: []ir.Arg{ir.ExprArg(x)}})
	return s.emit(op, []ir.Type{ir.Scalar{Elem: e}}, "n").Results[0]
}

func (s *site) yield(at syntax.Node, vs ...*ir.Value) {
	s.terminate("yield", loc(at), vs)
}

func (s *site) terminate(name string, l ir.Loc, vs []*ir.Value) {
	ops := &ir.Operands{}
	for _, v := range vs {
		ops.Args = append(ops.Args, ir.ValueArg(v))
	}
	s.region.Ops = append(s.region.Ops, ir.NewOp(name, l, ops))
}

// carrier is the type in which values of e are computed here.
func (s *site) carrier(e num.Elem) num.Elem {
	if s.promote && (e == num.F16 || e == num.BF16) {
		return num.F32
	}
	return e
}
