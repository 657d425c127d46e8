package access

import (
	"errors"
	"fmt"

	"tenon/internal/num"
	"tenon/ir"
)

// Buffer is the type of an operand that must be a buffer.
func Buffer(a ir.Arg) (ir.Buf, error) {
	if a.Value == nil {
		return ir.Buf{}, errors.New("the operand must be a buffer")
	}
	t, ok := a.Value.Type.(ir.Buf)
	if !ok {
		return ir.Buf{}, fmt.Errorf("%%%s is a %s, not a buffer", a.Value.Name, a.Value.Type)
	}
	if a.View != nil && len(a.View.Dims) != len(t.Dims) {
		return ir.Buf{}, fmt.Errorf("%%%s has %d dims, but %d subscripts", a.Value.Name, len(t.Dims), len(a.View.Dims))
	}
	return t, nil
}

// Element is the type of a buffer of which the operand selects one element.
func Element(a ir.Arg) (ir.Buf, error) {
	t, err := Buffer(a)
	if err != nil {
		return t, err
	}
	if a.View == nil || !isElement(a) {
		return t, fmt.Errorf("one element of %%%s must be given: %%%s[%s]", a.Value.Name, a.Value.Name, "i, ..")
	}
	return t, nil
}

// ScalarElem is the element type of an operand that must be a scalar value.
func ScalarElem(a ir.Arg) (num.Elem, error) {
	if a.Value != nil && a.View == nil {
		if t, ok := a.Value.Type.(ir.Scalar); ok {
			return t.Elem, nil
		}
	}
	return num.Invalid, errors.New("the operand must be a scalar value")
}

// IsInt reports whether an operand is an integer: an index expression, an
// integer literal, or a scalar of integer type.
func IsInt(a ir.Arg) bool {
	switch {
	case a.Expr != nil:
		return true
	case a.Lit != nil:
		return a.Lit.Elem.IsInt()
	}
	e, err := ScalarElem(a)
	return err == nil && e.IsInt()
}

// Count checks the number of operands.
func Count(op *ir.Op, want int, what string) error {
	if n := len(op.Args("")); n != want {
		return fmt.Errorf("%d operands given, want %s", n, what)
	}
	return nil
}

// One is the single declared type, of type T.
func One[T ir.Type](declared []ir.Type, example string) (T, error) {
	var none T
	if len(declared) != 1 {
		return none, fmt.Errorf("one type must be written, such as `: %s`", example)
	}
	t, ok := declared[0].(T)
	if !ok {
		return none, fmt.Errorf("the type written is %s, want one such as %s", declared[0], example)
	}
	return t, nil
}

// Report makes a Verify of a check that returns one error.
func Report(check func(op *ir.Op) error) func(*ir.Checker, *ir.Op) {
	return func(c *ir.Checker, op *ir.Op) {
		if err := check(op); err != nil {
			c.Errorf(op, "%v", err)
		}
	}
}

// Reads, Writes and Updates list the effects on the buffers among values.
func Reads(vs ...*ir.Value) []ir.Effect { return effects(ir.EffectRead, vs) }

// Writes lists writes of the buffers among values.
func Writes(vs ...*ir.Value) []ir.Effect { return effects(ir.EffectWrite, vs) }

// Updates lists reads and writes of the buffers among values.
func Updates(vs ...*ir.Value) []ir.Effect { return append(Reads(vs...), Writes(vs...)...) }

func effects(k ir.EffectKind, vs []*ir.Value) []ir.Effect {
	var es []ir.Effect
	for _, v := range vs {
		if v == nil {
			continue
		}
		if _, ok := v.Type.(ir.Buf); ok {
			es = append(es, ir.Effect{Kind: k, Value: v})
		}
	}
	return es
}

// Trap is the effect of an op that may stop the program.
var Trap = ir.Effect{Kind: ir.EffectTrap}

// YieldTypes are the types that a region's terminator gives.
func YieldTypes(vs []*ir.Value) []ir.Type {
	var ts []ir.Type
	for _, v := range vs {
		ts = append(ts, v.Type)
	}
	return ts
}

// SameTypes compares two lists.
func SameTypes(a, b []ir.Type) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !ir.SameType(a[i], b[i]) {
			return false
		}
	}
	return true
}
