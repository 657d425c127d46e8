package tn

import (
	"strconv"
	"strings"

	"tenon/frontend/tn/syntax"
	"tenon/internal/diag"
	"tenon/internal/num"
	"tenon/ir"
	"tenon/ir/sym"
)

// expandOn elaborates a function's body at a call: on tensors (at nil), or on
// scalars at a site. The callee's names live in a scope of their own.
func (f *fnState) expandOn(c *syntax.Call, d *decl, at *site) []*tensor {
	n := d.node.(*syntax.Fn)
	x := &expansion{f: f, c: c, d: d, n: n, at: at, inner: &scope{names: map[string]*binding{}}, perm: -1}
	x.matchArgs()
	x.bindTypes()
	x.bindParams()
	f.p.enterCall(c.Fn, d) // the arguments, which may call d too, are the caller's
	caller, faults := f.scope, len(f.p.errs)
	f.scope = x.inner
	var rs []*tensor
	ok := f.p.try(func() {
		x.facts()
		var returned bool
		if rs, returned = f.body(n, at); !returned {
			panic(abort{})
		}
		f.holdResults(n, rs)
	})
	f.scope = caller
	f.p.stack = f.p.stack[:len(f.p.stack)-1]
	if !ok {
		x.blameCall(f.p.errs[faults:])
		panic(abort{})
	}
	return x.restore(rs)
}

// blameCall moves errors found in a function of the prelude to the call, where
// the fault is: what is called is right for other arguments. Those found in
// another generic function get the call as a note.
func (x *expansion) blameCall(errs diag.List) {
	for _, e := range errs {
		if x.d.origin != declPrelude {
			if !x.f.isOwn(x.d) {
				e.WithNote(x.c.At(), "in this call of %s", x.d.name)
			}
			continue
		}
		note := diag.Note{Pos: e.Pos, Msg: "in " + x.d.name + ", here"}
		at := x.c.Errorf("%s", e.Msg)
		if e.Pos.File != x.n.Name.At().File {
			continue // blamed on a call outside already, or the argument's
		}
		e.Pos, e.Len, e.Notes = at.Pos, at.Len, append([]diag.Note{note}, e.Notes...)
		e.Msg = x.d.name + " does not take this argument: " + e.Msg
	}
}

// expansion is one call being expanded.
type expansion struct {
	f     *fnState
	c     *syntax.Call
	d     *decl
	n     *syntax.Fn
	at    *site
	inner *scope
	args  []syntax.Expr // by parameter
	ts    []*tensor     // tensor arguments, evaluated
	axis  syntax.Expr   // of axis=, where the callee has no such parameter
	perm  int           // the axis that was moved, -1 if none
	later []func()      // dims that are expressions, held against the arguments once the names are bound
}

func (x *expansion) fail(at syntax.Node, format string, args ...any) {
	e := at.Errorf(format, args...)
	e.WithNote(x.n.Name.At(), "%s is declared here", x.d.name)
	x.f.p.failWith(e)
}

// matchArgs matches arguments to parameters, by position and then by name.
func (x *expansion) matchArgs() {
	x.args = make([]syntax.Expr, len(x.n.Params))
	x.ts = make([]*tensor, len(x.n.Params))
	for i, a := range x.c.Args {
		if a.Name == nil {
			if i >= len(x.args) {
				x.fail(a, "%s takes %s, and %d given", x.d.name, count(len(x.args), "argument"), len(x.c.Args))
			}
			x.args[i] = a.X
			continue
		}
		k := x.paramNamed(a.Name.Name)
		switch {
		case k < 0 && a.Name.Name == "axis":
			x.axis = a.X
		case k < 0:
			x.fail(a, "%s has no parameter %s; it has %s", x.d.name, a.Name.Name, x.paramNames())
		case x.args[k] != nil:
			x.fail(a, "%s is given twice", a.Name.Name)
		default:
			x.args[k] = a.X
		}
	}
	for i, a := range x.args {
		if a == nil {
			x.fail(x.c, "the argument %s of %s is missing", x.n.Params[i].Name.Name, x.d.name)
		}
	}
}

func (x *expansion) paramNames() string {
	var names []string
	for _, p := range x.n.Params {
		names = append(names, p.Name.Name)
	}
	return strings.Join(names, ", ")
}

