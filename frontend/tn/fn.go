package tn

import (
	"strings"

	"tenon/frontend/tn/syntax"
	"tenon/internal/num"
	"tenon/ir"
	"tenon/ir/sym"
)

// result is what an expression of a fn's statement gives: a tensor, or, in a
// function expanded on scalars, a tensor of rank 0 that is a scalar of the
// region.
type result = *tensor

// function elaborates a fn of the file into a func, once; at is the place that
// needs it.
func (p *program) function(d *decl, at syntax.Node) *ir.Func {
	if f := p.funcs[d]; f != nil {
		return f
	}
	n := d.node.(*syntax.Fn)
	p.enterCall(at, d)
	faults := len(p.errs)
	fn := &ir.Func{Level: ir.LevelTensor, Name: n.Name.Name, Loc: loc(n.Name), Body: &ir.Region{}}
	f := newFnState(p, fn)
	ok := true
	f.declareDims(n.Params)
	for _, prm := range n.Params {
		if !p.try(func() { f.param(prm, false) }) {
			ok = false
			f.scope.names[prm.Name.Name] = &binding{kind: bindBroken, at: prm}
		}
	}
	f.ofResults = resultDims(n)
	p.try(func() { f.where(n.Where) })
	f.directives(d.item.Directives)
	rs, returned := f.body(n, nil)
	if returned {
		ok = p.try(func() { f.giveResults(n, rs) }) && ok
	}
	p.stack = p.stack[:len(p.stack)-1]
	if ok && returned {
		f.settle()
	}
	p.funcs[d] = fn
	p.faulty[d] = len(p.errs) > faults
	return fn
}

// resultDims are the names that stand alone in the dims of n's results.
func resultDims(n *syntax.Fn) map[string]bool {
	names := map[string]bool{}
	for _, r := range n.Results {
		for _, s := range typeDims(r.Type) {
			if x, ok := syntax.Unparen(s.X).(*syntax.Name); ok {
				names[x.Name] = true
			}
		}
	}
	return names
}

// enterCall pushes d, refusing recursion and runaway expansion.
func (p *program) enterCall(at syntax.Node, d *decl) {
	for i, s := range p.stack {
		if s == d {
			p.recursion(at, p.stack[i:])
		}
	}
	if p.cyclic[d] {
		panic(abort{})
	}
	p.stack = append(p.stack, d)
}

// recursion reports a cycle of calls, once.
func (p *program) recursion(at syntax.Node, cycle []*decl) {
	d := cycle[0]
	e := at.Errorf("%s calls itself", d.name).WithExpected("functions without recursion").
		WithFix("use a bounded loop: `for t in 0..T carry ...` in a fn, `for` in a proc")
	for _, c := range cycle[1:] {
		e.WithNote(declName(c.node).At(), "through %s", c.name)
	}
	reported := p.cyclic[d]
	for _, c := range cycle {
		p.cyclic[c] = true
	}
	if reported {
		panic(abort{})
	}
	p.failWith(e)
}

func (f *fnState) directives(list []*syntax.Directive) {
	for _, d := range list {
		f.f.Directives = append(f.f.Directives, directiveText(d))
	}
	f.contradictions(list)
	f.checkDirectives(list, nil)
}

// body runs the statements of a fn; in scalar mode at is the site where its
// scalars go. returned is false if an error spoiled the result.
func (f *fnState) body(n *syntax.Fn, at *site) (rs []result, returned bool) {
	b, wants := n.Body, f.declared(n)
	for i, st := range b.Stmts {
		if r, ok := st.(*syntax.Return); ok {
			if i != len(b.Stmts)-1 {
				f.p.try(func() { f.p.fail(b.Stmts[i+1], "nothing after `return` is reached") })
			}
			returned = f.p.try(func() { rs = f.returnValues(r, wants, at) })
			return rs, returned
		}
		if !f.p.try(func() { f.statement(st, at) }) {
			f.broken(st)
		}
	}
	f.p.try(func() {
		f.p.failWith(b.Errorf("the function ends without `return`").WithFix("return its results: `return y`"))
	})
	return nil, false
}

