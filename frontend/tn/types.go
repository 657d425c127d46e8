package tn

import (
	"strconv"

	"tenon/frontend/tn/syntax"
	"tenon/internal/num"
	"tenon/ir"
	"tenon/ir/sym"
)

// castElem is the element type that a name such as f32 denotes, else 0.
func castElem(name string) num.Elem { return num.ElemByName(name) }

// hasPacks reports whether a parameter's dims hold a pack.
func hasPacks(n *syntax.Fn) bool {
	for _, p := range n.Params {
		if typeHasPack(p.Type) {
			return true
		}
	}
	return false
}

func typeHasPack(t *syntax.Type) bool {
	for _, d := range typeDims(t) {
		if d.Pack != "" {
			return true
		}
	}
	return false
}

func typeDims(t *syntax.Type) []*syntax.Sub {
	switch {
	case t.Dims != nil:
		return t.Dims.List
	case t.Elem != nil && t.Elem.Dims != nil:
		return t.Elem.Dims.List
	}
	return nil
}

var patternKinds = map[string]bool{"csr": true, "csc": true, "coo": true, "bsr": true}
var quantKinds = map[string]bool{"vq": true, "int8": true, "int4": true}

// elemClasses are the classes a type parameter may range over.
var elemClasses = map[string]func(num.Elem) bool{
	"float":  num.Elem.IsFloat,
	"int":    num.Elem.IsInt,
	"number": func(e num.Elem) bool { return e.IsFloat() || e.IsInt() },
	"any":    func(num.Elem) bool { return true },
}

// stored is the type in which tensors keep values of type e: index is i64.
func stored(e num.Elem) num.Elem {
	if e == num.Index {
		return num.I64
	}
	return e
}

// elem reads an element type or a type parameter in scope.
func (f *fnState) elem(id *syntax.Ident) num.Elem {
	if e := castElem(id.Name); e != num.Invalid {
		return e
	}
	if b := f.scope.find(id.Name); b != nil && b.kind == bindElem {
		return b.elem
	}
	e := id.Errorf("%s is not an element type", id.Name)
	f.p.failWith(e.WithExpected("f64, f32, f16, bf16, i64, i32, i16, i8, u8, bool, index, csr[..], vq(..) or a type parameter").
		WithFix("write for example f32[N, K]"))
	return num.Invalid
}

// dimExpr reads a dim of a signature; a new name declares a dim where declare
// is set.
func (f *fnState) dimExpr(s *syntax.Sub, declare bool) sym.Expr {
	if s.Pack != "" {
		f.p.failWith(s.Errorf("a pack of dims is allowed in generic functions only").WithFix("name the dims"))
	}
	if n, ok := syntax.Unparen(s.X).(*syntax.Name); ok && declare && f.scope.find(n.Name) == nil {
		return f.declareDim(n)
	}
	if c, ok := s.X.(*syntax.Call); ok && c.Fn.Name == "nnz" && len(c.Args) == 1 {
		if n, ok := c.Args[0].X.(*syntax.Name); ok {
			if b := f.scope.find(n.Name); b != nil && b.kind == bindPattern {
				return sym.NNZ(b.pat.id)
			}
		}
		f.p.failWith(c.Errorf("nnz takes the name of a pattern parameter that stands before it").
			WithExpected("for example (A: csr[N, N], w: f32[nnz(A)])"))
	}
	e, ok := f.top().symbolic(s.X)
	if !ok {
		if declare {
			f.neverAlone(s.X)
		}
		f.top().undefined(s.X)
		bad := s.Errorf("this is not a dim").WithExpected("names, integers, + - *, floordiv, mod, min, max").
			WithFix("for example N, 8, 2*N or floordiv(K, 8)")
		f.top().explain(s.X, bad)
		f.p.failWith(bad)
	}
	if c, isConst := e.IsConst(); isConst && c < 0 {
		f.p.failWith(s.Errorf("the dim %d is negative", c).WithFix("write a size of 0 or more"))
	}
	return e
}

// neverAlone reports a dim that stands in the expressions of a signature only,
// which do not say what it is.
func (f *fnState) neverAlone(e syntax.Expr) {
	syntax.Walk(e, func(n syntax.Node) bool {
		name, ok := n.(*syntax.Name)
		if ok && f.scope.find(name.Name) == nil {
			f.scope.names[name.Name] = &binding{kind: bindBroken, at: name}
			f.p.failWith(name.Errorf("nothing says what the dim %s is", name.Name).
				WithExpected("a dim that stands alone in some parameter, such as f32[%s]", name.Name).
				WithFix("give it before, as a parameter: %s: index", name.Name))
		}
		_, call := n.(*syntax.Call)
		return !call
	})
}

