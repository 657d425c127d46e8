package gemm

import (
	"fmt"

	"tenon/internal/diag"
	"tenon/internal/num"
	"tenon/ir"
	_ "tenon/ir/ops" // the rows that bodies are made of
	"tenon/ir/sym"
)

// Build makes the micro-kernel k: the kernel item and the proc of its body. Both
// depend on k alone. It is a Bug to ask for a form that the package lacks.
func Build(k Key, _ Machine) (*ir.Kernel, *ir.Func) {
	if !k.possible() {
		diag.Bugf("there is no micro-kernel %s", k.Name())
	}
	return meaning(k), newBody(k).proc()
}

// meaning is the kernel item.
func meaning(k Key) *ir.Kernel {
	aDims, aAt := "m, k", "i, l"
	if k.A == Columns {
		aDims, aAt = "k, m", "l, i"
	}
	bDims, bAt := k.bText()
	factor := func(name string, e num.Elem) string {
		if e == k.Acc {
			return name
		}
		return fmt.Sprintf("cast(%s): %s", name, k.Acc)
	}
	text := fmt.Sprintf(`tenon ir 1
kernel @%s<m, n, k> tile(%d, %d, 1) needs() cost @%s body @%s
    (in %%a: buf<%s[%s]>, in %%b: buf<%s[%s]>, out %%c: buf<%s[m, n]>) {
  tensor.comp par(i < m, j < n) red(l < k) in(%%x = %%a[%s], %%y = %%b[%s]) out(%%c[i, j]) {
    yield(mul(%s, %s)) } by sum(%s) }
`, k.Name(), k.MR, k.Cols(), k.CostName(), k.BodyName(), k.Elem, aDims, k.ElemOfB(), bDims, k.Acc, aAt, bAt,
		factor("%x", k.Elem), factor("%y", k.ElemOfB()), k.Acc)
	m, err := ir.Parse(k.Name(), text)
	if err != nil {
		diag.Bugf("the meaning of %s: %v", k.Name(), err)
	}
	kernel := ir.Lookup[*ir.Kernel](m, k.Name())
	forget(kernel)
	return kernel
}

// bText is the shape of B and the subscripts of its element l, j.
func (k Key) bText() (dims, at string) {
	l := k.Lanes
	switch {
	case k.B == Columns:
		return "n, k", "j, l"
	case k.B == Panels && k.Group > 1:
		return fmt.Sprintf("(n + %d)//%d, (k + %d)//%d, %d", l-1, l, k.Group-1, k.Group, k.panelRow()),
			fmt.Sprintf("j//%d, l//%d, (j mod %d)*%d + l mod %d", l, k.Group, l, k.Group, k.Group)
	case k.B == Panels:
		return fmt.Sprintf("(n + %d)//%d, k, %d", l-1, l, l), fmt.Sprintf("j//%d, l, j mod %d", l, l)
	}
	return "k, n", "l, j"
}

// forget drops the places in the text above, which no user can look at.
func forget(k *ir.Kernel) {
	k.Loc = ir.Loc{}
	k.Meaning.Walk(func(op *ir.Op) bool {
		op.Loc = ir.Loc{}
		for _, in := range op.Regions() {
			in.Walk(func(op *ir.Op) bool { op.Loc = ir.Loc{}; return true })
		}
		return true
	})
}

// body builds the proc.
type body struct {
	Key
	vec            ir.Vec
	a, b, c, first *ir.Value
}

func newBody(k Key) *body {
	m, n, depth := sym.Name("m"), sym.Name("n"), sym.Name("k")
	aDims := []sym.Expr{m, depth}
	if k.A == Columns {
		aDims = []sym.Expr{depth, m}
	}
	rows := func(e num.Elem, stride string, dims ...sym.Expr) ir.Buf {
		return ir.Buf{Elem: e, Dims: dims, Strides: []sym.Expr{sym.Name(stride), sym.Const(1)}}
	}
	bType := rows(k.ElemOfB(), "LB", depth, n)
	switch k.B {
	case Columns:
		bType = rows(k.ElemOfB(), "LB", n, depth)
	case Panels:
		row := sym.Const(int64(k.panelRow()))
		bType = ir.Buf{Elem: k.ElemOfB(), Dims: []sym.Expr{ceilDiv(n, k.Lanes), ceilDiv(depth, max(k.Group, 1)), row},
			Strides: []sym.Expr{sym.Name("LB"), row, sym.Const(1)}}
	}
	return &body{
		Key: k, vec: ir.Vec{Lanes: k.Lanes, Elem: k.Acc},
		a:     &ir.Value{Name: "a", Type: rows(k.Elem, "LA", aDims...)},
		b:     &ir.Value{Name: "b", Type: bType},
		c:     &ir.Value{Name: "c", Type: rows(k.Acc, "LC", m, n)},
		first: &ir.Value{Name: "first", Type: ir.IndexType},
	}
}

func ceilDiv(x sym.Expr, by int) sym.Expr {
	return sym.FloorDiv(sym.Add(x, sym.Const(int64(by-1))), sym.Const(int64(by)))
}

