package cpu

import (
	"cmp"

	"tenon/codegen/llvm"
	"tenon/internal/num"
	"tenon/ir"
	"tenon/ir/sym"
)

// Buffers that no cache can hold are written around the caches, where the stores
// say so (vec.store stream=n): a line is then not read before it is overwritten.
// Such a store must be aligned to its whole vector, and fills its line together
// with its neighbours only if the rows begin at lines. So the innermost loop
// around such stores is emitted twice, and when it is entered the size and the
// place of the buffers choose. Which one runs changes no bit of a result. Before
// a function returns, a fence makes what it wrote visible to other threads.

// versions emits a loop over body: twice, if it stores to buffers that may be
// written around the caches.
func (p *proc) versions(op *ir.Op, emit func()) {
	stores := p.streamed(bodyOf(op), rangeOf(op))
	if len(stores) == 0 || p.around != nil {
		emit()
		return
	}
	yes, slot := llvm.Int(num.Bool, 1), p.streamSlot()
	on := map[*buffer]bool{}
	for _, s := range stores {
		b := p.buffer(s.Args("")[1].Value)
		if !on[b] {
			yes, on[b] = p.Op("and", yes, p.canStream(b, cmp.Or(p.opts.StreamBytes, streamOf(s)))), true
		}
	}
	arm := func(around map[*buffer]bool) func() []llvm.Value {
		return func() []llvm.Value {
			p.under(nil, nil, func() {
				p.around = around
				if around != nil {
					p.Store(p.buffer(stores[0].Args("")[1].Value).data, slot)
				}
				emit()
				p.around = nil
			})
			return nil
		}
	}
	p.If(yes, arm(on), arm(nil))
}

func streamOf(op *ir.Op) int64 {
	if a := ir.GetClause[*ir.Attr](op, "stream"); a != nil {
		return a.Int
	}
	return 0
}

// streamed are the stores right in the loop over body that may go around the
// caches; those of loops inside are theirs.
func (p *proc) streamed(body *ir.Region, r *ir.Range) (stores []*ir.Op) {
	if p.Module().Desc().StreamBytes == 0 {
		return nil
	}
	in := p.multiples(r)
	for _, op := range body.Ops {
		switch {
		case op.Def.Name == "vec.store" && streamOf(op) > 0 && p.wholeVectors(op, in):
			stores = append(stores, op)
		case loopRange(op) == nil:
			for _, arm := range op.Regions() {
				stores = append(stores, p.streamed(arm, r)...)
			}
		}
	}
	return stores
}

// wholeVectors reports that op stores at multiples of its vector in a row, as far
// as in says what names are multiples of.
func (p *proc) wholeVectors(op *ir.Op, in map[string]int64) bool {
	t := lanesType(op.Operand(0).Type)
	subs := subscripts(op.Args("")[1])
	n := int64(t.Lanes())
	return t.Elem() != num.Bool && t.Size() >= 16 && n&(n-1) == 0 && multipleOf(subs[len(subs)-1], in)%n == 0
}

// multiples is p.multiple with that of the index of r.
func (p *proc) multiples(r *ir.Range) map[string]int64 {
	in := map[string]int64{r.Name: gcd(multipleOf(r.Lo, p.multiple), multipleOf(r.Step, p.multiple))}
	for n, m := range p.multiple {
		if n != r.Name {
			in[n] = m
		}
	}
	return in
}

// multipleOf is a number that e is always a multiple of; 0 for 0. Names stand for
// multiples of what in says, 1 if nothing.
func multipleOf(e sym.Expr, in map[string]int64) int64 {
	all := e.Constant()
	for _, t := range e.Terms() {
		m := t.Coef
		for _, a := range t.Factors {
			if n := in[a.Name]; a.Kind == sym.AtomName && n > 1 {
				m *= n
			}
		}
		all = gcd(all, m)
	}
	return max(all, -all)
}

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return max(a, -a)
}

// canStream says, when running, whether b takes more than so many bytes and its
// rows begin at cache lines. A size that leaves 64 bits chooses any: both are
// right.
func (p *proc) canStream(b *buffer, bytes int64) llvm.Value {
	elem := llvm.Index(int64(b.typ.Elem.Bytes()))
	size, places := elem, p.PtrInt(b.data)
	for d, n := range b.dims {
		size = p.product(size, n)
		if d < len(b.dims)-1 {
			places = p.Op("or", places, p.product(b.strides[d], elem))
		}
	}
	inLine := p.Op("and", places, llvm.Index(int64(p.Module().Desc().LineBytes-1)))
	return p.Op("and", p.Op("gt", size, llvm.Index(bytes)), p.Op("eq", inLine, llvm.Index(0)))
}

// streamSlot holds the address of a buffer that was written around the caches,
// null while none was.
func (p *proc) streamSlot() llvm.Value {
	if !p.stream.IsValid() {
		p.stream = p.NullSlot()
	}
	return p.stream
}

// fence is emitted at the exit.
func (p *proc) fence() {
	if p.stream.IsValid() {
		p.When(p.Op("not", p.IsNull(p.Load(llvm.Ptr, p.stream))), p.StreamFence)
	}
}
