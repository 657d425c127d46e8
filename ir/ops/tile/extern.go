package tile

import (
	"fmt"

	"tenon/internal/num"
	"tenon/ir"
	"tenon/ir/ops/access"
)

// Sizes binds block sizes that are known when running.
var Sizes = ir.Register(&ir.OpDef{
	Name: "tile.sizes",
	Doc: "Binds block sizes that an extern gives for the sizes in brackets, and checks their bounds.\n" +
		"tile.sizes from=@blocks (M, N, K) exists(mc: 1 <= mc, nc: 1 <= nc, kc: 1 <= kc)",
	Clauses: []ir.ClauseSpec{
		{Kind: ir.KindAttr, KW: "from"},
		{Kind: ir.KindOperands},
		{Kind: ir.KindExists, KW: "exists"},
	},
	Verify: func(c *ir.Checker, op *ir.Op) { checkExtern(c, op, "from", "sizes") },
	Eval:   evalSizes,
})

// Cost asks a cost table.
var Cost = ir.Register(&ir.OpDef{
	Name:    "tile.cost",
	Doc:     "Gives the cost that a table predicts for the sizes in brackets.\n%s = tile.cost table=@t (M, N, K) : f64",
	Clauses: []ir.ClauseSpec{{Kind: ir.KindAttr, KW: "table"}, {Kind: ir.KindOperands}},
	Infer:   func(*ir.Op, []ir.Type) ([]ir.Type, error) { return []ir.Type{ir.Scalar{Elem: num.F64}}, nil },
	Verify:  func(c *ir.Checker, op *ir.Op) { checkExtern(c, op, "table", "cost") },
	Eval: func(m ir.Machine, op *ir.Op) ir.Step {
		table, args := ir.GetClause[*ir.Attr](op, "table").Str, access.Ints(m, op.Args(""))
		dst := m.Scalar(op.Results[0])
		return func(f *ir.Frame) {
			v := m.Extern(table, values(f, args))
			if len(v) == 0 {
				m.Trap(op, ir.TrapShape, "the cost table @%s gives nothing", table)
			}
			c := num.FromFloat(v[0])
			access.Set(f, dst, c, num.Exact(num.F64, c))
		}
	},
})

func checkExtern(c *ir.Checker, op *ir.Op, kw, what string) {
	name := ir.GetClause[*ir.Attr](op, kw).Str
	x := ir.Lookup[*ir.Extern](c.Module, name)
	switch {
	case x == nil:
		c.Errorf(op, "there is no extern @%s", name)
	case x.What != what:
		c.Errorf(op, "@%s is declared as %q, want an extern of %q", name, x.What, what)
	}
	for i, a := range op.Args("") {
		if !access.IsInt(a) {
			c.Errorf(op, "operand %d must be an integer", i+1)
		}
	}
}

func values(f *ir.Frame, fs []func(*ir.Frame) int64) []int64 {
	vs := make([]int64, len(fs))
	for i, v := range fs {
		vs[i] = v(f)
	}
	return vs
}

func evalSizes(m ir.Machine, op *ir.Op) ir.Step {
	from, args := ir.GetClause[*ir.Attr](op, "from").Str, access.Ints(m, op.Args(""))
	dims := ir.GetClause[*ir.Exists](op, "exists").Dims
	var slots []int
	holds := make([]func(*ir.Frame) error, len(dims))
	for i, d := range dims {
		slots = append(slots, m.Symbol(d.Name))
		holds[i] = bounds(m, d)
	}
	return func(f *ir.Frame) {
		v := m.Extern(from, values(f, args))
		if len(v) != len(slots) {
			m.Trap(op, ir.TrapShape, "@%s gives %d sizes, want %d", from, len(v), len(slots))
		}
		for i := range slots {
			access.SetInt(f, slots[i], int64(v[i]))
		}
		for _, check := range holds {
			if err := check(f); err != nil {
				m.Trap(op, ir.TrapShape, "@%s: %v", from, err)
			}
		}
	}
}

// bounds stages the check of what is said of a dim.
func bounds(m ir.Machine, d ir.ExDim) func(*ir.Frame) error {
	slot := m.Symbol(d.Name)
	var fs []func(*ir.Frame) bool
	for _, c := range d.Conds {
		fs = append(fs, m.Cond(c))
	}
	return func(f *ir.Frame) error {
		for i, ok := range fs {
			if !ok(f) {
				return fmt.Errorf("%s is %d, but must have %s", d.Name, num.Int(f.S[slot]), d.Conds[i])
			}
		}
		return nil
	}
}