func (x *expansion) paramNamed(name string) int {
	for i, p := range x.n.Params {
		if p.Name.Name == name {
			return i
		}
	}
	return -1
}

// site is where the arguments are evaluated: the caller's.
func (x *expansion) site() *site {
	if x.at != nil {
		return x.at
	}
	return x.f.top()
}

// bindTypes evaluates the tensor arguments and binds the type parameters.
func (x *expansion) bindTypes() {
	for i, p := range x.n.Params {
		if p.Type.Dims != nil && !patternKinds[p.Type.Name.Name] && !quantKinds[p.Type.Name.Name] {
			x.ts[i] = x.tensorArg(x.args[i])
		}
	}
	for _, tp := range x.n.TypeParams {
		e := x.inferElem(tp.Name.Name)
		if e == num.Invalid {
			e = num.F32 // literals alone
		}
		if ok := elemClass(tp.Class.Name); ok == nil || !ok(e) {
			x.fail(x.c, "%s is for %s types, and this is %s", x.d.name, tp.Class.Name, e)
		}
		x.inner.names[tp.Name.Name] = &binding{kind: bindElem, at: tp, elem: e}
	}
}

// tensorArg evaluates an argument for a tensor parameter; nil is a literal,
// whose type is not known yet.
func (x *expansion) tensorArg(e syntax.Expr) *tensor {
	if x.at != nil {
		return x.elementArg(e)
	}
	if rs := x.f.wholeTensors(e, x.at); len(rs) == 1 {
		return rs[0]
	}
	if x.site().peek(e) == num.Invalid {
		return nil
	}
	if x.readsData(e) {
		return x.f.valuesOf(num.Invalid, e, []*syntax.Axis{}, []string{"a"}, nil)[0]
	}
	v := x.scalarAt(e, num.Invalid)
	return &tensor{elem: v.elem, scalar: &v}
}

// elementArg is tensorArg in a call on scalars.
func (x *expansion) elementArg(e syntax.Expr) *tensor {
	if n, ok := syntax.Unparen(e).(*syntax.Name); ok {
		if b := x.at.scope.find(n.Name); b != nil && b.kind == bindTensor && b.tensor.scalar != nil {
			return b.tensor
		}
	}
	if x.at.peek(e) == num.Invalid {
		return nil
	}
	v := x.at.expr(e, num.Invalid)
	return &tensor{elem: v.elem, scalar: &v}
}

// scalarAt evaluates a scalar argument at the call's site; on whole tensors it
// is a comp of its own, read where it is used.
func (x *expansion) scalarAt(e syntax.Expr, want num.Elem) val {
	if x.at == nil {
		if n, ok := syntax.Unparen(e).(*syntax.Name); ok {
			if b := x.f.scope.find(n.Name); b != nil && b.kind == bindScalar {
				return b.scalar
			}
		}
	}
	return x.site().expr(e, want)
}

func (x *expansion) inferElem(name string) num.Elem {
	for i, p := range x.n.Params {
		if p.Type.Name.Name != name {
			continue
		}
		if x.ts[i] != nil {
			return x.ts[i].elem
		}
		if e := x.site().peek(x.args[i]); e != num.Invalid {
			return e
		}
	}
	return num.Invalid
}

func elemClass(name string) func(num.Elem) bool {
	if ok := elemClasses[name]; ok != nil {
		return ok
	}
	return nil
}

// bindParams binds the parameters to the arguments and the callee's dims to
// theirs.
func (x *expansion) bindParams() {
	for i, p := range x.n.Params {
		var b *binding
		switch {
		case patternKinds[p.Type.Name.Name]:
			b = x.patternArg(p, x.args[i])
		case quantKinds[p.Type.Name.Name]:
			b = x.quantArg(p, x.args[i])
		case p.Type.Dims == nil:
			b = x.scalarArg(p, x.args[i])
		default:
			b = x.denseArg(p, i)
		}
		x.inner.names[p.Name.Name] = b
	}
	for _, hold := range x.later {
		hold()
	}
}

// readsData reports that a scalar argument reads tensors, so that a call on
// whole tensors must compute it in a comp of its own.
func (x *expansion) readsData(e syntax.Expr) bool {
	found := false
	syntax.Walk(e, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Index, *syntax.Reduce:
			found = true
		case *syntax.Name:
			b := x.f.scope.find(n.Name)
			found = found || b != nil && b.kind == bindTensor && b.tensor.scalar == nil
		}
		return !found
	})
	return found
}

