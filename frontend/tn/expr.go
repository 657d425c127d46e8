package tn

import (
	"fmt"
	"strconv"
	"strings"

	"tenon/frontend/tn/syntax"
	"tenon/internal/num"
	"tenon/ir"
	"tenon/ir/sym"
)

// expr turns a scalar expression into ops at s. want is the type that the
// context expects (Invalid: none); literals take it, everything else is what it
// is, and who needs another type says so.
func (s *site) expr(e syntax.Expr, want num.Elem) val {
	switch e := e.(type) {
	case *syntax.Paren:
		return s.expr(e.X, want)
	case *syntax.Lit:
		return s.literal(e, e, want, false)
	case *syntax.Name:
		return s.name(e, want)
	case *syntax.Unary:
		return s.unary(e, want)
	case *syntax.Binary:
		return s.binary(e, want)
	case *syntax.Index:
		return s.indexed(e)
	case *syntax.Call:
		return s.call(e, want)
	case *syntax.Reduce:
		return s.reduceScalar(e, want)
	}
	s.f.p.fail(e, "a tuple is not a value")
	return val{}
}

// exprOf is expr with the type checked.
func (s *site) exprOf(e syntax.Expr, want num.Elem) val {
	v := s.expr(e, want)
	if want != num.Invalid && v.elem != want {
		s.mismatch(e, v.elem, want)
	}
	return v
}

func (s *site) mismatch(at syntax.Node, got, want num.Elem) {
	s.f.p.failWith(at.Errorf("this is %s, not %s", got, want).WithExpected("%s; nothing is converted silently", want).
		WithFix("%s", castHint(want)))
}

// literal makes a constant of type want; neg is a minus sign before it.
func (s *site) literal(at syntax.Node, l *syntax.Lit, want num.Elem, neg bool) val {
	if want == num.Invalid {
		want = map[syntax.LitKind]num.Elem{syntax.IntLit: num.I64, syntax.FloatLit: num.F32, syntax.BoolLit: num.Bool}[l.Kind]
	}
	text := l.Text
	if neg {
		text = "-" + text
	}
	cell, err := literalCell(l.Kind, text, s.carrier(want))
	if err != "" {
		s.f.p.failWith(at.Errorf("%s %s", text, err).WithExpected("a literal of type %s", want))
	}
	return val{s.constant(at, s.carrier(want), cell), want}
}

func literalCell(kind syntax.LitKind, text string, e num.Elem) (num.Cell, string) {
	switch {
	case kind == syntax.BoolLit && e == num.Bool:
		return num.FromBool(text == "true"), ""
	case kind == syntax.BoolLit || e == num.Bool:
		return 0, fmt.Sprintf("is not %s", e)
	case kind == syntax.IntLit:
		return intCell(text, e)
	case !e.IsFloat():
		return 0, fmt.Sprintf("is a float where %s stands", e)
	}
	c, err := num.ParseFloat(e, text)
	if err != nil {
		return 0, fmt.Sprintf("does not fit %s", e)
	}
	return c, ""
}

// intCell reads an integer literal, which a float type takes only exactly.
func intCell(text string, e num.Elem) (num.Cell, string) {
	n, err := strconv.ParseInt(text, 0, 64)
	if err != nil {
		return 0, "does not fit 64 bits"
	}
	if e.IsFloat() {
		if r := num.Round(e, float64(n)); int64(r) != n || n > 1<<53 || n < -(1<<53) {
			return 0, fmt.Sprintf("has no exact value in %s", e)
		}
		return num.FromFloat(float64(n)), ""
	}
	if num.Wrap(e, n) != n {
		return 0, fmt.Sprintf("does not fit %s", e)
	}
	return num.FromInt(n), ""
}

