package access

import (
	"tenon/internal/num"
	"tenon/ir"
	"tenon/ir/sym"
)

// At stages the position of element subs of the array v. A subscript out of
// range traps with TrapIndex at op.
func At(m ir.Machine, op *ir.Op, v *ir.Value, subs []sym.Expr) func(*ir.Frame) (*ir.Array, int64) {
	slot, fs := m.Object(v), Exprs(m, subs)
	return func(f *ir.Frame) (*ir.Array, int64) {
		arr := f.O[slot].(*ir.Array)
		pos := arr.Off
		for d, sub := range fs {
			i := sub(f)
			if i < 0 || i >= arr.Shape[d] {
				m.Trap(op, ir.TrapIndex, "subscript %d of %%%s is %d, outside its %d elements", d, v.Name, i, arr.Shape[d])
			}
			pos += i * arr.Strides[d]
		}
		return arr, pos
	}
}

// ArgAt is At for an operand that selects an element.
func ArgAt(m ir.Machine, op *ir.Op, a ir.Arg) func(*ir.Frame) (*ir.Array, int64) {
	return At(m, op, a.Value, Subs(a))
}

// Subs are the subscripts of an operand that selects an element.
func Subs(a ir.Arg) []sym.Expr {
	if a.View == nil {
		return nil
	}
	subs := make([]sym.Expr, len(a.View.Dims))
	for i, d := range a.View.Dims {
		subs[i] = d.Start
	}
	return subs
}

// Exprs stages a list of index expressions.
func Exprs(m ir.Machine, es []sym.Expr) []func(*ir.Frame) int64 {
	fs := make([]func(*ir.Frame) int64, len(es))
	for i, e := range es {
		fs[i] = m.Expr(e)
	}
	return fs
}

// Read is the cell at pos of arr and its shadow; the watcher sees it.
func Read(f *ir.Frame, op *ir.Op, arr *ir.Array, pos int64) (num.Cell, num.Shadow) {
	mem := arr.Mem
	if mem.Watch != nil {
		mem.Watch.Access(f, op, mem, pos, false)
	}
	c := mem.Cells[pos]
	switch {
	case f.E == nil:
		return c, num.Shadow{}
	case mem.Shadow == nil:
		return c, num.Exact(arr.Elem, c)
	}
	return c, mem.Shadow[pos]
}

// Write sets the cell at pos of arr; the watcher sees it.
func Write(f *ir.Frame, op *ir.Op, arr *ir.Array, pos int64, c num.Cell, s num.Shadow) {
	mem := arr.Mem
	if mem.Watch != nil {
		mem.Watch.Access(f, op, mem, pos, true)
	}
	mem.Cells[pos] = c
	if mem.Shadow != nil {
		mem.Shadow[pos] = s
	}
}

// Get and Set move a scalar between its slot and the caller.
func Get(f *ir.Frame, slot int) (num.Cell, num.Shadow) {
	if f.E == nil {
		return f.S[slot], num.Shadow{}
	}
	return f.S[slot], f.E[slot]
}

// Set puts a scalar and its shadow into a slot.
func Set(f *ir.Frame, slot int, c num.Cell, s num.Shadow) {
	f.S[slot] = c
	if f.E != nil {
		f.E[slot] = s
	}
}

// SetInt puts an integer that is exact, such as a loop index, into a slot.
func SetInt(f *ir.Frame, slot int, i int64) {
	Set(f, slot, num.FromInt(i), num.Exact(num.Index, num.FromInt(i)))
}

// Each calls visit for every index of shape in C order. The slice is reused.
func Each(shape []int64, visit func(idx []int64)) {
	if n, ok := ir.SizeOf(shape); !ok || n == 0 {
		return
	}
	idx := make([]int64, len(shape))
	for {
		visit(idx)
		d := len(idx) - 1
		for ; d >= 0; d-- {
			if idx[d]++; idx[d] < shape[d] {
				break
			}
			idx[d] = 0
		}
		if d < 0 {
			return
		}
	}
}

// Copy copies src to dst, arrays of the same shape, element by element, so
// that watchers see each access.
func Copy(f *ir.Frame, op *ir.Op, src, dst *ir.Array) {
	Each(src.Shape, func(idx []int64) {
		from, _ := src.Cell(idx)
		to, _ := dst.Cell(idx)
		c, s := Read(f, op, src, from)
		Write(f, op, dst, to, c, s)
	})
}

// Overlap reports whether two views have an element of one memory in common.
func Overlap(a, b *ir.Array) bool {
	if a.Mem != b.Mem {
		return false
	}
	cells := map[int64]bool{}
	Each(a.Shape, func(idx []int64) {
		pos, _ := a.Cell(idx)
		cells[pos] = true
	})
	common := false
	Each(b.Shape, func(idx []int64) {
		pos, _ := b.Cell(idx)
		common = common || cells[pos]
	})
	return common
}
