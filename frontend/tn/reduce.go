package tn

import (
	"math"
	"slices"

	"tenon/frontend/tn/syntax"
	"tenon/internal/num"
	"tenon/ir"
	"tenon/ir/sym"
)

// builtinReductions are the reductions of the language.
var builtinReductions = map[string]bool{"sum": true, "prod": true, "max": true, "min": true, "mean": true, "any": true,
	"all": true, "argmax": true, "argmin": true, "logsumexp": true}

func (s *site) peekReduce(e *syntax.Reduce) num.Elem {
	switch e.Op.Name {
	case "argmax", "argmin":
		return num.I64
	case "any", "all":
		return num.Bool
	}
	if builtinReductions[e.Op.Name] {
		t := s.peekBody(e)
		if t == num.Index {
			return num.I64
		}
		return t
	}
	if d := s.monoidDecl(e.Op); d != nil {
		return s.f.peekMonoid(d, s.peekBody(e))
	}
	return num.Invalid
}

// peekBody peeks at the body with the reduction's own indices hidden: an index
// may have the name of something outside only if that is an index too.
func (s *site) peekBody(e *syntax.Reduce) num.Elem {
	if e.Body == nil {
		return num.Invalid
	}
	return s.peek(e.Body)
}

// reduceScalar evaluates a reduction to one scalar at s.
func (s *site) reduceScalar(e *syntax.Reduce, want num.Elem) val {
	vs := s.reduce(e, want)
	if len(vs) != 1 {
		s.f.p.failWith(e.Errorf("%s gives %s, and one is needed here", e.Op.Name, count(len(vs), "value")).
			WithFix("bind them: `let a[i], b[i] = %s[..] ...`", e.Op.Name))
	}
	return s.carried(e, vs[0])
}

// reduce evaluates a reduction at s, with its results rounded to their types.
func (s *site) reduce(e *syntax.Reduce, want num.Elem) []val {
	switch e.Op.Name {
	case "mean":
		return []val{s.mean(e, want)}
	case "logsumexp":
		return []val{s.logSumExp(e, want)}
	}
	r := s.reduction(e, want)
	vs := s.comp(e, r.c, nil, r.axes, r.conds, r.by, "r")
	return r.finish(s, e, vs)
}

// noTensor refuses a reduction by the name of a tensor in scope: whoever wrote
// mean[i] may have meant its element.
func (s *site) noTensor(e *syntax.Reduce) {
	b := s.scope.find(e.Op.Name)
	if b != nil && b.kind == bindTensor && len(b.tensor.axes) > 0 && builtinReductions[e.Op.Name] {
		s.f.p.failWith(e.Op.Errorf("`%s[..]` starts a reduction here, and %s is also a tensor", e.Op.Name, e.Op.Name).
			WithFix("give the tensor another name"))
	}
}

// reduction is a reduction whose body has been made, but whose comp has not.
type reduction struct {
	c     *site
	axes  []*index
	conds []sym.Cond
	by    *ir.By
	elems []num.Elem // the program's types of the components
	keep  []int      // which components the expression gives
	after func(s *site, comps []val) []val
}

// sparse reports that r runs over the entries of a pattern's row.
func (r *reduction) sparse() bool {
	return slices.ContainsFunc(r.axes, func(ix *index) bool { return ix.entry != "" })
}

// needsFinish reports that the comp's results are not the reduction's: they are
// rounded, or computed from.
func (r *reduction) needsFinish() bool {
	if r.after != nil {
		return true
	}
	for i, m := range r.by.Monoid.Elems() {
		if m != r.elems[i] {
			return true
		}
	}
	return false
}

// finish brings the comp's results into their types at s.
func (r *reduction) finish(s *site, e *syntax.Reduce, vs []*ir.Value) []val {
	comps := make([]val, len(vs))
	for i, v := range vs {
		if r.after == nil && !contains(r.keep, i) {
			continue
		}
		comps[i] = val{s.cast(e, v, r.elems[i]), r.elems[i]}
	}
	if r.after != nil {
		return r.after(s, comps)
	}
	var out []val
	for _, k := range r.keep {
		out = append(out, comps[k])
	}
	return out
}

func contains(list []int, x int) bool {
	for _, y := range list {
		if x == y {
			return true
		}
	}
	return false
}