func (s *site) name(n *syntax.Name, want num.Elem) val {
	b := s.lookup(n)
	switch b.kind {
	case bindScalar:
		return s.carried(n, b.scalar)
	case bindIndex:
		return val{s.idx(n, b.index.value, num.Index), num.Index}
	case bindDim:
		return val{s.idx(n, s.f.canon(b.expr), num.Index), num.Index}
	case bindVar:
		return s.carried(n, val{s.read(n, b.tensor, nil, ir.PolicyError), b.tensor.elem})
	case bindTensor:
		if b.tensor.scalar != nil {
			return s.carried(n, *b.tensor.scalar)
		}
		if len(b.tensor.axes) == 0 {
			return s.carried(n, val{s.read(n, b.tensor, nil, ir.PolicyError), b.tensor.elem})
		}
		subs := strings.Join(strings.Split("ijklmnpq", "")[:min(len(b.tensor.axes), 8)], ", ")
		s.f.p.failWith(n.Errorf("%s is a tensor of rank %d, and a scalar is needed here", n.Name, len(b.tensor.axes)).
			WithFix("say which element: %s[%s]", n.Name, subs))
	case bindRagged:
		s.f.p.failWith(n.Errorf("%s is the length of the rows of %s, which differ", n.Name, b.pat.name).
			WithFix("count the entries of a row: sum[j] 1 over the same index"))
	case bindPattern:
		s.f.p.failWith(n.Errorf("%s is a pattern, and a scalar is needed here", n.Name).WithFix("read an entry: %s[i, j]", n.Name))
	}
	s.f.p.fail(n, "%s is not a value", n.Name)
	return val{}
}

// lookup finds a name; an unknown one is an error that suggests a near one.
func (s *site) lookup(n *syntax.Name) *binding {
	b := s.scope.find(n.Name)
	if b == nil {
		e := n.Errorf("%s is not defined", n.Name).WithExpected("a parameter, a name bound by `let`, an index in scope or a dim")
		if s.f.ofResults[n.Name] {
			e = n.Errorf("%s is a size of a result, which the returned value alone gives", n.Name).
				WithExpected("dims of the parameters").WithFix("write what it is in their terms, or add the parameter %s: index", n.Name)
		} else if near := s.nearName(n.Name); near != "" {
			e.WithFix("did you mean %s?", near)
		} else {
			e.WithFix("define it with `let`, or add it to the parameters")
		}
		s.f.scope.names[n.Name] = &binding{kind: bindBroken, at: n} // once is enough
		s.f.p.failWith(e)
	}
	if b.kind == bindBroken {
		panic(abort{})
	}
	return b
}

// undefined reports the first undefined name of an index expression, if that is
// what is wrong with it.
func (s *site) undefined(e syntax.Expr) {
	syntax.Walk(e, func(n syntax.Node) bool {
		if n, ok := n.(*syntax.Name); ok {
			s.lookup(n)
		}
		_, call := n.(*syntax.Call)
		return !call
	})
}

// nearName is a name in scope that name may be a slip of.
func (s *site) nearName(name string) string {
	var known []string
	for sc := s.scope; sc != nil; sc = sc.up {
		for _, k := range sortedKeys(sc.names) {
			if sc.names[k].kind != bindBroken {
				known = append(known, k)
			}
		}
	}
	return nearest(name, known)
}

// carried brings a scalar into the type it is computed in here.
func (s *site) carried(at syntax.Node, v val) val {
	return val{s.cast(at, v.v, s.carrier(v.elem)), v.elem}
}

func (s *site) unary(e *syntax.Unary, want num.Elem) val {
	if e.Op == "not" {
		x := s.exprOf(e.X, num.Bool)
		return val{s.scalar(e, "not", x.v), num.Bool}
	}
	if l, ok := syntax.Unparen(e.X).(*syntax.Lit); ok && l.Kind != syntax.BoolLit {
		return s.literal(e, l, want, true)
	}
	x := s.expr(e.X, want)
	if x.elem == num.Bool {
		s.f.p.failWith(e.Errorf("a bool has no sign").WithFix("write `not`"))
	}
	return val{s.scalar(e, "neg", x.v), x.elem}
}

// binaryOps maps the operators to scalar ops, for floats and for integers.
var binaryOps = map[string][2]string{
	"+": {"add", "add"}, "-": {"sub", "sub"}, "*": {"mul", "mul"}, "/": {"div", "tdiv"}, "%": {"", "trem"},
	"==": {"eq", "eq"}, "!=": {"ne", "ne"}, "<": {"lt", "lt"}, "<=": {"le", "le"}, ">": {"gt", "gt"}, ">=": {"ge", "ge"},
	"and": {"", ""}, "or": {"", ""},
}

