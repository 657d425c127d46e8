package tn

import (
	"tenon/frontend/tn/syntax"
	"tenon/internal/num"
	"tenon/ir"
	"tenon/ir/sym"
)

// scalarFuncs maps the built-in functions on scalars to their ops.
var scalarFuncs = map[string]string{
	"exp": "exp", "log": "log", "pow": "pow", "tanh": "tanh", "erf": "erf", "sigmoid": "sigmoid", "sin": "sin", "cos": "cos",
	"sqrt": "sqrt", "rsqrt": "rsqrt", "cbrt": "cbrt", "abs": "abs", "floor": "floor", "ceil": "ceil", "trunc": "trunc",
	"round": "round", "sign": "sign", "min": "min", "max": "max", "fma": "fma", "select": "select", "isnan": "isnan",
	"isinf": "isinf", "floordiv": "floordiv", "mod": "mod", "shl": "shl", "shr": "shr", "bitand": "and", "bitor": "or",
	"bitxor": "xor", "bitnot": "not",
}

// scalarArity is the number of operands of a built-in, 1 where absent.
var scalarArity = map[string]int{"pow": 2, "min": 2, "max": 2, "fma": 3, "select": 3, "floordiv": 2, "mod": 2, "shl": 2,
	"shr": 2, "bitand": 2, "bitor": 2, "bitxor": 2}

// floatOnly and intOnly are the built-ins that one kind of number has.
var floatOnly = map[string]bool{"exp": true, "log": true, "pow": true, "tanh": true, "erf": true, "sigmoid": true, "sin": true,
	"cos": true, "sqrt": true, "rsqrt": true, "cbrt": true, "floor": true, "ceil": true, "trunc": true, "round": true,
	"fma": true, "isnan": true, "isinf": true}
var intOnly = map[string]bool{"floordiv": true, "mod": true, "shl": true, "shr": true, "bitand": true, "bitor": true,
	"bitxor": true, "bitnot": true}

// call evaluates a call to a scalar: a cast, a built-in, or a function expanded
// at s.
func (s *site) call(c *syntax.Call, want num.Elem) val {
	name := c.Fn.Name
	if e := s.castType(name); e != num.Invalid {
		return s.castCall(c, e)
	}
	if scalarFuncs[name] != "" {
		return s.builtin(c, want)
	}
	if s.f.isTensorCall(c) {
		return s.tensorCallAsScalar(c)
	}
	vs := s.callScalars(c)
	if len(vs) != 1 {
		s.f.p.failWith(c.Errorf("%s gives %s, and one is needed here", name, count(len(vs), "result")).WithFix("bind them with `let` first"))
	}
	return vs[0]
}

// isScalarCall reports that c calls a function of the program on scalars.
func (s *site) isScalarCall(c *syntax.Call) bool {
	return s.castType(c.Fn.Name) == num.Invalid && scalarFuncs[c.Fn.Name] == "" && !s.f.isTensorCall(c)
}

// callScalars expands a function at s.
func (s *site) callScalars(c *syntax.Call) []val {
	var out []val
	for _, r := range s.f.expandOn(c, s.f.callee(c), s) {
		out = append(out, s.carried(c, *r.scalar))
	}
	return out
}

// tensorCallAsScalar reads the one element of a call that gives rank 0.
func (s *site) tensorCallAsScalar(c *syntax.Call) val {
	t := s.tensorOf(c)
	if len(t.axes) != 0 {
		s.f.p.failWith(c.Errorf("%s gives a tensor of rank %d here, and a scalar is needed", c.Fn.Name, len(t.axes)).
			WithFix("say which element: %s(...)[i]", c.Fn.Name))
	}
	return s.carried(c, val{s.read(c, t, []sym.Expr{}, ir.PolicyError), t.elem})
}

// castType is the element type that name casts to, type parameters included.
func (s *site) castType(name string) num.Elem {
	if e := castElem(name); e != num.Invalid {
		return e
	}
	if b := s.scope.find(name); b != nil && b.kind == bindElem {
		return b.elem
	}
	return num.Invalid
}