// reduction elaborates axes, guards and body of e in a child of s.
func (s *site) reduction(e *syntax.Reduce, want num.Elem) *reduction {
	if !builtinReductions[e.Op.Name] {
		return s.userReduction(e, want)
	}
	r, body := s.domain(e), e.Body
	elem := s.bodyElem(e, r, want)
	if r.c.promoteFor(elem) {
		r.c.promote = true
	}
	v := r.c.expr(body, elem)
	v = r.c.reducible(e, v)
	carrier := ir.ElemOf(v.v.Type)
	ys := []*ir.Value{v.v}
	r.elems, r.keep = []num.Elem{v.elem}, []int{0}
	if e.Op.Name == "argmax" || e.Op.Name == "argmin" {
		ys = append(ys, r.c.position(e, r.axes))
		r.elems, r.keep = []num.Elem{v.elem, num.I64}, []int{1}
	}
	ys, conds := r.c.guard(e, ys, carrier)
	overData := len(conds) < guards(e)
	switch {
	case overData && len(ys) > 1:
		r.after = func(at *site, comps []val) []val { return []val{at.orNone(e, comps[1])} }
	case overData && r.sparse() && (e.Op.Name == "max" || e.Op.Name == "min"):
		r.after = func(at *site, comps []val) []val { return []val{at.orZero(e, r, comps[0])} }
	}
	r.conds = append(r.conds, conds...)
	r.c.yield(e, ys...)
	r.by = s.f.builtinBy(e, e.Op.Name, carrier)
	s.emptyRows(e, r, carrier)
	return r
}

// domain binds the axes of e in a fresh child of s.
func (s *site) domain(e *syntax.Reduce) *reduction {
	if len(e.Axes) == 0 {
		s.f.p.failWith(e.Errorf("%s takes an index to run over", e.Op.Name).WithFix("write for example %s[i] x[i]", e.Op.Name))
	}
	c := s.child()
	if s.buffers {
		c.buffers, c.reads = false, &ir.Reads{}
	}
	scanned := append(rowsOf(e.Axes), e.Body)
	r := c.rangesOf(append(scanned, e.Where...)...)
	axes := c.bindAxes(e.Axes, r)
	if len(axes) == 0 { // an empty pack: one point
		axes = []*index{c.denseAxis("one", sym.Const(1))}
	}
	return &reduction{c: c, axes: axes}
}

// bodyElem is the type to evaluate the body in.
func (s *site) bodyElem(e *syntax.Reduce, r *reduction, want num.Elem) num.Elem {
	elem := r.c.peek(e.Body)
	if e.Op.Name == "any" || e.Op.Name == "all" {
		return num.Bool
	}
	if elem == num.Invalid && e.Op.Name != "argmax" && e.Op.Name != "argmin" {
		elem = want
	}
	return elem
}

func (s *site) promoteFor(e num.Elem) bool { return e == num.F16 || e == num.BF16 }

// reducible checks the body's type against the reduction.
func (s *site) reducible(e *syntax.Reduce, v val) val {
	op := e.Op.Name
	switch {
	case op == "any" || op == "all":
		if v.elem != num.Bool {
			s.mismatch(e.Body, v.elem, num.Bool)
		}
	case v.elem == num.Bool:
		s.f.p.failWith(e.Body.Errorf("%s is for numbers", op).WithFix("count with %s[..] select(c, 1, 0), or use any, all", op))
	case v.elem == num.Index:
		return val{s.cast(e.Body, v.v, num.I64), num.I64}
	}
	return v
}

// position is the index that argmax and argmin report: that of the axis, the
// column of a sparse row, the row-major position over several axes.
func (s *site) position(e *syntax.Reduce, axes []*index) *ir.Value {
	if len(axes) == 1 {
		return s.idx(e, axes[0].value, num.I64)
	}
	pos := sym.Const(0)
	for _, ix := range axes {
		if ix.entry != "" {
			s.f.p.failWith(e.Errorf("%s over the entries of a row takes that axis alone", e.Op.Name))
		}
		pos = sym.Add(sym.Mul(pos, ix.ext), sym.Name(ix.axis.Name))
	}
	if s.f.multiplies(pos) {
		return s.computedPosition(e, axes)
	}
	return s.idx(e, pos, num.I64)
}

