package lower

import (
	"slices"

	"tenon/internal/num"
	"tenon/ir"
	"tenon/ir/sym"
	"tenon/passes/pass"
)

// The ops of the tile family become loops and calls of the bodies of
// micro-kernels. Before:
//
//	tile.for j:n = 0 to N step 16 parallel {
//	  tile.pack(%B[0:K, j:n], %P) panel=8
//	  tile.call kernel=@k (%C[0:M, j:n], K) a(i, l) { yield(load(%A[i, l])) } b(v, l, c) { yield(load(%P[v, l, c])) }
//	}
//
// After:
//
//	loop.parallel j:n = 0 to N step 16 {
//	  .. loops that copy %B to %P ..
//	  loop.call @k_body(%A[0:M, 0:K], %P[0:(n + 7)//8, 0:K, 0:8], %C[0:M, j:n], 1)
//	}
//
// A provider has to read a view: its parameters stand in order in the subscripts
// of one load, each with factor 1. An epilogue becomes loops over the tile after
// the call, while it is in the first cache. Calls whose accumulators have another
// type than the result, and bodies that cannot go on from what the tile holds,
// are left for the interpreter.

type tiler struct {
	c *pass.Context
	m *ir.Module
}

// lower replaces an op of the tile family, at the end of b; false where it stays.
func (t *tiler) lower(b *ir.Builder, op *ir.Op) bool {
	lower := map[string]func(*ir.Builder, *ir.Op){"tile.for": t.loop, "tile.pack": t.pack, "tile.call": t.call}[op.Def.Name]
	if lower == nil {
		return false
	}
	if op.Def.Name == "tile.call" {
		if _, why := t.callOf(op); why != "" {
			t.c.Decline(op.Loc, "%s stays as it is: %s", op.Def.Name, why)
			return false
		}
	}
	lower(b, op)
	return true
}

// loop makes a tile.for a loop; under `once` an empty range runs one empty tile.
func (t *tiler) loop(b *ir.Builder, op *ir.Op) {
	r, body := ir.GetClause[*ir.Range](op, ""), bodyOf(op)
	name := "loop.for"
	if op.Has("parallel") {
		name = "loop.parallel"
	}
	n := ir.NewOp(name, op.Loc, r, &ir.Block{Region: body})
	if d := ir.GetClause[*ir.Directives](op, "directives"); op.Has("directives") && d != nil {
		ir.SetClause(n, "directives", d)
	}
	if !op.Has("once") {
		b.Add(n, nil)
		return
	}
	some, none := &ir.Region{}, &ir.Region{}
	empty := ir.CloneRegion(body, &ir.Mapping{Values: map[*ir.Value]*ir.Value{}, Syms: map[string]sym.Expr{r.Name: r.Lo, r.Size: sym.Const(0)}})
	none.Ops = empty.Ops
	b.In(some).Add(n, nil)
	branch := ir.NewOp("loop.if", op.Loc, &ir.Conds{List: []sym.Cond{sym.Lt(r.Lo, r.Hi)}}, &ir.Block{Region: some})
	ir.SetClause(branch, "else", &ir.Block{Region: none})
	b.Add(branch, nil)
}

// over emits a loop; its body gets the index.
func (t *tiler) over(b *ir.Builder, parallel bool, base string, lo, hi sym.Expr, body func(b *ir.Builder, i sym.Expr)) {
	name := b.Fresh(base)
	in := &ir.Region{}
	kind := "loop.for"
	if parallel {
		kind = "loop.parallel"
	}
	body(b.In(in), sym.Name(name))
	b.Add(ir.NewOp(kind, b.Loc, &ir.Range{Name: name, Lo: lo, Hi: hi, Step: sym.Const(1)}, &ir.Block{Region: in}), nil)
}

// steps emits a parallel loop over blocks of n; its body gets the start and size.
func (t *tiler) steps(b *ir.Builder, base string, n sym.Expr, step int64, body func(b *ir.Builder, lo, size sym.Expr)) {
	name, size := b.Fresh(base), b.Fresh(base+"n")
	in := &ir.Region{}
	body(b.In(in), sym.Name(name), sym.Name(size))
	b.Add(ir.NewOp("loop.parallel", b.Loc, &ir.Range{Name: name, Size: size, Lo: sym.Const(0), Hi: n, Step: sym.Const(step)}, &ir.Block{Region: in}), nil)
}

// rowsAtATime is how many rows of a matrix are copied to panels together: each is
// read from its beginning to its end, a stream that the hardware fetches ahead,
// and a panel gets whole cache lines.
const rowsAtATime = 8