func (s *site) castCall(c *syntax.Call, to num.Elem) val {
	if len(c.Args) != 1 || c.Args[0].Name != nil {
		s.f.p.failWith(c.Errorf("a cast takes one value").WithFix("write %s(x)", to))
	}
	x := c.Args[0].X
	if e, ok := s.symbolic(x); ok && !isLiteral(x) {
		if to == num.Index || to == num.I64 {
			return val{s.idx(c, e, to), to}
		}
		return s.roundHere(c, s.cast(c, s.idx(c, e, num.I64), s.carrier(to)), to)
	}
	if isLiteral(x) && isBool(x) == (to == num.Bool) {
		return s.expr(x, to)
	}
	v := s.expr(x, num.Invalid)
	if v.elem == to {
		return v
	}
	return s.roundHere(c, s.cast(c, v.v, to), to)
}

// roundHere brings a value just cast to e into the type that e is computed in.
func (s *site) roundHere(at syntax.Node, v *ir.Value, e num.Elem) val {
	return val{s.cast(at, s.cast(at, v, e), s.carrier(e)), e}
}

func isBool(e syntax.Expr) bool {
	l, ok := syntax.Unparen(e).(*syntax.Lit)
	return ok && l.Kind == syntax.BoolLit
}

func isLiteral(e syntax.Expr) bool {
	switch e := syntax.Unparen(e).(type) {
	case *syntax.Lit:
		return true
	case *syntax.Unary:
		return e.Op == "-" && isLiteral(e.X)
	}
	return false
}

func (s *site) builtin(c *syntax.Call, want num.Elem) val {
	name := c.Fn.Name
	n := max(1, scalarArity[name])
	if len(c.Args) != n {
		s.f.p.failWith(c.Errorf("%s takes %s, and %d given", name, count(n, "operand"), len(c.Args)))
	}
	for _, a := range c.Args {
		if a.Name != nil {
			s.f.p.failWith(a.Errorf("%s takes its operands by position", name).WithFix("leave out `%s=`", a.Name.Name))
		}
	}
	if e, ok := s.symbolic(c); ok && s.peek(c) == num.Index {
		return val{s.idx(c, e, num.Index), num.Index}
	}
	if name == "select" {
		cond := s.exprOf(c.Args[0].X, num.Bool)
		a, b := s.pair(c, c.Args[1].X, c.Args[2].X, want)
		return val{s.scalar(c, "select", cond.v, a.v, b.v), a.elem}
	}
	if name == "isnan" || name == "isinf" {
		want = num.Invalid
	}
	vs, elem := s.operands(c, want)
	s.checkKind(c, name, elem)
	v := s.scalar(c, scalarFuncs[name], vs...)
	if name == "isnan" || name == "isinf" {
		return val{v, num.Bool}
	}
	return val{v, elem}
}

// operands evaluates the operands of a built-in to one type.
func (s *site) operands(c *syntax.Call, want num.Elem) ([]*ir.Value, num.Elem) {
	elem := num.Invalid
	for _, a := range c.Args {
		if elem == num.Invalid {
			elem = s.peek(a.X)
		}
	}
	if elem == num.Invalid {
		elem = want
	}
	var vs []*ir.Value
	for _, a := range c.Args {
		v := s.expr(a.X, elem)
		if elem == num.Invalid {
			elem = v.elem
		}
		if v.elem != elem {
			s.f.p.failWith(a.Errorf("the operands of %s are %s and %s", c.Fn.Name, elem, v.elem).
				WithExpected("one type; nothing is converted silently").WithFix("cast one of them: %s(...)", wider(elem, v.elem)))
		}
		vs = append(vs, v.v)
	}
	return vs, elem
}

