package helix

import (
	"tenon/internal/num"
	"tenon/ir"
	"tenon/ir/ops/tensor"
	"tenon/ir/sym"
	"tenon/microkernels/gemm"
)

// strategy is one way to decompose a contraction.
type strategy struct {
	key   gemm.Key     // the register tile; B by columns: its sums run along the depth
	pack  bool         // b is copied to panels, or to columns
	packA bool         // a is copied to panels, block by block
	ready *prepared    // b lies in panels already
	swap  *contraction // to be computed in place of the contraction; nil: itself
}

// tiling emits one strategy. Symbols are those of the loops that are open.
type tiling struct {
	h *decomposer
	x *contraction
	strategy
	at    map[string]sym.Expr // where the tile's rows, columns and depth begin
	size  map[string]sym.Expr
	n0    sym.Expr // the first column of the packed block
	aBuf  *ir.Value
	aRow  sym.Expr // the first row in aBuf
	bBuf  *ir.Value
	count int
}

// region is the strategy as a region of ops.
func (h *decomposer) tiles(x *contraction, s strategy) *ir.Region {
	if s.swap != nil {
		return h.turn(x, s.swap, s)
	}
	t := &tiling{h: h, x: x, strategy: s, at: map[string]sym.Expr{}, size: map[string]sym.Expr{}}
	r := &ir.Region{}
	b := ir.NewBuilder(r)
	b.Loc = x.op.Loc
	t.nest(b)
	return r
}

// nest emits the layers from memory down to a register tile:
//
//	further summed axes; outer axes that a buffer of a or b depends on
//	columns that a packed block has, the depth that a first cache holds of it
//	  copies of a and b; the other outer axes; rows that the second cache holds
//	    columns of a tile; rows of a tile
func (t *tiling) nest(b *ir.Builder) {
	x := t.x
	aMade := x.formA == made
	bMade := t.ready == nil && (t.pack || x.formB == made)
	early, late := t.outer(aMade, bMade)
	for _, axis := range x.also {
		b = t.each(b, axis, false)
	}
	for _, axis := range early {
		b = t.each(b, axis, true)
	}
	t.n0 = sym.Const(0)
	t.at[x.n.Name], t.size[x.n.Name] = sym.Const(0), x.n.Extent
	if bMade {
		b = t.tile(b, x.n, t.h.machine.columns(x, t.strategy), false)
		t.n0 = t.at[x.n.Name]
	}
	t.at[x.k.Name], t.size[x.k.Name] = sym.Const(0), x.k.Extent
	b = t.tile(b, x.k, t.h.machine.depth(t.key), false)
	if bMade {
		t.makeB(b)
	}
	t.at[x.m.Name], t.size[x.m.Name], t.aRow = sym.Const(0), x.m.Extent, sym.Const(0)
	if aMade && len(late) > 0 {
		t.makeA(b)
	}
	for _, axis := range late {
		b = t.each(b, axis, true)
	}
	b = t.tile(b, x.m, t.h.machine.rows(t.key), false)
	if aMade && t.aBuf == nil {
		t.aRow = t.at[x.m.Name]
		t.makeA(b)
	}
	if t.packA {
		t.panelsOfA(b)
	}
	rows, first := t.size[x.m.Name], t.at[x.m.Name]
	height := balanced(rows, int64(t.key.MR))
	if t.packA {
		height = sym.Const(int64(t.key.MR))
	}
	if _, known := height.IsConst(); !known { // a value: bounds are proved without what it is made of
		height = sym.Val(b.Idx(height, num.Index))
	}
	b = t.within(b, x.n, sym.Const(int64(t.key.Cols())), true)
	t.at[x.m.Name], t.size[x.m.Name] = first, rows
	b = t.within(b, x.m, height, false)
	t.call(b)
}

