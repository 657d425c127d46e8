package math

import (
	"tenon/internal/num"
	"tenon/ir"
)

// Row is a formula: the function, the element type, and the builder.
type Row struct {
	Func  string
	Elem  num.Elem
	build func(t *terms, x []val) val
}

func unary(f func(t *terms, x val) val) func(*terms, []val) val {
	return func(t *terms, x []val) val { return f(t, x[0]) }
}

func binary(f func(t *terms, x, y val) val) func(*terms, []val) val {
	return func(t *terms, x []val) val { return f(t, x[0], x[1]) }
}

// Rows are the formulas that there are. f16 and bf16 go through f32.
var Rows = []Row{
	{"exp", num.F32, unary((*terms).exp)},
	{"exp", num.F64, unary((*terms).exp)},
	{"exp2", num.F32, unary((*terms).exp2)},
	{"exp2", num.F64, unary((*terms).exp2)},
	{"expm1", num.F32, unary((*terms).expm1)},
	{"expm1", num.F64, unary((*terms).expm1)},
	{"log", num.F32, unary((*terms).log)},
	{"log", num.F64, unary((*terms).log)},
	{"log2", num.F32, unary((*terms).log2)},
	{"log2", num.F64, unary((*terms).log2)},
	{"log1p", num.F32, unary((*terms).log1p)},
	{"log1p", num.F64, unary((*terms).log1p)},
	{"pow", num.F32, binary((*terms).powMid)},
	{"pow", num.F64, binary((*terms).pow)},
	{"tanh", num.F32, unary((*terms).tanh)},
	{"tanh", num.F64, unary((*terms).tanh)},
	{"erf", num.F32, unary((*terms).erf)},
	{"erf", num.F64, unary((*terms).erf)},
	{"sigmoid", num.F32, unary((*terms).sigmoid)},
	{"sigmoid", num.F64, unary((*terms).sigmoid)},
	{"sin", num.F32, unary(func(t *terms, x val) val { return t.circularMid(x, 0) })},
	{"cos", num.F32, unary(func(t *terms, x val) val { return t.circularMid(x, 1) })},
	{"rsqrt", num.F32, unary((*terms).rsqrt)},
	{"rsqrt", num.F64, unary((*terms).rsqrt)},
	{"cbrt", num.F32, unary((*terms).cbrtSingle)},
	{"cbrt", num.F64, unary((*terms).cbrt)},
}

// belowRows are formulas for arguments that are not positive.
var belowRows = []Row{
	{"exp", num.F32, unary((*terms).expBelow)},
	{"exp", num.F64, unary((*terms).expBelow)},
}

// find is the row of a function on a type; nil if there is none.
func find(rows []Row, function string, e num.Elem) *Row {
	for i := range rows {
		if rows[i].Func == function && rows[i].Elem == e {
			return &rows[i]
		}
	}
	return nil
}

// Build appends the formula to b; its constants stand where s makes them.
func (r *Row) Build(b *ir.Builder, s *Constants, x ...*ir.Value) *ir.Value {
	f := double
	if r.Elem == num.F32 {
		f = single
	}
	return r.build(&terms{b, f, s}, x)
}
