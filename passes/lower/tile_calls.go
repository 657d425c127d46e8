package lower

import (
	"slices"

	"tenon/internal/num"
	"tenon/ir"
	"tenon/ir/sym"
)

// kernelCall is a tile.call as a call of the kernel's body.
type kernelCall struct {
	kernel *ir.Kernel
	ins    []window
	tile   window
}

// callOf reads a tile.call, or says why it cannot be a call.
func (t *tiler) callOf(op *ir.Op) (*kernelCall, string) {
	k := ir.Lookup[*ir.Kernel](t.m, ir.GetClause[*ir.Attr](op, "kernel").Str)
	body := ir.Lookup[*ir.Func](t.m, k.Body)
	out := k.Params[len(k.Params)-1]
	args := op.Args("")
	switch {
	case ir.ElemOf(args[0].Value.Type) != ir.ElemOf(out.Value.Type):
		return nil, "its accumulators have another type than the result"
	case len(body.Params) != len(k.Params)+1:
		return nil, "the kernel's body cannot go on from what the tile holds"
	}
	x := &kernelCall{kernel: k, tile: viewOf(args[0])}
	sizes := map[string]sym.Expr{}
	dims, _ := ir.DimsOf(out.Value.Type)
	for i, d := range dims {
		n, _ := d.IsName() // verified
		sizes[n] = x.tile.size(i)
	}
	rest := args[1:]
	for _, n := range k.Dims {
		if _, known := sizes[n]; !known {
			e, ok := rest[0].AsExpr()
			if !ok {
				return nil, "a size is no expression"
			}
			sizes[n], rest = e, rest[1:]
		}
	}
	for i, kw := range []string{"a", "b"} {
		w, ok := provided(ir.GetClause[*ir.Block](op, kw), k.Params[i], sizes)
		if !ok {
			return nil, "the elements of %" + k.Params[i].Value.Name + " are no view of a buffer"
		}
		x.ins = append(x.ins, w)
	}
	return x, ""
}

// provided is the view that a provider reads.
func provided(b *ir.Block, p *ir.Param, sizes map[string]sym.Expr) (window, bool) {
	y := b.Region.Yields()[0]
	if y.Def == nil || y.Def.Def.Name != "load" || len(b.Region.Ops) != 2 {
		return window{}, false
	}
	from := y.Def.Args("")[0]
	w := window{buf: from.Value}
	dims, _ := ir.DimsOf(p.Value.Type)
	next := 0
	for _, s := range subsOf(from) {
		d := ir.ViewDim{Start: s}
		if next < len(b.Params) && s.Uses(b.Params[next].Sym) {
			d = ir.ViewDim{Start: sym.Sub(s, sym.Name(b.Params[next].Sym)), Size: dims[next].Subst(sizes), HasSize: true}
			next++
		}
		if slices.ContainsFunc(b.Params, func(p ir.BlockParam) bool { return d.Start.Uses(p.Sym) }) {
			return window{}, false
		}
		w.dims = append(w.dims, d)
	}
	return w, next == len(b.Params)
}

func subsOf(a ir.Arg) (subs []sym.Expr) {
	if a.View != nil {
		for _, d := range a.View.Dims {
			subs = append(subs, d.Start)
		}
	}
	return subs
}

// call emits the call of a body, then what the epilogue makes of the tile.
func (t *tiler) call(b *ir.Builder, op *ir.Op) {
	x, _ := t.callOf(op)
	args := []ir.Arg{ir.ValueArg(nil)}[:0]
	for _, w := range x.ins {
		args = append(args, w.arg())
	}
	args = append(args, x.tile.arg(), ir.ValueArg(flag(b, op, "first")))
	b.Add(ir.NewOp("loop.call", op.Loc, &ir.Attr{Value: ir.AttrItem, Str: x.kernel.Body}, &ir.Operands{Args: args}), nil)
	e := ir.GetClause[*ir.Block](op, "epilogue")
	if !op.Has("epilogue") || e == nil {
		return
	}
	into := b
	last := ir.GetClause[*ir.Conds](op, "last")
	then := &ir.Region{}
	if op.Has("last") && last != nil {
		into = b.In(then)
	}
	t.over(into, true, "i", sym.Const(0), x.tile.size(0), func(b *ir.Builder, i sym.Expr) {
		t.over(b, true, "j", sym.Const(0), x.tile.size(1), func(b *ir.Builder, j sym.Expr) { x.finish(b, op, e, i, j) })
	})
	if into != b {
		b.Add(ir.NewOp("loop.if", op.Loc, last, &ir.Block{Region: then}), nil)
	}
}

// finish emits the epilogue of one element.
func (x *kernelCall) finish(b *ir.Builder, op *ir.Op, e *ir.Block, i, j sym.Expr) {
	at := x.tile.at(i, j)
	acc := load(b, op, "acc", x.tile.buf, at)
	m := &ir.Mapping{Values: map[*ir.Value]*ir.Value{e.Params[0].Val: acc}, Syms: map[string]sym.Expr{e.Params[1].Sym: i, e.Params[2].Sym: j}}
	ops := e.Region.Ops
	for _, in := range ops[:len(ops)-1] {
		b.Region.Ops = append(b.Region.Ops, ir.CloneOp(in, m))
	}
	store(b, m.Value(e.Region.Yields()[0]), x.tile.buf, at)
}

// flag is 1 where the conditions hold, or where there are none, else 0.
func flag(b *ir.Builder, op *ir.Op, kw string) *ir.Value {
	conds := ir.GetClause[*ir.Conds](op, kw)
	if !op.Has(kw) || conds == nil {
		return b.Const(num.Index, num.FromInt(1))
	}
	yes, no := &ir.Region{}, &ir.Region{}
	b.In(yes).Yield(b.In(yes).Const(num.Index, num.FromInt(1)))
	b.In(no).Yield(b.In(no).Const(num.Index, num.FromInt(0)))
	n := ir.NewOp("loop.if", op.Loc, conds, &ir.Block{Region: yes})
	ir.SetClause(n, "else", &ir.Block{Region: no})
	return b.Add(n, nil, kw).Results[0]
}
