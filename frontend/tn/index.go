package tn

import (
	"tenon/frontend/tn/syntax"
	"tenon/ir"
	"tenon/ir/sym"
)

// denseAxis makes an index that runs over 0 <= i < ext, with a symbol that is
// free at s.
func (s *site) denseAxis(name string, ext sym.Expr) *index {
	id := s.names.sym(name)
	return &index{name: name, value: sym.Name(id), ext: ext, axis: ir.Axis{Name: id, Extent: ext}}
}

// entryAxis makes an index that runs over the entries of a row.
func (s *site) entryAxis(name string, p *pattern, row sym.Expr) *index {
	id, entry := s.names.sym(name), s.names.sym(name+"e")
	return &index{name: name, value: sym.Name(id), ext: p.cols, entry: entry, pat: p, row: row,
		axis: ir.Axis{Name: id, Entry: entry, Pattern: p.val, Row: row}}
}

// rangeAxis makes an index that runs over lo..hi by step: an axis from 0, and
// the value lo + step * axis.
func (s *site) rangeAxis(a *syntax.Axis) *index {
	lo, hi := s.bound(a.In), s.bound(a.Hi)
	step := sym.Const(1)
	if a.Step != nil {
		step = s.bound(a.Step)
	}
	if !s.positive(step) {
		s.f.p.failWith(a.Step.Errorf("the step %s is not known to be positive", step).WithFix("use a positive constant"))
	}
	ix := s.denseAxis(a.Name.Name, s.trip(lo, hi, step))
	ix.value = sym.Add(sym.Mul(ix.value, step), lo)
	if s.f.multiplies(ix.value) {
		s.f.p.failWith(a.Step.Errorf("the step %s is known only while running", exprText(a.Step)).
			WithExpected("an integer or a dim").WithFix("give it as the size of a parameter, or use a guard: where mod(%s, step) == 0", a.Name.Name))
	}
	if ix.ext.Overflowed() || ix.value.Overflowed() {
		s.f.p.failWith(a.Errorf("the range of %s overflows 64 bits", a.Name.Name).WithExpected("bounds that fit an i64 with the step"))
	}
	return ix
}

// trip is the number of steps from lo to hi, 0 where hi is not above. That
// indices in scope are in their ranges counts only where they are mentioned: an
// extent that mentions none is evaluated also where another range is empty.
func (s *site) trip(lo, hi, step sym.Expr) sym.Expr {
	n := sym.FloorDiv(sym.Add(sym.Sub(hi, lo), step, sym.Const(-1)), step)
	known := s.f.facts().Prove(sym.Ge(n, sym.Const(0))) || s.mentionsIndex(n) && s.nonNegative(n)
	if known {
		return n
	}
	return sym.Max(n, sym.Const(0))
}

func (s *site) mentionsIndex(e sym.Expr) bool {
	for sc := s.scope; sc != nil; sc = sc.up {
		for _, b := range sc.names {
			if b.kind == bindIndex && b.index.axis.Name != "" && mentions(e, b.index.axis.Name) {
				return true
			}
		}
	}
	return false
}

// bound reads the end of a range.
func (s *site) bound(e syntax.Expr) sym.Expr {
	x, ok := s.symbolic(e)
	if !ok {
		s.undefined(e)
		bad := e.Errorf("the end of a range is not an index expression").
			WithExpected("dims, indices and integers under + - *, floordiv, mod, min, max").
			WithFix("in a fn a range is known before the loop; use a guard for what depends on data")
		s.explain(e, bad)
		s.f.p.failWith(bad)
	}
	return x
}

// bindAxes makes and binds the indices of a list of axes, in order. r has the
// ranges of those that name none.
func (s *site) bindAxes(axes []*syntax.Axis, r *ranges) []*index {
	var out []*index
	for _, a := range axes {
		if a.Pack != "" {
			out = append(out, s.bindPack(a, a.Pack, r)...)
			continue
		}
		s.checkFree(a)
		ix := s.axis(a, r)
		s.scope.names[a.Name.Name] = &binding{kind: bindIndex, at: a, index: ix}
		out = append(out, ix)
	}
	return out
}

