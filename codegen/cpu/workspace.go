package cpu

import (
	"math"
	"slices"

	"tenon/codegen/llvm"
	"tenon/internal/num"
	"tenon/ir"
	"tenon/ir/ops/loop"
	"tenon/ir/sym"
	"tenon/targets"
)

// The workspace is one piece of memory for the buffers that the module puts into
// slots: the caller's, or one allocation for a call. Its size follows from the
// dims, and the plan of a call gives it. The slots lie one after the other, each
// at a multiple of a cache line and as large as the greatest of its buffers. The
// body takes each slot as a parameter of its own, so that LLVM sees that they do
// not overlap; that buffers of one slot do, it sees as well.

// slotsOf lists the allocations of f in each slot of its workspace.
func slotsOf(f *ir.Func) (slots [][]*ir.Op) {
	f.Body.Walk(func(op *ir.Op) bool {
		if n, ok := loop.Slot(op); ok {
			for int64(len(slots)) <= n {
				slots = append(slots, nil)
			}
			slots[n] = append(slots[n], op)
		}
		return true
	})
	return slots
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

// layout finds where each slot begins, and the size of all.
func (p *proc) layout(slots [][]*ir.Op) (offsets []llvm.Value, total llvm.Value) {
	line := int64(p.Module().Desc().LineBytes)
	total = llvm.Index(0)
	for _, ops := range slots {
		whole := p.Op("and", p.Op("add", p.slotBytes(ops), llvm.Index(line-1)), llvm.Index(-line))
		over := p.Op("gt", whole, p.Op("sub", llvm.Index(math.MaxInt64-2*line), total))
		p.failWhen(over, ir.TrapOverflow, -1, -1)
		offsets, total = append(offsets, total), p.Op("add", total, whole)
	}
	return offsets, total
}

// slotBytes is the size of the greatest of the buffers of ops; one that leaves no
// room for alignment is an overflow. Sizes that are made of equal dims are
// computed once.
func (p *proc) slotBytes(ops []*ir.Op) llvm.Value {
	line := int64(p.Module().Desc().LineBytes)
	most := llvm.Index(0)
	seen := map[string]bool{}
	for _, op := range ops {
		t := op.Results[0].Type.(ir.Buf)
		if seen[t.String()] {
			continue
		}
		seen[t.String()] = true
		var dims []llvm.Value
		for _, d := range t.Dims {
			dims = append(dims, p.expr(d))
		}
		bytes := p.checkedBytes(dims, t.Elem, -1)
		p.failWhen(p.Op("gt", bytes, llvm.Index(math.MaxInt64-2*line)), ir.TrapOverflow, -1, -1)
		most = p.Op("max", most, bytes)
	}
	return most
}

// Workspace is the size in bytes that the plan of a call of f asks for, as an
// expression over dims, for memory at any address; prepared buffers, which a
// plan without a state has room for too, are left out.
func Workspace(f *ir.Func, desc *targets.Desc) sym.Expr {
	total := bytesIn(slotsOf(f), desc)
	if c, ok := total.IsConst(); ok && c == 0 {
		return total
	}
	return sym.Add(total, sym.Const(int64(desc.LineBytes)-1))
}

// bytesIn is the size of slots that lie one after the other.
func bytesIn(slots [][]*ir.Op, desc *targets.Desc) sym.Expr {
	line := sym.Const(int64(desc.LineBytes))
	total := sym.Const(0)
	for _, ops := range slots {
		most := sym.Const(0)
		for i, op := range ops {
			bytes := bytesOf(op.Results[0].Type.(ir.Buf))
			if i == 0 {
				most = bytes
			}
			most = sym.Max(most, bytes)
		}
		total = sym.Add(total, sym.Mul(line, sym.FloorDiv(sym.Add(most, line, sym.Const(-1)), line)))
	}
	return total
}

func bytesOf(t ir.Buf) sym.Expr {
	n := sym.Const(int64(t.Elem.Bytes()))
	for _, d := range t.Dims {
		n = sym.Mul(n, d)
	}
	return n
}

// scratch gives the addresses of the slots of the workspace, and of the prepared
// buffers behind them. Those lie at kept where that is not null. Without a
// workspace of the caller's it allocates one, to be freed at the exit.
func (e *entry) scratch(plan, given, kept llvm.Value) (at, made []llvm.Value) {
	slots, last := slotsOf(e.src), preparedOf(e.src)
	if len(slots)+len(last) == 0 {
		return nil, nil
	}
	offsets, total := e.layout(append(slots[:len(slots):len(slots)], last...))
	need, own := e.workspaceOf(offsets, total, e.IsNull(kept))
	if len(last) == 0 {
		return e.places(e.room(plan, given, need), offsets), nil
	}
	base := e.If(e.Op("eq", need, llvm.Index(0)), func() []llvm.Value { return []llvm.Value{llvm.Null()} },
		func() []llvm.Value { return []llvm.Value{e.room(plan, given, need)} })[0]
	at = e.places(base, offsets[:len(slots)])
	first := e.Select(e.IsNull(kept), e.OffsetBy(base, own), kept)
	for _, o := range offsets[len(slots):] {
		made = append(made, e.OffsetBy(first, e.Op("sub", o, own)))
	}
	return at, made
}

// workspaceOf is what a run needs of a workspace in which slots end at own and
// prepared buffers, of which there is need where fills, at total.
func (p *proc) workspaceOf(offsets []llvm.Value, total, fills llvm.Value) (need, own llvm.Value) {
	n := len(slotsOf(p.src))
	if n == len(offsets) {
		return total, total
	}
	return p.Select(fills, total, offsets[n]), offsets[n]
}

// room is the beginning of a workspace of need bytes.
func (e *entry) room(plan, given, need llvm.Value) llvm.Value {
	slot := e.slot()
	return e.If(e.IsNull(given), func() []llvm.Value {
		room := e.Malloc(need)
		e.failWhen(e.IsNull(room), ir.TrapMemory, -1, -1)
		e.Store(room, slot)
		return []llvm.Value{room}
	}, func() []llvm.Value {
		e.failWhen(e.Op("lt", e.Load(index, e.Offset(plan, planWorkspace)), e.padded(need)), ir.TrapShape, -1, -1)
		line := int64(e.Module().Desc().LineBytes)
		skip := e.Op("and", e.Op("neg", e.PtrInt(given)), llvm.Index(line-1))
		return []llvm.Value{e.OffsetBy(given, skip)}
	})[0]
}

// padded is the size of a workspace of unknown alignment: none stays none.
func (p *proc) padded(total llvm.Value) llvm.Value {
	line := int64(p.Module().Desc().LineBytes)
	some := p.Op("gt", total, llvm.Index(0))
	return p.Select(some, p.Op("add", total, llvm.Index(line-1)), llvm.Index(0))
}

// workspaceBytes emits the size of the workspace that a run asks for: with room
// for prepared buffers where fills.
func (p *proc) workspaceBytes(fills llvm.Value) llvm.Value {
	slots := append(slotsOf(p.src), preparedOf(p.src)...)
	if len(slots) == 0 {
		return llvm.Int(num.Index, 0)
	}
	offsets, total := p.layout(slots)
	need, _ := p.workspaceOf(offsets, total, fills)
	return p.padded(need)
}