// outer splits the outer axes into those that a buffer that is made depends on
// and those that can be inside of making it.
func (t *tiling) outer(aMade, bMade bool) (early, late []ir.Axis) {
	for _, axis := range t.x.outer {
		if aMade && t.x.a.axes[axis.Name] || bMade && t.x.b.axes[axis.Name] {
			early = append(early, axis)
		} else {
			late = append(late, axis)
		}
	}
	return early, late
}

// balanced is the step that cuts n rows into as few tiles of at most most as can
// be, all of about one height.
func balanced(n sym.Expr, most int64) sym.Expr {
	if most == 1 {
		return sym.Const(1)
	}
	if c, ok := n.IsConst(); ok {
		tiles := max(1, (c+most-1)/most)
		return sym.Const(max(1, (c+tiles-1)/tiles))
	}
	tiles := sym.FloorDiv(sym.Add(n, sym.Const(most-1)), sym.Const(most))
	return sym.FloorDiv(sym.Sub(sym.Add(n, tiles), sym.Const(1)), sym.Max(tiles, sym.Const(1)))
}

// each emits a loop over all of an axis, which keeps its name.
func (t *tiling) each(b *ir.Builder, axis ir.Axis, parallel bool) *ir.Builder {
	return t.loop(b, &ir.Range{Name: axis.Name, Lo: sym.Const(0), Hi: axis.Extent, Step: sym.Const(1)}, parallel)
}

func (t *tiling) loop(b *ir.Builder, r *ir.Range, parallel bool) *ir.Builder {
	in := &ir.Region{}
	op := ir.NewOp("tile.for", b.Loc, r, &ir.Block{Region: in})
	if parallel {
		ir.SetClause(op, "parallel", &ir.Flag{})
	}
	b.Add(op, nil)
	return b.In(in)
}

// tile cuts an axis into tiles of a constant size; an axis that is known to be
// no longer stays whole.
func (t *tiling) tile(b *ir.Builder, axis ir.Axis, most int64, parallel bool) *ir.Builder {
	if t.x.facts.Prove(sym.Le(axis.Extent, sym.Const(most))) {
		return b
	}
	return t.within(b, axis, sym.Const(most), parallel)
}

// within cuts the open tile of an axis into smaller ones.
func (t *tiling) within(b *ir.Builder, axis ir.Axis, step sym.Expr, parallel bool) *ir.Builder {
	start, size := t.h.fresh(axis.Name+"0"), t.h.fresh(axis.Name+"s")
	lo := t.at[axis.Name]
	r := &ir.Range{Name: start, Size: size, Lo: lo, Hi: sym.Add(lo, t.size[axis.Name]), Step: step}
	t.at[axis.Name], t.size[axis.Name] = sym.Name(start), sym.Name(size)
	return t.loop(b, r, parallel)
}

// alloc makes a buffer.
func alloc(b *ir.Builder, name string, e num.Elem, dims ...sym.Expr) *ir.Value {
	return b.Add(ir.NewOp("loop.alloc", b.Loc), []ir.Type{ir.Buf{Elem: e, Dims: dims}}, b.Fresh(name)).Results[0]
}

// makeA writes the open rows and depth of a to a buffer.
func (t *tiling) makeA(b *ir.Builder) {
	t.aBuf = alloc(b, "a", t.x.acc, t.size[t.x.m.Name], t.size[t.x.k.Name])
	t.made(b, t.x.a, t.aBuf, t.x.m, t.x.k)
}

// panelsOfA copies the open rows and depth of a to panels of the tile's rows.
func (t *tiling) panelsOfA(b *ir.Builder) {
	x, mr := t.x, t.key.MR
	t.aRow = t.at[x.m.Name]
	e, _ := x.elems()
	t.aBuf = alloc(b, "a", e, panels(t.size[x.m.Name], mr), t.size[x.k.Name], sym.Const(int64(mr)))
	r := x.read(x.a)
	op := ir.NewOp("tile.pack", b.Loc, &ir.Operands{Args: []ir.Arg{{Value: r.Src, View: view(r, t.at, t.size)}, ir.ValueArg(t.aBuf)}})
	ir.SetClause(op, "panel", &ir.Attr{Int: int64(mr)})
	if x.formA == alongDepth {
		ir.SetClause(op, "axis", &ir.Attr{Int: 0})
	}
	b.Add(op, nil)
}

