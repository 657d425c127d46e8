package llvm

import (
	"fmt"

	lltypes "github.com/llir/llvm/ir/types"

	"tenon/internal/diag"
	"tenon/internal/num"
)

// Type is the type of a Value: an element type, a vector of one, Ptr or Void.
type Type struct {
	elem  num.Elem
	ptr   bool
	lanes int // 0: no vector
}

// Ptr is the type of every pointer; Void is what a function without a result
// returns.
var (
	Ptr  = Type{ptr: true}
	Void = Type{}
)

// TypeOf is the type of a scalar of element type e.
func TypeOf(e num.Elem) Type { return Type{elem: e} }

// VecOf is the type of a vector of lanes elements; with 0 lanes, of a scalar.
// A mask is a vector of bools.
func VecOf(e num.Elem, lanes int) Type { return Type{elem: e, lanes: lanes} }

// of is t with other elements.
func (t Type) of(e num.Elem) Type { return VecOf(e, t.lanes) }

// Lanes is the length of a vector, 0 for all else.
func (t Type) Lanes() int { return t.lanes }

// Elem is the element type of a scalar or of a vector's lanes, Invalid for Ptr
// and Void.
func (t Type) Elem() num.Elem { return t.elem }

func (t Type) String() string {
	switch {
	case t.ptr:
		return "ptr"
	case t.elem == num.Invalid:
		return "void"
	case t.lanes > 0:
		return fmt.Sprintf("%d x %v", t.lanes, t.elem)
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
	return vector(register(t.elem), t.lanes)
}

// vector is the LLVM type of lanes values of type t, t itself for 0.
func vector(t lltypes.Type, lanes int) lltypes.Type {
	if lanes == 0 {
		return t
	}
	return lltypes.NewVector(uint64(lanes), t)
}

// lanewise emits what body emits for vectors of so many lanes: constants and
// conversions inside are of that length.
func (f *Func) lanewise(lanes int, body func()) {
	old := f.lanes
	f.lanes = lanes
	body()
	f.lanes = old
}

// like is t in each lane of the vectors at hand.
func (f *Func) like(t lltypes.Type) lltypes.Type { return vector(t, f.lanes) }

// register is the type of an element in flight, in each lane at hand.
func (f *Func) register(e num.Elem) lltypes.Type { return f.like(register(e)) }

func isBool(t lltypes.Type) bool {
	if v, ok := t.(*lltypes.VectorType); ok {
		t = v.ElemType
	}
	i, ok := t.(*lltypes.IntType)
	return ok && i.BitSize == 1
}

// Size is the number of bytes that a value takes in memory.
func (t Type) Size() int64 { return int64(t.bytes()) * int64(max(t.lanes, 1)) }

// bytes is the size in memory, of an element if t is a vector.
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

// memory is the LLVM type of an element, or of a vector's lanes, in memory.
func (t Type) memory() lltypes.Type {
	if t.elem == num.Bool {
		return vector(lltypes.I8, t.lanes)
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
	case *lltypes.VectorType:
		return fmt.Sprintf("v%d%s", t.Len, short(t.ElemType))
	}
	diag.Bugf("no intrinsic takes a %v", t)
	return ""
}

// i8 is the unit of addresses.
var i8 = lltypes.I8
