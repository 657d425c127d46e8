package llvm

import (
	"github.com/llir/llvm/ir"
	"github.com/llir/llvm/ir/constant"
	"github.com/llir/llvm/ir/metadata"
	lltypes "github.com/llir/llvm/ir/types"
	"github.com/llir/llvm/ir/value"

	"tenon/internal/num"
)

// At is the address of element i of the array of type e at base, which must
// have that element or end before it.
func (f *Func) At(base Value, e num.Elem, i Value) Value {
	f.want("subscript", i, num.Index)
	if n, ok := i.AsInt(); ok {
		return f.Offset(base, n*int64(e.Bytes()))
	}
	mem := TypeOf(e).memory()
	typed := f.cur.NewBitCast(base.v, lltypes.NewPointer(mem))
	gep := f.cur.NewGetElementPtr(mem, typed, i.v)
	gep.InBounds = true
	return Value{f.cur.NewBitCast(gep, lltypes.I8Ptr), Ptr}
}

// Offset is the address a constant number of bytes from base.
func (f *Func) Offset(base Value, bytes int64) Value {
	if bytes == 0 {
		return base
	}
	// llir looks into constant subscripts, so this one must be its own.
	return Value{f.cur.NewGetElementPtr(i8, base.v, constant.NewInt(lltypes.I64, bytes)), Ptr}
}

// OffsetBy is the address a number of bytes from base.
func (f *Func) OffsetBy(base, bytes Value) Value {
	f.want("offset", bytes, num.Index)
	if n, ok := bytes.AsInt(); ok {
		return f.Offset(base, n)
	}
	return Value{f.cur.NewGetElementPtr(i8, base.v, bytes.v), Ptr}
}

// Load reads a value of type t. Element alignment is all that is assumed.
func (f *Func) Load(t Type, addr Value) Value {
	load := f.cur.NewLoad(t.memory(), f.typed(addr, t))
	load.Align = ir.Align(t.bytes())
	if t.elem == num.Bool {
		// Any byte but 0 is true: a caller's bool may hold more than a 1.
		var v Value
		f.lanewise(t.lanes, func() { v = f.isNonZero(load) })
		return v
	}
	return Value{load, t}
}

// LoadElem reads element i of the array of type e at base.
func (f *Func) LoadElem(e num.Elem, base, i Value) Value { return f.Load(TypeOf(e), f.At(base, e, i)) }

// Store writes v.
func (f *Func) Store(v, addr Value) {
	x := v.v
	if v.t.elem == num.Bool {
		x = f.cur.NewZExt(x, v.t.memory())
	}
	store := f.cur.NewStore(x, f.typed(addr, v.t))
	store.Align = ir.Align(v.t.bytes())
}

// StoreAround writes a vector around the caches where the machine can. addr must
// be aligned to the whole vector.
func (f *Func) StoreAround(v, addr Value) {
	store := f.cur.NewStore(v.v, f.typed(addr, v.t))
	store.Align = ir.Align(v.t.Size())
	store.Metadata = append(store.Metadata, &metadata.Attachment{Name: "nontemporal", Node: f.m.one()})
}

// StreamFence makes stores around the caches visible before those that follow.
func (f *Func) StreamFence() {
	if name := f.m.desc.StreamFence; name != "" {
		f.cur.NewCall(f.m.declare(name, lltypes.Void, false))
	}
}

// StoreElem writes element i of the array at base.
func (f *Func) StoreElem(v, base, i Value) { f.Store(v, f.At(base, v.Elem(), i)) }

func (f *Func) typed(addr Value, t Type) value.Value {
	if t.memory().Equal(i8) {
		return addr.v
	}
	return f.cur.NewBitCast(addr.v, lltypes.NewPointer(t.memory()))
}

// Alloca reserves bytes on the stack for the whole call, aligned to a cache
// line. Keep it small: the stack of a thread is not checked.
func (f *Func) Alloca(bytes int64) Value {
	a := ir.NewAlloca(lltypes.NewArray(uint64(bytes), i8))
	a.Align = ir.Align(64)
	cast := ir.NewBitCast(a, lltypes.I8Ptr)
	f.entry.Insts = append(f.entry.Insts, a, cast)
	return Value{cast, Ptr}
}

// NullSlot reserves room for one pointer, null at first, however often the code
// around it runs.
func (f *Func) NullSlot() Value {
	slot := f.Alloca(8)
	store := ir.NewStore(constant.NewNull(lltypes.I8Ptr), ir.NewBitCast(slot.v, lltypes.NewPointer(lltypes.I8Ptr)))
	f.entry.Insts = append(f.entry.Insts, store.Dst.(*ir.InstBitCast), store)
	return slot
}

// Malloc asks the C library for memory aligned to a cache line; the result is
// null where there is none. bytes must not be negative; it is rounded up to
// whole lines, and 0 to one, so that null always means failure.
func (f *Func) Malloc(bytes Value) Value {
	f.want("size", bytes, num.Index)
	line := int64(f.m.desc.LineBytes)
	whole := f.Op("and", f.Op("add", f.Op("max", bytes, Index(1)), Index(line-1)), Index(-line))
	return f.CallC("aligned_alloc", Ptr, Index(line), whole)
}

// Free gives memory of Malloc back; null is ignored.
func (f *Func) Free(p Value) { f.CallC("free", Void, p) }

// IsNull reports whether a pointer is null.
func (f *Func) IsNull(p Value) Value { return f.icmpEq(p, Null()) }

// SamePtr reports whether two pointers are equal.
func (f *Func) SamePtr(p, q Value) Value { return f.icmpEq(p, q) }

// PtrInt is a pointer as an index, to compare ranges of addresses.
func (f *Func) PtrInt(p Value) Value {
	return Value{f.cur.NewPtrToInt(p.v, lltypes.I64), TypeOf(num.Index)}
}