// paramElem is the element type of a parameter once the type parameters are
// bound.
func (x *expansion) paramElem(t *syntax.Type) num.Elem {
	saved := x.f.scope
	x.f.scope = x.inner
	defer func() { x.f.scope = saved }()
	return x.f.elem(t.Name)
}

func (x *expansion) scalarArg(p *syntax.Param, a syntax.Expr) *binding {
	want := x.paramElem(p.Type)
	if want == num.Index {
		if e, ok := x.site().symbolic(a); ok {
			return &binding{kind: bindDim, at: p, expr: e}
		}
	}
	if x.at == nil && x.readsData(a) {
		t := x.f.valuesOf(want, a, []*syntax.Axis{}, []string{p.Name.Name}, nil)[0]
		if t.elem != want {
			x.site().mismatch(a, t.elem, want)
		}
		return &binding{kind: bindTensor, at: p, tensor: t}
	}
	v := x.scalarAt(a, want)
	if v.elem != want {
		x.site().mismatch(a, v.elem, want)
	}
	return &binding{kind: bindScalar, at: p, scalar: v}
}

func (x *expansion) denseArg(p *syntax.Param, i int) *binding {
	want := stored(x.paramElem(p.Type))
	t := x.ts[i]
	if t == nil {
		v := x.scalarAt(x.args[i], want)
		t = &tensor{elem: v.elem, scalar: &v}
	}
	if t.elem != want {
		x.fail(x.args[i], "the argument %s of %s is %s, not %s", p.Name.Name, x.d.name, t.elem, want)
	}
	if x.axis != nil && i == 0 {
		t = x.moveAxis(p, t)
	}
	x.matchDims(p, t, x.args[i])
	return &binding{kind: bindTensor, at: p, tensor: t}
}

func (x *expansion) patternArg(p *syntax.Param, a syntax.Expr) *binding {
	pat := x.site().patternOf(a)
	if pat == nil {
		x.fail(a, "the argument %s of %s is a pattern", p.Name.Name, x.d.name)
	}
	dims := typeDims(p.Type)
	if len(dims) == 2 {
		x.bindDim(dims[0], dim{ext: pat.rows, row: -1}, a)
		x.bindDim(dims[1], dim{ext: pat.cols, row: -1}, a)
	}
	if p.Type.Elem != nil && pat.data == nil {
		x.fail(a, "%s needs the values of %s", x.d.name, pat.name)
	}
	return &binding{kind: bindPattern, at: p, pat: pat}
}

func (x *expansion) quantArg(p *syntax.Param, a syntax.Expr) *binding {
	rs := x.f.wholeTensors(a, x.at)
	if len(rs) != 1 {
		x.fail(a, "the argument %s of %s is a quantised tensor", p.Name.Name, x.d.name)
	}
	t, _ := rs[0].val.Type.(ir.Tensor)
	if t.Enc == nil {
		x.fail(a, "the argument %s of %s is a quantised tensor", p.Name.Name, x.d.name)
	}
	x.matchDims(p, rs[0], a)
	return &binding{kind: bindTensor, at: p, tensor: rs[0]}
}

// matchDims binds the dims of a parameter to those of its argument.
func (x *expansion) matchDims(p *syntax.Param, t *tensor, at syntax.Node) {
	subs := typeDims(p.Type)
	pack := -1
	for i, s := range subs {
		if s.Pack != "" {
			if pack >= 0 {
				x.fail(p, "a parameter has one pack at most")
			}
			pack = i
		}
	}
	extra := len(t.axes) - len(subs)
	for _, s := range subs {
		if edgeDim(s) != nil {
			extra-- // an edge dim has two subscripts
		}
	}
	if pack < 0 && extra != 0 || pack >= 0 && extra < -1 {
		x.fail(at, "the argument %s of %s has rank %d, and this has rank %d", p.Name.Name, x.d.name, len(subs), len(t.axes))
	}
	k := 0
	for i, s := range subs {
		if i == pack {
			x.bindPack(s, packDims(t.axes[k:k+extra+1], k), at)
			k += extra + 1
			continue
		}
		if c := edgeDim(s); c != nil {
			if t.isEdge() && t.axes[k+1].pat == nil {
				x.fail(at, "the parameter %s has the entries first, and this argument has not", p.Name.Name)
			}
			x.matchEdge(c, t.axes[k+1], at)
			k += 2
			continue
		}
		x.bindDim(s, t.axes[k], at)
		k++
	}
}

