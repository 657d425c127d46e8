package llvm

import (
	"fmt"

	lltypes "github.com/llir/llvm/ir/types"

	"tenon/internal/diag"
	"tenon/internal/num"
)

// Type is the type of a Value: an element type, Ptr or Void.
type Type struct {
	elem num.Elem
	ptr  bool
}

// Ptr is the type of every pointer; Void is what a function without a result
// returns.
var (
	Ptr  = Type{ptr: true}
	Void = Type{}
)

// TypeOf is the type of a scalar of element type e.
func TypeOf(e num.Elem) Type { return Type{elem: e} }

// Elem is the element type of a scalar, Invalid for Ptr and Void.
func (t Type) Elem() num.Elem { return t.elem }

func (t Type) String() string {
	switch {
	case t.ptr:
		return "ptr"
	case t.elem == num.Invalid:
		return "void"
	}
	return t.elem.String()
}

// register is the LLVM type of a value in flight.
func (t Type) register() lltypes.Type {
	switch {
	case t.ptr:
		return lltypes.I8Ptr
	case t.elem == num.Invalid:
		return lltypes.Void
	}
	return register(t.elem)
}

// bytes is the size in memory.
func (t Type) bytes() int {
	if t.ptr {
		return 8
	}
	return t.elem.Bytes()
}

var registers = [...]lltypes.Type{
	num.F64: lltypes.Double, num.F32: lltypes.Float, num.F16: lltypes.I16, num.BF16: lltypes.I16,
	num.I64: lltypes.I64, num.I32: lltypes.I32, num.I16: lltypes.I16, num.I8: lltypes.I8, num.U8: lltypes.I8,
	num.Bool: lltypes.I1, num.Index: lltypes.I64,
}

func register(e num.Elem) lltypes.Type {
	if e == num.Invalid || int(e) >= len(registers) {
		diag.Bugf("no LLVM type for element type %d", e)
	}
	return registers[e]
}

// memory is the LLVM type of an element in memory.
func (t Type) memory() lltypes.Type {
	if t.elem == num.Bool {
		return lltypes.I8
	}
	return t.register()
}

// intOf is the integer type as wide as float element type e.
func intOf(e num.Elem) *lltypes.IntType { return lltypes.NewInt(uint64(8 * e.Bytes())) }

// short is the part of an overloaded intrinsic's name that stands for t.
func short(t lltypes.Type) string {
	switch t := t.(type) {
	case *lltypes.FloatType:
		return map[lltypes.FloatKind]string{lltypes.FloatKindHalf: "f16", lltypes.FloatKindFloat: "f32", lltypes.FloatKindDouble: "f64"}[t.Kind]
	case *lltypes.IntType:
		return fmt.Sprintf("i%d", t.BitSize)
	case *lltypes.PointerType:
		return "p0"
	}
	diag.Bugf("no intrinsic takes a %v", t)
	return ""
}

// i8 is the unit of addresses.
var i8 = lltypes.I8