func (s *site) binary(e *syntax.Binary, want num.Elem) val {
	if e.Op == "and" || e.Op == "or" {
		x, y := s.exprOf(e.X, num.Bool), s.exprOf(e.Y, num.Bool)
		return val{s.scalar(e, e.Op, x.v, y.v), num.Bool}
	}
	if x, ok := s.symbolic(e); ok && s.peek(e) == num.Index {
		return val{s.idx(e, x, num.Index), num.Index}
	}
	compare := relations[e.Op] != ""
	if compare {
		want = num.Invalid
	}
	x, y := s.pair(e, e.X, e.Y, want)
	kind := 1
	if x.elem.IsFloat() {
		kind = 0
	}
	op := binaryOps[e.Op][kind]
	if op == "" {
		s.f.p.failWith(e.Errorf("%% is for integers").WithFix("write x - y * floor(x / y), or cast to an integer type"))
	}
	if x.elem == num.Bool && e.Op != "==" && e.Op != "!=" {
		s.f.p.failWith(e.Errorf("bools have no `%s`", e.Op).WithExpected("numbers").WithFix("cast with i32(..), or use `and`, `or`"))
	}
	v := s.scalar(e, op, x.v, y.v)
	if compare {
		return val{v, num.Bool}
	}
	return val{v, x.elem}
}

// pair evaluates two operands that must have one type. A side whose type
// follows from its parts decides; literals and the like on the other side take
// it.
func (s *site) pair(at syntax.Node, x, y syntax.Expr, want num.Elem) (val, val) {
	elem := s.peek(x)
	if elem == num.Invalid {
		elem = s.peek(y)
	}
	if elem == num.Invalid {
		elem = want
	}
	a := s.expr(x, elem)
	if elem == num.Invalid {
		elem = a.elem
	}
	b := s.expr(y, elem)
	if a.elem != b.elem {
		s.f.p.failWith(at.Errorf("the operands are %s and %s", a.elem, b.elem).
			WithExpected("one type on both sides; nothing is converted silently").
			WithFix("cast one of them: %s(...)", wider(a.elem, b.elem)))
	}
	return a, b
}

func wider(a, b num.Elem) num.Elem {
	if a.IsFloat() != b.IsFloat() {
		if a.IsFloat() {
			return a
		}
		return b
	}
	if a == num.Index || b == num.Index {
		if a == num.I64 || b == num.I64 {
			return num.I64
		}
		return num.Index
	}
	if a < b {
		return a
	}
	return b
}

// peek is the type of e as far as its parts decide it, without emitting
// anything; Invalid for what literals alone make.
func (s *site) peek(e syntax.Expr) num.Elem {
	switch e := e.(type) {
	case *syntax.Paren:
		return s.peek(e.X)
	case *syntax.Name:
		return s.peekName(e)
	case *syntax.Unary:
		if e.Op == "not" {
			return num.Bool
		}
		return s.peek(e.X)
	case *syntax.Binary:
		if relations[e.Op] != "" || e.Op == "and" || e.Op == "or" {
			return num.Bool
		}
		if x := s.peek(e.X); x != num.Invalid {
			return x
		}
		return s.peek(e.Y)
	case *syntax.Index:
		if t := s.tensorOf(e.X); t != nil {
			return t.elem
		}
		if p := s.patternOf(e.X); p != nil && p.data != nil {
			return p.data.elem
		}
	case *syntax.Call:
		return s.peekCall(e)
	case *syntax.Reduce:
		return s.peekReduce(e)
	}
	return num.Invalid
}

func (s *site) peekName(n *syntax.Name) num.Elem {
	b := s.scope.find(n.Name)
	if b == nil {
		return num.Index // an index that an enclosing reduction will bind
	}
	switch b.kind {
	case bindScalar:
		return b.scalar.elem
	case bindIndex, bindDim:
		return num.Index
	case bindTensor, bindVar:
		return b.tensor.elem
	}
	return num.Invalid
}

