package tn

import (
	"tenon/frontend/tn/syntax"
	"tenon/internal/num"
	"tenon/ir"
	"tenon/ir/sym"
)

// carryLoop elaborates `for t in lo..hi carry s[n] = init { .. next .. stack .. }`
// and returns the last carried values, then the stacked ones.
func (f *fnState) carryLoop(l *syntax.CarryLoop) []result {
	cl := &carryLoop{f: f, l: l, next: map[string]*syntax.Next{}, carried: map[string]bool{}, inner: map[string]bool{}}
	f.top().checkFree(&syntax.Axis{Span: l.Range.Span, Name: l.Range.Name})
	cl.collect()
	inits := cl.inits()
	outer, outerNames, outerScope, known, region := f.region, f.names, f.scope, f.known, &ir.Region{}
	rng := cl.rangeClause()
	f.region, f.names, f.scope = region, f.names.child(), f.scope.child()
	leave := func() { // what holds in an iteration does not hold where there is none
		f.region, f.names, f.scope, f.known, f.factsCache = outer, outerNames, outerScope, known, nil
	}
	defer leave()

	cl.bindIndex(rng)
	params := cl.bindCarried(inits)
	stacked, ok := cl.body()
	if !ok {
		panic(abort{})
	}
	nexts := cl.nextValues(inits)
	cl.yield(nexts, stacked)

	leave()
	op := ir.NewOp("loop.for", loc(l), rng, &ir.Carry{Params: params, Inits: values(inits)}, &ir.Block{Region: region})
	return cl.results(op, inits, stacked)
}

type carryLoop struct {
	f       *fnState
	l       *syntax.CarryLoop
	next    map[string]*syntax.Next
	carried map[string]bool
	inner   map[string]bool // the carried names and those bound in the body
	stack   []*syntax.Ident
	trip    sym.Expr
	index   *index
}

// collect finds the next and stack statements.
func (cl *carryLoop) collect() {
	p := cl.f.p
	carried := cl.carried
	for _, c := range cl.l.Carry {
		if carried[c.Target.Name.Name] {
			p.fail(c, "%s is carried twice", c.Target.Name.Name)
		}
		carried[c.Target.Name.Name] = true
		cl.inner[c.Target.Name.Name] = true
	}
	for _, st := range cl.l.Body.Stmts {
		switch st := st.(type) {
		case *syntax.Next:
			name := st.Target.Name.Name
			if !carried[name] {
				p.failWith(st.Errorf("%s is not carried", name).WithFix("add it after `carry`"))
			}
			if old := cl.next[name]; old != nil {
				p.failWith(st.Errorf("%s has a next value already", name).WithNote(old.At(), "here"))
			}
			cl.next[name] = st
		case *syntax.Let:
			for _, t := range st.Targets {
				cl.inner[t.Name.Name] = true
			}
		case *syntax.Stack:
			cl.stack = append(cl.stack, st.Names...)
		case *syntax.Return:
			p.failWith(st.Errorf("a loop does not return").WithFix("its values are the last carried ones, then the stacked ones"))
		}
	}
}

// inits evaluates the initial values.
func (cl *carryLoop) inits() []result {
	var out []result
	for _, c := range cl.l.Carry {
		out = append(out, cl.init(c))
	}
	return out
}

func (cl *carryLoop) init(c *syntax.CarryInit) result {
	f := cl.f
	next := cl.next[c.Target.Name.Name]
	if !c.Target.Indexed {
		if rs := f.wholeTensors(c.Value, nil); len(rs) == 1 {
			return f.materialise(c, rs[0])
		}
	}
	top := f.top()
	s := top.child()
	exprs := []syntax.Expr{c.Value}
	if next != nil {
		exprs = append(exprs, next.Value)
	}
	s.scope.names[cl.l.Range.Name.Name] = &binding{kind: bindIndex, index: &index{}}
	r := s.rangesWithout(cl.inner, exprs...)
	delete(s.scope.names, cl.l.Range.Name.Name)
	par := s.bindAxes(c.Target.Index, r)
	want := cl.initElem(s, c)
	return f.finishComp(c.Value, top, s, par, []val{s.expr(c.Value, want)}, []string{c.Target.Name.Name})[0]
}

// initElem is the type of an initial value. That of a literal is the next
// value's, as far as names from outside the loop tell.
func (cl *carryLoop) initElem(s *site, c *syntax.CarryInit) num.Elem {
	want := s.peek(c.Value)
	if want == num.Invalid {
		want = s.peekLoop(cl.l, peekDepth)[c.Target.Name.Name]
	}
	return stored(want)
}

// peekDepth is how deep in loops peekLoop looks; each level is looked at more
// than once from the one around it.
const peekDepth = 5

