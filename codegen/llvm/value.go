package llvm

import (
	"fmt"
	"strings"

	"github.com/llir/llvm/ir/constant"
	lltypes "github.com/llir/llvm/ir/types"
	"github.com/llir/llvm/ir/value"

	"tenon/internal/num"
)

// Value is an SSA value of a function, a constant, or the zero Value.
type Value struct {
	v value.Value
	t Type
}

// Type is the value's type.
func (v Value) Type() Type { return v.t }

// Elem is the element type of a scalar.
func (v Value) Elem() num.Elem { return v.t.elem }

// IsValid reports whether v is a value at all.
func (v Value) IsValid() bool { return v.v != nil }

// Const is the constant c of element type e.
func Const(e num.Elem, c num.Cell) Value {
	return Value{literal(register(e), num.Bits(e, c), e), TypeOf(e)}
}

// Int is an integer, index or bool constant; x must lie in the type.
func Int(e num.Elem, x int64) Value { return Const(e, num.FromInt(x)) }

// Index is a constant of type index.
func Index(x int64) Value { return Int(num.Index, x) }

// Float is a float constant; x is rounded to e.
func Float(e num.Elem, x float64) Value {
	return Const(e, num.Cast(num.F64, e, num.FromFloat(x)))
}

// Null is the null pointer.
func Null() Value { return Value{constant.NewNull(lltypes.I8Ptr), Ptr} }

// AsInt is the value of an integer or index constant.
func (v Value) AsInt() (int64, bool) {
	c, ok := v.v.(*bits)
	if !ok || !c.elem.IsInt() || v.t.lanes > 0 {
		return 0, false
	}
	return num.Int(num.FromBits(c.elem, c.raw)), true
}

// bits is a constant given by its bits in memory. It prints itself: llir's own
// float constants do not round.
type bits struct {
	typ  lltypes.Type
	raw  uint64
	elem num.Elem // Invalid where the program has no such type
}

func literal(t lltypes.Type, raw uint64, e num.Elem) *bits { return &bits{t, raw, e} }

// IsConstant marks bits as a constant for llir.
func (*bits) IsConstant() {}

// Type returns the LLVM type.
func (c *bits) Type() lltypes.Type { return c.typ }

func (c *bits) String() string { return c.typ.String() + " " + c.Ident() }

// Ident is the constant as LLVM spells it: a float as the bits of the double
// of the same value, an integer in decimal, signed; a vector lane by lane.
func (c *bits) Ident() string {
	if v, ok := c.typ.(*lltypes.VectorType); ok {
		if c.raw == 0 {
			return "zeroinitializer"
		}
		lane := (&bits{v.ElemType, c.raw, c.elem}).String()
		return "<" + strings.Repeat(lane+", ", int(v.Len)-1) + lane + ">"
	}
	switch t := c.typ.(type) {
	case *lltypes.FloatType:
		raw := c.raw
		if t.Kind == lltypes.FloatKindFloat {
			raw = num.FromBits(num.F32, raw)
		}
		return fmt.Sprintf("0x%016X", raw)
	case *lltypes.IntType:
		if t.BitSize == 1 {
			return map[bool]string{false: "false", true: "true"}[c.raw != 0]
		}
		shift := 64 - t.BitSize
		return fmt.Sprint(int64(c.raw<<shift) >> shift)
	}
	return "undef"
}
