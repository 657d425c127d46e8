package loop

import (
	"errors"
	"fmt"

	"tenon/ir"
	"tenon/ir/ops/access"
)

// If is the branch.
var If = ir.Register(&ir.OpDef{
	Name: "loop.if",
	Doc: "Runs a region where all conditions hold, else the other one.\n" +
		"[%r, .. =] loop.if (cond, ..) { .. } [else { .. }] [: types]\n" +
		"With results both regions must yield them.",
	Clauses: []ir.ClauseSpec{
		{Kind: ir.KindConds},
		{Kind: ir.KindBlock},
		{Kind: ir.KindBlock, KW: "else", Optional: true},
	},
	Infer: func(op *ir.Op, _ []ir.Type) ([]ir.Type, error) {
		return access.YieldTypes(bodyOf(op).Yields()), nil
	},
	Verify: access.Report(checkIf),
	Eval:   evalIf,
})

func checkIf(op *ir.Op) error {
	yes, no := bodyOf(op).Yields(), []*ir.Value(nil)
	if e := ir.GetClause[*ir.Block](op, "else"); e != nil {
		no = e.Region.Yields()
	} else if len(yes) > 0 {
		return errors.New("a region that yields needs an else region that does so too")
	}
	if !access.SameTypes(access.YieldTypes(yes), access.YieldTypes(no)) {
		return fmt.Errorf("the regions yield different types: %v and %v", access.YieldTypes(yes), access.YieldTypes(no))
	}
	for _, v := range yes {
		if _, ok := v.Type.(ir.Buf); ok {
			return fmt.Errorf("%%%s is a buffer, which cannot be yielded", v.Name)
		}
	}
	return nil
}

func evalIf(m ir.Machine, op *ir.Op) ir.Step {
	holds := AllHold(m, ir.GetClause[*ir.Conds](op, ""))
	yes := arm(m, op, bodyOf(op))
	no := func(*ir.Frame) {}
	if e := ir.GetClause[*ir.Block](op, "else"); e != nil {
		no = arm(m, op, e.Region)
	}
	return func(f *ir.Frame) {
		if holds(f) {
			yes(f)
		} else {
			no(f)
		}
	}
}

func arm(m ir.Machine, op *ir.Op, r *ir.Region) ir.Step {
	return access.Seq(m.Region(r), access.Moves(m, r.Yields(), op.Results))
}

// AllHold stages a conjunction; a nil clause holds.
func AllHold(m ir.Machine, cs *ir.Conds) func(*ir.Frame) bool {
	if cs == nil {
		return func(*ir.Frame) bool { return true }
	}
	var fs []func(*ir.Frame) bool
	for _, c := range cs.List {
		fs = append(fs, m.Cond(c))
	}
	return func(f *ir.Frame) bool {
		for _, holds := range fs {
			if !holds(f) {
				return false
			}
		}
		return true
	}
}
