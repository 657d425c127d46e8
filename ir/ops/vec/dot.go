package vec

import (
	"fmt"

	"tenon/internal/num"
	"tenon/ir"
	"tenon/ir/ops/access"
)

// dot is a dot-product or matrix instruction of a target: the accumulator is,
// again and again, a rows x cols matrix of acc, to which the product of a rows x
// depth matrix of a and the transpose of a cols x depth matrix of b is added.
type dot struct {
	name              string
	acc, a, b         num.Elem
	rows, cols, depth int
	target            string
}

var dots = []dot{
	{"vec.dpbf16", num.F32, num.BF16, num.BF16, 1, 1, 2, "x86 vdpbf16ps, AArch64 bfdot"},
	{"vec.dpbusd", num.I32, num.U8, num.I8, 1, 1, 4, "x86 vpdpbusd, AArch64 usdot"},
	{"vec.dpbssd", num.I32, num.I8, num.I8, 1, 1, 4, "x86 vpdpbssd, AArch64 sdot"},
	{"vec.dpbuud", num.I32, num.U8, num.U8, 1, 1, 4, "x86 vpdpbuud, AArch64 udot"},
	{"vec.dpwssd", num.I32, num.I16, num.I16, 1, 1, 2, "x86 vpdpwssd"},
	{"vec.mmbf16", num.F32, num.BF16, num.BF16, 2, 2, 4, "AArch64 bfmmla"},
	{"vec.mmss", num.I32, num.I8, num.I8, 2, 2, 8, "AArch64 smmla"},
	{"vec.mmus", num.I32, num.U8, num.I8, 2, 2, 8, "AArch64 usmmla"},
}

// Dots lists the dot-product and matrix rows.
var Dots = registerDots()

func registerDots() []*ir.OpDef {
	var rows []*ir.OpDef
	for _, d := range dots {
		rows = append(rows, ir.Register(&ir.OpDef{
			Name: d.name,
			Doc: fmt.Sprintf("Adds, for every %d lanes of the accumulator as a %d x %d matrix, the product of %d x %d of %s with the\n"+
				"transpose of %d x %d of %s; each product is converted to %s and added by fma in order (%s).\n%%r = %s(%%acc, %%a, %%b)",
				d.rows*d.cols, d.rows, d.cols, d.rows, d.depth, d.a, d.cols, d.depth, d.b, d.acc, d.target, d.name),
			Clauses:       []ir.ClauseSpec{operandsClause},
			Traits:        ir.Pure | ir.Reduces,
			TypesInferred: true,
			Infer:         func(op *ir.Op, _ []ir.Type) ([]ir.Type, error) { return one(d.check(op)) },
			Eval:          d.eval,
		}))
	}
	return rows
}

func (d dot) check(op *ir.Op) (ir.Vec, error) {
	if err := access.Count(op, 3, "an accumulator and two factors"); err != nil {
		return ir.Vec{}, err
	}
	acc, err := vecArg(op, 0)
	if err != nil {
		return acc, err
	}
	if acc.Elem != d.acc || acc.Lanes%(d.rows*d.cols) != 0 {
		return acc, fmt.Errorf("the accumulator is a %s, want lanes of %s, a multiple of %d of them", acc, d.acc, d.rows*d.cols)
	}
	groups := acc.Lanes / (d.rows * d.cols)
	want := [...]ir.Vec{{Lanes: groups * d.rows * d.depth, Elem: d.a}, {Lanes: groups * d.cols * d.depth, Elem: d.b}}
	for i, w := range want {
		if t, err := vecArg(op, i+1); err != nil {
			return acc, err
		} else if t != w {
			return acc, fmt.Errorf("operand %d is a %s, want a %s", i+2, t, w)
		}
	}
	return acc, nil
}

func (d dot) eval(m ir.Machine, op *ir.Op) ir.Step {
	acc, a, b, dst := m.Object(op.Operand(0)), m.Object(op.Operand(1)), m.Object(op.Operand(2)), m.Object(op.Results[0])
	wideA, wideB, fma := access.Cast(d.a, d.acc), access.Cast(d.b, d.acc), access.Op("fma", 3, d.acc)
	return func(f *ir.Frame) {
		la, lb, old := lanes(f, a), lanes(f, b), lanes(f, acc)
		r := fresh(f, len(old.Cells))
		for i := range r.Cells {
			g, row, col := i/(d.rows*d.cols), i/d.cols%d.rows, i%d.cols
			c, s := get(old, i)
			for l := 0; l < d.depth; l++ {
				x, xs := get(la, (g*d.rows+row)*d.depth+l)
				y, ys := get(lb, (g*d.cols+col)*d.depth+l)
				x, xs = wideA(f, x, xs)
				y, ys = wideB(f, y, ys)
				c, s = fma(f, &[3]cell{x, y, c}, &[3]shadow{xs, ys, s})
			}
			set(r, i, c, s)
		}
		f.O[dst] = r
	}
}