func (s *site) checkKind(c *syntax.Call, name string, elem num.Elem) {
	switch {
	case floatOnly[name] && !elem.IsFloat():
		s.f.p.failWith(c.Errorf("%s of %s is not defined", name, elem).WithExpected("a float").WithFix("cast the operand: %s(f32(...))", name))
	case intOnly[name] && !elem.IsInt() && !(elem == num.Bool && name[:3] == "bit"):
		s.f.p.failWith(c.Errorf("%s of %s is not defined", name, elem).WithExpected("an integer"))
	case elem == num.Bool && name[:3] != "bit":
		s.f.p.failWith(c.Errorf("%s of bool is not defined", name).WithFix("use and, or, not, select"))
	}
}

func (s *site) peekCall(c *syntax.Call) num.Elem {
	if e := s.castType(c.Fn.Name); e != num.Invalid {
		return e
	}
	switch name := c.Fn.Name; {
	case name == "isnan" || name == "isinf":
		return num.Bool
	case scalarFuncs[name] != "":
		args := c.Args
		if name == "select" && len(args) == 3 {
			args = args[1:]
		}
		for _, a := range args {
			if e := s.peek(a.X); e != num.Invalid {
				return e
			}
		}
		return num.Invalid
	case tensorFuncs[name] != nil:
		return num.Invalid
	}
	if d := s.f.p.decls[c.Fn.Name]; d != nil {
		if n, ok := d.node.(*syntax.Fn); ok && len(n.Results) == 1 {
			return s.peekResult(c, n)
		}
	}
	return num.Invalid
}

// peekResult is the type of a function's result at a call.
func (s *site) peekResult(c *syntax.Call, n *syntax.Fn) num.Elem {
	name := n.Results[0].Type.Name.Name
	if e := castElem(name); e != num.Invalid {
		if n.Results[0].Type.Dims != nil {
			return stored(e)
		}
		return e
	}
	for i, p := range n.Params {
		if p.Type.Name.Name == name && i < len(c.Args) && c.Args[i].Name == nil {
			if e := s.peek(c.Args[i].X); e != num.Invalid {
				return e
			}
		}
	}
	return num.Invalid
}

// callee finds the fn that a call names.
func (f *fnState) callee(c *syntax.Call) *decl {
	d := f.p.decls[c.Fn.Name]
	if d == nil {
		e := c.Fn.Errorf("no function %s", c.Fn.Name).WithExpected("a fn of this file, of an import or of the prelude, or a built-in")
		if near := nearest(c.Fn.Name, f.callable()); near != "" {
			e.WithFix("did you mean %s?", near)
		}
		f.p.failWith(e)
	}
	if _, ok := d.node.(*syntax.Monoid); ok {
		f.p.failWith(c.Fn.Errorf("%s is a monoid, not a fn", c.Fn.Name).WithFix("a monoid reduces: %s[i] x[i]", c.Fn.Name))
	}
	if _, ok := d.node.(*syntax.Fn); !ok {
		f.p.failWith(c.Fn.Errorf("%s is not a fn", c.Fn.Name).WithFix("a fn calls fns; procs are called by procs"))
	}
	return d
}

// callable are the names of all functions that a fn can call.
func (f *fnState) callable() []string {
	var names []string
	for _, k := range sortedKeys(f.p.decls) {
		if _, ok := f.p.decls[k].node.(*syntax.Fn); ok {
			names = append(names, k)
		}
	}
	return append(append(names, sortedKeys(scalarFuncs)...), sortedKeys(tensorFuncs)...)
}

// isTensorCall reports that a call works on whole tensors: some argument is
// one, or the function makes tensors of its own accord.
func (f *fnState) isTensorCall(c *syntax.Call) bool {
	if f.top().castType(c.Fn.Name) != num.Invalid || scalarFuncs[c.Fn.Name] != "" {
		return false
	}
	if tensorFuncs[c.Fn.Name] != nil {
		return true
	}
	for _, a := range c.Args {
		switch x := syntax.Unparen(a.X).(type) {
		case *syntax.Name:
			b := f.scope.find(x.Name)
			if b != nil && (b.kind == bindPattern || b.kind == bindTensor && len(b.tensor.axes) > 0) {
				return true
			}
		case *syntax.Call:
			if f.isTensorCall(x) {
				return true
			}
		}
	}
	return false
}

