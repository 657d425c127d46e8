package loop

import (
	"tenon/ir"
)

// Slot is the number of the piece of the workspace in which an allocation lies;
// ok is false where it has memory of its own.
func Slot(op *ir.Op) (n int64, ok bool) {
	if op.Def.Name != "loop.alloc" {
		return 0, false
	}
	a := ir.GetClause[*ir.Attr](op, "slot")
	if a == nil {
		return 0, false
	}
	return a.Int, true
}

// SetSlot puts an allocation into slot n; a negative n gives it memory of its
// own.
func SetSlot(op *ir.Op, n int64) {
	if n < 0 {
		ir.SetClause[*ir.Attr](op, "slot", nil)
		return
	}
	ir.SetClause(op, "slot", &ir.Attr{Value: ir.AttrInt, Int: n})
}

// Dense reports a buffer in C order in ordinary memory.
func Dense(t ir.Buf) bool {
	offset, isConst := t.Offset.IsConst()
	return t.Dist == nil && t.Space == "" && t.Strides == nil && isConst && offset == 0
}

// checkSlot: iterations of a parallel loop run at the same time, each with
// buffers of its own, so none of them has a place in the workspace.
func checkSlot(c *ir.Checker, op *ir.Op) {
	a := ir.GetClause[*ir.Attr](op, "slot")
	switch {
	case a == nil:
	case a.Value != ir.AttrInt || a.Int < 0:
		c.Errorf(op, "a slot has a number, 0 or more")
	case !Dense(op.Results[0].Type.(ir.Buf)):
		c.Errorf(op, "a buffer with strides, an offset, a space or a distribution has no slot")
	default:
		for _, around := range c.Around {
			if around.Def.Traits.Has(ir.ParallelOK) {
				c.Errorf(op, "stands in %s, whose iterations would share the slot; leave slot out", around.Def.Name)
			}
		}
	}
}

// inSlot lets an allocation use the memory of its slot again: whatever still
// reads the buffer before it reads what this one has written, or poison.
func inSlot(m ir.Machine, op *ir.Op, fresh func(*ir.Frame) *ir.Array) func(*ir.Frame) *ir.Array {
	n, ok := Slot(op)
	if !ok {
		return fresh
	}
	shared := m.Shared(n)
	return func(f *ir.Frame) *ir.Array {
		arr := fresh(f)
		mem, _ := f.O[shared].(*ir.Memory)
		if mem == nil {
			f.O[shared] = arr.Mem
			return arr
		}
		mem.Overwrite(arr.Mem)
		arr.Mem = mem
		return arr
	}
}
