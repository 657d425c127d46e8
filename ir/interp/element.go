package interp

import (
	"tenon/internal/num"
	"tenon/ir"
	"tenon/ir/sym"
)

// Element implements ir.Machine. A dense element is a cell; that of an encoded
// tensor is what its decoder yields.
func (s *stager) Element(op *ir.Op, src *ir.Value, subs []sym.Expr, policy ir.Policy, dst int) ir.Step {
	if t, ok := src.Type.(ir.Tensor); ok && t.Enc != nil {
		return s.decoded(op, src, t, subs, policy, dst)
	}
	read := s.cell(op, src, subs, policy, dst)
	if !s.Shadowed() {
		return read
	}
	return s.unsureIndex(read, subs, ir.ElemOf(src.Type), dst)
}

// subscripts stages subs.
func (s *stager) subscripts(subs []sym.Expr) []func(*ir.Frame) int64 {
	fs := make([]func(*ir.Frame) int64, len(subs))
	for i, e := range subs {
		fs[i] = s.Expr(e)
	}
	return fs
}

// move is a subscript brought into 0 <= i < n by the policy; ok is false where
// the element is 0.
func move(op *ir.Op, src *ir.Value, d int, i, n int64, policy ir.Policy) (int64, bool) {
	switch {
	case policy == ir.PolicyZero:
		return 0, false
	case policy == ir.PolicyClamp && n > 0:
		return min(max(i, 0), n-1), true
	case policy == ir.PolicyClamp:
		raise(op, ir.TrapIndex, "dim %d of %%%s is 0: there is no element to clamp a subscript to", d, src.Name)
	}
	raise(op, ir.TrapIndex, "subscript %d of %%%s is %d, outside its %d elements", d, src.Name, i, n)
	return 0, false
}

func (s *stager) cell(op *ir.Op, src *ir.Value, subs []sym.Expr, policy ir.Policy, dst int) ir.Step {
	slot, fs, e := s.Object(src), s.subscripts(subs), ir.ElemOf(src.Type)
	zero := num.Exact(e, 0)
	return func(f *ir.Frame) {
		a := f.O[slot].(*ir.Array)
		pos, inside := a.Off, true
		for d, sub := range fs {
			i := sub(f)
			if uint64(i) >= uint64(a.Shape[d]) {
				var ok bool
				i, ok = move(op, src, d, i, a.Shape[d], policy)
				inside = inside && ok
			}
			pos += i * a.Strides[d]
		}
		if !inside {
			f.S[dst] = 0
			if f.E != nil {
				f.E[dst] = zero
			}
			return
		}
		read(f, op, a, pos, dst)
	}
}

// read brings the cell at pos into slot dst.
func read(f *ir.Frame, op *ir.Op, a *ir.Array, pos int64, dst int) {
	m := a.Mem
	if m.Watch != nil {
		m.Watch.Access(f, op, m, pos, false)
	}
	f.S[dst] = m.Cells[pos]
	if f.E == nil {
		return
	}
	if m.Shadow != nil {
		f.E[dst] = m.Shadow[pos]
	} else {
		f.E[dst] = num.Exact(a.Elem, m.Cells[pos])
	}
}

// unsureIndex makes an element undecided whose place is.
func (s *stager) unsureIndex(read ir.Step, subs []sym.Expr, e num.Elem, dst int) ir.Step {
	var slots []int
	for _, x := range subs {
		for _, r := range x.Refs() {
			slots = append(slots, s.Scalar(r.(*ir.Value)))
		}
	}
	if len(slots) == 0 {
		return read
	}
	return func(f *ir.Frame) {
		read(f)
		for _, r := range slots {
			if f.E[r].Undecided() {
				f.E[dst] = num.Undecided(e, f.S[dst])
			}
		}
	}
}

// decoded stages the decoder of src's encoding in a name space of its own.
func (s *stager) decoded(op *ir.Op, src *ir.Value, t ir.Tensor, subs []sym.Expr, policy ir.Policy, dst int) ir.Step {
	in, fs, enc, slot := s.inner(), s.subscripts(subs), t.Enc, s.Object(src)
	bind := in.bindEncoded(op, src, enc)
	at := make([]int, len(enc.Subs))
	for i, n := range enc.Subs {
		at[i] = in.Symbol(n)
	}
	body, last := in.Region(enc.Decode), s.TempObject()
	result := in.Scalar(enc.Decode.Yields()[0])
	return func(f *ir.Frame) {
		x := f.O[slot].(*ir.Encoded)
		if f.O[last] != any(x) {
			bind(f, x)
			f.O[last] = x
		}
		for d, sub := range fs {
			i := sub(f)
			if uint64(i) >= uint64(x.Shape[d]) {
				var ok bool
				if i, ok = move(op, src, d, i, x.Shape[d], policy); !ok {
					f.S[dst] = 0
					exactElem(f, t.Elem, dst)
					return
				}
			}
			f.S[at[d]] = num.FromInt(i)
		}
		body(f)
		f.S[dst] = f.S[result]
		if f.E != nil {
			f.E[dst] = f.E[result]
		}
	}
}

func exactElem(f *ir.Frame, e num.Elem, slot int) {
	if f.E != nil {
		f.E[slot] = num.Exact(e, f.S[slot])
	}
}

// bindEncoded gives the decoder's names their values: dims by position from the
// shape, the others from the parts.
func (s *stager) bindEncoded(op *ir.Op, src *ir.Value, enc *ir.Encoding) func(*ir.Frame, *ir.Encoded) {
	whole := ir.Tensor{Elem: enc.Elem}
	for i := 0; i < len(enc.Subs); i++ {
		whole.Dims = append(whole.Dims, sym.Name(enc.Dims[i]))
	}
	params := append([]*ir.Param{{Value: &ir.Value{Name: src.Name, Type: whole}}}, enc.Parts...)
	dims := s.planDims(&ir.Func{Name: enc.Name, Dims: enc.Dims, Params: params, Where: enc.Where, Loc: enc.Loc})
	parts := make([]int, len(enc.Parts))
	for i, p := range enc.Parts {
		parts[i] = s.Object(p.Value)
	}
	return func(f *ir.Frame, x *ir.Encoded) {
		args := []any{&ir.Array{Shape: x.Shape}}
		for i, slot := range parts {
			f.O[slot] = x.Parts[i]
			args = append(args, x.Parts[i])
		}
		if err := dims.bind(f, args); err != nil {
			err.Pos = op.Loc.First()
			panic(stop{&Fault{ir.TrapShape, err}})
		}
	}
}
