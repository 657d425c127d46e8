package cpu

import (
	"tenon/codegen/llvm"
	"tenon/internal/diag"
	"tenon/internal/num"
	"tenon/ir"
	"tenon/ir/sym"
)

// buffer is a dense or strided array in a body: its address, dims and strides
// (in elements) as integers that were evaluated where it came into scope.
type buffer struct {
	typ     ir.Buf
	data    llvm.Value
	dims    []llvm.Value
	strides []llvm.Value
	arg     int // number of the argument, -1 for memory of our own
}

// dense describes an array of type t in C order.
func (p *proc) dense(t ir.Buf, data llvm.Value, arg int) *buffer {
	b := &buffer{typ: t, data: data, arg: arg, dims: make([]llvm.Value, len(t.Dims))}
	for i, d := range t.Dims {
		b.dims[i] = p.expr(d)
	}
	b.strides = p.cStrides(b.dims)
	return b
}

func (p *proc) cStrides(dims []llvm.Value) []llvm.Value {
	strides := make([]llvm.Value, len(dims))
	step := llvm.Index(1)
	for i := len(dims) - 1; i >= 0; i-- {
		strides[i] = step
		if i > 0 {
			step = p.product(step, dims[i])
		}
	}
	return strides
}

// product multiplies, leaving out a factor of 1.
func (p *proc) product(a, b llvm.Value) llvm.Value {
	if n, ok := a.AsInt(); ok && n == 1 {
		return b
	}
	if n, ok := b.AsInt(); ok && n == 1 {
		return a
	}
	return p.Op("mul", a, b)
}

// plus adds, leaving out 0.
func (p *proc) plus(a, b llvm.Value) llvm.Value {
	if n, ok := a.AsInt(); ok && n == 0 {
		return b
	}
	return p.Op("add", a, b)
}

func (p *proc) buffer(v *ir.Value) *buffer {
	b := p.bufs[v]
	if b == nil && p.part != nil {
		b = p.captureBuffer(p.part.body.buffer(v))
		p.bufs[v] = b
	}
	if b == nil {
		diag.Bugf("%s: %%%s is no buffer", p.src.Name, v.Name)
	}
	return b
}

// element is the position of element subs of b, after checks of the subscripts
// that are not proved to be in range.
func (p *proc) element(b *buffer, subs []sym.Expr) llvm.Value {
	if len(subs) != len(b.dims) {
		diag.Bugf("%s: %d subscripts for a buffer of rank %d", p.src.Name, len(subs), len(b.dims))
	}
	vs := make([]llvm.Value, len(subs))
	for d, s := range subs {
		vs[d] = p.expr(s)
		p.inRange(b, d, s, vs[d])
	}
	return p.position(b, vs)
}

// inRange checks one subscript. One unsigned comparison covers both ends where
// neither is proved.
func (p *proc) inRange(b *buffer, d int, s sym.Expr, v llvm.Value) {
	if p.opts.Unchecked {
		return
	}
	low := p.facts.Prove(sym.Le(sym.Const(0), s))
	high := p.facts.Prove(sym.Lt(s, b.typ.Dims[d]))
	switch {
	case low && high:
		return
	case low:
		p.failWhen(p.Op("ge", v, b.dims[d]), ir.TrapIndex, b.arg, d)
	case high:
		p.failWhen(p.Op("lt", v, llvm.Index(0)), ir.TrapIndex, b.arg, d)
	default:
		bad := p.Op("or", p.Op("lt", v, llvm.Index(0)), p.Op("ge", v, b.dims[d]))
		p.failWhen(bad, ir.TrapIndex, b.arg, d)
	}
	p.facts = p.facts.Clone() // what follows may rely on the check
	p.facts.Add(sym.Le(sym.Const(0), s))
	p.facts.Add(sym.Lt(s, b.typ.Dims[d]))
}

// position is the sum of subscript times stride.
func (p *proc) position(b *buffer, subs []llvm.Value) llvm.Value {
	at := llvm.Index(0)
	for d, s := range subs {
		term := p.product(s, b.strides[d])
		if d > 0 {
			term = p.Op("add", at, term)
		}
		at = term
	}
	return at
}

func subscripts(a ir.Arg) []sym.Expr {
	if a.View == nil {
		return nil
	}
	subs := make([]sym.Expr, len(a.View.Dims))
	for i, d := range a.View.Dims {
		subs[i] = d.Start
	}
	return subs
}

func lowerLoad(p *proc, op *ir.Op) {
	a := op.Args("")[0]
	b := p.buffer(a.Value)
	p.values[op.Results[0]] = p.LoadElem(b.typ.Elem, b.data, p.element(b, subscripts(a)))
}

func lowerStore(p *proc, op *ir.Op) {
	args := op.Args("")
	b := p.buffer(args[1].Value)
	x := p.operand(args[0], b.typ.Elem)
	p.StoreElem(x, b.data, p.element(b, subscripts(args[1])))
}