// broken marks what a failed statement would have bound, so that its uses stay
// silent.
func (f *fnState) broken(st syntax.Stmt) {
	if l, ok := st.(*syntax.Let); ok {
		for _, t := range l.Targets {
			if f.scope.names[t.Name.Name] == nil { // a second binding leaves the first as it is
				f.scope.names[t.Name.Name] = &binding{kind: bindBroken, at: t}
			}
		}
	}
}

func (f *fnState) statement(st syntax.Stmt, at *site) {
	outer := f.want
	f.want = num.Invalid // a let takes no type from where its function is called
	defer func() { f.want = outer }()
	switch st := st.(type) {
	case *syntax.Let:
		f.let(st, at)
	case *syntax.Directive:
		f.directives([]*syntax.Directive{st})
	default:
		f.p.failWith(st.Errorf("this statement stands in a `for .. carry` loop only"))
	}
}

// let binds the values of an expression.
func (f *fnState) let(l *syntax.Let, at *site) {
	for _, t := range l.Targets {
		if b := f.scope.names[t.Name.Name]; b != nil && b.kind != bindBroken {
			f.p.failWith(t.Errorf("%s is bound already", t.Name.Name).WithNote(b.at.At(), "here").WithFix("choose another name"))
		}
	}
	var rs []result
	if l.Loop != nil {
		if at != nil {
			f.p.failWith(l.Errorf("a loop needs tensors; this function is called on a scalar"))
		}
		if l.Targets[0].Indexed {
			f.p.failWith(l.Targets[0].Errorf("the values of a loop have the dims that it gives them").WithFix("write `let %s = for ..`", l.Targets[0].Name.Name))
		}
		rs = f.carryLoop(l.Loop)
	} else {
		rs = f.values(l.Value, f.axesOf(l), targetNames(l.Targets), at)
	}
	if len(rs) != len(l.Targets) {
		f.p.failWith(l.Errorf("%s for %s", count(len(l.Targets), "name"), count(len(rs), "value")).WithFix("bind every value"))
	}
	for i, t := range l.Targets {
		f.scope.names[t.Name.Name] = &binding{kind: bindTensor, at: t, tensor: rs[i]}
	}
}

func targetNames(ts []*syntax.Target) []string {
	out := make([]string, len(ts))
	for i, t := range ts {
		out[i] = t.Name.Name
	}
	return out
}

// compNames names the results of a reduction's comp: those it keeps after the
// targets, the others after the first.
func compNames(r *reduction, base []string) []string {
	out := make([]string, len(r.elems))
	for i := range out {
		out[i] = base[0] + "_of"
	}
	for i, k := range r.keep {
		if i < len(base) {
			out[k] = base[i]
		}
	}
	return out
}

// axesOf are the indices of a let: those of its targets, which must be the same
// for all, or those after `for`. nil: none are written.
func (f *fnState) axesOf(l *syntax.Let) []*syntax.Axis {
	var axes []*syntax.Axis
	first := l.Targets[0]
	if first.Indexed {
		axes = append([]*syntax.Axis{}, first.Index...)
	}
	for _, t := range l.Targets[1:] {
		if t.Indexed != first.Indexed || axisNames(t.Index) != axisNames(first.Index) {
			f.p.failWith(t.Errorf("the names bound together have different indices").
				WithFix("give %s the indices of %s", t.Name.Name, first.Name.Name))
		}
	}
	if len(l.For) > 0 {
		if first.Indexed {
			f.p.failWith(l.For[0].Errorf("the indices are given twice").WithFix("leave out `for ..`"))
		}
		axes = l.For
	}
	return axes
}

func axisNames(axes []*syntax.Axis) string {
	s := ""
	for _, a := range axes {
		if a.Pack != "" {
			s += ".." + a.Pack + ","
		} else {
			s += a.Name.Name + ","
		}
	}
	return s
}

