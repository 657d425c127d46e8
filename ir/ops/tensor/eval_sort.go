package tensor

import (
	"sort"

	"tenon/internal/num"
	"tenon/ir"
)

// order compares cells of type e; a NaN is greater than any number and equal to
// another NaN.
func order(e num.Elem) func(a, b num.Cell) int {
	if !e.IsFloat() {
		return func(a, b num.Cell) int { return sign(num.Int(a) < num.Int(b), num.Int(a) > num.Int(b)) }
	}
	return func(a, b num.Cell) int {
		x, y := num.Float(a), num.Float(b)
		if x != x || y != y {
			return sign(x == x, y == y)
		}
		return sign(x < y, x > y)
	}
}

func sign(less, greater bool) int {
	switch {
	case less && !greater:
		return -1
	case greater && !less:
		return 1
	}
	return 0
}

// sorted is the order of the cells at positions base + i*stride, i < n: rising,
// or falling, ties by the lower i.
func sorted(a *ir.Array, base, stride, n int64, falling bool) []int64 {
	at := make([]int64, n)
	for i := range at {
		at[i] = int64(i)
	}
	cmp := order(a.Elem)
	sort.SliceStable(at, func(x, y int) bool {
		c := cmp(a.Mem.Cells[base+at[x]*stride], a.Mem.Cells[base+at[y]*stride])
		if falling {
			c = -c
		}
		return c < 0
	})
	return at
}

// unsure reports that some neighbours in the order lie within their bounds, so
// that another order would be as right.
func unsure(a *ir.Array, base, stride int64, at []int64) bool {
	if a.Mem.Shadow == nil {
		return false
	}
	less := num.ShadowBinary("lt", a.Elem)
	for i := 1; i < len(at); i++ {
		x, y := base+at[i-1]*stride, base+at[i]*stride
		cx, cy := a.Mem.Cells[x], a.Mem.Cells[y]
		if cx == cy && a.Mem.Shadow[x] == a.Mem.Shadow[y] && a.Mem.Shadow[x].Err == 0 {
			continue
		}
		res := num.Binary("lt", a.Elem)(cx, cy)
		if less(a.Mem.Shadow[x], a.Mem.Shadow[y], cx, cy, res).Undecided() {
			return true
		}
	}
	return false
}

func stageSort(m ir.Machine, op *ir.Op) ir.Step {
	return stageOrdered(m, op, ir.GetClause[*ir.Flag](op, "descending") != nil, nil)
}

func stageTopK(m ir.Machine, op *ir.Op) ir.Step {
	k, _ := topKCount(op)
	return stageOrdered(m, op, ir.GetClause[*ir.Flag](op, "smallest") == nil, m.Expr(k))
}

// stageOrdered sorts along the axis and keeps the first k (nil: all).
func stageOrdered(m ir.Machine, op *ir.Op, falling bool, k func(*ir.Frame) int64) ir.Step {
	src, val, idx := m.Object(op.Operand(0)), m.Object(op.Results[0]), m.Object(op.Results[1])
	at := int(ir.GetClause[*ir.Attr](op, "axis").Int)
	return func(f *ir.Frame) {
		a := f.O[src].(*ir.Array)
		shape, n := append([]int64(nil), a.Shape...), a.Shape[at]
		if k != nil {
			if shape[at] = k(f); shape[at] < 0 || shape[at] > n {
				m.Trap(op, ir.TrapShape, "the first %d of %d elements are asked for", shape[at], n)
			}
		}
		v, i := m.Array(f, a.Elem, shape), m.Array(f, num.I64, shape)
		f.O[val], f.O[idx] = v, i
		rows := append([]int64(nil), a.Shape...)
		rows[at] = min(1, rows[at])
		visit(&ir.Array{Shape: rows, Strides: a.Strides, Off: a.Off}, func(_ int64, at2 []int64, base int64) {
			to, _ := v.Cell(at2)
			if v.Size() > 0 {
				ordered(a, base, a.Strides[at], sorted(a, base, a.Strides[at], n, falling), v, i, to, v.Strides[at], shape[at])
			}
		})
	}
}

