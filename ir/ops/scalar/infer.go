package scalar

import (
	"fmt"

	"tenon/internal/num"
	"tenon/ir"
)

// HasOp reports whether the arithmetic op of that name and number of operands
// exists on type e.
func HasOp(name string, arity int, e num.Elem) bool {
	switch arity {
	case 1:
		return num.Unary(name, e) != nil
	case 2:
		return num.Binary(name, e) != nil
	}
	return num.Ternary(name, e) != nil
}

// noSuchOp says why name has no meaning on e, and what to write instead.
func noSuchOp(name string, e num.Elem) error {
	hint := ""
	switch {
	case name == "div" && e.IsInt():
		hint = "; write tdiv (towards 0) or floordiv (towards -inf)"
	case (name == "tdiv" || name == "floordiv") && e.IsFloat():
		hint = "; write div"
	case e.IsInt() && num.Unary(name, num.F32) != nil:
		hint = "; cast the operand to a float first"
	}
	return fmt.Errorf("%s is not defined on %s%s", name, e, hint)
}

// scalars checks that op has n scalar value operands and gives their types.
func scalars(op *ir.Op, n int) ([]num.Elem, error) {
	args := op.Args("")
	if len(args) != n {
		return nil, fmt.Errorf("%s takes %d operands, not %d", op.Def.Name, n, len(args))
	}
	elems := make([]num.Elem, n)
	for i, a := range args {
		if a.Value == nil || a.View != nil {
			return nil, fmt.Errorf("operand %d of %s must be a scalar value", i+1, op.Def.Name)
		}
		s, ok := a.Value.Type.(ir.Scalar)
		if !ok {
			return nil, fmt.Errorf("operand %%%s of %s is %s, not a scalar", a.Value.Name, op.Def.Name, a.Value.Type)
		}
		elems[i] = s.Elem
	}
	return elems, nil
}

func commonElem(op *ir.Op, n int) (num.Elem, error) {
	elems, err := scalars(op, n)
	if err != nil {
		return num.Invalid, err
	}
	for i, e := range elems {
		if e != elems[0] {
			return num.Invalid, fmt.Errorf("operands of %s have types %s and %s; cast one", op.Def.Name, elems[0], elems[i])
		}
	}
	return elems[0], nil
}

func inferSelect(op *ir.Op, _ []ir.Type) ([]ir.Type, error) {
	elems, err := scalars(op, 3)
	switch {
	case err != nil:
		return nil, err
	case elems[0] != num.Bool:
		return nil, fmt.Errorf("the condition of select is %s, not bool", elems[0])
	case elems[1] != elems[2]:
		return nil, fmt.Errorf("the arms of select have types %s and %s; cast one", elems[1], elems[2])
	}
	return []ir.Type{ir.Scalar{Elem: elems[1]}}, nil
}

// declaredScalar is the one scalar type written after the op.
func declaredScalar(op *ir.Op, declared []ir.Type) (num.Elem, error) {
	if len(declared) == 1 {
		if s, ok := declared[0].(ir.Scalar); ok {
			return s.Elem, nil
		}
	}
	return num.Invalid, fmt.Errorf("%s needs its scalar type written after it, as in `: f32`", op.Def.Name)
}

func inferConst(op *ir.Op, declared []ir.Type) ([]ir.Type, error) {
	lit := ir.GetClause[*ir.Literal](op, "")
	if len(declared) == 0 && lit.Elem != num.Invalid {
		return []ir.Type{ir.Scalar{Elem: lit.Elem}}, nil
	}
	e, err := declaredScalar(op, declared)
	if err != nil {
		return nil, err
	}
	if err := lit.Resolve(e); err != nil {
		return nil, err
	}
	return []ir.Type{ir.Scalar{Elem: e}}, nil
}

func inferIdx(op *ir.Op, declared []ir.Type) ([]ir.Type, error) {
	e, err := declaredScalar(op, declared)
	if err != nil {
		return nil, err
	}
	args := op.Args("")
	if len(args) != 1 || args[0].Lit != nil || args[0].View != nil {
		return nil, fmt.Errorf("idx takes one index expression")
	}
	if v := args[0].Value; v != nil && !isInteger(v.Type) {
		return nil, fmt.Errorf("idx takes an index expression; %%%s is %s", v.Name, v.Type)
	}
	if !e.IsInt() {
		return nil, fmt.Errorf("idx gives an integer, not %s; cast it afterwards", e)
	}
	return []ir.Type{ir.Scalar{Elem: e}}, nil
}

func isInteger(t ir.Type) bool {
	s, ok := t.(ir.Scalar)
	return ok && s.Elem.IsInt()
}

func inferCast(op *ir.Op, declared []ir.Type) ([]ir.Type, error) {
	e, err := declaredScalar(op, declared)
	if err != nil {
		return nil, err
	}
	if _, err := scalars(op, 1); err != nil {
		return nil, err
	}
	return []ir.Type{ir.Scalar{Elem: e}}, nil
}

// inferBitcast wants two types of one width. A bool has one bit in registers and
// eight in memory, so its bits are nothing to rely on.
func inferBitcast(op *ir.Op, declared []ir.Type) ([]ir.Type, error) {
	to, err := declaredScalar(op, declared)
	if err != nil {
		return nil, err
	}
	from, err := scalars(op, 1)
	if err != nil {
		return nil, err
	}
	if from[0] == num.Bool || to == num.Bool || from[0].Bytes() != to.Bytes() {
		return nil, fmt.Errorf("bitcast from %s to %s: both must be numbers of the same width", from[0], to)
	}
	return []ir.Type{ir.Scalar{Elem: to}}, nil
}

// verifyValues refuses yields of anything but whole values.
func verifyValues(c *ir.Checker, op *ir.Op) {
	for _, kw := range []string{"", "stack"} {
		for i, a := range op.Args(kw) {
			if a.Value == nil || a.View != nil {
				c.Errorf(op, "operand %d is not a whole value", i+1)
			}
		}
	}
}

// verifyReturn holds a return against the function's results.
func verifyReturn(c *ir.Checker, op *ir.Op) {
	args := op.Args("")
	for i, a := range args {
		if a.Value == nil || a.View != nil {
			c.Errorf(op, "operand %d is not a whole value", i+1)
			return
		}
	}
	if c.Func == nil {
		return
	}
	if len(args) != len(c.Func.Results) {
		c.Errorf(op, "@%s has %d results, %d are returned", c.Func.Name, len(c.Func.Results), len(args))
		return
	}
	for i, a := range args {
		if want := c.Func.Results[i].Type; !ir.SameType(a.Value.Type, want) {
			c.Errorf(op, "result %d is %s, @%s declares %s", i+1, a.Value.Type, c.Func.Name, want)
		}
	}
}
