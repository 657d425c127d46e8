package tn

import (
	"tenon/frontend/tn/syntax"
	"tenon/internal/num"
	"tenon/ir"
	"tenon/ir/sym"
)

// procedure elaborates a proc into a proc at loop level, once; at is the place
// that needs it.
func (p *program) procedure(d *decl, at syntax.Node) *ir.Func {
	if f := p.funcs[d]; f != nil {
		return f
	}
	n := d.node.(*syntax.Proc)
	p.enterCall(at, d)
	fn := &ir.Func{IsProc: true, Level: ir.LevelLoop, Name: n.Name.Name, Loc: loc(n.Name), Body: &ir.Region{}}
	f := newFnState(p, fn)
	if len(n.TypeParams) > 0 {
		p.failWith(n.TypeParams[0].Errorf("a proc has no type parameters").
			WithFix("write the element type, or one proc for each type"))
	}
	f.declareDims(n.Params)
	for _, prm := range n.Params {
		if !p.try(func() { f.param(prm, true) }) {
			f.scope.names[prm.Name.Name] = &binding{kind: bindBroken, at: prm}
		}
	}
	p.try(func() { f.where(n.Where) })
	p.try(func() { f.directives(d.item.Directives) })
	f.statements(n.Body.Stmts)
	f.top().terminate("return", loc(n.Name), nil)
	p.stack = p.stack[:len(p.stack)-1]
	f.settle()
	p.funcs[d] = fn
	return fn
}

// loopDirectives are the directives that belong to the loop behind them; the
// others are the proc's.
var loopDirectives = map[string]bool{"parallel": true, "tile": true, "pipeline": true, "reduce": true, "fixed": true}

// statements runs the statements of a proc; each error spoils its statement
// alone.
func (f *fnState) statements(list []syntax.Stmt) {
	var pending []*syntax.Directive
	for _, st := range list {
		if d, ok := st.(*syntax.Directive); ok {
			if loopDirectives[d.Name.Name] {
				pending = append(pending, d)
			} else {
				f.p.try(func() { f.directives([]*syntax.Directive{d}) })
			}
			continue
		}
		if !f.p.try(func() { f.procStatement(st, pending) }) {
			f.brokenLocal(st)
		}
		pending = nil
	}
	for _, d := range pending {
		f.p.try(func() {
			f.p.failWith(d.Errorf("no loop follows the directive @%s", d.Name.Name).WithFix("put it before the `for` it means"))
		})
	}
}

func (f *fnState) brokenLocal(st syntax.Stmt) {
	switch st := st.(type) {
	case *syntax.Local:
		f.scope.names[st.Name.Name] = &binding{kind: bindBroken, at: st}
	case *syntax.Var:
		f.scope.names[st.Name.Name] = &binding{kind: bindBroken, at: st}
	}
}

func (f *fnState) procStatement(st syntax.Stmt, ds []*syntax.Directive) {
	if _, isFor := st.(*syntax.For); !isFor && len(ds) > 0 {
		f.p.failWith(ds[0].Errorf("no loop follows the directive @%s", ds[0].Name.Name).WithFix("put it before the `for` it means"))
	}
	switch st := st.(type) {
	case *syntax.For:
		f.ofLoop(ds, st)
		f.forLoop(st.Ranges, st.Body, ds)
	case *syntax.If:
		f.ifElse(st, st.Cond, st.Then, st.Elifs, st.Else)
	case *syntax.Assign:
		f.assign(st)
	case *syntax.Local:
		f.local(st)
	case *syntax.Var:
		f.variable(st)
	case *syntax.CallStmt:
		f.callProc(st)
	default:
		f.p.failWith(st.Errorf("this statement cannot stand in a proc"))
	}
}

// nested runs f's statements in a region of their own and returns it.
func (f *fnState) nested(body func()) *ir.Region {
	outer, names, scope, known := f.region, f.names, f.scope, f.known
	f.region, f.names, f.scope = &ir.Region{}, f.names.child(), f.scope.child()
	defer func() { f.region, f.names, f.scope, f.known, f.factsCache = outer, names, scope, known, nil }()
	body()
	return f.region
}