// makeB writes the open depth and columns of b to a buffer, in panels, columns or
// rows.
func (t *tiling) makeB(b *ir.Builder) {
	x, wide, deep := t.x, t.size[t.x.n.Name], t.size[t.x.k.Name]
	if t.key.B == gemm.Columns {
		t.bBuf = alloc(b, "b", x.acc, wide, deep)
		t.made(b, x.b, t.bBuf, x.n, x.k)
		return
	}
	if !t.pack {
		t.bBuf = alloc(b, "b", x.acc, deep, wide)
		t.made(b, x.b, t.bBuf, x.k, x.n)
		return
	}
	_, e := x.elems()
	t.bBuf = alloc(b, "b", e, panels(wide, t.key.Lanes), deep, sym.Const(int64(t.key.Lanes)))
	t.packB(b, ir.ValueArg(t.bBuf))
}

// packB copies the open depth and columns of b to panels. What is computed is
// written to rows first.
func (t *tiling) packB(b *ir.Builder, to ir.Arg) {
	x, axis := t.x, 1
	var from ir.Arg
	if x.formB == made {
		from = ir.ValueArg(alloc(b, "b", x.acc, t.size[x.k.Name], t.size[x.n.Name]))
		t.made(b, x.b, from.Value, x.k, x.n)
	} else {
		r := x.read(x.b)
		from = ir.Arg{Value: r.Src, View: view(r, t.at, t.size)}
	}
	if x.formB == alongDepth {
		axis = 0
	}
	op := ir.NewOp("tile.pack", b.Loc, &ir.Operands{Args: []ir.Arg{from, to}})
	ir.SetClause(op, "panel", &ir.Attr{Int: int64(t.key.Lanes)})
	if axis == 0 {
		ir.SetClause(op, "axis", &ir.Attr{Int: 0})
	}
	b.Add(op, nil)
}

func panels(n sym.Expr, lanes int) sym.Expr {
	return sym.FloorDiv(sym.Add(n, sym.Const(int64(lanes-1))), sym.Const(int64(lanes)))
}

// made emits the comp that writes an operand's open part, in the order of axes.
func (t *tiling) made(b *ir.Builder, o *operand, buf *ir.Value, axes ...ir.Axis) {
	at := map[string]sym.Expr{}
	var order []ir.Axis
	for _, a := range axes {
		name := t.h.fresh(a.Name)
		order = append(order, ir.Axis{Name: name, Extent: t.size[a.Name]})
		at[a.Name] = sym.Add(t.at[a.Name], sym.Name(name))
	}
	b.Add(t.h.compute(t.x, o, buf, order, at), nil)
}

// call emits the call of the micro-kernel on the open tile.
func (t *tiling) call(b *ir.Builder) {
	x := t.x
	k := t.kernel(x)
	out := x.whole.Out.List[0]
	c := ir.Arg{Value: out.Buf, View: view(&ir.Read{Subs: out.Subs}, t.at, t.rowsAndColumns())}
	op := ir.NewOp("tile.call", b.Loc, &ir.Attr{Value: ir.AttrItem, Str: t.h.kernels.name(k, x.op.Loc)},
		&ir.Operands{Args: []ir.Arg{c, ir.ExprArg(t.size[x.k.Name])}})
	t.conditions(op)
	ir.SetClause(op, "a", t.provideA(b, k.A))
	ir.SetClause(op, "b", t.provideB(b, k.B))
	if e := t.epilogue(b); e != nil {
		ir.SetClause(op, "epilogue", e)
	}
	b.Add(op, nil)
}