// tensorOf is the tensor that an indexed expression reads, nil if it is none.
// A call such as softmax(x)[i, j] is done once, before the statement.
func (s *site) tensorOf(e syntax.Expr) *tensor {
	switch e := syntax.Unparen(e).(type) {
	case *syntax.Name:
		if b := s.scope.find(e.Name); b != nil && (b.kind == bindTensor || b.kind == bindVar) {
			return b.tensor
		}
	case *syntax.Call:
		ts := s.f.callTensors(e)
		if len(ts) != 1 {
			s.f.p.failWith(e.Errorf("%s gives %s here", e.Fn.Name, count(len(ts), "result")).WithFix("bind them with `let a, b = ...` first"))
		}
		return ts[0]
	}
	return nil
}

func (s *site) patternOf(e syntax.Expr) *pattern {
	if n, ok := syntax.Unparen(e).(*syntax.Name); ok {
		if b := s.scope.find(n.Name); b != nil && b.kind == bindPattern {
			return b.pat
		}
	}
	return nil
}

// align matches subscripts to the dims of t: for each, the dims that it covers
// (one, or any number for a pack).
func (s *site) align(e *syntax.Index, t *tensor) [][]dim {
	packs, covered := 0, 0
	for _, sub := range e.Subs {
		if sub.Pack != "" {
			packs++
			if b := s.scope.find(".." + sub.Pack); b != nil && b.kind == bindPack {
				covered += len(b.pack)
				packs--
			}
		} else {
			covered++
		}
	}
	rest := len(t.axes) - covered
	if packs > 1 || packs == 0 && rest != 0 || rest < 0 {
		s.f.p.failWith(e.Errorf("%s for a tensor of rank %d", count(len(e.Subs), "subscript"), len(t.axes)).
			WithExpected("one subscript a dim").WithFix("check the number of indices"))
	}
	out := make([][]dim, len(e.Subs))
	at := 0
	for i, sub := range e.Subs {
		n := 1
		if sub.Pack != "" {
			n = rest
			if b := s.scope.find(".." + sub.Pack); b != nil && b.kind == bindPack {
				n = len(b.pack)
			}
		}
		out[i] = t.axes[at : at+n]
		if sub.Pack != "" {
			out[i] = packDims(out[i], at)
		}
		at += n
	}
	return out
}

// packDims is what a pack covers from axis at on, with the rows of entries
// counted within the pack; a row before it is beyond its end.
func packDims(axes []dim, at int) []dim {
	out := append([]dim(nil), axes...)
	for i, d := range out {
		if d.pat == nil || d.row < 0 {
			continue
		}
		out[i].row = d.row - at
		if d.row < at {
			out[i].row = len(axes)
		}
	}
	return out
}

// indexed reads x[i, j], A[i, j] of a pattern, or x[] of rank 0.
func (s *site) indexed(e *syntax.Index) val {
	v := s.readIndexed(e)
	return s.carried(e, v)
}

// policies are the words that may follow a subscript.
var policies = map[string]ir.Policy{"": ir.PolicyError, "zero": ir.PolicyZero, "clamp": ir.PolicyClamp}

// outside is what to do about a subscript that is never in range.
const outside = "count from 0, or write `zero` or `clamp` behind the bracket"

func (s *site) readIndexed(e *syntax.Index) val {
	if p := s.patternOf(e.X); p != nil {
		return s.readPattern(e, p)
	}
	if n, ok := syntax.Unparen(e.X).(*syntax.Name); ok {
		if b := s.lookup(n); b.kind != bindTensor && b.kind != bindVar {
			s.f.p.failWith(n.Errorf("%s is not a tensor", n.Name).WithExpected("a tensor before the subscripts").
				WithFix("leave the subscripts out"))
		}
	}
	t := s.tensorOf(e.X)
	if t == nil {
		s.f.p.failWith(e.X.Errorf("this cannot be subscripted").WithExpected("a tensor").WithFix("bind it with `let t[i] = ...` first"))
	}
	if t.scalar != nil {
		s.align(e, t)
		return *t.scalar
	}
	subs := s.subscripts(e, t)
	if e.Policy == "" {
		s.inRange(e.Subs, t, subs, outside)
	}
	policy := policies[e.Policy]
	if subs == nil {
		return val{s.readComputed(e, t, policy), t.elem}
	}
	return val{s.read(e, t, subs, policy), t.elem}
}