// lowerAlloc takes a slot of the workspace, or asks for memory once its size is
// known to be one: no dim is negative and the product does not overflow. That is
// freed at the end of the
// region (release) or, after an error, at the exit. What a loop allocates in the
// same size in every iteration is kept from the first one on and freed at the
// exit: a row of scratch costs nothing, where a malloc a row took a quarter of
// the time of a pass over rows of 1024.
func lowerAlloc(p *proc, op *ir.Op) {
	t := op.Results[0].Type.(ir.Buf)
	if t.Dist != nil || t.Space != "" || t.Strides != nil {
		refuse(op)
	}
	b := p.dense(t, p.scratch[op], -1)
	p.bufs[op.Results[0]] = b
	if b.data.IsValid() {
		return
	}
	slot := p.slot()
	if !p.keeps(op, t) {
		b.data = p.allocate(b, slot)
		p.owned = append(p.owned, slot)
		return
	}
	p.When(p.IsNull(p.Load(llvm.Ptr, slot)), func() { p.allocate(b, slot) })
	b.data = p.Load(llvm.Ptr, slot)
}

// allocate checks the size of b, asks for its memory and notes it in slot.
func (p *proc) allocate(b *buffer, slot llvm.Value) llvm.Value {
	data := p.Malloc(p.checkedBytes(b.dims, b.typ.Elem, -1))
	p.failWhen(p.IsNull(data), ir.TrapMemory, -1, -1)
	p.Store(data, slot)
	return data
}

// keeps reports an allocation inside a loop whose size is the same each time:
// its dims are made of the proc's own.
func (p *proc) keeps(op *ir.Op, t ir.Buf) bool { return p.looped[op] && madeOf(t, dimsOf(p.src)) }

// inLoops are the ops that stand in the region of a loop.
func inLoops(r *ir.Region, inside bool, out map[*ir.Op]bool) {
	for _, op := range r.Ops {
		if inside {
			out[op] = true
		}
		loop := inside
		for _, c := range op.Clauses {
			_, isRange := c.(*ir.Range)
			loop = loop || isRange
		}
		for _, in := range op.Regions() {
			inLoops(in, loop, out)
		}
	}
}

// checkedBytes is the size of an array. As in the interpreter a dim of 0 makes
// it 0 even where the other dims overflow.
func (p *proc) checkedBytes(dims []llvm.Value, e num.Elem, arg int) llvm.Value {
	bytes, over, none := llvm.Index(int64(e.Bytes())), llvm.Int(num.Bool, 0), llvm.Int(num.Bool, 0)
	for d, n := range dims {
		p.failWhen(p.Op("lt", n, llvm.Index(0)), ir.TrapShape, arg, d)
		product, wraps := p.MulOverflow(bytes, n)
		bytes, over = product, p.Op("or", over, wraps)
		none = p.Op("or", none, p.Op("eq", n, llvm.Index(0)))
	}
	p.failWhen(p.Op("and", over, p.Op("not", none)), ir.TrapOverflow, arg, -1)
	return p.Select(none, llvm.Index(0), bytes)
}

// lowerCopy copies between views of one shape.
func lowerCopy(p *proc, op *ir.Op) {
	args := op.Args("")
	src, dst := p.view(args[0]), p.view(args[1])
	for d := range src.dims {
		p.failWhen(p.Op("ne", src.dims[d], dst.dims[d]), ir.TrapShape, dst.arg, d)
	}
	p.copyLoops(src, dst, nil)
}

func (p *proc) copyLoops(src, dst *buffer, subs []llvm.Value) {
	if len(subs) == len(src.dims) {
		x := p.LoadElem(src.typ.Elem, src.data, p.position(src, subs))
		p.StoreElem(x, dst.data, p.position(dst, subs))
		return
	}
	p.For(llvm.Index(0), src.dims[len(subs)], llvm.Index(1), nil, func(i llvm.Value, _ []llvm.Value) []llvm.Value {
		p.copyLoops(src, dst, append(subs[:len(subs):len(subs)], i))
		return nil
	})
}

// view is the part of a buffer that an operand means, checked to lie inside.
func (p *proc) view(a ir.Arg) *buffer {
	b := p.buffer(a.Value)
	if a.View == nil {
		return b
	}
	v := &buffer{typ: ir.Buf{Elem: b.typ.Elem}, arg: b.arg}
	starts := make([]llvm.Value, len(a.View.Dims))
	for d, w := range a.View.Dims {
		size := sym.Const(1)
		if w.HasSize {
			size = w.Size
			v.typ.Dims = append(v.typ.Dims, size)
			v.dims, v.strides = append(v.dims, p.expr(size)), append(v.strides, b.strides[d])
		}
		starts[d] = p.expr(w.Start)
		p.inside(b, d, w.Start, size)
	}
	v.data = p.At(b.data, b.typ.Elem, p.position(b, starts))
	return v
}

// inside checks that start:size lies in dim d of b.
func (p *proc) inside(b *buffer, d int, start, size sym.Expr) {
	for _, c := range []sym.Cond{sym.Le(sym.Const(0), start), sym.Le(sym.Const(0), size), sym.Le(sym.Add(start, size), b.typ.Dims[d])} {
		if !p.opts.Unchecked && !p.facts.Prove(c) {
			p.failWhen(p.cond(c.Not()), ir.TrapIndex, b.arg, d)
		}
	}
}