func (t *tiling) rowsAndColumns() map[string]sym.Expr {
	return map[string]sym.Expr{t.x.m.Name: t.size[t.x.m.Name], t.x.n.Name: t.size[t.x.n.Name]}
}

// conditions say when the sums begin and when they are complete.
func (t *tiling) conditions(op *ir.Op) {
	x := t.x
	var first, last []sym.Cond
	for _, a := range x.also {
		first = append(first, sym.Eq(sym.Name(a.Name), sym.Const(0)))
		last = append(last, sym.Eq(sym.Add(sym.Name(a.Name), sym.Const(1)), a.Extent))
	}
	if at := t.at[x.k.Name]; !at.Equal(sym.Const(0)) {
		first = append(first, sym.Eq(at, sym.Const(0)))
		last = append(last, sym.Eq(sym.Add(at, t.size[x.k.Name]), x.k.Extent))
	}
	if x.fold.By.FromOut {
		first = []sym.Cond{sym.Eq(sym.Const(0), sym.Const(1))}
	}
	if len(first) > 0 {
		ir.SetClause(op, "first", &ir.Conds{List: first})
	}
	if len(last) > 0 {
		ir.SetClause(op, "last", &ir.Conds{List: last})
	}
}

// provider is a region that loads the element of buf whose subscripts at gives
// for the parameters.
func provider(b *ir.Builder, buf *ir.Value, params []string, at func(p []sym.Expr) []sym.Expr) *ir.Block {
	block := &ir.Block{Region: &ir.Region{}}
	var names []sym.Expr
	for _, p := range params {
		block.Params = append(block.Params, ir.BlockParam{Sym: p})
		names = append(names, sym.Name(p))
	}
	in := b.In(block.Region)
	in.Yield(in.Add(ir.NewOp("load", b.Loc, &ir.Operands{Args: []ir.Arg{ir.ElemArg(buf, at(names)...)}}), nil).Results[0])
	return block
}

// elements are the subscripts of the element of a read at the given place in the
// tile.
func (t *tiling) elements(r *ir.Read, at map[string]sym.Expr) (subs []sym.Expr) {
	to := map[string]sym.Expr{}
	for name, e := range t.at { // no order enters: a map
		to[name] = e
		if more, ok := at[name]; ok {
			to[name] = sym.Add(e, more)
		}
	}
	for _, s := range r.Subs {
		subs = append(subs, s.Subst(to))
	}
	return subs
}

func (t *tiling) provideA(b *ir.Builder, f gemm.Form) *ir.Block {
	x, i, l := t.x, t.h.fresh("i"), t.h.fresh("l")
	params := []string{i, l}
	if f == gemm.Columns {
		params = []string{l, i}
	}
	if t.packA {
		panel := sym.FloorDiv(sym.Sub(t.at[x.m.Name], t.aRow), sym.Const(int64(t.key.MR)))
		return provider(b, t.aBuf, params, func(p []sym.Expr) []sym.Expr { return []sym.Expr{panel, p[0], p[1]} })
	}
	if t.aBuf != nil {
		row := sym.Sub(t.at[x.m.Name], t.aRow)
		return provider(b, t.aBuf, params, func([]sym.Expr) []sym.Expr { return []sym.Expr{sym.Add(row, sym.Name(i)), sym.Name(l)} })
	}
	r := x.read(x.a)
	return provider(b, r.Src, params, func([]sym.Expr) []sym.Expr {
		return t.elements(r, map[string]sym.Expr{x.m.Name: sym.Name(i), x.k.Name: sym.Name(l)})
	})
}

