package cpu

import (
	"strings"

	"tenon/codegen/llvm"
	"tenon/internal/num"
	"tenon/ir"
)

// The state of a function holds its const parameters: NAME_open maps each from
// the file PARAMETER.npy of a folder, and a plan or a run with the state takes
// them from there. A state is one block of memory with a slot a parameter:
//
//	tenon_tensor; shape[rank]; the mapping and its size
//
// A scalar is an array of rank 0. Behind the slots stands the address of the
// prepared buffers, where there are any (prepare.go).

// constant is a const parameter and the offset of its slot.
type constant struct {
	Field
	arg  int
	slot int64
}

// mapped is where the mapping stands in a slot.
func (c constant) mapped() int64 { return tensorBytes + 8*int64(c.Rank) }

// constantsOf lists the const parameters and the size of the state.
func constantsOf(fields []Field) (list []constant, bytes int64) {
	for i, x := range fields {
		if x.Param.Const {
			c := constant{x, i, bytes}
			list, bytes = append(list, c), bytes+c.mapped()+16
		}
	}
	return list, bytes
}

// withConstants is the argument struct to use: the caller's, or with a state a
// copy whose const fields are those of the state.
func withConstants(f *llvm.Func, fields []Field, state, args llvm.Value) llvm.Value {
	list, _ := constantsOf(fields)
	if len(list) == 0 {
		return args
	}
	last := fields[len(fields)-1]
	size := last.Offset + tensorBytes
	if !last.Tensor {
		size = last.Offset + int64(last.Elem.Bytes())
	}
	local := f.Alloca(size)
	none := f.Op("or", f.IsNull(state), f.IsNull(args))
	return f.If(none, func() []llvm.Value { return []llvm.Value{args} }, func() []llvm.Value {
		f.CallC("memcpy", llvm.Ptr, local, args, llvm.Index(size))
		for _, c := range list {
			to, from := f.Offset(local, c.Offset), f.Offset(state, c.slot)
			if !c.Tensor {
				f.Store(f.Load(llvm.TypeOf(c.Elem), address(f, from, fieldData)), to)
				continue
			}
			f.CallC("memcpy", llvm.Ptr, to, from, llvm.Index(tensorBytes))
		}
		return []llvm.Value{local}
	})[0]
}

// emitOpen emits NAME_open(weights, state, error). ready fills the prepared
// buffers; nil: there are none.
func emitOpen(f *llvm.Func, shared *support, fields []Field, ready *llvm.Func) {
	list, bytes := constantsOf(fields)
	if ready != nil {
		bytes += 8
	}
	weights, state, errorAt := f.Param(0), f.Param(1), f.Param(2)
	fail := func(why llvm.Value, arg int) {
		report(f, errorAt, why, int64(arg), -1)
		f.Return(why)
	}
	f.When(f.IsNull(state), func() { fail(code(ir.TrapNull), -1) })
	f.Store(llvm.Null(), state)
	if len(list) > 0 {
		f.When(f.IsNull(weights), func() { fail(code(ir.TrapNull), -1) })
		room := f.CallC("calloc", llvm.Ptr, llvm.Index(1), llvm.Index(bytes))
		f.When(f.IsNull(room), func() { fail(code(ir.TrapMemory), -1) })
		for _, c := range list {
			slot := f.Offset(room, c.slot)
			f.Store(f.Offset(slot, tensorBytes), f.Offset(slot, fieldShape))
			got := f.Call(shared.npy(), weights, shared.text(c.Name+".npy"), shared.text(descr(c.Elem)),
				llvm.Index(int64(c.Rank)), llvm.Index(int64(c.Elem.Bytes())), slot, f.Offset(slot, c.mapped()))
			f.When(f.Op("ne", got, code(ir.TrapOK)), func() {
				unmap(f, list, room, false)
				fail(got, c.arg)
			})
		}
		if ready != nil {
			why := f.Alloca(errorBytes)
			got := f.Call(ready, room, why)
			f.When(f.Op("ne", got, code(ir.TrapOK)), func() {
				unmap(f, list, room, true)
				f.When(f.Op("not", f.IsNull(errorAt)), func() { f.CallC("memcpy", llvm.Ptr, errorAt, why, llvm.Index(errorBytes)) })
				f.Return(got)
			})
		}
		f.Store(room, state)
	}
	report(f, errorAt, code(ir.TrapOK), -1, -1)
	f.Return(code(ir.TrapOK))
}

// emitClose emits NAME_close(state).
func emitClose(f *llvm.Func, fields []Field, prepared bool) {
	if list, _ := constantsOf(fields); len(list) > 0 {
		f.When(f.Op("not", f.IsNull(f.Param(0))), func() { unmap(f, list, f.Param(0), prepared) })
	}
	f.Return(llvm.Value{})
}

// unmap gives back what a state holds.
func unmap(f *llvm.Func, list []constant, state llvm.Value, prepared bool) {
	if last := list[len(list)-1]; prepared {
		f.Free(address(f, state, last.slot+last.mapped()+16))
	}
	for _, c := range list {
		at := address(f, state, c.slot+c.mapped())
		f.When(f.Op("not", f.IsNull(at)), func() {
			f.CallC("munmap", i32, at, word(f, state, c.slot+c.mapped()+8))
		})
	}
	f.CallC("free", llvm.Void, state)
}

// descr is how a npy file names an element type.
func descr(e num.Elem) string {
	switch e {
	case num.Bool:
		return "|b1'"
	case num.I8:
		return "|i1'"
	case num.U8:
		return "|u1'"
	case num.BF16:
		return "<u2'" // NumPy has no bfloat16: its bits
	case num.Index:
		return "<i8'"
	}
	return "<" + strings.TrimRight(e.String(), "0123456789") + string('0'+rune(e.Bytes())) + "'"
}
