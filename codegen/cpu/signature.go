package cpu

import (
	"fmt"

	"tenon/internal/diag"
	"tenon/internal/num"
	"tenon/ir"
)

// Field is one field of struct NAME_args, in the order of the proc's
// parameters: a tensor, or a scalar by value.
type Field struct {
	Name   string
	Param  *ir.Param
	Elem   num.Elem
	Tensor bool
	Rank   int
	Offset int64 // in the struct
}

const tensorBytes = 24 // data, shape, strides

// Signature lays out the argument struct of a proc. Parameters that have no C
// form yet are the user's error, with a way out.
func Signature(f *ir.Func) ([]Field, error) {
	var fields []Field
	offset := int64(0)
	for _, p := range f.Params {
		x := Field{Name: p.Value.Name, Param: p, Elem: ir.ElemOf(p.Value.Type)}
		size, align := int64(x.Elem.Bytes()), int64(x.Elem.Bytes())
		switch t := p.Value.Type.(type) {
		case ir.Scalar:
		case ir.Buf:
			if err := plain(f, p, t); err != nil {
				return nil, err
			}
			x.Tensor, x.Rank = true, len(t.Dims)
			size, align = tensorBytes, 8
		default:
			return nil, noForm(f, p.Value)
		}
		offset = (offset + align - 1) / align * align
		x.Offset = offset
		offset += size
		fields = append(fields, x)
	}
	return fields, nil
}

// plain refuses buffers that the C interface cannot describe.
func plain(f *ir.Func, p *ir.Param, t ir.Buf) error {
	what := ""
	zero, isConst := t.Offset.IsConst()
	switch {
	case t.Dist != nil:
		what = "a distribution"
	case t.Space != "":
		what = "a memory space"
	case t.Strides != nil, !isConst || zero != 0:
		what = "strides of its own"
	default:
		return nil
	}
	return notNative(f.Loc.First(), fmt.Sprintf("parameter %s of %s, a buffer with %s,", p.Value.Name, f.Name, what))
}

// noForm refuses a parameter, a pattern or an encoded tensor, where the first op
// uses it.
func noForm(f *ir.Func, v *ir.Value) *diag.Error {
	pos, what := f.Loc.First(), fmt.Sprintf("parameter %s of %s, %s,", v.Name, f.Name, v.Type)
	found := false
	f.Body.Walk(func(op *ir.Op) bool {
		uses := false
		op.Values(func(u *ir.Value) *ir.Value {
			uses = uses || u == v
			return u
		})
		if uses && !found {
			found = true
			pos, what = op.Loc.First(), fmt.Sprintf("%s over %s, %s,", op.Def.Name, v.Name, v.Type)
		}
		return !found
	})
	return notNative(pos, what)
}

// notNative says that something runs in the interpreter only.
func notNative(pos diag.Pos, what string) *diag.Error {
	return diag.Errorf(pos, "%s has no native form", what).WithFix("run it with --interp")
}