// checkFree refuses an index that hides a tensor, a dim or another index.
func (s *site) checkFree(a *syntax.Axis) {
	b := s.scope.find(a.Name.Name)
	if b == nil || b.kind == bindBroken {
		return
	}
	what := map[bindKind]string{bindTensor: "a tensor", bindScalar: "a scalar", bindDim: "a dim", bindPattern: "a pattern",
		bindVar: "a variable", bindIndex: "an index in scope", bindElem: "a type"}[b.kind]
	e := a.Errorf("the index %s has the name of %s", a.Name.Name, what).WithFix("choose another name for the index")
	if b.at != nil {
		e.WithNote(b.at.At(), "%s is bound here", a.Name.Name)
	}
	s.f.p.failWith(e)
}

func (s *site) axis(a *syntax.Axis, r *ranges) *index {
	switch {
	case a.Hi != nil:
		return s.rangeAxis(a)
	case a.In != nil:
		return s.rowAxis(a)
	}
	c := r.extent(a, a.Name.Name)
	if c.d.pat == nil {
		return s.denseAxis(a.Name.Name, s.f.canon(c.d.ext))
	}
	if c.d.row < 0 {
		return s.denseAxis(a.Name.Name, c.d.ext)
	}
	return s.entryAxis(a.Name.Name, c.d.pat, s.rowOf(a, c))
}

// rowOf is the row whose entries a candidate's subscript runs over.
func (s *site) rowOf(a syntax.Node, c candidate) sym.Expr {
	if c.rowSub != nil {
		if x, ok := s.symbolic(c.rowSub); ok {
			return x
		}
		s.f.p.failWith(c.at.Errorf("an edge tensor is read at a stored entry of %s, and its row is not bound before this", c.d.pat.name).
			WithExpected("a row index in scope, then an index that runs over `%s[..]`", c.d.pat.name).
			WithFix("let the index run over the entries: `j in %s[i]`", c.d.pat.name))
	}
	b := s.scope.find(".." + c.rowIdx)
	if b == nil || b.kind != bindPack || c.rowAt >= len(b.pack) {
		s.f.p.fail(a, "the row of %s is not bound before its entries", c.d.pat.name)
	}
	return b.pack[c.rowAt].value
}

// rowAxis reads `j in A[i]`.
func (s *site) rowAxis(a *syntax.Axis) *index {
	in, ok := syntax.Unparen(a.In).(*syntax.Index)
	var p *pattern
	if ok {
		p = s.patternOf(in.X)
	}
	if p == nil || len(in.Subs) != 1 || in.Subs[0].Pack != "" {
		s.f.p.failWith(a.In.Errorf("an index runs `in` a row of a pattern, or a range").
			WithExpected("`%s in A[i]` with a pattern A, or `%s in 0..N`", a.Name.Name, a.Name.Name))
	}
	row, ok := s.symbolic(in.Subs[0].X)
	if !ok {
		s.f.p.failWith(in.Subs[0].Errorf("the row is not an index expression").WithExpected("an index in scope, or one with an offset").
			WithFix("compute all rows first, `let y[i] = sum[j in %s[i]] ..`, and read y[..]", p.name))
	}
	return s.entryAxis(a.Name.Name, p, row)
}

// bindPack binds `..p` to as many indices as the subscripts it stands for.
func (s *site) bindPack(at syntax.Node, name string, r *ranges) []*index {
	if b := s.scope.find(".." + name); b != nil && b.kind == bindPack {
		s.f.p.failWith(at.Errorf("..%s is bound already", name).WithFix("use another name"))
	}
	places := r.packs[name]
	if len(places) == 0 {
		s.f.p.failWith(at.Errorf("nothing says what ..%s runs over", name).WithExpected("a subscript ..%s in some operand", name))
	}
	first := places[0]
	var out []*index
	for i, d := range first {
		for _, other := range places[1:] {
			if len(other) != len(first) {
				s.f.p.failWith(at.Errorf("..%s stands for %s here and %d there", name, count(len(first), "index"), len(other)).
					WithNote(r.packAt[name].At(), "there"))
			}
			s.f.equateDims(at, d, other[i], " in .."+name)
		}
		out = append(out, s.packIndex(at, name, i, d, out))
	}
	s.scope.names[".."+name] = &binding{kind: bindPack, at: at, pack: out}
	return out
}