// values evaluates e over axes (nil: none written) to the values it gives.
func (f *fnState) values(e syntax.Expr, axes []*syntax.Axis, base []string, at *site) []result {
	top := f.siteFor(at)
	syntax.Walk(e, func(n syntax.Node) bool {
		if r, ok := n.(*syntax.Reduce); ok {
			top.noTensor(r)
		}
		return true
	})
	if axes == nil {
		if rs := f.wholeTensors(e, at); rs != nil {
			return rs
		}
		axes = f.implicitAxes(e, top)
	}
	c := top.child()
	if at != nil {
		c = at.child()
		c.scope = f.scope.child()
		c.reads, c.region, c.cache = at.reads, at.region, at.cache
	}
	par := c.bindAxes(axes, c.rangesOf(append(rowsOf(axes), e)...))
	if at != nil {
		if len(par) > 0 {
			f.p.failWith(e.Errorf("this needs a whole tensor, and the function is called on a scalar").
				WithFix("call it on a tensor: `let y = f(x)`"))
		}
		return scalarResults(c.scalars(e))
	}
	return f.overAxes(e, top, c, par, base)
}

// rowsOf are the rows in `j in A[i]`, whose index runs over the pattern's rows.
func rowsOf(axes []*syntax.Axis) []syntax.Expr {
	var out []syntax.Expr
	for _, a := range axes {
		if a.In != nil && a.Hi == nil {
			out = append(out, a.In)
		}
	}
	return out
}

// siteFor is the site at which scalars of a statement go.
func (f *fnState) siteFor(at *site) *site {
	if at == nil {
		return f.top()
	}
	c := *at
	c.scope = f.scope
	return &c
}

// implicitAxes are the packs free in e, in order of appearance: `max[n] x[..p,
// n]` ranges over ..p. Plain indices must be written out.
func (f *fnState) implicitAxes(e syntax.Expr, top *site) []*syntax.Axis {
	r := top.rangesOf(e)
	axes := []*syntax.Axis{}
	for _, key := range r.order {
		if len(key) > 2 && key[:2] == ".." {
			if top.scope.find(key) == nil {
				axes = append(axes, &syntax.Axis{Span: e.Bounds(), Pack: key[2:]})
			}
			continue
		}
		if b := top.scope.find(key); b == nil {
			f.p.failWith(r.found[key][0].at.Errorf("nothing binds the index %s", key).
				WithFix("name it on the left, `let y[%s] = ...`, or after the value, `for %s`", key, key))
		}
	}
	return axes
}

// scalars evaluates e to scalars at s: several for a reduction by a user's
// monoid, and for a call of a function with several results.
func (s *site) scalars(e syntax.Expr) []val {
	switch e := syntax.Unparen(e).(type) {
	case *syntax.Reduce:
		return s.reduce(e, s.f.want)
	case *syntax.Call:
		if s.isScalarCall(e) {
			return s.callScalars(e)
		}
	}
	return []val{s.expr(e, s.f.want)}
}

func scalarResults(vs []val) []result {
	var out []result
	for _, v := range vs {
		out = append(out, &tensor{elem: v.elem, scalar: &v})
	}
	return out
}

// overAxes makes the comp of e over the bound axes. A reduction that needs
// nothing after it becomes the comp's own.
func (f *fnState) overAxes(e syntax.Expr, top, c *site, par []*index, base []string) []result {
	f.checkEntryAxes(c, par)
	if r, ok := syntax.Unparen(e).(*syntax.Reduce); ok && r.Op.Name != "mean" && r.Op.Name != "logsumexp" {
		red := c.reduction(r, f.want)
		if !red.needsFinish() && len(c.region.Ops) == 0 && len(c.reads.List) == 0 {
			vs := top.comp(e, red.c, entriesFirst(par), red.axes, red.conds, red.by, compNames(red, base)...)
			var out []result
			for _, k := range red.keep {
				out = append(out, f.resultOver(vs[k], red.elems[k], par))
			}
			return out
		}
		vs := c.comp(r, red.c, nil, red.axes, red.conds, red.by, "r")
		return f.finishComp(e, top, c, par, red.finish(c, r, vs), base)
	}
	return f.finishComp(e, top, c, par, c.scalars(e), base)
}

func (f *fnState) finishComp(e syntax.Expr, top, c *site, par []*index, vs []val, base []string) []result {
	var ys []*ir.Value
	for _, v := range vs {
		ys = append(ys, c.storable(e, v))
	}
	c.yield(e, ys...)
	var out []result
	for i, v := range top.comp(e, c, entriesFirst(par), nil, nil, nil, base...) {
		out = append(out, f.resultOver(v, ir.ElemOf(ys[i].Type), par))
	}
	return out
}