func (f *fnState) forLoop(ranges []*syntax.Range, body *syntax.ProcBody, ds []*syntax.Directive) {
	r := ranges[0]
	if r.Hi == nil {
		f.p.failWith(r.Errorf("a loop runs over a range").WithFix("write `for %s in 0..N`", r.Name.Name))
	}
	top := f.top()
	rng := &ir.Range{Lo: f.loopBound(r.Lo), Hi: f.loopBound(r.Hi), Step: sym.Const(1)}
	if r.Step != nil {
		rng.Step = f.loopBound(r.Step)
		if !top.positive(rng.Step) {
			f.p.failWith(r.Step.Errorf("the step is not known to be positive").WithFix("use a positive constant, and count down inside: N - 1 - i"))
		}
	}
	region := f.nested(func() {
		f.top().checkFree(&syntax.Axis{Span: r.Span, Name: r.Name})
		rng.Name = f.names.sym(r.Name.Name)
		f.exists[rng.Name] = true
		f.scope.names[r.Name.Name] = &binding{kind: bindIndex, at: r, index: &index{name: r.Name.Name, value: sym.Name(rng.Name), ext: rng.Hi}}
		f.known = append(f.known[:len(f.known):len(f.known)], sym.Le(rng.Lo, sym.Name(rng.Name)), sym.Lt(sym.Name(rng.Name), rng.Hi))
		f.factsCache = nil
		if len(ranges) > 1 {
			f.forLoop(ranges[1:], body, nil)
		} else {
			f.statements(body.Stmts)
		}
	})
	op := ir.NewOp("loop.for", loc(r), rng, &ir.Block{Region: region})
	if len(ds) > 0 {
		d := &ir.Directives{}
		for _, x := range ds {
			d.List = append(d.List, directiveText(x))
		}
		ir.SetClause(op, "directives", d)
	}
	f.top().emit(op, nil)
}

// loopBound is the end of a loop: an index expression, or a value computed
// before it.
func (f *fnState) loopBound(e syntax.Expr) sym.Expr {
	top := f.top()
	if x, ok := top.symbolic(e); ok {
		return x
	}
	v := top.expr(e, num.Index)
	if !v.elem.IsInt() {
		f.p.failWith(e.Errorf("the end of a range is an integer, and this is %s", v.elem).WithFix("cast it: index(...)"))
	}
	return sym.Val(top.cast(e, v.v, num.Index))
}

// ifElse emits a branch. Conditions over indices stay conditions; others are
// computed and compared with 1.
func (f *fnState) ifElse(at syntax.Node, cond syntax.Expr, then *syntax.ProcBody, elifs []*syntax.Elif, els *syntax.ProcBody) {
	conds := f.conditions(cond)
	region := f.nested(func() { f.statements(then.Stmts) })
	op := ir.NewOp("loop.if", loc(at))
	ir.SetClause(op, "", &ir.Conds{List: conds})
	ir.SetClause(op, "", &ir.Block{Region: region})
	switch {
	case len(elifs) > 0:
		e := elifs[0]
		ir.SetClause(op, "else", &ir.Block{Region: f.nested(func() { f.ifElse(e, e.Cond, e.Then, elifs[1:], els) })})
	case els != nil:
		ir.SetClause(op, "else", &ir.Block{Region: f.nested(func() { f.statements(els.Stmts) })})
	}
	f.top().emit(op, nil)
}

func (f *fnState) conditions(e syntax.Expr) []sym.Cond {
	top := f.top()
	var conds []sym.Cond
	for _, part := range conjuncts(e) {
		c, ok := top.condition(part)
		if !ok {
			conds = nil
			break
		}
		conds = append(conds, c)
	}
	if conds != nil {
		return conds
	}
	v := top.exprOf(e, num.Bool)
	n := top.cast(e, v.v, num.Index)
	return []sym.Cond{sym.Eq(sym.Val(n), sym.Const(1))}
}

// target finds what an assignment writes, and its subscripts.
func (f *fnState) target(a *syntax.Assign) (*tensor, []sym.Expr) {
	n := &syntax.Name{Span: a.Name.Span, Name: a.Name.Name}
	b := f.top().lookup(n)
	if b.kind != bindTensor && b.kind != bindVar {
		f.unassignable(a.Name, b)
	}
	if b.kind == bindTensor && f.readOnly(b.tensor.val) {
		f.p.failWith(a.Name.Errorf("%s is an `in` parameter", a.Name.Name).WithNote(b.at.At(), "declared here").
			WithFix("declare it `inout` or `out`"))
	}
	var list []*syntax.Sub
	if a.Dims != nil {
		list = a.Dims.List
	}
	if len(list) != len(b.tensor.axes) {
		f.p.failWith(a.Errorf("%s for a buffer of rank %d", count(len(list), "subscript"), len(b.tensor.axes)).WithExpected("one subscript a dim"))
	}
	var subs []sym.Expr
	for _, s := range list {
		if s.Pack != "" {
			f.p.failWith(s.Errorf("a proc has no packs"))
		}
		subs = append(subs, f.top().computedSub(s.X))
	}
	f.top().inRange(list, b.tensor, subs, "count from 0")
	return b.tensor, subs
}

