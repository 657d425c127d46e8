package loop

import (
	"errors"

	"tenon/ir"
	"tenon/ir/ops/access"
)

// Parallel is the loop whose iterations may run in any order.
var Parallel = ir.Register(&ir.OpDef{
	Name: "loop.parallel",
	Doc: "Runs a region for i = lo, lo + step, .. below hi, in any order or at the same time.\n" +
		"loop.parallel i[:n] = lo to hi [step s] [directives(..)] { .. }\n" +
		"No iteration may write what another reads or writes.",
	Clauses: []ir.ClauseSpec{
		{Kind: ir.KindRange},
		{Kind: ir.KindDirectives, KW: "directives", Optional: true},
		{Kind: ir.KindBlock},
	},
	Traits: ir.ParallelOK,
	Verify: access.Report(func(op *ir.Op) error {
		if len(bodyOf(op).Yields()) > 0 {
			return errors.New("iterations of a parallel loop yield nothing")
		}
		return checkRange(op)
	}),
	Eval: func(m ir.Machine, op *ir.Op) ir.Step {
		r := rangeOf(op)
		bounds, enter, body := Bounds(m, op, r), Enter(m, r), m.Region(bodyOf(op))
		return func(f *ir.Frame) {
			lo, hi, step := bounds(f)
			m.Parallel(f, op, lo, hi, step, func(i int64) {
				enter(f, i, hi, step)
				body(f)
			})
		}
	},
})