// computedPosition is the row-major position over axes whose extents are
// scalars of the function.
func (s *site) computedPosition(e *syntax.Reduce, axes []*index) *ir.Value {
	pos := s.constant(e, num.I64, 0)
	for _, ix := range axes {
		pos = s.scalar(e, "mul", pos, s.idx(e, ix.ext, num.I64))
		pos = s.scalar(e, "add", pos, s.idx(e, sym.Name(ix.axis.Name), num.I64))
	}
	return pos
}

// guard turns the guards of e into conditions. One that depends on data keeps
// the point and yields the neutral element instead, which folds away.
func (s *site) guard(e *syntax.Reduce, ys []*ir.Value, carrier num.Elem) ([]*ir.Value, []sym.Cond) {
	var conds []sym.Cond
	for _, w := range e.Where {
		for _, part := range conjuncts(w) {
			if c, ok := s.condition(part); ok {
				conds = append(conds, c)
				continue
			}
			cond := s.exprOf(part, num.Bool)
			neutral := s.neutral(e.Op.Name, part, carrier)
			ys[0] = s.scalar(part, "select", cond.v, ys[0], neutral)
			if len(ys) > 1 {
				ys[1] = s.scalar(part, "select", cond.v, ys[1], s.nowhere(part))
			}
		}
	}
	return ys, conds
}

// guards counts the guards of e.
func guards(e *syntax.Reduce) int {
	n := 0
	for _, w := range e.Where {
		n += len(conjuncts(w))
	}
	return n
}

// nowhere is the position of a point that a guard over data takes out: behind
// all others.
func (s *site) nowhere(at syntax.Node) *ir.Value {
	return s.constant(at, num.I64, num.FromInt(math.MaxInt64))
}

// orNone is a position, or -1 where guards over data left no point.
func (s *site) orNone(at syntax.Node, v val) val {
	none := s.scalar(at, "eq", v.v, s.nowhere(at))
	return val{s.scalar(at, "select", none, s.constant(at, num.I64, num.FromInt(-1)), v.v), v.elem}
}

// orZero is the maximum or minimum over a row's entries, or 0 where guards over
// data left none of them, as for a row without entries.
func (s *site) orZero(e *syntax.Reduce, r *reduction, v val) val {
	none := s.scalar(e, "eq", s.count(e, r), s.constant(e, num.I64, 0))
	return val{s.scalar(e, "select", none, s.constant(e, s.carrier(v.elem), 0), s.carried(e, v).v), v.elem}
}

// neutral is the neutral element of a built-in reduction.
func (s *site) neutral(op string, at syntax.Node, elem num.Elem) *ir.Value {
	switch op {
	case "sum":
		return s.floatConst(at, elem, 0)
	case "prod":
		return s.floatConst(at, elem, 1)
	case "any", "all":
		return s.constant(at, num.Bool, num.FromBool(op == "all"))
	case "max", "argmax", "min", "argmin":
		low := op == "max" || op == "argmax"
		if elem.IsFloat() {
			return s.constant(at, elem, num.FromFloat(math.Inf(map[bool]int{true: -1, false: 1}[low])))
		}
		return s.constant(at, elem, num.FromInt(intLimit(elem, low)))
	}
	s.f.p.failWith(at.Errorf("a guard of %s compares index expressions", op).
		WithExpected("comparisons of indices, dims and integers").WithFix("use select(condition, value, ...) in the body"))
	return nil
}

func intLimit(e num.Elem, low bool) int64 {
	if !e.IsSigned() {
		return map[bool]int64{true: 0, false: 1<<e.Bits() - 1}[low]
	}
	if low {
		return -1 << (e.Bits() - 1)
	}
	return 1<<(e.Bits()-1) - 1
}

// emptyRows gives reductions over a sparse row their values for an empty one,
// and makes argmax over an empty dense range an error.
func (s *site) emptyRows(e *syntax.Reduce, r *reduction, carrier num.Elem) {
	sparse := r.sparse()
	zero := ir.Literal{Elem: carrier, Cell: 0}
	switch op := e.Op.Name; {
	case sparse && (op == "max" || op == "min"):
		r.by.Empty = []ir.Literal{zero}
	case sparse && (op == "argmax" || op == "argmin"):
		r.by.Empty = []ir.Literal{zero, {Elem: num.I64, Cell: num.FromInt(-1)}}
	case op == "argmax" || op == "argmin":
		r.by.EmptyError = true
	}
}