// unassignable refuses an assignment to what is no buffer and no var.
func (f *fnState) unassignable(id *syntax.Ident, b *binding) {
	e := id.Errorf("%s cannot be assigned", id.Name).WithExpected("a buffer or a `var`")
	switch _, isLocal := b.at.(*syntax.Local); {
	case b.kind == bindIndex:
		e.WithFix("a loop sets its index: compute another value, `let k = ..`")
	case b.kind == bindDim:
		e.WithFix("a size is given at the call, and stays")
	case isLocal:
		e.WithFix("declare it with `var %s: %s = ..`", id.Name, b.scalar.elem)
	case b.kind == bindScalar:
		e.WithFix("copy the parameter: `var v: %s = %s`", b.scalar.elem, id.Name)
	}
	f.p.failWith(e)
}

func (f *fnState) readOnly(v *ir.Value) bool {
	for _, p := range f.f.Params {
		if p.Value == v {
			return p.Mode == ir.ModeIn
		}
	}
	return false
}

func (f *fnState) assign(a *syntax.Assign) {
	t, subs := f.target(a)
	top := f.top()
	v := top.expr(a.X, t.elem)
	if v.elem != t.elem {
		top.mismatch(a.X, v.elem, t.elem)
	}
	if op := a.Op[:len(a.Op)-1]; op != "" {
		name := binaryOps[op][1]
		if t.elem.IsFloat() {
			name = binaryOps[op][0]
		}
		if name == "" || t.elem == num.Bool {
			e := a.Errorf("%s= of %s is not defined", op, t.elem)
			if t.elem == num.Bool {
				e.WithFix("use `and`, `or`, `not`, `==`")
			} else {
				e.WithFix("write x - y * floor(x / y)")
			}
			f.p.failWith(e)
		}
		v.v = top.scalar(a, name, top.load(a, t, subs, ir.PolicyError), v.v)
	}
	top.store(a, v.v, t, subs)
}

func (s *site) store(at syntax.Node, v *ir.Value, t *tensor, subs []sym.Expr) {
	op := ir.NewOp("store", loc(at), &ir.Operands{Args: []ir.Arg{ir.ValueArg(v), ir.ElemArg(t.val, subs...)}})
	s.region.Ops = append(s.region.Ops, op)
}

// load reads an element of a buffer. zero and clamp are done as in a comp.
func (s *site) load(at syntax.Node, t *tensor, subs []sym.Expr, policy ir.Policy) *ir.Value {
	if policy != ir.PolicyError {
		return s.point(at, func(c *site) *ir.Value {
			c.buffers = false
			return c.read(at, t, subs, policy)
		})
	}
	op := ir.NewOp("load", loc(at), &ir.Operands{Args: []ir.Arg{ir.ElemArg(t.val, subs...)}})
	return s.emit(op, nil, readName(t.val.Name)).Results[0]
}

func (f *fnState) local(l *syntax.Local) {
	f.checkLocal(l, l.Name)
	v := f.top().expr(l.Value, num.Invalid)
	f.scope.names[l.Name.Name] = &binding{kind: bindScalar, at: l, scalar: v}
}

func (f *fnState) checkLocal(at syntax.Node, id *syntax.Ident) {
	if b := f.scope.find(id.Name); b != nil && b.kind != bindBroken {
		e := id.Errorf("%s is bound already", id.Name).WithFix("choose another name")
		if b.at != nil {
			e.WithNote(b.at.At(), "here")
		}
		f.p.failWith(e)
	}
}

// variable makes a buffer of the proc's own: rank 0 for a scalar. It starts at
// its value, or at zero.
func (f *fnState) variable(v *syntax.Var) {
	f.checkLocal(v, v.Name)
	e := f.elem(v.Type.Name)
	var dims []sym.Expr
	kind := bindVar
	if v.Type.Dims != nil {
		dims, kind = f.dims(v.Type.Dims.List, false), bindTensor
	}
	top := f.top()
	start := num.Cell(0)
	var init *ir.Value
	if v.Value != nil {
		x := top.expr(v.Value, e)
		if x.elem != e {
			top.mismatch(v.Value, x.elem, e)
		}
		init = x.v
	}
	buf := top.emit(ir.NewOp("loop.alloc", loc(v)), []ir.Type{ir.Buf{Elem: e, Dims: dims}}, v.Name.Name).Results[0]
	t := &tensor{val: buf, elem: e, axes: denseDims(f, dims), buf: true}
	f.fill(v, t, e, start, init)
	f.scope.names[v.Name.Name] = &binding{kind: kind, at: v, tensor: t}
}