// inRange refuses a subscript of integers and dims that is out of range whatever
// the sizes.
func (s *site) inRange(at []*syntax.Sub, t *tensor, subs []sym.Expr, fix string) {
	if len(subs) != len(t.axes) || len(at) != len(subs) {
		return // packs and edge tensors
	}
	if s.f.facts().Contradiction() {
		return // in a loop that never runs
	}
	for i, x := range subs {
		if s.f.runtime(x) {
			continue
		}
		n := s.f.canon(t.axes[i].ext)
		if s.f.facts().Prove(sym.Lt(x, sym.Const(0))) || !s.f.runtime(n) && s.f.facts().Prove(sym.Ge(x, n)) {
			s.f.p.failWith(at[i].Errorf("the subscript %s is out of range", shown(x)).WithExpected("0 <= subscript < %s", shown(n)).
				WithFix("%s", fix))
		}
	}
}

// subscripts are the storage subscripts of x[..]: an edge tensor is read at an
// entry, whatever the row is called. nil: some subscript must be computed.
func (s *site) subscripts(e *syntax.Index, t *tensor) []sym.Expr {
	dims := s.align(e, t)
	var logical []sym.Expr
	var entries []*index // the index at each logical position, where it is one
	for i, sub := range e.Subs {
		if sub.Pack != "" {
			for _, ix := range s.packOf(sub, len(dims[i])) {
				logical, entries = append(logical, ix.value), append(entries, ix)
			}
			continue
		}
		x, ok := s.subscript(sub.X)
		if !ok {
			return nil
		}
		logical, entries = append(logical, x), append(entries, s.indexOf(sub.X))
	}
	out := []sym.Expr{}
	for _, i := range storageOrder(t.axes) {
		if d := t.axes[i]; d.pat != nil {
			out = append(out, s.entrySub(e, d, logical, entries, i))
		} else {
			out = append(out, logical[i])
		}
	}
	return out
}

// entrySub is the number of the entry that subscript i of an edge tensor names.
func (s *site) entrySub(e *syntax.Index, d dim, logical []sym.Expr, ix []*index, i int) sym.Expr {
	x := ix[i]
	if x == nil || x.entry == "" || x.pat.id != d.pat.id || d.row >= 0 && !x.row.Equal(logical[d.row]) {
		s.f.p.failWith(e.Errorf("an edge tensor is read at a stored entry of %s", d.pat.name).
			WithExpected("an index that runs over `%s[..]`", d.pat.name).
			WithFix("let the index run over the entries: `j in %s[i]`", d.pat.name))
	}
	return sym.Name(x.entry)
}

// indexOf is the index that a bare name stands for, or nil.
func (s *site) indexOf(e syntax.Expr) *index {
	if n, ok := syntax.Unparen(e).(*syntax.Name); ok {
		if b := s.scope.find(n.Name); b != nil && b.kind == bindIndex {
			return b.index
		}
	}
	return nil
}

func (s *site) packOf(sub *syntax.Sub, n int) []*index {
	b := s.scope.find(".." + sub.Pack)
	if b == nil || b.kind != bindPack {
		s.f.p.failWith(sub.Errorf("nothing binds the pack ..%s", sub.Pack).WithFix("add `..%s` to the indices of the `let` or `for`", sub.Pack))
	}
	if len(b.pack) != n {
		s.f.p.failWith(sub.Errorf("..%s stands for %s, and %d are needed here", sub.Pack, count(len(b.pack), "index"), n))
	}
	return b.pack
}

// read binds one element in the reads of the site, once for equal subscripts.
func (s *site) read(at syntax.Node, t *tensor, subs []sym.Expr, policy ir.Policy) *ir.Value {
	if s.pure {
		s.f.p.failWith(at.Errorf("a monoid sees its own components only").WithFix("pass the value through inject"))
	}
	if s.buffers && t.buf {
		return s.load(at, t, subs, policy)
	}
	key := readKey(t.val, subs, policy)
	for c := s; c != nil; c = c.up {
		if v := c.cache[key]; v != nil {
			return v
		}
	}
	if s.reads == nil {
		s.f.p.fail(at, "an element cannot be read here; bind it with `let` first")
	}
	v := &ir.Value{Name: s.names.val(readName(t.val.Name)), Type: ir.Scalar{Elem: t.elem}}
	s.reads.List = append(s.reads.List, ir.Read{Res: v, Src: t.val, Subs: subs, Policy: policy})
	s.cache[key] = v
	return v
}

