package lower

import (
	"slices"

	"tenon/internal/num"
	"tenon/ir"
	"tenon/ir/sym"
)

// Sorting is a merge sort from the bottom: runs of 1, 2, 4, .. elements are
// merged in pairs, values and numbers together, from one row of a pair of rows
// to the other and back. It is stable, takes n log n steps whatever the data, and
// its loops stay in range by their bounds.

// sort sorts each row along the axis.
func (b *bufferiser) sort(op *ir.Op) {
	dims := op.Operand(0).Type.(ir.Tensor).Dims
	b.ordered(op, dims[axisOf(op)], ir.GetClause[*ir.Flag](op, "descending") != nil)
}

// topk sorts each row and keeps the beginning.
func (b *bufferiser) topk(op *ir.Op) {
	dims := op.Operand(0).Type.(ir.Tensor).Dims
	k, n := b.m.Expr(*op.Args("")[1].Expr), dims[axisOf(op)]
	b.here().Add(ir.NewOp("tensor.check", op.Loc, &ir.Conds{List: []sym.Cond{sym.Le(sym.Const(0), k), sym.Le(k, n)}}), nil)
	b.ordered(op, k, ir.GetClause[*ir.Flag](op, "smallest") == nil)
}

func axisOf(op *ir.Op) int { return int(ir.GetClause[*ir.Attr](op, "axis").Int) }

// ordered writes the first keep elements of each sorted row, and their numbers.
func (b *bufferiser) ordered(op *ir.Op, keep sym.Expr, falling bool) {
	x, axis := op.Operand(0), axisOf(op)
	dims := x.Type.(ir.Tensor).Dims
	values, numbers := b.place(op.Results[0]), b.place(op.Results[1])
	s := b.newSorter(x, dims[axis], falling)
	rows := slices.Delete(slices.Clone(dims), axis, axis+1)
	b.emitter().each(rows, nil, func(e emitter, row []sym.Expr, _ []*ir.Value) []*ir.Value {
		at := func(k sym.Expr) []sym.Expr { return slices.Insert(slices.Clone(row), axis, k) }
		last := s.row(e, at)
		e.loop("k", sym.Const(0), keep, sym.Const(1), nil, func(e emitter, k sym.Expr, _ []*ir.Value) []*ir.Value {
			e.put(e.load(s.values, last, k), values, at(k)...)
			e.put(e.Cast(e.load(s.numbers, last, k), num.I64), numbers, at(k)...)
			return nil
		})
		return nil
	})
	b.made(op.Results[0], values)
	b.made(op.Results[1], numbers)
}

// sorter sorts rows of n elements of a buffer.
type sorter struct {
	from    *ir.Value
	n       sym.Expr
	falling bool
	passes  sym.Expr  // how often runs are merged: 2^passes >= n
	values  *ir.Value // [2, n]: what is merged, and what it becomes
	numbers *ir.Value // [2, n] likewise: the place that each had
}

func (b *bufferiser) newSorter(x *ir.Value, n sym.Expr, falling bool) *sorter {
	elem := ir.ElemOf(x.Type)
	s := &sorter{from: b.m.Value(x), n: n, falling: falling,
		values: b.alloc("sorted", ir.Buf{Elem: elem, Dims: []sym.Expr{sym.Const(2), n}}), numbers: b.alloc("order", ir.Buf{Elem: num.Index, Dims: []sym.Expr{sym.Const(2), n}})}
	e := b.emitter()
	zero, one := e.int(0), e.int(1)
	size := e.Idx(n, num.Index)
	got := e.loop("b", sym.Const(0), sym.Const(62), sym.Const(1), []*ir.Value{zero, one}, func(e emitter, _ sym.Expr, c []*ir.Value) []*ir.Value {
		more := e.Cast(e.Scalar("lt", c[1], size), num.Index)
		return []*ir.Value{e.Scalar("add", c[0], more), e.Scalar("add", c[1], c[1])}
	})
	s.passes = sym.Val(got[0])
	return s
}

// row sorts the row whose elements are at(k), and gives the number of the row of
// s.values that then holds them.
func (s *sorter) row(e emitter, at func(k sym.Expr) []sym.Expr) sym.Expr {
	zero := sym.Const(0)
	e.loop("k", zero, s.n, sym.Const(1), nil, func(e emitter, k sym.Expr, _ []*ir.Value) []*ir.Value {
		e.put(e.load(s.from, at(k)...), s.values, zero, k)
		e.put(e.Idx(k, num.Index), s.numbers, zero, k)
		return nil
	})
	e.loop("p", zero, s.passes, sym.Const(1), []*ir.Value{e.int(1)}, func(e emitter, p sym.Expr, c []*ir.Value) []*ir.Value {
		width := sym.Val(c[0])
		e.loop("lo", zero, s.n, sym.Mul(sym.Const(2), width), nil, func(e emitter, lo sym.Expr, _ []*ir.Value) []*ir.Value {
			s.merge(e, sym.Mod(p, sym.Const(2)), lo, width)
			return nil
		})
		return []*ir.Value{e.Scalar("add", c[0], c[0])}
	})
	return sym.Mod(s.passes, sym.Const(2))
}

// merge merges the runs of width elements at lo and behind it from one row to
// the other.
func (s *sorter) merge(e emitter, row, lo, width sym.Expr) {
	mid, hi := sym.Min(sym.Add(lo, width), s.n), sym.Min(sym.Add(lo, sym.Mul(sym.Const(2), width)), s.n)
	to := sym.Sub(sym.Const(1), row)
	middle, end := e.Idx(mid, num.Index), e.Idx(hi, num.Index)
	e.loop("k", lo, hi, sym.Const(1), []*ir.Value{e.Idx(lo, num.Index), middle}, func(e emitter, k sym.Expr, c []*ir.Value) []*ir.Value {
		i, j := s.inside(c[0]), s.inside(c[1])
		x, y := e.load(s.values, row, i), e.load(s.values, row, j)
		// The right one goes first if it is there and the left run is empty, or it
		// is less: of equal ones the left.
		first := e.Scalar("or", e.Scalar("ge", c[0], middle), s.less(e, y, x))
		right := e.Scalar("and", e.Scalar("lt", c[1], end), first)
		e.put(e.Scalar("select", right, y, x), s.values, to, k)
		e.put(e.Scalar("select", right, e.load(s.numbers, row, j), e.load(s.numbers, row, i)), s.numbers, to, k)
		step := e.Cast(right, num.Index)
		return []*ir.Value{e.Scalar("add", c[0], e.Scalar("sub", e.int(1), step)), e.Scalar("add", c[1], step)}
	})
}

// inside is a place in a row, moved into its range: a run that is used up is not
// looked at.
func (s *sorter) inside(at *ir.Value) sym.Expr {
	return sym.Max(sym.Const(0), sym.Min(sym.Val(at), sym.Sub(s.n, sym.Const(1))))
}

// less is a < b in the order asked for. A NaN is greater than any number.
func (s *sorter) less(e emitter, a, b *ir.Value) *ir.Value {
	if s.falling {
		a, b = b, a
	}
	return before(e, a, b)
}

func before(e emitter, a, b *ir.Value) *ir.Value {
	switch t := ir.ElemOf(a.Type); {
	case t == num.Bool:
		return e.Scalar("and", e.Scalar("not", a), b)
	case t.IsFloat():
		onlyB := e.Scalar("and", e.Scalar("isnan", b), e.Scalar("not", e.Scalar("isnan", a)))
		return e.Scalar("or", e.Scalar("lt", a, b), onlyB)
	}
	return e.Scalar("lt", a, b)
}