// fill writes one value to every element.
func (f *fnState) fill(at syntax.Node, t *tensor, e num.Elem, cell num.Cell, init *ir.Value) {
	top := f.top()
	if len(t.axes) == 0 {
		if init == nil {
			init = top.constant(at, e, cell)
		}
		top.store(at, init, t, []sym.Expr{})
		return
	}
	c := top.child()
	var par []*index
	out := ir.Out{Buf: t.val}
	for _, d := range t.axes {
		ix := c.denseAxis("i", d.ext)
		par, out.Subs = append(par, ix), append(out.Subs, ix.value)
	}
	if init == nil {
		init = c.constant(at, e, cell)
	}
	c.yield(at, init)
	op := ir.NewOp("tensor.comp", loc(at))
	ir.SetClause(op, "par", axesClause(par))
	ir.SetClause(op, "out", &ir.Outs{List: []ir.Out{out}})
	ir.SetClause(op, "", &ir.Block{Region: c.region})
	top.emit(op, nil)
}

// callProc emits a call of another proc of the file.
func (f *fnState) callProc(c *syntax.CallStmt) {
	d := f.p.decls[c.Name.Name]
	n, ok := (*syntax.Proc)(nil), false
	if d != nil {
		n, ok = d.node.(*syntax.Proc)
	}
	if !ok && d != nil {
		f.p.failWith(c.Name.Errorf("%s is not a proc: it gives a value, and writes nothing", c.Name.Name).
			WithFix("use the value: A[i] = %s(..)", c.Name.Name))
	}
	if !ok || d.origin != declOwn {
		f.p.failWith(c.Name.Errorf("no proc %s in this file", c.Name.Name).WithFix("define it here; a proc calls procs of its own file"))
	}
	callee := f.p.procedure(d, c.Name)
	if len(c.Args) != len(n.Params) {
		f.p.failWith(c.Errorf("%s takes %s, and %d given", c.Name.Name, count(len(n.Params), "argument"), len(c.Args)).WithNote(n.Name.At(), "declared here"))
	}
	top := f.top()
	bind := f.calleeDims()
	ops := &ir.Operands{}
	for i, p := range callee.Params {
		a := c.Args[i]
		if a.Name != nil {
			f.p.failWith(a.Errorf("a proc takes its arguments by position"))
		}
		if sc, isScalar := p.Value.Type.(ir.Scalar); isScalar {
			v := top.exprOf(a.X, sc.Elem)
			ops.Args = append(ops.Args, ir.ValueArg(v.v))
			bind.refs[p.Value] = sym.Val(v.v)
			if x, ok := top.symbolic(a.X); ok {
				bind.refs[p.Value] = x
			}
			continue
		}
		ops.Args = append(ops.Args, ir.ValueArg(f.bufferArg(a, p, bind)))
	}
	f.apart(c, callee, ops.Args)
	bind.hold(c, callee)
	f.top().emit(ir.NewOp("loop.call", loc(c), &ir.Attr{Value: ir.AttrItem, Str: callee.Name}, ops), nil)
}

// apart refuses a buffer that is passed twice and written.
func (f *fnState) apart(c *syntax.CallStmt, callee *ir.Func, args []ir.Arg) {
	first := map[*ir.Value]int{}
	for i, a := range args {
		if _, scalar := callee.Params[i].Value.Type.(ir.Scalar); scalar {
			continue
		}
		k, twice := first[a.Value]
		if twice && (callee.Params[i].Mode != ir.ModeIn || callee.Params[k].Mode != ir.ModeIn) {
			f.p.failWith(c.Args[i].Errorf("%s is passed twice, and %s writes it", exprText(c.Args[i].X), c.Name.Name).
				WithNote(c.Args[k].At(), "the other place").WithFix("two buffers must not overlap: pass a copy, `var t: ..`"))
		}
		first[a.Value] = i
	}
}

// bufferArg checks a buffer passed to a proc.
func (f *fnState) bufferArg(a *syntax.Arg, p *ir.Param, bind *calleeDims) *ir.Value {
	want := p.Value.Type.(ir.Buf)
	name, ok := syntax.Unparen(a.X).(*syntax.Name)
	var b *binding
	if ok {
		b = f.top().lookup(name)
	}
	if b == nil || b.kind != bindTensor && b.kind != bindVar {
		f.p.failWith(a.Errorf("a buffer is passed whole, by name"))
	}
	if b.tensor.elem != want.Elem || len(b.tensor.axes) != len(want.Dims) {
		f.p.failWith(a.Errorf("the parameter %s is %s, and %s is passed", p.Value.Name, bufText(want), bufText(b.tensor.val.Type.(ir.Buf))))
	}
	if p.Mode != ir.ModeIn && f.readOnly(b.tensor.val) {
		f.p.failWith(a.Errorf("%s is an `in` parameter, and the call writes it", name.Name).WithFix("declare it `inout`"))
	}
	bind.bind(a, want.Dims, b.tensor)
	return b.tensor.val
}