func (t *tiling) provideB(b *ir.Builder, f gemm.Form) *ir.Block {
	x, l, j := t.x, t.h.fresh("l"), t.h.fresh("j")
	column := sym.Sub(t.at[x.n.Name], t.n0)
	switch {
	case f == gemm.Columns:
		return t.columnsOfB(b, j, l)
	case t.ready != nil:
		v := t.h.fresh("v")
		panel := sym.FloorDiv(column, sym.Const(int64(t.key.Lanes)))
		var at []sym.Expr
		for _, a := range t.ready.axes {
			at = append(at, sym.Name(a.Name))
		}
		return provider(b, t.ready.panels, []string{v, l, j}, func(p []sym.Expr) []sym.Expr {
			return append(at, sym.Add(panel, p[0]), sym.Add(t.at[x.k.Name], p[1]), p[2])
		})
	case f == gemm.Panels:
		v := t.h.fresh("v")
		panel := sym.FloorDiv(column, sym.Const(int64(t.key.Lanes)))
		return provider(b, t.bBuf, []string{v, l, j}, func(p []sym.Expr) []sym.Expr { return []sym.Expr{sym.Add(panel, p[0]), p[1], p[2]} })
	case t.bBuf != nil:
		return provider(b, t.bBuf, []string{l, j}, func(p []sym.Expr) []sym.Expr { return []sym.Expr{p[0], sym.Add(column, p[1])} })
	}
	r := x.read(x.b)
	return provider(b, r.Src, []string{l, j}, func(p []sym.Expr) []sym.Expr {
		return t.elements(r, map[string]sym.Expr{x.k.Name: p[0], x.n.Name: p[1]})
	})
}

// columnsOfB are those of the open tile, or of their copy.
func (t *tiling) columnsOfB(b *ir.Builder, j, l string) *ir.Block {
	if t.bBuf != nil {
		column := sym.Sub(t.at[t.x.n.Name], t.n0)
		return provider(b, t.bBuf, []string{j, l}, func(p []sym.Expr) []sym.Expr { return []sym.Expr{sym.Add(column, p[0]), p[1]} })
	}
	r := t.x.read(t.x.b)
	return provider(b, r.Src, []string{j, l}, func(p []sym.Expr) []sym.Expr {
		return t.elements(r, map[string]sym.Expr{t.x.n.Name: p[0], t.x.k.Name: p[1]})
	})
}

// epilogue is what the comp makes of a sum, nil where it is the result.
func (t *tiling) epilogue(b *ir.Builder) *ir.Block {
	x := t.x
	if x.fold.Op == x.whole.Op || x.whole.Yields()[0] == x.fold.Op.Results[0] {
		return nil
	}
	acc := &ir.Value{Name: b.Fresh("acc"), Type: ir.Scalar{Elem: x.acc}}
	i, j := t.h.fresh("i"), t.h.fresh("j")
	block := &ir.Block{Params: []ir.BlockParam{{Val: acc}, {Sym: i}, {Sym: j}}, Region: &ir.Region{}}
	in := b.In(block.Region)
	place := map[string]sym.Expr{
		x.m.Name: sym.Add(t.at[x.m.Name], sym.Name(i)),
		x.n.Name: sym.Add(t.at[x.n.Name], sym.Name(j))}
	m := &ir.Mapping{Values: map[*ir.Value]*ir.Value{x.fold.Op.Results[0]: acc}, Syms: place}
	used := x.needed(x.whole.Yields()[0])
	for _, r := range x.whole.In {
		if !used[r.Res] {
			continue
		}
		var subs []sym.Expr
		for _, s := range r.Subs {
			subs = append(subs, m.Expr(s))
		}
		m.Values[r.Res] = in.Add(ir.NewOp("load", b.Loc, &ir.Operands{Args: []ir.Arg{ir.ElemArg(r.Src, subs...)}}), nil).Results[0]
	}
	for _, op := range x.whole.Body.Ops {
		if !tensor.IsComp(op) && op != x.whole.Body.Last() {
			block.Region.Ops = append(block.Region.Ops, ir.CloneOp(op, m))
		}
	}
	in.Yield(m.Value(x.whole.Yields()[0]))
	return block
}
