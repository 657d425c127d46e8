package tensor

import (
	"slices"

	"tenon/internal/num"
	"tenon/ir"
	"tenon/ir/sym"
)

// access is an element access in the innermost loop. Where its subscripts are
// linear in the loop's counter it is followed: the range is checked at both
// ends once, and the loop steps through memory. Otherwise, or where the ends
// are out of range, slow does each access by itself.
type access struct {
	obj, slot int
	dims      []linear // nil: never followed
	slow      ir.Step
}

// linear is a subscript coef*counter + rest.
type linear struct{ coef, rest func(*ir.Frame) int64 }

// followed is an access as the loop runs it.
type followed struct {
	cells      []num.Cell
	shadow     []num.Shadow
	base, step int64
	slot       int
}

// maxStep bounds what follow multiplies, far from overflow.
const maxStep = 1 << 30

// counterOf is the name that equals the counter of the innermost loop, "" if
// there is none. (An entry is the counter unless the pattern permutes entries,
// which span tells while running.)
func counterOf(a ir.Axis) string {
	if a.Pattern != nil {
		return a.Entry
	}
	return a.Name
}

// linearIn splits subs; nil if one is not linear in the counter or varies with
// what the loop computes: the column of an entry axis, or a value read earlier.
func linearIn(m ir.Machine, subs []sym.Expr, axis *ir.Axis, bound []*ir.Value) []linear {
	dims := make([]linear, len(subs))
	for d, e := range subs {
		for _, r := range e.Refs() {
			if m.Shadowed() || slices.Contains(bound, r.(*ir.Value)) {
				return nil
			}
		}
		coef, rest := sym.Const(0), e
		if axis != nil {
			if axis.Pattern != nil && e.Uses(axis.Name) {
				return nil
			}
			var ok bool
			if coef, rest, ok = e.Linear(counterOf(*axis)); !ok {
				return nil
			}
		}
		dims[d] = linear{m.Expr(coef), m.Expr(rest)}
	}
	return dims
}

// follow prepares the access for the counters lo <= k < lo+n, n > 0.
func (a *access) follow(f *ir.Frame, lo, n int64) (w followed, ok bool) {
	arr := f.O[a.obj].(*ir.Array)
	if a.dims == nil && len(arr.Shape) > 0 || arr.Mem.Watch != nil || f.E != nil && arr.Mem.Shadow == nil {
		return w, false
	}
	w = followed{cells: arr.Mem.Cells, shadow: arr.Mem.Shadow, base: arr.Off, slot: a.slot}
	for d, s := range a.dims {
		c, r := s.coef(f), s.rest(f)
		if c > maxStep || c < -maxStep || r > maxStep<<30 || r < -maxStep<<30 || lo+n > maxStep {
			return w, false
		}
		first, last := r+c*lo, r+c*(lo+n-1)
		if min(first, last) < 0 || max(first, last) >= arr.Shape[d] {
			return w, false
		}
		w.base += r * arr.Strides[d]
		w.step += c * arr.Strides[d]
	}
	return w, true
}

// stageRead stages a read of a comp; bound are the values that the reads before
// it bind.
func stageRead(m ir.Machine, op *ir.Op, r ir.Read, axis *ir.Axis, bound []*ir.Value) access {
	a := access{obj: m.Object(r.Src), slot: m.Scalar(r.Res)}
	a.slow = m.Element(op, r.Src, r.Subs, r.Policy, a.slot)
	if t, ok := r.Src.Type.(ir.Tensor); !ok || t.Enc == nil {
		a.dims = linearIn(m, r.Subs, axis, bound)
	}
	return a
}

// isEncoded tells reads that no array serves.
func isEncoded(v *ir.Value) bool {
	t, ok := v.Type.(ir.Tensor)
	return ok && t.Enc != nil
}

// stageWrite stages a write of slot to element subs of the array in obj.
func stageWrite(m ir.Machine, op *ir.Op, name string, obj int, subs []sym.Expr, slot int, axis *ir.Axis, bound []*ir.Value) access {
	a := access{obj: obj, slot: slot, dims: linearIn(m, subs, axis, bound)}
	fs := make([]func(*ir.Frame) int64, len(subs))
	for d, e := range subs {
		fs[d] = m.Expr(e)
	}
	a.slow = func(f *ir.Frame) {
		arr := f.O[obj].(*ir.Array)
		pos := arr.Off
		for d, sub := range fs {
			i := sub(f)
			if uint64(i) >= uint64(arr.Shape[d]) {
				m.Trap(op, ir.TrapIndex, "subscript %d of %%%s is %d, outside its %d elements", d, name, i, arr.Shape[d])
			}
			pos += i * arr.Strides[d]
		}
		put(f, op, arr.Mem, pos, slot)
	}
	return a
}

// put writes slot to a cell of memory.
func put(f *ir.Frame, op *ir.Op, mem *ir.Memory, pos int64, slot int) {
	if mem.Watch != nil {
		mem.Watch.Access(f, op, mem, pos, true)
	}
	mem.Cells[pos] = f.S[slot]
	if f.E != nil && mem.Shadow != nil {
		mem.Shadow[pos] = f.E[slot]
	}
}
