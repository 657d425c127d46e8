package access

import (
	"tenon/internal/num"
	"tenon/ir"
	"tenon/ir/sym"
)

// View stages the array that an operand stands for: all of its value, or the
// sub-view written. A dim with a start alone is dropped from the view. A view
// that leaves its array traps with TrapIndex.
func View(m ir.Machine, op *ir.Op, a ir.Arg) func(*ir.Frame) *ir.Array {
	slot := m.Object(a.Value)
	if a.View == nil {
		return func(f *ir.Frame) *ir.Array { return f.O[slot].(*ir.Array) }
	}
	starts := make([]func(*ir.Frame) int64, len(a.View.Dims))
	sizes := make([]func(*ir.Frame) int64, len(a.View.Dims))
	for i, d := range a.View.Dims {
		starts[i] = m.Expr(d.Start)
		if d.HasSize {
			sizes[i] = m.Expr(d.Size)
		}
	}
	return func(f *ir.Frame) *ir.Array {
		arr := f.O[slot].(*ir.Array)
		v := &ir.Array{Elem: arr.Elem, Off: arr.Off, Mem: arr.Mem}
		for d, start := range starts {
			lo, n, kept := start(f), int64(1), sizes[d] != nil
			if kept {
				n = sizes[d](f)
			}
			if lo < 0 || n < 0 || lo > arr.Shape[d]-n {
				m.Trap(op, ir.TrapIndex, "view %d:%d of dim %d of %%%s leaves its %d elements",
					lo, n, d, a.Value.Name, arr.Shape[d])
			}
			v.Off += lo * arr.Strides[d]
			if kept {
				v.Shape, v.Strides = append(v.Shape, n), append(v.Strides, arr.Strides[d])
			}
		}
		return v
	}
}

// ViewDims are the dims of what View stages.
func ViewDims(a ir.Arg) []sym.Expr {
	if a.View == nil {
		dims, _ := ir.DimsOf(a.Value.Type)
		return dims
	}
	var dims []sym.Expr
	for _, d := range a.View.Dims {
		if d.HasSize {
			dims = append(dims, d.Size)
		}
	}
	return dims
}

// ViewType is the type of what View stages: strides are those of the whole,
// symbolic where a dim to their right is.
func ViewType(a ir.Arg) ir.Type {
	t, ok := a.Value.Type.(ir.Buf)
	if !ok || a.View == nil {
		return a.Value.Type
	}
	strides := t.Strides
	if strides == nil {
		strides = CStrides(t.Dims)
	}
	v := ir.Buf{Elem: t.Elem, Space: t.Space, Offset: t.Offset}
	for i, d := range a.View.Dims {
		v.Offset = sym.Add(v.Offset, sym.Mul(d.Start, strides[i]))
		if d.HasSize {
			v.Dims, v.Strides = append(v.Dims, d.Size), append(v.Strides, strides[i])
		}
	}
	return v
}

// CStrides are the strides of C order for symbolic dims.
func CStrides(dims []sym.Expr) []sym.Expr {
	s := make([]sym.Expr, len(dims))
	n := sym.Const(1)
	for i := len(dims) - 1; i >= 0; i-- {
		s[i] = n
		n = sym.Mul(n, dims[i])
	}
	return s
}

// Operand stages an operand as a value that a call can pass on: the value
// itself, or a fresh one that the Step fills with the view, the integer or the
// literal.
func Operand(m ir.Machine, op *ir.Op, a ir.Arg) (*ir.Value, ir.Step) {
	switch {
	case a.Value != nil && a.View == nil:
		return a.Value, nil
	case a.Value != nil && len(ViewDims(a)) == 0 && isElement(a):
		v := &ir.Value{Name: a.Value.Name, Type: ir.Scalar{Elem: ir.ElemOf(a.Value.Type)}}
		return v, m.Element(op, a.Value, Subs(a), ir.PolicyError, m.Scalar(v))
	case a.Value != nil:
		v := &ir.Value{Name: a.Value.Name, Type: ViewType(a)}
		view, slot := View(m, op, a), m.Object(v)
		return v, func(f *ir.Frame) { f.O[slot] = view(f) }
	case a.Expr != nil:
		v := &ir.Value{Name: "index", Type: ir.IndexType}
		x, slot := m.Expr(*a.Expr), m.Scalar(v)
		return v, func(f *ir.Frame) { SetInt(f, slot, x(f)) }
	}
	v := &ir.Value{Name: "literal", Type: ir.Scalar{Elem: a.Lit.Elem}}
	slot, c, s := m.Scalar(v), a.Lit.Cell, num.Exact(a.Lit.Elem, a.Lit.Cell)
	return v, func(f *ir.Frame) { Set(f, slot, c, s) }
}

// isElement reports whether a selects one element, not a view.
func isElement(a ir.Arg) bool {
	if a.View == nil {
		return false
	}
	for _, d := range a.View.Dims {
		if d.HasSize {
			return false
		}
	}
	return true
}

// Ints stages operands that are integers: index expressions or scalars.
func Ints(m ir.Machine, args []ir.Arg) []func(*ir.Frame) int64 {
	fs := make([]func(*ir.Frame) int64, len(args))
	for i, a := range args {
		fs[i] = m.Expr(IntArg(a))
	}
	return fs
}

// IntArg is an integer operand as an index expression.
func IntArg(a ir.Arg) sym.Expr {
	switch {
	case a.Expr != nil:
		return *a.Expr
	case a.Value != nil:
		return sym.Val(a.Value)
	}
	return sym.Const(int64(a.Lit.Cell))
}

// Allocate stages a fresh array of a buffer type, with the strides and offset
// that the type asks for.
func Allocate(m ir.Machine, op *ir.Op, t ir.Buf) func(*ir.Frame) *ir.Array {
	dims := Exprs(m, t.Dims)
	shapeOf := func(f *ir.Frame) []int64 {
		shape := make([]int64, len(dims))
		for i, d := range dims {
			shape[i] = d(f)
			if shape[i] < 0 {
				m.Trap(op, ir.TrapShape, "dim %d is %d, but cannot be negative", i, shape[i])
			}
		}
		return shape
	}
	if off, isConst := t.Offset.IsConst(); t.Strides == nil && isConst && off == 0 {
		return func(f *ir.Frame) *ir.Array { return m.Array(f, t.Elem, shapeOf(f)) }
	}
	if t.Strides == nil {
		t.Strides = CStrides(t.Dims)
	}
	strides, offset := Exprs(m, t.Strides), m.Expr(t.Offset)
	return func(f *ir.Frame) *ir.Array {
		arr := &ir.Array{Elem: t.Elem, Shape: shapeOf(f), Off: offset(f)}
		end := arr.Off + 1
		for i, s := range strides {
			arr.Strides = append(arr.Strides, s(f))
			if arr.Strides[i] < 0 || arr.Off < 0 {
				m.Trap(op, ir.TrapShape, "offset and strides of an allocation cannot be negative")
			}
			end += max(0, arr.Shape[i]-1) * arr.Strides[i]
		}
		arr.Mem = m.Array(f, t.Elem, []int64{end}).Mem
		return arr
	}
}