func (s *site) packIndex(at syntax.Node, pack string, i int, d dim, before []*index) *index {
	name := d.name
	if name == "" {
		name = pack
	}
	if d.pat == nil || d.row < 0 {
		return s.denseAxis(name, s.f.canon(d.ext))
	}
	if d.row >= len(before) {
		s.f.p.fail(at, "the row of %s is not bound before its entries", d.pat.name)
	}
	return s.entryAxis(name, d.pat, before[d.row].value)
}

// comp wraps what body site c holds into a comp over the axes and returns the
// results. c must have ended in a yield.
func (s *site) comp(at syntax.Node, c *site, par, red []*index, conds []sym.Cond, by *ir.By, base ...string) []*ir.Value {
	op := ir.NewOp("tensor.comp", loc(at))
	if len(par) > 0 {
		ir.SetClause(op, "par", axesClause(par))
	}
	if len(red) > 0 || by != nil {
		ir.SetClause(op, "red", axesClause(red))
	}
	if len(conds) > 0 {
		ir.SetClause(op, "if", &ir.Conds{List: conds})
	}
	if c.reads != nil && len(c.reads.List) > 0 {
		ir.SetClause(op, "in", c.reads)
	}
	ir.SetClause(op, "", &ir.Block{Region: c.region})
	if by != nil {
		ir.SetClause(op, "by", by)
	}
	if s.buffers && guardsWrite(conds, red) {
		in := s.child()
		in.yield(at, in.emit(op, nil, base...).Results...)
		op = ir.NewOp("tensor.comp", loc(at), &ir.Block{Region: in.region})
		return s.throughBuffers(at, op, in.region.Yields())
	}
	if s.buffers {
		return s.throughBuffers(at, op, c.region.Yields())
	}
	var declared []ir.Type
	if len(par) == 0 && s.reads == nil && !s.pure {
		for _, v := range c.region.Yields() {
			declared = append(declared, ir.Tensor{Elem: ir.ElemOf(v.Type)})
		}
	}
	return s.emit(op, declared, base...).Results
}

// guardsWrite reports a guard that uses none of the axes that are folded over: in
// a comp that writes buffers it would decide whether they are written at all.
func guardsWrite(conds []sym.Cond, red []*index) bool {
	for _, c := range conds {
		uses := false
		for _, ix := range red {
			uses = uses || c.L.Uses(ix.axis.Name) || c.R.Uses(ix.axis.Name)
		}
		if !uses {
			return true
		}
	}
	return false
}

func axesClause(list []*index) *ir.Axes {
	a := &ir.Axes{}
	for _, ix := range list {
		a.List = append(a.List, ix.axis)
	}
	return a
}

// throughBuffers is a scalar comp in a proc: it writes buffers of rank 0, which
// are then loaded, since values of a loop level are scalars and buffers.
func (s *site) throughBuffers(at syntax.Node, op *ir.Op, yields []*ir.Value) []*ir.Value {
	outs := &ir.Outs{}
	var loads []*ir.Value
	for _, y := range yields {
		e := ir.ElemOf(y.Type)
		buf := s.emit(ir.NewOp("loop.alloc", loc(at)), []ir.Type{ir.Buf{Elem: e}}, "acc").Results[0]
		outs.List = append(outs.List, ir.Out{Buf: buf})
	}
	ir.SetClause(op, "out", outs)
	s.emit(op, nil)
	for _, o := range outs.List {
		t := &tensor{val: o.Buf, elem: ir.ElemOf(o.Buf.Type), buf: true}
		loads = append(loads, s.load(at, t, nil, ir.PolicyError))
	}
	return loads
}
