package vec

import (
	"tenon/ir"
	"tenon/ir/sym"
)

// chunkBytes is how far one instruction moves elements of a vector cheaply on
// the machines we know: 16 bytes are a register, or a part of one between which
// other instructions move whole.
const chunkBytes = 16

// transpose turns as many vectors as each has lanes, a power of two: lane i of
// result j is lane j of vs[i]. First chunks of lanes are exchanged between
// vectors, then the elements within chunks by interleaving; each is one shuffle of
// two vectors, log2 of the lanes times for every vector.
//
// Vectors of more lanes are turned square by square: lane s*n + i of result j is
// lane s*n + j of vs[i], for n vectors.
func transpose(b *ir.Builder, vs []*ir.Value) []*ir.Value {
	n := len(vs)
	chunk := min(n, chunkBytes/ir.ElemOf(vs[0].Type).Bytes())
	for d := n / 2; d >= chunk; d /= 2 {
		vs = exchange(b, vs, d)
	}
	out := make([]*ir.Value, 0, n)
	for k := 0; k < n; k += chunk {
		out = append(out, interleave(b, vs[k:k+chunk])...)
	}
	return out
}

// exchange swaps, of vectors d apart, the odd groups of d lanes of the first with
// the even ones of the second.
func exchange(b *ir.Builder, vs []*ir.Value, d int) []*ir.Value {
	n := vs[0].Type.(ir.Vec).Lanes
	out := make([]*ir.Value, len(vs))
	for k := range vs {
		if k&d != 0 {
			continue
		}
		even, odd := make([]int, n), make([]int, n)
		for i := range n {
			even[i], odd[i] = i, i+d
			if i&d != 0 {
				even[i], odd[i] = n+i-d, n+i
			}
		}
		out[k], out[k+d] = shuffle(b, vs[k], vs[k+d], even), shuffle(b, vs[k], vs[k+d], odd)
	}
	return out
}

// interleave turns each square of as many lanes as there are vectors: interleaving
// the first half of the vectors with the second, log2 of their number times.
func interleave(b *ir.Builder, vs []*ir.Value) []*ir.Value {
	m, n := len(vs), vs[0].Type.(ir.Vec).Lanes
	low, high := make([]int, n), make([]int, n)
	for i := range n {
		from := i/m*m + i%m/2
		if i%2 == 1 {
			from += n
		}
		low[i], high[i] = from, from+m/2
	}
	for steps := 1; steps < m; steps *= 2 {
		next := make([]*ir.Value, 0, m)
		for k := range m / 2 {
			next = append(next, shuffle(b, vs[k], vs[k+m/2], low), shuffle(b, vs[k], vs[k+m/2], high))
		}
		vs = next
	}
	return vs
}

// shuffle takes the lanes of the numbers given, counted through x and y.
func shuffle(b *ir.Builder, x, y *ir.Value, lanes []int) *ir.Value {
	ns := &ir.Operands{}
	for _, n := range lanes {
		ns.Args = append(ns.Args, ir.ExprArg(sym.Const(int64(n))))
	}
	op := ir.NewOp("vec.shuffle", b.Loc, &ir.Operands{Args: []ir.Arg{ir.ValueArg(x), ir.ValueArg(y)}})
	ir.SetClause(op, "lanes", ns)
	return b.Add(op, nil, "t").Results[0]
}
