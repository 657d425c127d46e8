package lower

import (
	"slices"

	"tenon/internal/diag"
	"tenon/ir"
	"tenon/ir/ops/tensor"
	"tenon/ir/sym"
)

// The ops of tensor level over buffers. An op not in this table that computes
// with scalars alone stays as it is; any other is refused.
var overBuffers map[string]func(b *bufferiser, op *ir.Op)

func init() {
	overBuffers = map[string]func(b *bufferiser, op *ir.Op){
		"tensor.comp":    (*bufferiser).comp,
		"tensor.reshape": (*bufferiser).reshape,
		"tensor.concat":  (*bufferiser).concat,
		"tensor.scatter": (*bufferiser).scatter,
		"tensor.sort":    (*bufferiser).sort,
		"tensor.topk":    (*bufferiser).topk,
		"tensor.nonzero": (*bufferiser).nonzero,
		"tensor.unique":  (*bufferiser).unique,
		"tensor.plan":    (*bufferiser).plan,
		"tensor.check":   (*bufferiser).keep,
		"loop.for":       (*bufferiser).loop,
		"loop.if":        (*bufferiser).branch,
		"tile.choose":    (*bufferiser).choose,
		"tensor.call":    (*bufferiser).call,
		"return":         (*bufferiser).skip,
		"yield":          (*bufferiser).skip,
	}
}

func (b *bufferiser) region(r *ir.Region) {
	for _, op := range r.Ops {
		b.here().Loc = op.Loc
		run := overBuffers[op.Def.Name]
		switch {
		case run != nil:
			run(b, op)
		case op.Def.Traits.Has(ir.Elementwise):
			b.keep(op)
		default:
			b.refuse(op, "")
		}
	}
}

func (b *bufferiser) skip(*ir.Op) {}

// keep copies an op that computes with scalars, dims and elements.
func (b *bufferiser) keep(op *ir.Op) {
	b.here().Region.Ops = append(b.here().Region.Ops, ir.CloneOp(op, &b.m))
}

// plan keeps a shape program where it stands. What it binds is not known outside
// the regions around it.
func (b *bufferiser) plan(op *ir.Op) {
	b.binds(op)
	b.keep(op)
}

// binds notes that op binds dims here, so that nothing of their size is allocated
// further out.
func (b *bufferiser) binds(op *ir.Op) {
	s := b.scopes[len(b.scopes)-1]
	for _, d := range ir.GetClause[*ir.Exists](op, "exists").Dims {
		s.bound = append(s.bound, d.Name)
	}
}

func (b *bufferiser) call(op *ir.Op) {
	b.errs = append(b.errs, diag.Errorf(op.Loc.First(), "%s: a call cannot be turned into buffers", op.Def.Name).
		WithFix("run the pass inline before bufferise"))
	for _, v := range op.Results {
		b.made(v, &ir.Value{Name: v.Name, Type: bufType(v.Type)})
	}
}

// comp writes each result at the axes it has.
func (b *bufferiser) comp(op *ir.Op) {
	c := tensor.AsComp(op)
	if len(op.Results) == 0 {
		b.refuse(op, " without results")
		return
	}
	for r := range op.Results {
		if _, whole := resultSubs(c, r); !whole {
			b.split(op, c)
			return
		}
	}
	outs := &ir.Outs{}
	for r, v := range op.Results {
		subs, _ := resultSubs(c, r)
		outs.List = append(outs.List, ir.Out{Buf: b.place(v), Subs: subs})
	}
	n := ir.CloneOp(op, &b.m)
	for r, v := range op.Results {
		b.made(v, outs.List[r].Buf)
	}
	n.Results = nil
	if len(c.RedFree()) > 0 {
		n = foldInside(n)
	}
	ir.SetClause(n, "out", outs)
	b.here().Region.Ops = append(b.here().Region.Ops, n)
}

// resultSubs are the subscripts of result r: its axes, where a row axis and
// the entries of that row make one dim. whole reports that all axes are there.
func resultSubs(c tensor.Comp, r int) (subs []sym.Expr, whole bool) {
	var all []sym.Expr
	for i, a := range c.Par {
		if a.Pattern != nil {
			if i > 0 && a.Row.Equal(sym.Name(c.Par[i-1].Name)) {
				all = all[:len(all)-1]
			}
			all = append(all, sym.Name(a.Entry))
			continue
		}
		all = append(all, sym.Name(a.Name))
	}
	if c.Out == nil {
		return all, true
	}
	return slices.Clone(c.Out.List[r].Subs), len(c.Out.List[r].Subs) == len(all)
}

// foldInside moves a whole reduction into the region of a comp over its par
// axes. The value form writes every point, also where a condition free of the
// red axes fails; the buffer form would leave such a point alone.
func foldInside(op *ir.Op) *ir.Op {
	c := tensor.AsComp(op)
	inner := tensor.New(op.Loc, tensor.Comp{Red: c.Red, If: c.If, In: c.In, Body: c.Body, By: c.By})
	body := &ir.Region{}
	nb := ir.NewBuilder(body)
	nb.Loc = op.Loc
	nb.Yield(nb.Add(inner, nil).Results...)
	return tensor.New(op.Loc, tensor.Comp{Par: c.Par, Body: body})
}

// reshape reads the element with the same number in C order.
func (b *bufferiser) reshape(op *ir.Op) {
	x, y := op.Operand(0), op.Results[0]
	if k := ir.GetClause[*ir.Conds](op, "check"); k != nil {
		b.here().Add(ir.NewOp("tensor.check", op.Loc, &ir.Conds{List: slices.Clone(k.List)}), nil)
	}
	to := b.place(y)
	axes, subs := b.axesOver(y.Type.(ir.Tensor).Dims)
	number := sym.Const(0)
	for _, a := range axes {
		number = sym.Add(sym.Mul(number, a.Extent), sym.Name(a.Name))
	}
	b.move(axes, b.m.Value(x), unravel(number, x.Type.(ir.Tensor).Dims), to, subs)
	b.made(y, to)
}

// unravel gives the subscripts of element number n of a shape. A shape without
// elements has no n; a divisor of 0 would have no text either.
func unravel(n sym.Expr, dims []sym.Expr) []sym.Expr {
	subs := make([]sym.Expr, len(dims))
	for d := len(dims) - 1; d > 0; d-- {
		size := dims[d]
		if size.Equal(sym.Const(0)) {
			size = sym.Const(1)
		}
		subs[d] = sym.Mod(n, size)
		n = sym.FloorDiv(n, size)
	}
	if len(dims) > 0 {
		subs[0] = n
	}
	return subs
}

// concat copies the operands side by side.
func (b *bufferiser) concat(op *ir.Op) {
	y := op.Results[0]
	to, axis := b.place(y), int(ir.GetClause[*ir.Attr](op, "axis").Int)
	offset := sym.Const(0)
	for _, x := range op.OperandValues("") {
		dims := x.Type.(ir.Tensor).Dims
		axes, subs := b.axesOver(dims)
		out := slices.Clone(subs)
		out[axis] = sym.Add(out[axis], offset)
		b.move(axes, b.m.Value(x), subs, to, out)
		offset = sym.Add(offset, dims[axis])
	}
	b.made(y, to)
}
