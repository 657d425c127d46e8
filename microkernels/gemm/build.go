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
	if k.Elem != k.Acc || !k.Acc.IsFloat() || k.A == Panels || k.B == Columns {
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
	bDims, bAt := "k, n", "l, j"
	if k.B == Panels {
		bDims = fmt.Sprintf("(n + %d)//%d, k, %d", k.Lanes-1, k.Lanes, k.Lanes)
		bAt = fmt.Sprintf("j//%d, l, j mod %d", k.Lanes, k.Lanes)
	}
	text := fmt.Sprintf(`tenon ir 1
kernel @%s<m, n, k> tile(%d, %d, 1) needs() cost @%s body @%s
    (in %%a: buf<%s[%s]>, in %%b: buf<%s[%s]>, out %%c: buf<%s[m, n]>) {
  tensor.comp par(i < m, j < n) red(l < k) in(%%x = %%a[%s], %%y = %%b[%s]) out(%%c[i, j]) {
    yield(mul(%%x, %%y)) } by sum(%s) }
`, k.Name(), k.MR, k.NV*k.Lanes, k.CostName(), k.BodyName(), k.Elem, aDims, k.Elem, bDims, k.Acc, aAt, bAt, k.Acc)
	m, err := ir.Parse(k.Name(), text)
	if err != nil {
		diag.Bugf("the meaning of %s: %v", k.Name(), err)
	}
	kernel := ir.Lookup[*ir.Kernel](m, k.Name())
	forget(kernel)
	return kernel
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
	lanes := sym.Const(int64(k.Lanes))
	aDims := []sym.Expr{m, depth}
	if k.A == Columns {
		aDims = []sym.Expr{depth, m}
	}
	rows := func(e num.Elem, stride string, dims ...sym.Expr) ir.Buf {
		return ir.Buf{Elem: e, Dims: dims, Strides: []sym.Expr{sym.Name(stride), sym.Const(1)}}
	}
	bType := rows(k.Elem, "LB", depth, n)
	if k.B == Panels {
		panels := sym.FloorDiv(sym.Add(n, sym.Const(int64(k.Lanes-1))), lanes)
		bType = ir.Buf{Elem: k.Elem, Dims: []sym.Expr{panels, depth, lanes}, Strides: []sym.Expr{sym.Name("LB"), lanes, sym.Const(1)}}
	}
	return &body{
		Key: k, vec: ir.Vec{Lanes: k.Lanes, Elem: k.Acc},
		a:     &ir.Value{Name: "a", Type: rows(k.Elem, "LA", aDims...)},
		b:     &ir.Value{Name: "b", Type: bType},
		c:     &ir.Value{Name: "c", Type: rows(k.Acc, "LC", m, n)},
		first: &ir.Value{Name: "first", Type: ir.IndexType},
	}
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

// vectors picks the number of vectors, v or fewer.
func (k *body) vectors(b *ir.Builder, r, v int) {
	fewer := func(b *ir.Builder) { k.vectors(b, r, v-1) }
	if v == 1 {
		fewer = nil
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
			func(b *ir.Builder) { k.finish(b, r, v, acc, nil) },
			func(b *ir.Builder) { k.finish(b, r, v, acc, k.mask(b, v)) })
		return
	}
	branch(b, full,
		func(b *ir.Builder) { k.finish(b, r, v, k.loop(b, r, v, nil), nil) },
		func(b *ir.Builder) {
			mask := k.mask(b, v)
			k.finish(b, r, v, k.loop(b, r, v, mask), mask)
		})
}

// fetchTile asks for the cache lines of the tile, which come while the products
// are summed. A row that does not begin at a line shares two with its neighbours.
func (k *body) fetchTile(b *ir.Builder, r, v int) {
	const line = 64 // bytes; of smaller ones some are not asked for
	for i := range r {
		last := v*k.Lanes - 1
		for at := 0; at <= last; at += line / k.Acc.Bytes() {
			k.fetch(b, i, at)
		}
		k.fetch(b, i, last)
	}
}

func (k *body) fetch(b *ir.Builder, i, j int) {
	at := ir.ElemArg(k.c, sym.Const(int64(i)), sym.Const(int64(j)))
	b.Add(ir.NewOp("vec.prefetch", b.Loc, &ir.Operands{Args: []ir.Arg{at}}), nil)
}

// mask is that of the last of v vectors.
func (k *body) mask(b *ir.Builder, v int) *ir.Value {
	left := sym.Sub(sym.Name("n"), sym.Const(int64((v-1)*k.Lanes)))
	op := ir.NewOp("vec.first", b.Loc, &ir.Operands{Args: []ir.Arg{ir.ExprArg(left)}})
	return b.Add(op, []ir.Type{ir.Mask{Lanes: k.Lanes}}, b.Fresh("tail")).Results[0]
}