// storable is a scalar in the type in which a tensor keeps it: index becomes
// i64.
func (s *site) storable(at syntax.Node, v val) *ir.Value {
	if v.elem == num.Index {
		return s.cast(at, v.v, num.I64)
	}
	return s.cast(at, v.v, v.elem)
}

func (f *fnState) resultOver(v *ir.Value, elem num.Elem, par []*index) result {
	t := &tensor{val: v, elem: elem}
	for i, ix := range par {
		d := dim{name: ix.name, ext: ix.axis.Extent, row: -1}
		if ix.entry != "" {
			d = dim{name: ix.name, ext: sym.NNZ(ix.pat.id), pat: ix.pat, row: rowBefore(par, i)}
		}
		t.axes = append(t.axes, d)
	}
	return t
}

// wholeTensors evaluates what is a tensor without indices: a name, or a call on
// tensors. nil: e is a scalar expression.
func (f *fnState) wholeTensors(e syntax.Expr, at *site) []result {
	switch e := syntax.Unparen(e).(type) {
	case *syntax.Name:
		b := f.scope.find(e.Name)
		if b != nil && b.kind == bindTensor {
			return []result{b.tensor}
		}
	case *syntax.Call:
		if at == nil && f.isTensorCall(e) {
			return f.callTensors(e)
		}
	}
	return nil
}

func (f *fnState) returnValues(r *syntax.Return, wants []num.Elem, at *site) []result {
	var axes []*syntax.Axis
	if len(r.For) > 0 {
		axes = r.For
	}
	var out []result
	for i, v := range r.Values {
		if len(axes) > 0 {
			f.ranged(v, axes)
		}
		want := num.Invalid
		if len(r.Values) == len(wants) {
			want = wants[i]
		}
		out = append(out, f.valuesOf(want, v, axes, []string{"y"}, at)...)
	}
	return out
}

// valuesOf is values where literals alone take the type want, which their place
// has.
func (f *fnState) valuesOf(want num.Elem, e syntax.Expr, axes []*syntax.Axis, base []string, at *site) []result {
	outer := f.want
	f.want = want
	defer func() { f.want = outer }()
	return f.values(e, axes, base, at)
}

// declared are the types of a function's results.
func (f *fnState) declared(n *syntax.Fn) []num.Elem {
	var out []num.Elem
	for _, r := range n.Results {
		e := num.Invalid
		if !patternKinds[r.Type.Name.Name] && !quantKinds[r.Type.Name.Name] {
			f.p.try(func() { e = f.elem(r.Type.Name) })
		}
		out = append(out, e)
	}
	return out
}

// ranged refuses a whole tensor before `for`, which ranges over each value.
func (f *fnState) ranged(v syntax.Expr, axes []*syntax.Axis) {
	whole := false
	switch x := syntax.Unparen(v).(type) {
	case *syntax.Name:
		b := f.scope.find(x.Name)
		if b != nil && b.kind == bindBroken {
			panic(abort{})
		}
		whole = b != nil && b.kind == bindTensor && len(b.tensor.axes) > 0
	case *syntax.Call:
		whole = f.isTensorCall(x) && len(f.top().rangesOf(v).order) == 0
	}
	if whole {
		f.p.failWith(v.Errorf("this is a whole tensor, and `for` ranges over each of the values").
			WithExpected("values that use the indices after `for`").
			WithFix("bind the others first, `let y = .. for %s`, and return names alone", strings.ReplaceAll(strings.TrimSuffix(axisNames(axes), ","), ",", ", ")))
	}
}

// giveResults checks the returned values against the declared results and ends
// the func.
func (f *fnState) giveResults(n *syntax.Fn, rs []result) {
	at := n.Body.Stmts[len(n.Body.Stmts)-1]
	if len(rs) != len(n.Results) {
		f.p.failWith(at.Errorf("%s returned, and %s declares %s", count(len(rs), "value"), n.Name.Name, count(len(n.Results), "result")).
			WithNote(n.Results[0].At(), "declared here"))
	}
	seen := map[string]bool{}
	var vs []*ir.Value
	for i, r := range n.Results {
		t := f.materialise(at, rs[i])
		f.matchResult(at, r.Type, t)
		res := ir.Result{Type: t.val.Type}
		if r.Name != nil {
			if seen[r.Name.Name] || f.isParam(r.Name.Name) {
				f.p.failWith(r.Name.Errorf("the name %s is used twice in the signature", r.Name.Name).WithFix("rename one of them"))
			}
			seen[r.Name.Name] = true
			res.Name = r.Name.Name
		}
		f.f.Results = append(f.f.Results, res)
		vs = append(vs, t.val)
	}
	f.top().terminate("return", loc(at), vs)
	f.collectExistentials()
}

