package tile

import (
	"errors"
	"fmt"

	"tenon/ir"
	"tenon/ir/ops/access"
	"tenon/ir/ops/loop"
)

// For is the loop over tiles.
var For = ir.Register(&ir.OpDef{
	Name: "tile.for",
	Doc: "Runs a region for each tile of a range; i is the tile's start, n its size min(step, hi - i).\n" +
		"tile.for i:n = lo to hi [step s] [parallel] [once] [directives(..)] { .. }\n" +
		"parallel: tiles may run in any order. once: an empty range runs one tile of size 0 at lo, so that a reduction\n" +
		"over nothing still writes its result.",
	Clauses: []ir.ClauseSpec{
		{Kind: ir.KindRange},
		{Kind: ir.KindFlag, KW: "parallel", Optional: true},
		{Kind: ir.KindFlag, KW: "once", Optional: true},
		{Kind: ir.KindDirectives, KW: "directives", Optional: true},
		{Kind: ir.KindBlock},
	},
	Verify: access.Report(checkFor),
	Eval:   evalFor,
})

func checkFor(op *ir.Op) error {
	if s, ok := ir.GetClause[*ir.Range](op, "").Step.IsConst(); ok && s <= 0 {
		return fmt.Errorf("the step is %d, but must be positive", s)
	}
	if len(ir.GetClause[*ir.Block](op, "").Region.Yields()) > 0 {
		return errors.New("a loop over tiles yields nothing")
	}
	return nil
}

func evalFor(m ir.Machine, op *ir.Op) ir.Step {
	r := ir.GetClause[*ir.Range](op, "")
	bounds, enter := loop.Bounds(m, op, r), loop.Enter(m, r)
	body := m.Region(ir.GetClause[*ir.Block](op, "").Region)
	parallel, once := op.Has("parallel"), op.Has("once")
	return func(f *ir.Frame) {
		lo, hi, step := bounds(f)
		tile := func(i int64) {
			enter(f, i, hi, step)
			body(f)
		}
		switch {
		case lo >= hi && once:
			tile(lo)
		case parallel:
			m.Parallel(f, op, lo, hi, step, tile)
		default:
			loop.Run(lo, hi, step, func(i int64) {
				m.Poll(op, 1)
				tile(i)
			})
		}
	}
}
