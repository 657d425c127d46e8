package vec

import (
	"fmt"

	"tenon/ir"
	"tenon/ir/ops/access"
)

// reductions maps the names that a reduction may have to scalar ops.
var reductions = map[string]string{"sum": "add", "prod": "mul", "max": "max", "min": "min", "any": "or", "all": "and", "and": "and", "or": "or", "xor": "xor"}

// Reduce folds the lanes.
var Reduce = ir.Register(&ir.OpDef{
	Name: "vec.reduce",
	Doc: "Folds the lanes of a vector or mask: sum prod max min, and or xor of integers, any all of masks. The upper half\n" +
		"is combined with the lower one as long as their number is even, then the rest from lane 0 on.\n" +
		"%x = vec.reduce(%a) op=sum",
	Clauses:       []ir.ClauseSpec{operandsClause, {Kind: ir.KindAttr, KW: "op"}},
	Traits:        ir.Pure | ir.Reduces,
	TypesInferred: true,
	Infer: func(op *ir.Op, _ []ir.Type) ([]ir.Type, error) {
		if err := access.Count(op, 1, "a vector or mask"); err != nil {
			return nil, err
		}
		v := op.Args("")[0].Value
		if v == nil {
			return nil, fmt.Errorf("the operand must be a vector or mask")
		}
		_, e, err := lanesOf(v.Type)
		name := ir.GetClause[*ir.Attr](op, "op").Str
		if err == nil && (reductions[name] == "" || !access.HasOp(reductions[name], 2, e)) {
			err = fmt.Errorf("lanes of %s have no reduction %q", e, name)
		}
		return one(ir.Scalar{Elem: e}, err)
	},
	Eval: func(m ir.Machine, op *ir.Op) ir.Step {
		src, dst := m.Object(op.Operand(0)), m.Scalar(op.Results[0])
		_, e, _ := lanesOf(op.Operand(0).Type)
		combine := access.Binary(reductions[ir.GetClause[*ir.Attr](op, "op").Str], e)
		return func(f *ir.Frame) {
			a := lanes(f, src)
			r := fresh(f, len(a.Cells))
			copy(r.Cells, a.Cells)
			copy(r.Shadow, a.Shadow)
			c, s := fold(f, r, combine)
			access.Set(f, dst, c, s)
		}
	},
})

// fold combines the lanes of r, which it overwrites.
func fold(f *ir.Frame, r *ir.Lanes, combine func(f *ir.Frame, a cell, as shadow, b cell, bs shadow) (cell, shadow)) (cell, shadow) {
	n := len(r.Cells)
	for ; n%2 == 0; n /= 2 {
		for i := 0; i < n/2; i++ {
			a, as := get(r, i)
			b, bs := get(r, i+n/2)
			c, s := combine(f, a, as, b, bs)
			set(r, i, c, s)
		}
	}
	c, s := get(r, 0)
	for i := 1; i < n; i++ {
		b, bs := get(r, i)
		c, s = combine(f, c, s, b, bs)
	}
	return c, s
}
