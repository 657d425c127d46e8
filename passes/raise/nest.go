package raise

import (
	"slices"

	"tenon/ir"
)

// nest is a chain of loops, each in the body of the one around it, and in the
// last one what a sum goes into.
type nest struct {
	loops []*ir.Op
	store *ir.Op             // the element that is added to; nil where folds carry the sum to other ops
	folds []*ir.Op           // loops that carry the sum, each in the one before
	defs  map[*ir.Value]bool // made by pure ops and loads of the chain, in front of the sum
	fixed map[*ir.Value]bool // made by other ops of the chain
}

// maxNests bounds how many sums are tried in one nest, by what its body holds.
const maxNests = 16

// findNests are the nests that begin at op, the last sum of a body first.
func findNests(op *ir.Op) (found []*nest) {
	var descend func(loops []*ir.Op)
	descend = func(loops []*ir.Op) {
		ops := bodyOf(loops[len(loops)-1]).Ops
		for i := len(ops) - 1; i >= 0 && len(found) < maxNests; i-- {
			n := &nest{loops: loops}
			switch o := ops[i]; {
			case o.Def.Name == "store":
				n.store = o
				n.folds = foldBehind(o.Operand(0), ops[:i])
			case isFold(o):
				if n.folds = foldChain(o); n.folds == nil {
					continue
				}
			case isPlainLoop(o):
				descend(append(loops[:len(loops):len(loops)], o))
				continue
			default:
				continue
			}
			found = append(found, n)
		}
	}
	if isPlainLoop(op) {
		descend([]*ir.Op{op})
	}
	return found
}

// target is the op of the chain in the body of loop d.
func (n *nest) target(d int) *ir.Op {
	switch {
	case d+1 < len(n.loops):
		return n.loops[d+1]
	case n.store != nil:
		return n.store
	}
	return n.folds[0]
}

// sides are the ops of loop d's body before and after the chain, without the
// folds of the sum.
func (n *nest) sides(d int) (before, after []*ir.Op) {
	ops := bodyOf(n.loops[d]).Ops
	at := slices.Index(ops, n.target(d))
	before = ops[:at]
	if n.store != nil && len(n.folds) > 0 {
		before = slices.DeleteFunc(slices.Clone(before), func(op *ir.Op) bool { return op == n.folds[0] })
	}
	return before, ops[at+1:]
}

// note collects what the chain defines; false if an op beside it must stay where
// it is.
func (n *nest) note() bool {
	n.defs, n.fixed = map[*ir.Value]bool{}, map[*ir.Value]bool{}
	for d := range n.loops {
		before, after := n.sides(d)
		for _, op := range before {
			n.define(op)
		}
		for _, op := range slices.Concat(before, after) {
			if !isMovable(op) {
				return false
			}
		}
	}
	for _, fold := range n.folds {
		for _, op := range bodyOf(fold).Ops {
			if isReading(op) {
				n.define(op)
			}
		}
	}
	return true
}

func (n *nest) define(op *ir.Op) {
	for _, v := range op.Results {
		if isReading(op) {
			n.defs[v] = true
		} else {
			n.fixed[v] = true
		}
	}
}

// all are the loops of the nest with those that carry the sum.
func (n *nest) all() []*ir.Op { return append(slices.Clone(n.loops), n.folds...) }

// isMovable reports an op that may run in loops of its own: it loads, stores and
// computes.
func isMovable(op *ir.Op) bool {
	movable := true
	(&ir.Region{Ops: []*ir.Op{op}}).Walk(func(o *ir.Op) bool {
		movable = movable && (isReading(o) || isPlainLoop(o) || isFold(o) || o.Def.Name == "store" || o.Def.Name == "loop.if" || o.Def.Traits.Has(ir.Terminator))
		return movable
	})
	return movable
}

// isReading reports an op without effects, a load apart.
func isReading(op *ir.Op) bool {
	return len(op.Regions()) == 0 && (op.Def.Name == "load" || op.Def.Traits.Has(ir.Pure)) && !op.Def.Traits.Has(ir.Terminator)
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
