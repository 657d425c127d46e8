package interp

import (
	"fmt"

	"tenon/internal/diag"
	"tenon/internal/num"
	"tenon/ir"
)

// checkArg checks that a fits parameter p as far as its type tells, dims aside.
func checkArg(f *ir.Func, p *ir.Param, a any, unchecked bool) *diag.Error {
	wrong := func(got string) *diag.Error {
		return (&diag.Error{Msg: fmt.Sprintf("argument %%%s of @%s is %s", p.Value.Name, f.Name, got)}).WithExpected("%s", p.Value.Type)
	}
	switch t := p.Value.Type.(type) {
	case ir.Scalar:
		s, ok := a.(Scalar)
		if !ok || s.Elem != t.Elem {
			return wrong(describe(a))
		}
		return nil
	case ir.Tensor:
		if t.Enc != nil {
			return checkEncoded(t, a, wrong)
		}
		return checkArray(t.Elem, len(t.Dims), a, wrong)
	case ir.Buf:
		if a == nil && p.Mode == ir.ModeOut {
			return nil
		}
		return checkArray(t.Elem, len(t.Dims), a, wrong)
	case ir.Pattern:
		pv, ok := a.(*ir.PatternValue)
		if !ok {
			return wrong(describe(a))
		}
		if unchecked {
			return nil
		}
		if err := CheckPattern(pv); err != nil {
			return &diag.Error{Msg: fmt.Sprintf("pattern %%%s of @%s: %v", p.Value.Name, f.Name, err)}
		}
		return nil
	}
	return wrong(describe(a))
}

func checkArray(e num.Elem, rank int, a any, wrong func(string) *diag.Error) *diag.Error {
	x, ok := a.(*ir.Array)
	if !ok || x == nil || x.Elem != e || len(x.Shape) != rank {
		return wrong(describe(a))
	}
	n, ok := ir.SizeOf(x.Shape)
	if !ok || x.Mem == nil {
		return wrong(describe(a) + ", whose size is no size")
	}
	if lo, hi := extent(x); n > 0 && (lo < 0 || hi >= int64(len(x.Mem.Cells))) {
		return wrong(describe(a) + ", which leaves its memory")
	}
	return nil
}

func checkEncoded(t ir.Tensor, a any, wrong func(string) *diag.Error) *diag.Error {
	x, ok := a.(*ir.Encoded)
	if !ok || x.Enc != t.Enc || len(x.Shape) != len(t.Dims) || len(x.Parts) != len(t.Enc.Parts) {
		return wrong(describe(a))
	}
	for i, part := range t.Enc.Parts {
		pt, ok := part.Value.Type.(ir.Tensor)
		if !ok {
			continue
		}
		if err := checkArray(pt.Elem, len(pt.Dims), x.Parts[i], wrong); err != nil {
			return wrong(fmt.Sprintf("%s with part %%%s %s", describe(a), part.Value.Name, describe(x.Parts[i])))
		}
	}
	return nil
}

// describe names an argument's type.
func describe(a any) string {
	switch a := a.(type) {
	case nil:
		return "missing"
	case Scalar:
		return a.Elem.String()
	case *ir.Array:
		s := a.Elem.String() + "["
		for i, d := range a.Shape {
			if i > 0 {
				s += ", "
			}
			s += fmt.Sprint(d)
		}
		return s + "]"
	case *ir.PatternValue:
		return fmt.Sprintf("a pattern of %d x %d", a.Rows, a.Cols)
	case *ir.Encoded:
		return "a tensor encoded by @" + a.Enc.Name
	}
	return fmt.Sprintf("%T", a)
}
