package ptx

import (
	"fmt"

	"tenon/codegen/llvm"
	"tenon/internal/diag"
	"tenon/internal/num"
	"tenon/ir"
	"tenon/ir/sym"
)

// buffer is a dense array: its address, and its strides in elements.
type buffer struct {
	typ     ir.Buf
	data    llvm.Value
	strides []llvm.Value
	arg     int // number of the argument, -1 for shared memory
}

func (k *kernel) dense(t ir.Buf, data llvm.Value, arg int) *buffer {
	b := &buffer{typ: t, data: data, arg: arg, strides: make([]llvm.Value, len(t.Dims))}
	step := llvm.Index(1)
	for i := len(t.Dims) - 1; i >= 0; i-- {
		b.strides[i] = step
		if i > 0 {
			step = k.product(step, k.expr(t.Dims[i]))
		}
	}
	return b
}

func (k *kernel) buffer(v *ir.Value) *buffer {
	b := k.bufs[v]
	if b == nil {
		diag.Bugf("%s: %%%s is no buffer", k.src.Name, v.Name)
	}
	return b
}

// lowerShared reserves memory that the threads of a block share.
func lowerShared(k *kernel, op *ir.Op) {
	t, n := op.Results[0].Type.(ir.Buf), int64(1)
	for _, d := range t.Dims {
		c, _ := d.IsConst() // verified
		n *= c
	}
	data := k.Module().Shared(fmt.Sprintf("%s.shared.%d", k.Name(), k.shared), t.Elem, max(n, 1))
	k.shared++
	k.bufs[op.Results[0]] = k.dense(t, data, -1)
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

// place is the position of an element, and whether it lies outside the buffer,
// which is the zero Value where it is proved to lie inside. dim is the first
// one for which it is not.
type place struct {
	at, outside llvm.Value
	dim         int
}

func (k *kernel) place(b *buffer, subs []sym.Expr) place {
	if len(subs) != len(b.strides) {
		diag.Bugf("%s: %d subscripts for a buffer of rank %d", k.src.Name, len(subs), len(b.strides))
	}
	p := place{at: llvm.Index(0)}
	for d, s := range subs {
		// A proof is about numbers without bounds: it holds for what wraps only
		// if that is checked.
		track := mayLeave64(s)
		v, bad := k.tracked(s, track)
		low, high := k.facts.Prove(sym.Le(sym.Const(0), s)), k.facts.Prove(sym.Lt(s, b.typ.Dims[d]))
		if !low {
			bad = k.Op("or", bad, k.Op("lt", v, llvm.Index(0)))
		}
		if !high {
			bad = k.Op("or", bad, k.Op("ge", v, k.expr(b.typ.Dims[d])))
		}
		if track || !low || !high {
			if !p.outside.IsValid() {
				p.outside, p.dim = bad, d
			} else {
				p.outside = k.Op("or", p.outside, bad)
			}
		}
		p.at = k.sum(p.at, k.product(b.strides[d], v))
	}
	return p
}

// mayLeave64 reports that s computes with a number of 64 bits that the program
// read or made, which may be any.
func mayLeave64(s sym.Expr) bool {
	for _, r := range s.Refs() {
		if v := r.(*ir.Value); ir.ElemOf(v.Type).Bits() == 64 && !s.Equal(sym.Val(v)) {
			return true
		}
	}
	return false
}

// inside emits access unless p lies outside b, which is told; the result is then
// that of otherwise.
func (k *kernel) inside(b *buffer, p place, access, otherwise func() []llvm.Value) []llvm.Value {
	if !p.outside.IsValid() {
		return access()
	}
	return k.If(p.outside, func() []llvm.Value {
		for i, n := range []int64{int64(ir.TrapIndex), int64(b.arg), int64(p.dim)} {
			k.Store(llvm.Int(num.I32, n), k.Offset(k.report, int64(4*i)))
		}
		return otherwise()
	}, access)
}

func lowerLoad(k *kernel, op *ir.Op) {
	a := op.Args("")[0]
	b := k.buffer(a.Value)
	p := k.place(b, subscripts(a))
	got := k.inside(b, p, func() []llvm.Value {
		return []llvm.Value{k.LoadElem(b.typ.Elem, b.data, p.at)}
	}, func() []llvm.Value { return []llvm.Value{llvm.Const(b.typ.Elem, zero(b.typ.Elem))} })
	k.values[op.Results[0]] = got[0]
}

func lowerStore(k *kernel, op *ir.Op) {
	args := op.Args("")
	b := k.buffer(args[1].Value)
	x := k.operand(args[0], b.typ.Elem)
	p := k.place(b, subscripts(args[1]))
	k.inside(b, p, func() []llvm.Value {
		k.StoreElem(x, b.data, p.at)
		return nil
	}, func() []llvm.Value { return nil })
}

func zero(e num.Elem) num.Cell {
	if e.IsFloat() {
		return num.FromFloat(0)
	}
	return num.FromInt(0)
}