// edgeDim is the call nnz(A) that a dim is, or nil.
func edgeDim(s *syntax.Sub) *syntax.Call {
	if c, ok := s.X.(*syntax.Call); ok && c.Fn.Name == "nnz" && len(c.Args) == 1 {
		return c
	}
	return nil
}

// matchEdge holds an edge tensor's pattern against the callee's nnz(A).
func (x *expansion) matchEdge(c *syntax.Call, d dim, at syntax.Node) {
	n, ok := c.Args[0].X.(*syntax.Name)
	var b *binding
	if ok {
		b = x.inner.names[n.Name]
	}
	if b == nil || b.kind != bindPattern || d.pat == nil || d.pat.id != b.pat.id {
		x.fail(at, "this is not an edge tensor of the pattern that %s gets", x.d.name)
	}
}

func (x *expansion) bindDim(s *syntax.Sub, d dim, at syntax.Node) {
	if n, ok := syntax.Unparen(s.X).(*syntax.Name); ok {
		b := x.inner.names[n.Name]
		ragged := d.pat != nil && d.row >= 0
		if ragged && b == nil {
			x.inner.names[n.Name] = &binding{kind: bindRagged, at: n, pat: d.pat}
			return
		}
		if b != nil && (ragged || b.kind == bindRagged) {
			if !ragged || b.kind != bindRagged || b.pat.id != d.pat.id {
				x.fail(at, "%s of %s is the length of a pattern's rows in one argument and not in another", n.Name, x.d.name)
			}
			return
		}
		if b == nil {
			x.inner.names[n.Name] = &binding{kind: bindDim, at: n, expr: x.f.canon(d.ext)}
			return
		}
		if b.kind == bindDim {
			x.f.equate(at, b.expr, d.ext, " in this argument of "+x.d.name)
			return
		}
	}
	x.later = append(x.later, func() { x.holdDim(s, d, at) })
}

// holdDim holds a dim that is an expression against an argument's.
func (x *expansion) holdDim(s *syntax.Sub, d dim, at syntax.Node) {
	saved := x.f.scope
	x.f.scope = x.inner
	e, ok := x.f.top().symbolic(s.X)
	x.f.scope = saved
	if !ok {
		x.fail(at, "the dims of %s do not follow from its arguments", x.d.name)
	}
	x.f.equate(at, e, d.ext, " in this argument of "+x.d.name)
}

func (x *expansion) bindPack(s *syntax.Sub, dims []dim, at syntax.Node) {
	key := "dims.." + s.Pack
	b := x.inner.names[key]
	if b == nil {
		x.inner.names[key] = &binding{kind: bindPack, at: s, dims: dims}
		return
	}
	if len(b.dims) != len(dims) {
		x.fail(at, "the pack ..%s is %s in one argument and %d in another", s.Pack, count(len(b.dims), "dim"), len(dims))
	}
	for i, d := range dims {
		x.f.equateDims(at, b.dims[i], d, " in this argument of "+x.d.name)
	}
}

// facts makes the callee's where clause hold.
func (x *expansion) facts() {
	x.f.eachFact(x.n.Where, func(part syntax.Expr, c sym.Cond) { x.f.require(x.c, c, x.d.name, exprText(part)) })
}

// moveAxis brings the axis that axis= names to where the callee has the one dim
// beside its pack: last in E[..P, N], first in E[T, ..P].
func (x *expansion) moveAxis(p *syntax.Param, t *tensor) *tensor {
	first, ok := besidePack(p.Type)
	if !ok {
		x.fail(x.axis, "axis= is for functions on E[..P, N] or E[T, ..P], and %s is not one", x.d.name)
	}
	k, to := x.axisOf(t), len(t.axes)-1
	if first {
		to = 0
	}
	if k == to {
		return t
	}
	if t.isEdge() {
		return x.moveEdgeAxis(t, k, to)
	}
	x.perm = k
	return x.f.transpose(x.c, t, moved(len(t.axes), k, to))
}