// declareDims declares the dims that stand alone somewhere in a signature, so
// that 2*N may stand before N. A parameter of the same name is no dim.
func (f *fnState) declareDims(params []*syntax.Param) {
	own := map[string]bool{}
	for _, p := range params {
		own[p.Name.Name] = true
	}
	for _, p := range params {
		for _, d := range typeDims(p.Type) {
			n, ok := syntax.Unparen(d.X).(*syntax.Name)
			if ok && d.Pack == "" && !own[n.Name] && f.scope.find(n.Name) == nil {
				f.p.try(func() { f.declareDim(n) })
			}
		}
	}
}

func (f *fnState) declareDim(n *syntax.Name) sym.Expr {
	if n.Name[0] == '_' {
		f.p.failWith(n.Errorf("a dim cannot start with an underscore").WithFix("choose another name"))
	}
	name := f.names.sym(n.Name)
	f.dimNames[name] = true
	f.dimOrder[name] = len(f.dimOrder)
	f.f.Dims = append(f.f.Dims, name)
	f.scope.names[n.Name] = &binding{kind: bindDim, at: n, expr: sym.Name(name)}
	f.factsCache = nil
	return sym.Name(name)
}

func (f *fnState) dims(list []*syntax.Sub, declare bool) []sym.Expr {
	f.edgeFirst(list)
	out := make([]sym.Expr, len(list))
	for i, s := range list {
		out[i] = f.dimExpr(s, declare)
	}
	return out
}

// param declares one parameter of a fn or proc, and binds its name.
func (f *fnState) param(p *syntax.Param, proc bool) {
	if b := f.scope.find(p.Name.Name); b != nil && b.kind != bindBroken {
		f.p.failWith(p.Name.Errorf("%s is declared twice", p.Name.Name).WithFix("rename one of them"))
	}
	mode, isConst := ir.ModeIn, p.Const
	switch {
	case !proc && p.Mode != "":
		f.p.failWith(p.Errorf("a parameter of a fn cannot be `%s`", p.Mode).WithFix("a fn returns its results; use a proc to write buffers"))
	case proc && (p.Mode == "out" || p.Mode == "inout"):
		mode = ir.Mode(p.Mode)
	}
	t := p.Type
	switch {
	case patternKinds[t.Name.Name]:
		f.patternParam(p, proc)
		return
	case quantKinds[t.Name.Name]:
		f.quantParam(p, isConst, proc)
		return
	}
	if len(t.Opts) > 0 || t.Elem != nil {
		f.p.failWith(t.Errorf("%s takes no options", t.Name.Name).WithExpected("an element type and dims, such as f32[N, K]"))
	}
	e := f.elem(t.Name)
	if t.Dims == nil {
		f.scalarParam(p, e, mode, isConst)
		return
	}
	e = stored(e)
	dims := f.dims(t.Dims.List, true)
	v := &ir.Value{Name: f.names.val(p.Name.Name)}
	if proc {
		v.Type = ir.Buf{Elem: e, Dims: dims}
	} else {
		v.Type = ir.Tensor{Elem: e, Dims: dims}
	}
	f.addParam(mode, isConst, v)
	f.scope.names[p.Name.Name] = &binding{kind: bindTensor, at: p, tensor: &tensor{val: v, elem: e, axes: denseDims(f, dims), buf: proc}}
}

// denseDims are the subscripts of a tensor with the given dims: one each, and
// two, row and column, for an edge dim.
func denseDims(f *fnState, dims []sym.Expr) []dim {
	var axes []dim
	for _, d := range dims {
		if id, ok := d.IsNNZ(); ok {
			if p := f.patternByID(id); p != nil {
				axes = append(axes, dim{ext: p.rows, row: -1}, dim{ext: d, pat: p, row: len(axes)})
				continue
			}
		}
		axes = append(axes, dim{ext: d, row: -1})
	}
	return axes
}

func (f *fnState) patternByID(id string) *pattern {
	for _, b := range f.scope.names {
		if b.kind == bindPattern && b.pat.id == id {
			return b.pat
		}
	}
	return nil
}

func (f *fnState) addParam(mode ir.Mode, isConst bool, v *ir.Value) {
	f.f.Params = append(f.f.Params, &ir.Param{Mode: mode, Const: isConst, Value: v})
}

func (f *fnState) scalarParam(p *syntax.Param, e num.Elem, mode ir.Mode, isConst bool) {
	if mode != ir.ModeIn {
		f.p.failWith(p.Errorf("a scalar cannot be `%s`", mode).WithFix("give it rank 0: %s[]", e))
	}
	v := &ir.Value{Name: f.names.val(p.Name.Name), Type: ir.Scalar{Elem: e}}
	f.addParam(mode, isConst, v)
	b := &binding{kind: bindScalar, at: p, scalar: val{v, e}}
	f.scope.names[p.Name.Name] = b
}