// callKey names a call in one scope; the same text expanded twice is two calls.
type callKey struct {
	c     *syntax.Call
	scope *scope
}

// callTensors does a call on whole tensors, once per place.
func (f *fnState) callTensors(c *syntax.Call) []*tensor {
	key := callKey{c, f.scope}
	if rs := f.calls[key]; rs != nil {
		return rs
	}
	var rs []*tensor
	if build := tensorFuncs[c.Fn.Name]; build != nil {
		rs = build(f, c)
	} else {
		d := f.callee(c)
		if f.isOwn(d) && !hasAxisArg(c) {
			rs = f.callOwn(c, d)
		}
		if rs == nil {
			rs = f.expandOn(c, d, nil)
		}
	}
	f.calls[key] = rs
	return rs
}

// isOwn reports that d becomes a func of the module, which can be called.
func (f *fnState) isOwn(d *decl) bool {
	n := d.node.(*syntax.Fn)
	return d.origin == declOwn && len(n.TypeParams) == 0 && !hasPacks(n)
}

func hasAxisArg(c *syntax.Call) bool {
	for _, a := range c.Args {
		if a.Name != nil && a.Name.Name == "axis" {
			return true
		}
	}
	return false
}

// callOwn emits a tensor.call of a func of the file. nil: the callee needs
// expansion (scalars, patterns or run-time sizes are involved).
func (f *fnState) callOwn(c *syntax.Call, d *decl) []*tensor {
	callee := f.p.function(d, c.Fn)
	if f.p.faulty[d] {
		panic(abort{})
	}
	if len(callee.ExDims) > 0 || len(c.Args) != len(callee.Params) {
		return nil
	}
	bind := f.calleeDims()
	var args []ir.Arg
	for i, p := range callee.Params {
		n, ok := syntax.Unparen(c.Args[i].X).(*syntax.Name)
		t, dense := p.Value.Type.(ir.Tensor)
		if c.Args[i].Name != nil || !ok || !dense || t.Enc != nil {
			return nil
		}
		b := f.scope.find(n.Name)
		if b == nil || b.kind != bindTensor || b.tensor.scalar != nil || len(b.tensor.axes) != len(t.Dims) || b.tensor.elem != t.Elem {
			return nil
		}
		bind.bind(c.Args[i], t.Dims, b.tensor)
		args = append(args, ir.ValueArg(b.tensor.val))
	}
	bind.hold(c, callee)
	var types []ir.Type
	for _, r := range callee.Results {
		t := r.Type.(ir.Tensor)
		dims := make([]sym.Expr, len(t.Dims))
		for i, x := range t.Dims {
			dims[i] = f.canon(bind.of(x))
		}
		types = append(types, ir.Tensor{Elem: t.Elem, Dims: dims})
	}
	op := ir.NewOp("tensor.call", loc(c), &ir.Attr{Value: ir.AttrItem, Str: callee.Name}, &ir.Operands{Args: args})
	var out []*tensor
	for _, v := range f.top().emit(op, types, d.name).Results {
		t := v.Type.(ir.Tensor)
		out = append(out, &tensor{val: v, elem: t.Elem, axes: denseDims(f, t.Dims)})
	}
	return out
}

// require makes a callee's fact, which it writes as text, hold at a call.
func (f *fnState) require(at syntax.Node, c sym.Cond, callee, text string) {
	c = sym.Cond{L: f.canon(c.L), Rel: c.Rel, R: f.canon(c.R)}
	if f.facts().Prove(c.Not()) {
		f.p.failWith(at.Errorf("%s needs %s, and here that is %s", callee, text, shownCond(c)).WithFix("call it with other sizes"))
	}
	if f.runtime(c.L) || f.runtime(c.R) {
		if !f.facts().Prove(c) {
			f.check(at, c)
		}
		return
	}
	f.declare(c)
}