// peekLoop is the types of what a loop binds, carried values and the body's,
// where they follow from names outside, from one another, or from literals that
// are not the initial ones. A name that is not there takes a literal's type.
func (s *site) peekLoop(l *syntax.CarryLoop, depth int) map[string]num.Elem {
	in := *s
	in.scope = s.scope.child()
	known := map[string]num.Elem{}
	know := func(name string, e num.Elem) (learned bool) {
		if e == num.Invalid || known[name] != num.Invalid {
			return false
		}
		known[name] = stored(e)
		in.scope.names[name] = &binding{kind: bindTensor, tensor: &tensor{elem: stored(e)}}
		return true
	}
	hide := func(name string) { in.scope.names[name] = &binding{kind: bindBroken} }
	for _, c := range l.Carry {
		hide(c.Target.Name.Name)
		know(c.Target.Name.Name, s.peek(c.Value))
	}
	for _, st := range l.Body.Stmts {
		if l, ok := st.(*syntax.Let); ok {
			for _, t := range l.Targets {
				if known[t.Name.Name] == num.Invalid {
					hide(t.Name.Name)
				}
			}
		}
	}
	for learned := true; learned; {
		learned = false
		for _, st := range l.Body.Stmts {
			switch st := st.(type) {
			case *syntax.Let:
				for i, e := range in.peekLet(st, depth) {
					learned = know(st.Targets[i].Name.Name, e) || learned
				}
			case *syntax.Next:
				learned = know(st.Target.Name.Name, in.peek(st.Value)) || learned
			}
		}
	}
	return known
}

// peekLet is the types of the values of a let, Invalid for those unknown.
func (s *site) peekLet(l *syntax.Let, depth int) []num.Elem {
	out := make([]num.Elem, len(l.Targets))
	if l.Loop == nil {
		if len(out) == 1 {
			out[0] = s.peek(l.Value)
		}
		return out
	}
	if depth == 0 {
		return out
	}
	known := s.peekLoop(l.Loop, depth-1)
	names := []string{}
	for _, c := range l.Loop.Carry {
		names = append(names, c.Target.Name.Name)
	}
	for _, st := range l.Loop.Body.Stmts {
		if st, ok := st.(*syntax.Stack); ok {
			for _, id := range st.Names {
				names = append(names, id.Name)
			}
		}
	}
	for i := range out {
		if i < len(names) {
			out[i] = known[names[i]]
		}
	}
	return out
}

func (cl *carryLoop) rangeClause() *ir.Range {
	f, r := cl.f, cl.l.Range
	if r.Hi == nil {
		f.p.failWith(r.Errorf("a carry loop runs over a range").WithFix("write `for t in 0..T carry ...`"))
	}
	top := f.top()
	lo, hi, step := top.bound(r.Lo), top.bound(r.Hi), sym.Const(1)
	if r.Step != nil {
		step = top.bound(r.Step)
		if !top.positive(step) {
			f.p.failWith(r.Step.Errorf("the step is not known to be positive").WithFix("use a positive constant"))
		}
	}
	cl.trip = top.trip(lo, hi, step)
	return &ir.Range{Lo: lo, Hi: hi, Step: step}
}

func (cl *carryLoop) bindIndex(rng *ir.Range) {
	f := cl.f
	id := f.names.sym(cl.l.Range.Name.Name)
	rng.Name = id
	cl.index = &index{name: cl.l.Range.Name.Name, value: sym.Name(id), ext: rng.Hi}
	f.scope.names[cl.l.Range.Name.Name] = &binding{kind: bindIndex, at: cl.l.Range, index: cl.index}
	f.known = append(f.known[:len(f.known):len(f.known)], sym.Le(rng.Lo, sym.Name(id)), sym.Lt(sym.Name(id), rng.Hi))
	f.exists[id] = true
	f.factsCache = nil
}

// bindCarried binds the carried names to the loop's parameters.
func (cl *carryLoop) bindCarried(inits []result) []*ir.Value {
	var params []*ir.Value
	for i, c := range cl.l.Carry {
		t := *inits[i]
		t.val = &ir.Value{Name: cl.f.names.val(c.Target.Name.Name), Type: inits[i].val.Type}
		params = append(params, t.val)
		cl.f.scope.names[c.Target.Name.Name] = &binding{kind: bindTensor, at: c, tensor: &t}
	}
	return params
}

// body runs the statements but next and stack, whose values are taken at the
// end of the iteration.
func (cl *carryLoop) body() (stacked []*syntax.Ident, ok bool) {
	f, ok := cl.f, true
	for _, st := range cl.l.Body.Stmts {
		switch st.(type) {
		case *syntax.Next, *syntax.Stack:
			continue
		}
		if !f.p.try(func() { f.statement(st, nil) }) {
			f.broken(st)
			ok = false
		}
	}
	return cl.stack, ok
}

