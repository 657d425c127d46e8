package gemm

import (
	"math/bits"

	"tenon/ir"
	"tenon/ir/sym"
)

// piece is a vector of results and where it goes.
type piece struct {
	x    *ir.Value
	at   ir.Arg
	mask *ir.Value
}

// pieces are the accumulators of v vectors a row.
func (k *body) pieces(v int, acc []*ir.Value, mask *ir.Value) (list []piece) {
	for i, x := range acc {
		list = append(list, piece{x, k.cAt(i/v, i%v*k.Lanes), maskFor(mask, i%v, v)})
	}
	return list
}

func (k *body) cAt(i, j int) ir.Arg {
	return ir.ElemArg(k.c, sym.Const(int64(i)), sym.Const(int64(j)))
}

// finish stores results, with what the tile held added unless first.
func (k *body) finish(b *ir.Builder, list []piece) {
	store := func(b *ir.Builder, p piece, x *ir.Value) {
		b.Add(access("vec.store", p.mask, ir.ValueArg(x), p.at), nil)
	}
	branch(b, sym.Ne(sym.Val(k.first), sym.Const(0)),
		func(b *ir.Builder) {
			for _, p := range list {
				store(b, p, p.x)
			}
		},
		func(b *ir.Builder) {
			for _, p := range list {
				old := k.load(b, p.at, p.mask, k.Acc, p.x.Type.(ir.Vec).Lanes, "old")
				store(b, p, lanewise(b, "vec.add", old, p.x))
			}
		})
}

// sums adds up the parts of accumulators that run along k: each v of them become
// vectors of at most Lanes results of a row.
func (k *body) sums(b *ir.Builder, r, v int, acc []*ir.Value) (list []piece) {
	for i := range r {
		row := acc[i*v : (i+1)*v]
		for j := 0; j < v; j += k.Lanes {
			some := row[j:min(j+k.Lanes, v)]
			p := piece{x: k.transposed(b, some), at: k.cAt(i, j)}
			if n := len(some); n < p.x.Type.(ir.Vec).Lanes {
				p.mask = first(b, sym.Const(int64(n)), p.x.Type.(ir.Vec).Lanes)
			}
			list = append(list, p)
		}
	}
	return list
}

// transposed gives the sum of the lanes of each vector, one in a lane, padded to
// a power of two. A round halves the lanes of each sum and so the number of
// vectors, two of which become one; n vectors take 3(n-1) instructions and not
// the 2 log2(L) n of as many horizontal sums.
func (k *body) transposed(b *ir.Builder, vs []*ir.Value) *ir.Value {
	out := 1 << bits.Len(uint(len(vs)-1))
	for len(vs) < out {
		vs = append(vs[:len(vs):len(vs)], vs[len(vs)-1])
	}
	for part := k.Lanes; part > 1; part /= 2 {
		var halved []*ir.Value
		for i := 0; i < len(vs); i += 2 {
			halved = append(halved, halve(b, part, vs[i:min(i+2, len(vs))]))
		}
		vs = halved
	}
	return vs[0]
}

// halve adds the upper to the lower half of every part of the one or two vectors.
func halve(b *ir.Builder, part int, vs []*ir.Value) *ir.Value {
	from := &ir.Operands{}
	for _, v := range vs {
		from.Args = append(from.Args, ir.ValueArg(v))
	}
	total := len(vs) * vs[0].Type.(ir.Vec).Lanes
	pick := func(from *ir.Operands, offset int) *ir.Value {
		lanes := &ir.Operands{}
		for at := 0; at < total; at += part {
			for i := range part / 2 {
				lanes.Args = append(lanes.Args, ir.ExprArg(sym.Const(int64(at+offset+i))))
			}
		}
		return b.Add(ir.NewOp("vec.shuffle", b.Loc, from, lanes), nil, b.Fresh("half")).Results[0]
	}
	return lanewise(b, "vec.add", pick(from, 0), pick(&ir.Operands{Args: from.Args}, part/2))
}
