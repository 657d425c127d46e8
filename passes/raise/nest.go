package raise

import (
	"slices"

	"tenon/ir"
)

// nest is a chain of loops, each the last op of the one around it; the last one
// ends in a store.
type nest struct {
	loops []*ir.Op
	store *ir.Op
	folds []*ir.Op           // loops before the store that carry the sum, each in the one before
	defs  map[*ir.Value]bool // made by pure ops and loads of the chain
	// split is the number of loops around the last op that stays: those ops run
	// first, in the loops around them. 0 if nothing stays.
	split int
}

// findNest is the nest that begins at op, nil if there is none.
func findNest(op *ir.Op) *nest {
	n := &nest{defs: map[*ir.Value]bool{}}
	for {
		if !isPlainLoop(op) {
			return nil
		}
		n.loops = append(n.loops, op)
		ops := bodyOf(op).Ops
		if len(ops) == 0 {
			return nil
		}
		last := ops[len(ops)-1]
		for _, o := range ops[:len(ops)-1] {
			if !n.before(o) {
				return nil
			}
		}
		if last.Def.Name == "store" {
			n.store = last
			break
		}
		op = last
	}
	if n.split == len(n.loops) || len(n.folds) > 0 && !slices.Contains(bodyOf(op).Ops, n.folds[0]) {
		return nil // the innermost loop does more than to sum, or an outer one does
	}
	return n
}

// all are the loops of the nest with those that carry the sum.
func (n *nest) all() []*ir.Op { return append(slices.Clone(n.loops), n.folds...) }

// before notes an op in front of the inner loop; false if it must stay where it
// is.
func (n *nest) before(op *ir.Op) bool {
	if isReading(op) {
		for _, v := range op.Results {
			n.defs[v] = true
		}
		return true
	}
	if isFold(op) {
		return n.foldOf(op)
	}
	n.split = len(n.loops)
	movable := true
	(&ir.Region{Ops: []*ir.Op{op}}).Walk(func(o *ir.Op) bool {
		movable = movable && (isReading(o) || isPlainLoop(o) || o.Def.Name == "store" || o.Def.Name == "loop.if" || o.Def.Traits.Has(ir.Terminator))
		return movable
	})
	return movable
}

// rest are the ops of the nest that stay, with the loops around them.
func (n *nest) rest() []*ir.Op {
	if n.split == 0 {
		return nil
	}
	body := bodyOf(n.loops[n.split-1])
	body.Ops = body.Ops[:len(body.Ops)-1]
	return n.loops[:1:1]
}

// isReading reports an op without effects, a load apart.
func isReading(op *ir.Op) bool {
	return len(op.Regions()) == 0 && (op.Def.Name == "load" || op.Def.Traits.Has(ir.Pure))
}

// isPlainLoop reports a loop that carries nothing, and of which the user says
// nothing.
func isPlainLoop(op *ir.Op) bool {
	r := rangeOf(op)
	if r == nil || r.Size != "" || len(op.Results) > 0 || len(op.Regions()) != 1 {
		return false
	}
	return !slices.ContainsFunc(op.Clauses, func(c ir.Clause) bool {
		_, carries := c.(*ir.Carry)
		_, directed := c.(*ir.Directives)
		return carries || directed
	})
}

func rangeOf(op *ir.Op) *ir.Range {
	for _, c := range op.Clauses {
		if r, ok := c.(*ir.Range); ok {
			return r
		}
	}
	return nil
}

func bodyOf(op *ir.Op) *ir.Region { return op.Regions()[0] }