func (f *fnState) isParam(name string) bool {
	for _, p := range f.f.Params {
		if p.Value.Name == name {
			return true
		}
	}
	return false
}

// materialise makes a tensor of a scalar parameter that is returned as it is.
func (f *fnState) materialise(at syntax.Node, t result) result {
	if t.scalar == nil {
		return t
	}
	top := f.top()
	c := top.child()
	c.yield(at, c.storable(at, *t.scalar))
	v := top.comp(at, c, nil, nil, nil, nil, "y")[0]
	return &tensor{val: v, elem: ir.ElemOf(v.Type)}
}

// matchResult holds a value against a declared result type.
func (f *fnState) matchResult(at syntax.Node, t *syntax.Type, v result) {
	if patternKinds[t.Name.Name] || quantKinds[t.Name.Name] {
		f.p.failWith(t.Errorf("a result is a dense tensor or an edge tensor").
			WithFix("return the values: f32[nnz(A)] on the entries of a pattern, f32[N, K] of a quantised tensor"))
	}
	if e := stored(f.elem(t.Name)); e != v.elem {
		f.p.failWith(at.Errorf("the result is %s, and %s is declared", v.elem, e).WithNote(t.At(), "declared here").
			WithFix("cast it: %s(...), or change the declaration", e))
	}
	storage, _ := ir.DimsOf(v.val.Type)
	subs := typeDims(t)
	f.edgeFirst(subs)
	if len(subs) == len(v.axes) && len(subs) != len(storage) {
		f.p.failWith(at.Errorf("the result is an edge tensor").WithFix("declare it as %s[nnz(A), ..]", v.elem))
	}
	if len(subs) != len(storage) {
		f.p.failWith(at.Errorf("the result has rank %d, and rank %d is declared", len(storage), len(subs)).
			WithNote(t.At(), "declared here").WithFix("make the two agree"))
	}
	for i, sub := range subs {
		f.matchDim(at, sub, storage[i])
	}
}

// matchDim holds a dim against a declared one; a name that nothing has bound
// yet stands for whatever the dim is.
func (f *fnState) matchDim(at syntax.Node, sub *syntax.Sub, actual sym.Expr) {
	if n, ok := syntax.Unparen(sub.X).(*syntax.Name); ok && f.scope.find(n.Name) == nil {
		f.scope.names[n.Name] = &binding{kind: bindDim, at: n, expr: actual}
		if name, isName := actual.IsName(); isName && f.exists[name] {
			f.renameExistential(name, n.Name)
		}
		return
	}
	want := f.dimExpr(sub, false)
	if id, ok := want.IsNNZ(); ok {
		if got, ok := actual.IsNNZ(); !ok || got != id {
			f.p.failWith(at.Errorf("the result is not an edge tensor of the declared pattern").WithNote(sub.At(), "declared here"))
		}
		return
	}
	f.equate(at, want, actual, " in the declared result")
}

// renameExistential calls a run-time dim what the signature calls it.
func (f *fnState) renameExistential(old, name string) {
	fresh := f.names.sym(name)
	f.equal[old] = sym.Name(fresh)
	f.scope.names[name] = &binding{kind: bindDim, expr: sym.Name(fresh)}
	f.exists[fresh] = true
	f.factsCache = nil
}

// collectExistentials lists the run-time dims that stand in result types.
func (f *fnState) collectExistentials() {
	have := map[string]bool{}
	for _, r := range f.f.Results {
		dims, _ := ir.DimsOf(f.canonType(r.Type))
		for _, d := range dims {
			for _, n := range d.Names() {
				if f.exists[n] && !have[n] {
					have[n] = true
					f.f.ExDims = append(f.f.ExDims, n)
				}
			}
		}
	}
}