// loop emits the loop over k and returns the accumulators, row by row.
func (k *body) loop(b *ir.Builder, r, v int, mask *ir.Value) []*ir.Value {
	zero := ir.NewOp("vec.splat", b.Loc, &ir.Operands{Args: []ir.Arg{ir.LitArg(ir.Literal{Elem: k.Acc, Cell: num.Cast(num.F64, k.Acc, num.FromFloat(0))})}})
	z := b.Add(zero, []ir.Type{k.vec}, b.Fresh("zero")).Results[0]
	carry := &ir.Carry{}
	var types []ir.Type
	var names []string
	for i := 0; i < r*v; i++ {
		carry.Inits = append(carry.Inits, z)
		carry.Params = append(carry.Params, &ir.Value{Name: b.Fresh("acc"), Type: k.vec})
		types, names = append(types, k.vec), append(names, b.Fresh("sum"))
	}
	region := &ir.Region{}
	k.step(b.In(region), r, v, mask, carry.Params)
	over := &ir.Range{Name: "l", Lo: sym.Const(0), Hi: sym.Name("k"), Step: sym.Const(1)}
	return b.Add(ir.NewOp("loop.for", b.Loc, over, carry, &ir.Block{Region: region}), types, names...).Results
}

// step emits one step over k.
func (k *body) step(b *ir.Builder, r, v int, mask *ir.Value, acc []*ir.Value) {
	var cols []*ir.Value
	for j := 0; j < v; j++ {
		cols = append(cols, k.load(b, k.bAt(j), maskFor(mask, j, v), "col"))
	}
	var next []*ir.Value
	for i := 0; i < r; i++ {
		op := ir.NewOp("vec.bcast", b.Loc, &ir.Operands{Args: []ir.Arg{k.aAt(i)}})
		row := b.Add(op, []ir.Type{k.vec}, b.Fresh("row")).Results[0]
		for j := 0; j < v; j++ {
			next = append(next, lanewise(b, "vec.fma", row, cols[j], acc[i*v+j]))
		}
	}
	b.Yield(next...)
}

// maskFor is the mask of vector j of v: only the last one has any.
func maskFor(mask *ir.Value, j, v int) *ir.Value {
	if j < v-1 {
		return nil
	}
	return mask
}

// aAt and bAt are the elements that step l reads for a row and a vector.
func (k *body) aAt(i int) ir.Arg {
	at := []sym.Expr{sym.Const(int64(i)), sym.Name("l")}
	if k.A == Columns {
		at[0], at[1] = at[1], at[0]
	}
	return ir.ElemArg(k.a, at...)
}

func (k *body) bAt(j int) ir.Arg {
	if k.B == Panels {
		return ir.ElemArg(k.b, sym.Const(int64(j)), sym.Name("l"), sym.Const(0))
	}
	return ir.ElemArg(k.b, sym.Name("l"), sym.Const(int64(j*k.Lanes)))
}

func lanewise(b *ir.Builder, name string, args ...*ir.Value) *ir.Value {
	ops := &ir.Operands{}
	for _, a := range args {
		ops.Args = append(ops.Args, ir.ValueArg(a))
	}
	return b.Add(ir.NewOp(name, b.Loc, ops), nil, b.Fresh("next")).Results[0]
}

func (k *body) load(b *ir.Builder, at ir.Arg, mask *ir.Value, name string) *ir.Value {
	return b.Add(access("vec.load", mask, at), []ir.Type{k.vec}, b.Fresh(name)).Results[0]
}

// access is a load or store, masked where there is a mask.
func access(name string, mask *ir.Value, args ...ir.Arg) *ir.Op {
	clauses := []ir.Clause{&ir.Operands{Args: args}}
	if mask != nil {
		clauses = append(clauses, &ir.Operands{Args: []ir.Arg{ir.ValueArg(mask)}})
	}
	return ir.NewOp(name, ir.Loc{}, clauses...)
}

// finish stores the accumulators, with what the tile held added unless first.
func (k *body) finish(b *ir.Builder, r, v int, acc []*ir.Value, mask *ir.Value) {
	each := func(visit func(x *ir.Value, at ir.Arg, mask *ir.Value)) {
		for i, x := range acc {
			row, col := i/v, i%v
			visit(x, ir.ElemArg(k.c, sym.Const(int64(row)), sym.Const(int64(col*k.Lanes))), maskFor(mask, col, v))
		}
	}
	store := func(b *ir.Builder, x *ir.Value, at ir.Arg, mask *ir.Value) {
		b.Add(access("vec.store", mask, ir.ValueArg(x), at), nil)
	}
	branch(b, sym.Ne(sym.Val(k.first), sym.Const(0)),
		func(b *ir.Builder) {
			each(func(x *ir.Value, at ir.Arg, mask *ir.Value) { store(b, x, at, mask) })
		},
		func(b *ir.Builder) {
			each(func(x *ir.Value, at ir.Arg, mask *ir.Value) {
				store(b, lanewise(b, "vec.add", k.load(b, at, mask, "old"), x), at, mask)
			})
		})
}