func readName(tensor string) string { return strings.TrimRight(tensor, "_0123456789") + "_e" }

func readKey(v *ir.Value, subs []sym.Expr, policy ir.Policy) string {
	key := fmt.Sprintf("%p/%d", v, policy)
	for _, x := range subs {
		key += "/" + x.Key()
	}
	return key
}

// point runs body as a comp of a single point inside s and returns its value.
func (s *site) point(at syntax.Node, body func(c *site) *ir.Value) *ir.Value {
	c := s.child()
	c.yield(at, body(c))
	return s.comp(at, c, nil, nil, nil, nil, "v")[0]
}

// readComputed reads an element whose subscripts are computed: the values come
// first, then a comp of one point that reads with them.
func (s *site) readComputed(e *syntax.Index, t *tensor, policy ir.Policy) *ir.Value {
	var subs []sym.Expr
	for _, sub := range e.Subs {
		if sub.Pack != "" {
			b := s.scope.find(".." + sub.Pack)
			for _, ix := range b.pack {
				subs = append(subs, ix.value)
			}
			continue
		}
		subs = append(subs, s.computedSub(sub.X))
	}
	for _, d := range t.axes {
		if d.pat != nil {
			s.f.p.failWith(e.Errorf("an edge tensor is read at a stored entry of %s, not at a computed place", d.pat.name))
		}
	}
	if s.buffers && t.buf {
		return s.load(e, t, subs, policy)
	}
	return s.point(e, func(c *site) *ir.Value { return c.read(e, t, subs, policy) })
}

// computedSub is a subscript as an expression over a value of the region.
func (s *site) computedSub(x syntax.Expr) sym.Expr {
	if e, ok := s.symbolic(x); ok {
		return e
	}
	v := s.expr(x, num.I64)
	if !v.elem.IsInt() {
		s.f.p.failWith(x.Errorf("a subscript is an integer, and this is %s", v.elem).WithFix("cast it: i64(...)"))
	}
	if s.buffers {
		v.v = s.cast(x, v.v, num.Index)
	}
	return sym.Val(v.v)
}

// readPattern reads A[i, j]: the entry at hand where j runs over A[i], else the
// sum of the entries stored at (i, j).
func (s *site) readPattern(e *syntax.Index, p *pattern) val {
	if p.data == nil {
		s.f.p.failWith(e.Errorf("%s is a pattern without values", p.name).
			WithFix("declare it with values, `%s: csr[N, M] f32`, or use 1.0 for a stored entry", p.name))
	}
	if len(e.Subs) != 2 || e.Subs[0].Pack != "" || e.Subs[1].Pack != "" {
		s.f.p.failWith(e.Errorf("a sparse matrix takes two subscripts").WithFix("write %s[i, j]", p.name))
	}
	row, col := s.computedSub(e.Subs[0].X), e.Subs[1].X
	if ix := s.indexOf(col); ix != nil && ix.entry != "" && ix.pat.id == p.id && ix.row.Equal(row) {
		return val{s.read(e, p.data, []sym.Expr{sym.Name(ix.entry)}, ir.PolicyError), p.data.elem}
	}
	return s.storedSum(e, p, row, s.computedSub(col))
}

func (s *site) storedSum(e *syntax.Index, p *pattern, row, col sym.Expr) val {
	elem := p.data.elem
	c := s.child()
	axis := c.entryAxis("j", p, row)
	c.scope.names["j"] = &binding{kind: bindIndex, index: axis}
	carrier := elem
	if elem == num.F16 || elem == num.BF16 {
		carrier = num.F32
	}
	v := c.read(e, p.data, []sym.Expr{sym.Name(axis.entry)}, ir.PolicyError)
	c.yield(e, c.cast(e, v, carrier))
	by := s.f.builtinBy(e, "sum", carrier)
	r := s.comp(e, c, nil, []*index{axis}, []sym.Cond{sym.Eq(axis.value, col)}, by, "s")
	return val{s.cast(e, r[0], elem), elem}
}