// ordered writes the first n of a row in the given order.
func ordered(a *ir.Array, base, stride int64, order []int64, v, i *ir.Array, to, step, n int64) {
	loose, widest := unsure(a, base, stride, order), 0.0
	for _, k := range order {
		if loose {
			widest = max(widest, 2*a.Mem.Shadow[base+k*stride].Err)
		}
	}
	for j := int64(0); j < n; j++ {
		transfer(a.Mem, base+order[j]*stride, v.Mem, to, a.Elem)
		i.Mem.Cells[to] = num.FromInt(order[j])
		if v.Mem.Shadow != nil {
			i.Mem.Shadow[to] = num.Exact(num.I64, i.Mem.Cells[to])
			if loose { // a neighbour may stand here instead
				i.Mem.Shadow[to] = num.Undecided(num.I64, i.Mem.Cells[to])
				v.Mem.Shadow[to].Err = max(v.Mem.Shadow[to].Err, widest)
			}
		}
		to += step
	}
}

// setInt writes an exact integer.
func setInt(a *ir.Array, pos, n int64) {
	a.Mem.Cells[pos] = num.FromInt(n)
	if a.Mem.Shadow != nil {
		a.Mem.Shadow[pos] = num.Exact(num.I64, a.Mem.Cells[pos])
	}
}

// bindCount binds the dim that op counts.
func bindCount(m ir.Machine, op *ir.Op) func(f *ir.Frame, n int64) {
	slot := m.Temp()
	bind := stageExists(m, op, []int{slot})
	return func(f *ir.Frame, n int64) {
		f.S[slot] = num.FromInt(n)
		bind(f)
	}
}

func stageNonzero(m ir.Machine, op *ir.Op) ir.Step {
	src, dst, bind := m.Object(op.Operand(0)), m.Object(op.Results[0]), bindCount(m, op)
	return func(f *ir.Frame) {
		a := f.O[src].(*ir.Array)
		var found [][]int64
		visit(a, func(_ int64, idx []int64, pos int64) {
			c := a.Mem.Cells[pos]
			if a.Elem.IsFloat() && num.Float(c) != 0 || !a.Elem.IsFloat() && c != 0 {
				found = append(found, append([]int64(nil), idx...))
			}
		})
		bind(f, int64(len(found)))
		b := m.Array(f, num.I64, []int64{int64(len(a.Shape)), int64(len(found))})
		for j, idx := range found {
			for d, i := range idx {
				setInt(b, int64(d*len(found)+j), i)
			}
		}
		f.O[dst] = b
	}
}

func stageUnique(m ir.Machine, op *ir.Op) ir.Step {
	src, bind := m.Object(op.Operand(0)), bindCount(m, op)
	var dst []int
	for _, v := range op.Results {
		dst = append(dst, m.Object(v))
	}
	return func(f *ir.Frame) {
		a := f.O[src].(*ir.Array)
		n, cmp := a.Shape[0], order(a.Elem)
		at := sorted(a, a.Off, a.Strides[0], n, false)
		cell := func(i int64) int64 { return a.Off + at[i]*a.Strides[0] }
		var starts []int64
		for i := range n {
			if i == 0 || cmp(a.Mem.Cells[cell(i-1)], a.Mem.Cells[cell(i)]) != 0 {
				starts = append(starts, i)
			}
		}
		u := int64(len(starts))
		bind(f, u)
		vals, first, inverse, counts := m.Array(f, a.Elem, []int64{u}), m.Array(f, num.I64, []int64{u}), m.Array(f, num.I64, []int64{n}), m.Array(f, num.I64, []int64{u})
		for j, s := range starts {
			end := n
			if j+1 < len(starts) {
				end = starts[j+1]
			}
			transfer(a.Mem, cell(s), vals.Mem, int64(j), a.Elem)
			setInt(first, int64(j), at[s])
			setInt(counts, int64(j), end-s)
			for i := s; i < end; i++ {
				setInt(inverse, at[i], int64(j))
			}
		}
		f.O[dst[0]], f.O[dst[1]], f.O[dst[2]], f.O[dst[3]] = vals, first, inverse, counts
	}
}