func (k *body) proc() *ir.Func {
	f := &ir.Func{IsProc: true, Level: ir.LevelVec, Name: k.BodyName(), Dims: []string{"m", "n", "k", "LA", "LB", "LC"}, Body: &ir.Region{},
		Params: []*ir.Param{{Mode: ir.ModeIn, Value: k.a}, {Mode: ir.ModeIn, Value: k.b}, {Mode: ir.ModeInOut, Value: k.c}, {Mode: ir.ModeIn, Value: k.first}}}
	b := ir.NewBuilder(f.Body)
	b.Reserve("a", "b", "c", "first")
	k.rows(b, k.MR)
	b.Return()
	return f
}

// branch appends a loop.if; a nil no leaves out the else region.
func branch(b *ir.Builder, c sym.Cond, yes, no func(*ir.Builder)) {
	then := &ir.Region{}
	yes(b.In(then))
	clauses := []ir.Clause{&ir.Conds{List: []sym.Cond{c}}, &ir.Block{Region: then}}
	if no != nil {
		other := &ir.Region{}
		no(b.In(other))
		clauses = append(clauses, &ir.Block{Region: other})
	}
	b.Add(ir.NewOp("loop.if", b.Loc, clauses...), nil)
}

// rows picks the number of rows, r or fewer: the most first, which most tiles
// have.
func (k *body) rows(b *ir.Builder, r int) {
	more := func(b *ir.Builder) { k.rows(b, r-1) }
	if r == 1 {
		more = nil
	}
	branch(b, sym.Eq(sym.Name("m"), sym.Const(int64(r))), func(b *ir.Builder) { k.vectors(b, r, k.NV) }, more)
}

// vectors picks the number of vectors, v or fewer, or that of columns.
func (k *body) vectors(b *ir.Builder, r, v int) {
	fewer := func(b *ir.Builder) { k.vectors(b, r, v-1) }
	if v == 1 {
		fewer = nil
	}
	if k.dots() {
		branch(b, sym.Eq(sym.Name("n"), sym.Const(int64(v))), func(b *ir.Builder) { k.finish(b, k.sums(b, r, v, k.loop(b, r, v, nil))) }, fewer)
		return
	}
	least := sym.Const(int64((v-1)*k.Lanes + 1))
	branch(b, sym.Ge(sym.Name("n"), least), func(b *ir.Builder) { k.tile(b, r, v) }, fewer)
}

// tile emits a tile of r rows and v vectors, the last of which n may leave
// unfilled. Panels are filled up, so that they share the loop.
func (k *body) tile(b *ir.Builder, r, v int) {
	full := sym.Eq(sym.Name("n"), sym.Const(int64(v*k.Lanes)))
	k.fetchTile(b, r, v)
	if k.B == Panels {
		acc := k.loop(b, r, v, nil)
		branch(b, full,
			func(b *ir.Builder) { k.finish(b, k.pieces(v, acc, nil)) },
			func(b *ir.Builder) { k.finish(b, k.pieces(v, acc, k.mask(b, v))) })
		return
	}
	branch(b, full,
		func(b *ir.Builder) { k.finish(b, k.pieces(v, k.loop(b, r, v, nil), nil)) },
		func(b *ir.Builder) {
			mask := k.mask(b, v)
			k.finish(b, k.pieces(v, k.loop(b, r, v, mask), mask))
		})
}

// fetchTile asks for the cache lines of the tile, which come while the products
// are summed. A row that does not begin at a line shares two with its neighbours.
func (k *body) fetchTile(b *ir.Builder, r, v int) {
	const line = 64 // bytes; of smaller ones some are not asked for
	for i := range r {
		last := v*k.Lanes - 1
		for at := 0; at <= last; at += line / k.Acc.Bytes() {
			k.fetchLine(b, i, at)
		}
		k.fetchLine(b, i, last)
	}
}

func (k *body) fetchLine(b *ir.Builder, i, j int) {
	at := ir.ElemArg(k.c, sym.Const(int64(i)), sym.Const(int64(j)))
	b.Add(ir.NewOp("vec.prefetch", b.Loc, &ir.Operands{Args: []ir.Arg{at}}), nil)
}

// mask is that of the last of v vectors.
func (k *body) mask(b *ir.Builder, v int) *ir.Value {
	return first(b, sym.Sub(sym.Name("n"), sym.Const(int64((v-1)*k.Lanes))), k.Lanes)
}

// first is the mask of so many of lanes.
func first(b *ir.Builder, count sym.Expr, lanes int) *ir.Value {
	op := ir.NewOp("vec.first", b.Loc, &ir.Operands{Args: []ir.Arg{ir.ExprArg(count)}})
	return b.Add(op, []ir.Type{ir.Mask{Lanes: lanes}}, b.Fresh("tail")).Results[0]
}

// maskFor is the mask of vector j of v: only the last one has any.
func maskFor(mask *ir.Value, j, v int) *ir.Value {
	if j < v-1 {
		return nil
	}
	return mask
}