// moveEdgeAxis is moveAxis for an edge tensor, whose entries stay behind their row.
func (x *expansion) moveEdgeAxis(t *tensor, k, to int) *tensor {
	for _, d := range t.axes {
		if d.pat != nil && (d.row == k || d.row >= to) {
			x.fail(x.axis, "the entries of an edge tensor follow their row, and %s needs this axis elsewhere", x.d.name)
		}
	}
	x.perm = k
	return x.f.transpose(x.c, t, moved(len(t.axes), k, to))
}

// besidePack reports that t has one pack and one dim, and which comes first.
func besidePack(t *syntax.Type) (dimFirst, ok bool) {
	list := typeDims(t)
	if len(list) != 2 || (list[0].Pack == "") == (list[1].Pack == "") {
		return false, false
	}
	return list[0].Pack == "", true
}

// moved is the order of n axes in which axis k stands at place to.
func moved(n, k, to int) []int {
	rest := append(seq(0, k), seq(k+1, n)...)
	return append(append(append([]int{}, rest[:to]...), k), rest[to:]...)
}

// axisOf is the position that axis=j or axis=-1 means.
func (x *expansion) axisOf(t *tensor) int {
	if n, ok := syntax.Unparen(x.axis).(*syntax.Name); ok {
		for i, d := range t.axes {
			if d.name == n.Name {
				return i
			}
		}
		names := []string{}
		for _, d := range t.axes {
			if d.name != "" {
				names = append(names, d.name)
			}
		}
		if len(names) == 0 {
			x.fail(x.axis, "the axes of this argument have no names; write axis=-1 or another number")
		}
		x.fail(x.axis, "the argument has no axis named %s; it has %s", n.Name, strings.Join(names, ", "))
	}
	k, ok := literalInt(x.axis)
	if !ok {
		x.fail(x.axis, "axis is the name of an index, or a number")
	}
	if k < 0 {
		k += len(t.axes)
	}
	if k < 0 || k >= len(t.axes) {
		x.fail(x.axis, "there is no axis %s: the argument has rank %d", exprText(x.axis), len(t.axes))
	}
	return k
}

func literalInt(e syntax.Expr) (int, bool) {
	switch e := syntax.Unparen(e).(type) {
	case *syntax.Lit:
		n, err := strconv.Atoi(e.Text)
		return n, err == nil && e.Kind == syntax.IntLit
	case *syntax.Unary:
		n, ok := literalInt(e.X)
		return -n, ok && e.Op == "-"
	}
	return 0, false
}

func seq(lo, hi int) []int {
	var out []int
	for i := lo; i < hi; i++ {
		out = append(out, i)
	}
	return out
}

// restore moves the axis back to its place, in results that kept it.
func (x *expansion) restore(rs []*tensor) []*tensor {
	if x.perm < 0 {
		return rs
	}
	out := make([]*tensor, len(rs))
	for i, t := range rs {
		out[i] = t
		if first, ok := besidePack(x.n.Results[i].Type); ok {
			from := len(t.axes) - 1
			if first {
				from = 0
			}
			out[i] = x.f.transpose(x.c, t, moved(len(t.axes), from, x.perm))
		}
	}
	return out
}

// transpose makes the tensor whose axis i is axis order[i] of t: a view where
// storage allows.
func (f *fnState) transpose(at syntax.Node, t *tensor, order []int) *tensor {
	if t.isEdge() {
		if view := permuted(t, order); view != nil {
			return view
		}
	}
	top := f.top()
	c := top.child()
	par := make([]*index, len(order))
	of := map[int]*index{} // by axis of t
	for i, k := range order {
		d := t.axes[k]
		name := d.name
		if name == "" {
			name = "i"
		}
		if d.pat != nil {
			par[i] = c.entryAxis(name, d.pat, of[d.row].value)
		} else {
			par[i] = c.denseAxis(name, f.canon(d.ext))
		}
		par[i].name = d.name
		of[k] = par[i]
	}
	var subs []sym.Expr
	for _, k := range storageOrder(t.axes) {
		if ix := of[k]; ix.entry != "" {
			subs = append(subs, sym.Name(ix.entry))
		} else {
			subs = append(subs, ix.value)
		}
	}
	c.yield(at, c.read(at, t, subs, ir.PolicyError))
	v := top.comp(at, c, entriesFirst(par), nil, nil, nil, "t")[0]
	return f.resultOver(v, t.elem, par)
}
