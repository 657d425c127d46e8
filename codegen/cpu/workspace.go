package cpu

import (
	"math"
	"slices"

	"tenon/codegen/llvm"
	"tenon/internal/num"
	"tenon/ir"
)

// The workspace holds the temporary arrays that live for a whole call and whose
// sizes follow from the dims: it is one piece of memory, the caller's or one
// allocation, whose size the plan of a call gives. The body takes each array as
// a parameter of its own, so that LLVM sees that they do not overlap. Arrays
// that live in a loop or a branch are allocated where they stand.

// scratchOf lists the allocations of f that go into the workspace.
func scratchOf(f *ir.Func) (ops []*ir.Op) {
	for _, op := range f.Body.Ops {
		if op.Def.Name != "loop.alloc" {
			continue
		}
		t := op.Results[0].Type.(ir.Buf)
		if t.Dist == nil && t.Space == "" && t.Strides == nil && madeOf(t, dimsOf(f)) {
			ops = append(ops, op)
		}
	}
	return ops
}

// madeOf reports that the dims of t are expressions over the given names alone.
func madeOf(t ir.Buf, dims []string) bool {
	for _, d := range t.Dims {
		for _, n := range d.Names() {
			if !slices.Contains(dims, n) {
				return false
			}
		}
		if len(d.Refs()) > 0 {
			return false
		}
	}
	return true
}

// layout places the arrays of ops one after the other, each at a multiple of a
// cache line: their offsets, and the size of all.
func (p *proc) layout(ops []*ir.Op) (offsets []llvm.Value, total llvm.Value) {
	line := int64(p.Module().Desc().LineBytes)
	total = llvm.Index(0)
	for _, op := range ops {
		t := op.Results[0].Type.(ir.Buf)
		var dims []llvm.Value
		for _, d := range t.Dims {
			dims = append(dims, p.expr(d))
		}
		bytes := p.checkedBytes(dims, t.Elem, -1)
		whole := p.Op("and", p.Op("add", bytes, llvm.Index(line-1)), llvm.Index(-line))
		over := p.Op("gt", p.Op("sub", bytes, llvm.Index(math.MaxInt64-2*line)), p.Op("neg", total))
		p.failWhen(over, ir.TrapOverflow, -1, -1)
		offsets, total = append(offsets, total), p.Op("add", total, whole)
	}
	return offsets, total
}

// scratch gives the addresses of the arrays in the workspace. Without one of the
// caller's it allocates it, to be freed at the exit.
func (e *entry) scratch(plan, given llvm.Value) (at []llvm.Value) {
	ops := scratchOf(e.src)
	if len(ops) == 0 {
		return nil
	}
	offsets, total := e.layout(ops)
	slot := e.slot()
	base := e.If(e.IsNull(given), func() []llvm.Value {
		room := e.Malloc(total)
		e.failWhen(e.IsNull(room), ir.TrapMemory, -1, -1)
		e.Store(room, slot)
		return []llvm.Value{room}
	}, func() []llvm.Value {
		e.failWhen(e.Op("lt", e.Load(index, e.Offset(plan, planWorkspace)), e.padded(total)), ir.TrapShape, -1, -1)
		line := int64(e.Module().Desc().LineBytes)
		skip := e.Op("and", e.Op("neg", e.PtrInt(given)), llvm.Index(line-1))
		return []llvm.Value{e.OffsetBy(given, skip)}
	})
	for _, o := range offsets {
		at = append(at, e.OffsetBy(base[0], o))
	}
	return at
}

// padded is the size of a workspace of unknown alignment: none stays none.
func (p *proc) padded(total llvm.Value) llvm.Value {
	line := int64(p.Module().Desc().LineBytes)
	some := p.Op("gt", total, llvm.Index(0))
	return p.Select(some, p.Op("add", total, llvm.Index(line-1)), llvm.Index(0))
}

// workspaceBytes emits the size of the workspace that a run asks for.
func (p *proc) workspaceBytes() llvm.Value {
	ops := scratchOf(p.src)
	if len(ops) == 0 {
		return llvm.Int(num.Index, 0)
	}
	_, total := p.layout(ops)
	return p.padded(total)
}
