package loop

import (
	"slices"

	"tenon/ir"
)

// A branch both of whose sides are a loop over the same range may go inside one
// loop, where it can be merged with the loops around it.
//
// Before:
//
//	loop.if (N <= 4096) { loop.parallel i = 0 to M { A } } else { loop.parallel j = 0 to M { B } }
//
// After:
//
//	loop.parallel i = 0 to M { loop.if (N <= 4096) { A } else { B } }
//
// Legal for parallel loops, since the condition is made of what stands outside.
// It pays where the loops have loops inside, so that the branch is taken once a
// row and not once an element.

func isBranch(op *ir.Op) bool { return op.Def.Name == "loop.if" }

// sink merges loops inside the branches of r and rewrites those whose arms have
// become such loops. It reports whether it merged any.
func (p *loopFuser) sink(r *ir.Region, inner bool) (merged bool) {
	kept := make([]*ir.Op, 0, len(r.Ops))
	for _, op := range r.Ops {
		if !isBranch(op) {
			kept = append(kept, op)
			continue
		}
		for _, arm := range op.Regions() {
			merged = p.region(arm, inner) || merged
		}
		before, loop := p.sunk(op)
		kept = append(kept, before...)
		kept = append(kept, loop)
	}
	r.Ops = kept
	return merged
}

// sunk is the loop that stands for the branch op, and what goes before it; op
// itself where it stays.
func (p *loopFuser) sunk(op *ir.Op) (before []*ir.Op, loop *ir.Op) {
	arms := op.Regions()
	if len(op.Results) > 0 || len(arms) != 2 {
		return nil, op
	}
	early, a := soleLoop(arms[0])
	also, b := soleLoop(arms[1])
	if a == nil || b == nil {
		return nil, op
	}
	ra, rb := rangeOf(a), rangeOf(b)
	if !ra.Lo.Equal(rb.Lo) || !ra.Hi.Equal(rb.Hi) || !ra.Step.Equal(rb.Step) || !p.c.Apply(op) {
		return nil, op
	}
	p.c.Done(op.Loc, "the branch goes inside the loop that both its sides are")
	m := renamed(ra.Name, rb.Name, carryOf(b))
	arms[0].Ops, arms[1].Ops = bodyOf(a).Ops, ir.CloneRegion(bodyOf(b), m).Ops
	r := *ra
	return slices.Concat(early, also), ir.NewOp(a.Def.Name, ir.Fuse(a.Loc, b.Loc), &r, &ir.Block{Region: &ir.Region{Ops: []*ir.Op{op}}})
}

// soleLoop is the parallel loop with loops inside that r is, beside ops that may
// be done earlier; nil where r is more.
func soleLoop(r *ir.Region) (early []*ir.Op, loop *ir.Op) {
	for _, op := range r.Ops {
		switch {
		case op.Def.Traits.Has(ir.Pure) && len(op.Regions()) == 0 && !op.Def.Traits.Has(ir.Terminator):
			early = append(early, op)
		case loop == nil && isParallel(op) && hasLoop(bodyOf(op)):
			loop = op
		default:
			return nil, nil
		}
	}
	return early, loop
}

func hasLoop(r *ir.Region) bool {
	found := false
	r.Walk(func(op *ir.Op) bool {
		found = found || rangeOf(op) != nil
		return !found
	})
	return found
}
