package interp

import (
	"fmt"

	"tenon/internal/diag"
	"tenon/internal/num"
	"tenon/ir"
	"tenon/ir/sym"
)

// dimPlan binds the names in parameter types to the sizes of arguments. Which
// size binds a name, which one is solved for it and which are only checked is
// settled once, for a list of parameters.
type dimPlan struct {
	what  string
	steps []dimStep
	left  []dimStep // equations whose names nothing binds
}

// dimStep is one equation between a size in a type and the argument's.
type dimStep struct {
	param *ir.Param
	arg   int
	label string // "dim 1", "stride 0", ..
	expr  sym.Expr
	size  func(arg any) int64

	slot  int                    // of the name it binds, else -1
	coef  int64                  // name = (size - rest) / coef
	value func(*ir.Frame) int64  // of expr, or of rest where it binds
	names map[string]*dimBinding // for messages, shared
}

// dimBinding is where a name got its value from.
type dimBinding struct{ from string }

// planDims settles the order of binding; the names in known have values.
func (s *stager) planDims(what string, params []*ir.Param, known []string) *dimPlan {
	plan := &dimPlan{what: what}
	bound := map[string]*dimBinding{}
	for _, n := range known {
		bound[n] = &dimBinding{"the shape"}
	}
	open := equations(params)
	for progress := true; progress; {
		progress = false
		var rest []dimStep
		for _, e := range open {
			if s.settle(&e, bound) {
				plan.steps = append(plan.steps, e)
				progress = true
			} else {
				rest = append(rest, e)
			}
		}
		open = rest
	}
	plan.left = open
	return plan
}

// settle makes e a check or a binding, if its other names are bound.
func (s *stager) settle(e *dimStep, bound map[string]*dimBinding) bool {
	e.names = bound
	var free []string
	for _, n := range e.expr.Names() {
		if bound[n] == nil {
			free = append(free, n)
		}
	}
	switch len(free) {
	case 0:
		e.slot, e.value = -1, s.Expr(e.expr)
		return true
	case 1:
		coef, rest, ok := e.expr.Linear(free[0])
		c, isConst := coef.IsConst()
		if !ok || !isConst {
			return false
		}
		e.slot, e.coef, e.value = s.Symbol(free[0]), c, s.Expr(rest)
		bound[free[0]] = &dimBinding{fmt.Sprintf("%s of %%%s", e.label, e.param.Value.Name)}
		return true
	}
	return false
}

// equations lists the sizes that params' types speak of, plain names first.
func equations(params []*ir.Param) []dimStep {
	var plain, others []dimStep
	add := func(i int, label string, x sym.Expr, size func(any) int64) {
		e := dimStep{param: params[i], arg: i, label: label, expr: x, size: size}
		if _, ok := x.IsName(); ok {
			plain = append(plain, e)
		} else {
			others = append(others, e)
		}
	}
	for i, p := range params {
		switch t := p.Value.Type.(type) {
		case ir.Tensor:
			for d, x := range t.Dims {
				add(i, fmt.Sprintf("dim %d", d), x, func(a any) int64 { return shapeOf(a)[d] })
			}
		case ir.Buf:
			for d, x := range t.Dims {
				add(i, fmt.Sprintf("dim %d", d), x, func(a any) int64 { return shapeOf(a)[d] })
			}
			for d, x := range t.Strides {
				add(i, fmt.Sprintf("stride %d", d), x, func(a any) int64 { return a.(*ir.Array).Strides[d] })
			}
		case ir.Pattern:
			add(i, "row count", t.Rows, func(a any) int64 { return a.(*ir.PatternValue).Rows })
			add(i, "column count", t.Cols, func(a any) int64 { return a.(*ir.PatternValue).Cols })
			add(i, "entry count", sym.NNZ(t.ID), func(a any) int64 { return a.(*ir.PatternValue).NNZ() })
		}
	}
	return append(plain, others...)
}

func shapeOf(a any) []int64 {
	switch a := a.(type) {
	case *ir.Array:
		return a.Shape
	case *ir.Encoded:
		return a.Shape
	}
	diag.Bugf("%T has no shape", a)
	return nil
}

// bind binds and checks; args that are nil (buffers still to be made) are left
// out.
func (p *dimPlan) bind(f *ir.Frame, args []any) *diag.Error {
	for i := range p.steps {
		if err := p.steps[i].run(f, args, p.what); err != nil {
			return err
		}
	}
	return nil
}

func (e *dimStep) run(f *ir.Frame, args []any, what string) *diag.Error {
	if args[e.arg] == nil {
		return nil
	}
	got := e.size(args[e.arg])
	if e.slot < 0 {
		want := e.value(f)
		if got == want || e.unusedStride(args[e.arg]) {
			return nil
		}
		return e.mismatch(what, got, want)
	}
	rest := e.value(f)
	if (got-rest)%e.coef != 0 {
		return &diag.Error{Msg: fmt.Sprintf("%s of %%%s of %s is %d, which is no %s", e.label, e.param.Value.Name, what, got, e.expr)}
	}
	f.S[e.slot] = num.FromInt((got - rest) / e.coef)
	exact(f, e.slot)
	return nil
}

// unusedStride: the stride of a dim of at most one element is never used.
func (e *dimStep) unusedStride(arg any) bool {
	if e.label[0] != 's' {
		return false
	}
	a := arg.(*ir.Array)
	var d int
	fmt.Sscanf(e.label, "stride %d", &d)
	return a.Shape[d] <= 1 || a.Size() == 0
}

func (e *dimStep) mismatch(what string, got, want int64) *diag.Error {
	err := &diag.Error{Msg: fmt.Sprintf("%s of %%%s of %s is %d", e.label, e.param.Value.Name, what, got),
		Expected: fmt.Sprint(want)}
	if _, isConst := e.expr.IsConst(); isConst {
		return err
	}
	err.Expected = fmt.Sprintf("%s = %d", e.expr, want)
	for _, n := range e.expr.Names() {
		if b := e.names[n]; b != nil {
			err.Expected += fmt.Sprintf(" (%s from %s)", n, b.from)
		}
	}
	return err
}