// builtinBy is the by clause of a built-in monoid.
func (f *fnState) builtinBy(at syntax.Node, name string, elem num.Elem) *ir.By {
	elems := []num.Elem{elem}
	if name == "argmax" || name == "argmin" {
		elems = append(elems, num.I64)
	}
	m, err := ir.BuiltinMonoid(name, elems...)
	if err != nil {
		f.p.fail(at, "%v", err)
	}
	return &ir.By{Monoid: m}
}

// mean is the sum divided by the count, 0 where the count is 0.
func (s *site) mean(e *syntax.Reduce, want num.Elem) val {
	sum := *e
	sum.Op = &syntax.Ident{Span: e.Op.Span, Name: "sum"}
	r := s.reduction(&sum, want)
	elem := r.elems[0]
	if !elem.IsFloat() {
		s.f.p.failWith(e.Body.Errorf("the mean of %s is not defined", elem).WithFix("cast: mean[..] f32(...)"))
	}
	wide := ir.ElemOf(r.by.Monoid.Params[0].Type)
	total := s.comp(e, r.c, nil, r.axes, r.conds, r.by, "s")[0]
	count := s.count(e, r)
	n := s.cast(e, count, wide)
	q := s.scalar(e, "div", total, n)
	none := s.scalar(e, "eq", count, s.constant(e, num.I64, 0))
	q = s.scalar(e, "select", none, s.constant(e, wide, 0), q)
	return s.carried(e, val{s.cast(e, q, elem), elem})
}

// count is the number of points of e's domain as an i64: a product of extents
// where nothing but the extents decides it.
func (s *site) count(e *syntax.Reduce, r *reduction) *ir.Value {
	product, known := sym.Const(1), len(e.Where) == 0
	for i, ix := range r.axes {
		product = sym.Mul(product, ix.ext)
		known = known && ix.entry == ""
		for _, before := range r.axes[:i] {
			known = known && !mentions(ix.ext, before.axis.Name)
		}
	}
	if known && !s.f.multiplies(product) {
		return s.idx(e, product, num.I64)
	}
	d := s.domain(e)
	one := d.c.constant(e, num.I64, num.FromInt(1))
	ones := *e
	ones.Op = &syntax.Ident{Span: e.Op.Span, Name: "sum"}
	ys, conds := d.c.guard(&ones, []*ir.Value{one}, num.I64)
	d.c.yield(e, ys...)
	return s.comp(e, d.c, nil, d.axes, conds, s.f.builtinBy(e, "sum", num.I64), "n")[0]
}

// logSumExp is max + log(sum(exp(x - max))), with the maximum left out where it
// is infinite, so that nothing computes inf - inf.
func (s *site) logSumExp(e *syntax.Reduce, want num.Elem) val {
	part := *e
	part.Op = &syntax.Ident{Span: e.Op.Span, Name: "max"}
	m := s.reduction(&part, want)
	elem, wide := m.elems[0], ir.ElemOf(m.by.Monoid.Params[0].Type)
	if !elem.IsFloat() {
		s.f.p.failWith(e.Body.Errorf("logsumexp of %s is not defined", elem).WithFix("cast: logsumexp[..] f32(...)"))
	}
	m.by.Empty = nil
	top := s.comp(e, m.c, nil, m.axes, m.conds, m.by, "m")[0]
	inf := s.constant(e, wide, num.FromFloat(math.Inf(1)))
	infinite := s.scalar(e, "eq", s.scalar(e, "abs", top), inf)
	shift := s.scalar(e, "select", infinite, s.constant(e, wide, 0), top)

	part.Op = &syntax.Ident{Span: e.Op.Span, Name: "sum"}
	r := s.domain(&part)
	r.c.promote = r.c.promoteFor(elem) || r.c.promote
	x := r.c.cast(e, r.c.expr(e.Body, elem).v, wide)
	y := r.c.scalar(e, "exp", r.c.scalar(e, "sub", x, shift))
	ys, conds := r.c.guard(&part, []*ir.Value{y}, wide)
	r.c.yield(e, ys...)
	total := s.comp(e, r.c, nil, r.axes, conds, s.f.builtinBy(e, "sum", wide), "s")[0]
	v := s.scalar(e, "add", shift, s.scalar(e, "log", total))
	return s.carried(e, val{s.cast(e, v, elem), elem})
}