// pack copies whole panels, then the last one, which is filled up with 0.
func (t *tiler) pack(b *ir.Builder, op *ir.Op) {
	args := op.Args("")
	axis := 1
	if a := ir.GetClause[*ir.Attr](op, "axis"); op.Has("axis") && a != nil {
		axis = int(a.Int)
	}
	width := ir.GetClause[*ir.Attr](op, "panel").Int
	from, to := viewOf(args[0]), viewOf(args[1])
	wide, deep := from.size(axis), from.size(1-axis)
	panels := sym.FloorDiv(wide, sym.Const(width))
	copied := func(b *ir.Builder, q, l, j sym.Expr) {
		at := []sym.Expr{l, l}
		at[axis] = sym.Add(sym.Mul(sym.Const(width), q), j)
		store(b, load(b, op, "x", from.buf, from.at(at...)), to.buf, to.at(q, l, j))
	}
	zero, none := sym.Const(0), b.Const(ir.ElemOf(from.buf.Type), num.Cast(num.F64, ir.ElemOf(from.buf.Type), num.FromFloat(0)))
	whole := func(b *ir.Builder, q, lo, hi sym.Expr) {
		t.over(b, true, "l", lo, hi, func(b *ir.Builder, l sym.Expr) {
			t.over(b, true, "j", zero, sym.Const(width), func(b *ir.Builder, j sym.Expr) { copied(b, q, l, j) })
		})
	}
	if axis == 1 {
		t.steps(b, "l", deep, rowsAtATime, func(b *ir.Builder, lo, n sym.Expr) {
			t.over(b, true, "q", zero, panels, func(b *ir.Builder, q sym.Expr) { whole(b, q, lo, sym.Add(lo, n)) })
		})
	} else { // all places of a panel at once, so that rows of the source can be turned in registers
		t.over(b, true, "q", zero, panels, func(b *ir.Builder, q sym.Expr) {
			t.over(b, true, "l", zero, deep, func(b *ir.Builder, l sym.Expr) {
				for j := int64(0); j < width; j++ {
					copied(b, q, l, sym.Const(j))
				}
			})
		})
	}
	rest := sym.Sub(wide, sym.Mul(sym.Const(width), panels))
	then := &ir.Region{}
	in := b.In(then)
	t.over(in, true, "l", zero, deep, func(b *ir.Builder, l sym.Expr) {
		t.over(b, true, "j", zero, rest, func(b *ir.Builder, j sym.Expr) { copied(b, panels, l, j) })
		if axis == 0 { // shorter than a panel, and not along the rows: no vectors
			ir.SetClause(b.Region.Ops[len(b.Region.Ops)-1], "directives", &ir.Directives{List: []string{"rest"}})
		}
		t.over(b, true, "j", rest, sym.Const(width), func(b *ir.Builder, j sym.Expr) { store(b, none, to.buf, to.at(panels, l, j)) })
	})
	b.Add(ir.NewOp("loop.if", op.Loc, &ir.Conds{List: []sym.Cond{sym.Lt(zero, rest)}}, &ir.Block{Region: then}), nil)
}

func store(b *ir.Builder, v, buf *ir.Value, subs []sym.Expr) {
	b.Add(ir.NewOp("store", b.Loc, &ir.Operands{Args: []ir.Arg{ir.ValueArg(v), ir.ElemArg(buf, subs...)}}), nil)
}

// window is a view of a buffer.
type window struct {
	buf  *ir.Value
	dims []ir.ViewDim
}

func viewOf(a ir.Arg) window {
	if a.View != nil {
		return window{a.Value, a.View.Dims}
	}
	w := window{buf: a.Value}
	sizes, _ := ir.DimsOf(a.Value.Type)
	for _, n := range sizes {
		w.dims = append(w.dims, ir.ViewDim{Start: sym.Const(0), Size: n, HasSize: true})
	}
	return w
}

// kept are the dims that the view keeps.
func (w window) kept() (dims []ir.ViewDim) {
	for _, d := range w.dims {
		if d.HasSize {
			dims = append(dims, d)
		}
	}
	return dims
}

func (w window) size(d int) sym.Expr { return w.kept()[d].Size }

// at are the subscripts in the buffer of an element of the view.
func (w window) at(subs ...sym.Expr) (out []sym.Expr) {
	for _, d := range w.dims {
		if d.HasSize {
			out = append(out, sym.Add(d.Start, subs[0]))
			subs = subs[1:]
		} else {
			out = append(out, d.Start)
		}
	}
	return out
}

func (w window) arg() ir.Arg { return ir.Arg{Value: w.buf, View: &ir.View{Dims: slices.Clone(w.dims)}} }