// nextValues evaluates the next values, all from the old ones.
func (cl *carryLoop) nextValues(inits []result) []result {
	f := cl.f
	out := make([]result, len(inits))
	for i, c := range cl.l.Carry {
		st := cl.next[c.Target.Name.Name]
		if st == nil { // carried unchanged
			out[i] = f.scope.find(c.Target.Name.Name).tensor
			continue
		}
		var axes []*syntax.Axis
		if st.Target.Indexed {
			axes = append([]*syntax.Axis{}, st.Target.Index...)
		}
		rs := f.valuesOf(inits[i].elem, st.Value, axes, []string{c.Target.Name.Name}, nil)
		if len(rs) != 1 {
			f.p.fail(st, "next takes one value, and this is %d", len(rs))
		}
		out[i] = f.materialise(st, rs[0])
		cl.sameShape(st, inits[i], out[i])
	}
	return out
}

func (cl *carryLoop) sameShape(st *syntax.Next, a, b result) {
	name := st.Target.Name.Name
	if a.elem != b.elem {
		cl.f.p.failWith(st.Errorf("%s is carried as %s, and its next value is %s", name, a.elem, b.elem).
			WithFix("cast one of them: %s(...)", a.elem))
	}
	if len(a.axes) != len(b.axes) {
		cl.f.p.fail(st, "%s is carried with rank %d, and its next value has rank %d", name, len(a.axes), len(b.axes))
	}
	for i := range a.axes {
		cl.f.equateDims(st, a.axes[i], b.axes[i], " in the next value of "+name)
	}
}

// yield ends an iteration: the next values, and what is stacked. A stacked
// carried name means its next value.
func (cl *carryLoop) yield(nexts []result, stacked []*syntax.Ident) {
	ops := &ir.Operands{}
	for _, n := range nexts {
		ops.Args = append(ops.Args, ir.ValueArg(n.val))
	}
	op := ir.NewOp("yield", loc(cl.l), ops)
	if len(stacked) > 0 {
		st := &ir.Operands{}
		for _, id := range stacked {
			st.Args = append(st.Args, ir.ValueArg(cl.stackValue(id, nexts).val))
		}
		ir.SetClause(op, "stack", st)
	}
	cl.f.region.Ops = append(cl.f.region.Ops, op)
}

func (cl *carryLoop) stackValue(id *syntax.Ident, nexts []result) result {
	var t result
	for i, c := range cl.l.Carry {
		if c.Target.Name.Name == id.Name {
			t = nexts[i]
		}
	}
	if t == nil {
		b := cl.f.top().lookup(&syntax.Name{Span: id.Span, Name: id.Name})
		if b.kind != bindTensor {
			cl.f.p.failWith(id.Errorf("%s cannot be stacked", id.Name).WithExpected("a carried name or one bound in the loop"))
		}
		t = b.tensor
	}
	if t.isEdge() {
		cl.f.p.failWith(id.Errorf("the edge tensor %s cannot be stacked: its entries come first", id.Name).
			WithFix("stack what is computed from it, with dense dims"))
	}
	return t
}

// results gives the loop's values their types.
func (cl *carryLoop) results(op *ir.Op, inits []result, stacked []*syntax.Ident) []result {
	f := cl.f
	yield := ir.GetClause[*ir.Block](op, "").Region.Last()
	var types []ir.Type
	for _, i := range inits {
		types = append(types, i.val.Type)
	}
	stackVals := yield.OperandValues("stack")
	for _, v := range stackVals {
		t := v.Type.(ir.Tensor)
		types = append(types, ir.Tensor{Elem: t.Elem, Dims: append([]sym.Expr{cl.trip}, t.Dims...)})
	}
	vs := f.top().emit(op, types, "last").Results
	var out []result
	for i, in := range inits {
		t := *in
		t.val = vs[i]
		out = append(out, &t)
	}
	for i, v := range stackVals {
		w := vs[len(inits)+i]
		t := &tensor{val: w, elem: ir.ElemOf(v.Type), axes: []dim{{name: cl.l.Range.Name.Name, ext: cl.trip, row: -1}}}
		for _, d := range v.Type.(ir.Tensor).Dims {
			t.axes = append(t.axes, dim{ext: d, row: -1})
		}
		out = append(out, t)
	}
	return out
}

func values(rs []result) []*ir.Value {
	vs := make([]*ir.Value, len(rs))
	for i, r := range rs {
		vs[i] = r.val
	}
	return vs
}
