package loop

import (
	"errors"
	"fmt"

	"tenon/internal/num"
	"tenon/ir"
	"tenon/ir/ops/access"
)

// CallProc calls a proc.
var CallProc = ir.Register(&ir.OpDef{
	Name: "loop.call",
	Doc: "Calls a proc with buffers, views of buffers and scalars.\nloop.call @p(%A, %B[0:m, j:n], K)\n" +
		"Calls make no cycles.",
	Clauses: []ir.ClauseSpec{{Kind: ir.KindAttr}, {Kind: ir.KindOperands}},
	Traits:  ir.Call,
	Verify:  checkCall,
	Effects: func(op *ir.Op) []ir.Effect {
		return append(access.Updates(op.OperandValues("")...), access.Trap)
	},
	Eval: func(m ir.Machine, op *ir.Op) ir.Step {
		var steps []ir.Step
		var args []*ir.Value
		callee := ir.Lookup[*ir.Func](m.Module(), Callee(op))
		for i, a := range op.Args("") {
			if a.Lit != nil && a.Lit.Elem == num.Invalid { // a program built without the verifier
				if err := a.Lit.Resolve(ir.ElemOf(callee.Params[i].Value.Type)); err != nil {
					m.Trap(op, ir.TrapShape, "%v", err)
				}
			}
			v, step := access.Operand(m, op, a)
			args, steps = append(args, v), append(steps, step)
		}
		return access.Seq(append(steps, m.Call(op, Callee(op), args, nil))...)
	},
})

// Callee is the name of the proc that a loop.call calls.
func Callee(op *ir.Op) string { return ir.GetClause[*ir.Attr](op, "").Str }

func checkCall(c *ir.Checker, op *ir.Op) {
	callee := ir.Lookup[*ir.Func](c.Module, Callee(op))
	if callee == nil || !callee.IsProc {
		c.Errorf(op, "there is no proc @%s", Callee(op))
		return
	}
	args := op.Args("")
	if len(args) != len(callee.Params) {
		c.Errorf(op, "@%s has %d parameters, but %d operands are given", callee.Name, len(callee.Params), len(args))
		return
	}
	for i, a := range args {
		err := fits(callee.Params[i], a)
		if err == nil && callee.Params[i].Mode != ir.ModeIn {
			err = overlaps(args, i)
		}
		if err != nil {
			c.Errorf(op, "operand %d, for %%%s of @%s: %v", i+1, callee.Params[i].Value.Name, callee.Name, err)
		}
	}
}

// overlaps checks that operand i, which the callee writes, is none of the others.
func overlaps(args []ir.Arg, i int) error {
	for j, b := range args {
		if j != i && b.Value == args[i].Value && (b.View == nil || args[i].View == nil) {
			return fmt.Errorf("the callee writes it, but operand %d is the same buffer; buffers of a call must not overlap", j+1)
		}
	}
	return nil
}

// fits compares kind, element type and rank; sizes are checked at entry.
func fits(p *ir.Param, a ir.Arg) error {
	switch t := p.Value.Type.(type) {
	case ir.Buf:
		b, err := access.Buffer(a)
		switch {
		case err != nil:
			return err
		case b.Elem != t.Elem:
			return fmt.Errorf("a buffer of %s is given, want one of %s", b.Elem, t.Elem)
		case len(access.ViewDims(a)) != len(t.Dims):
			return fmt.Errorf("%d dims are given, want %d", len(access.ViewDims(a)), len(t.Dims))
		}
	case ir.Scalar:
		return fitsScalar(t, a)
	case ir.Pattern:
		if a.Value == nil {
			return errors.New("a pattern is wanted")
		}
		if _, ok := a.Value.Type.(ir.Pattern); !ok {
			return fmt.Errorf("a %s is given, want a pattern", a.Value.Type)
		}
	}
	return nil
}

func fitsScalar(t ir.Scalar, a ir.Arg) error {
	switch {
	case a.Expr != nil && t.Elem.IsInt() && t.Elem.Bytes() == 8:
		return nil
	case a.Expr != nil:
		return fmt.Errorf("an index is given, want a %s", t)
	case a.Lit != nil:
		return a.Lit.Resolve(t.Elem)
	case ir.ElemOf(a.Value.Type) != t.Elem:
		return fmt.Errorf("a %s is given, want a %s", a.Value.Type, t)
	}
	return nil
}