func (f *fnState) patternParam(p *syntax.Param, proc bool) {
	t := p.Type
	if len(typeDims(t)) != 2 {
		f.p.failWith(t.Errorf("a pattern has two dims").WithFix("write %s[N, M]", t.Name.Name))
	}
	if proc {
		f.p.failWith(p.Errorf("a proc takes dense buffers").WithFix("write a fn, or pass the index arrays as buffers"))
	}
	dims := f.dims(typeDims(t), true)
	format := ir.Format{Kind: t.Name.Name, Ptr: num.I32, Idx: num.I32}
	f.patternOptions(t, &format)
	id := f.names.val(p.Name.Name)
	v := &ir.Value{Name: id, Type: ir.Pattern{Rows: dims[0], Cols: dims[1], ID: id, Format: format}}
	f.addParam(ir.ModeIn, p.Const, v)
	pat := &pattern{name: p.Name.Name, val: v, id: id, rows: dims[0], cols: dims[1]}
	f.scope.names[p.Name.Name] = &binding{kind: bindPattern, at: p, pat: pat}
	if t.Elem != nil {
		e := f.elem(t.Elem.Name)
		d := &ir.Value{Name: f.names.val(p.Name.Name + "_data"), Type: ir.Tensor{Elem: e, Dims: []sym.Expr{sym.NNZ(id)}}}
		f.addParam(ir.ModeIn, p.Const, d)
		pat.data = &tensor{val: d, elem: e, axes: []dim{{ext: sym.NNZ(id), pat: pat, row: -1}}}
	}
}

// patternOptions reads bsr(4, 4)[..], csr(i64)[..], csr(i64, i32)[..].
func (f *fnState) patternOptions(t *syntax.Type, format *ir.Format) {
	var ints []int64
	var elems []num.Elem
	for _, o := range t.Opts {
		switch x := syntax.Unparen(o.X).(type) {
		case *syntax.Lit:
			n, err := strconv.ParseInt(x.Text, 0, 64)
			if err == nil && n > 0 {
				ints = append(ints, n)
				continue
			}
		case *syntax.Name:
			if e := castElem(x.Name); e == num.I32 || e == num.I64 {
				elems = append(elems, e)
				continue
			}
		}
		f.p.failWith(o.Errorf("this is no option of %s", t.Name.Name).WithExpected("index types i32 or i64, and for bsr two block sizes first"))
	}
	if want := map[bool]int{true: 2}[format.Kind == "bsr"]; len(ints) != want || len(elems) > 2 {
		f.p.failWith(t.Errorf("%s has the wrong options", t.Name.Name).WithFix("write csr[N, M], csr(i64, i32)[N, M] or bsr(4, 4)[N, M]"))
	}
	if len(ints) == 2 {
		format.BlockRows, format.BlockCols = ints[0], ints[1]
	}
	if len(elems) > 0 {
		format.Ptr, format.Idx = elems[0], elems[len(elems)-1]
	}
}

// where reads the facts of a signature.
func (f *fnState) where(list []syntax.Expr) {
	f.eachFact(list, func(part syntax.Expr, c sym.Cond) {
		f.declare(c)
		if f.facts().Contradiction() {
			f.p.failWith(part.Errorf("this fact contradicts the others: no sizes satisfy them all").WithFix("remove or correct it"))
		}
	})
}

// eachFact reads the facts of a where clause. One that divides by a dim is read
// once another says that the dim is not 0, wherever that stands.
func (f *fnState) eachFact(list []syntax.Expr, use func(syntax.Expr, sym.Cond)) {
	var todo []syntax.Expr
	for _, x := range list {
		todo = append(todo, conjuncts(x)...)
	}
	for len(todo) > 0 {
		var later []syntax.Expr
		for _, part := range todo {
			if c, ok := f.top().condition(part); ok {
				use(part, c)
			} else {
				later = append(later, part)
			}
		}
		if len(later) == len(todo) {
			f.notAFact(todo[0])
		}
		todo = later
	}
}

func (f *fnState) notAFact(part syntax.Expr) {
	f.top().undefined(part)
	e := part.Errorf("this is not a fact about dims").WithExpected("a comparison of dims, such as K %% 8 == 0 or D <= 256")
	f.top().explain(part, e)
	syntax.Walk(part, func(n syntax.Node) bool {
		if x, ok := n.(*syntax.Name); ok {
			if b := f.scope.find(x.Name); b != nil && b.kind == bindScalar && b.scalar.elem.IsInt() && b.scalar.elem != num.Index {
				e.WithFix("facts speak of sizes: declare %s: index", x.Name)
			}
		}
		return true
	})
	f.p.failWith(e)
}

// conjuncts splits `a and b`.
func conjuncts(x syntax.Expr) []syntax.Expr {
	if b, ok := syntax.Unparen(x).(*syntax.Binary); ok && b.Op == "and" {
		return append(conjuncts(b.X), conjuncts(b.Y)...)
	}
	return []syntax.Expr{x}
}
