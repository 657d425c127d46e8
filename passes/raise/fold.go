package raise

import (
	"math"
	"slices"

	"tenon/internal/num"
	"tenon/ir"
)

// foldChain is op with the folds inside it, each alone in the one before beside
// ops that read; nil if something else is there.
func foldChain(op *ir.Op) (chain []*ir.Op) {
	for inner := op; inner != nil; {
		chain = append(chain, inner)
		ops := bodyOf(inner).Ops
		inner = nil
		for _, o := range ops[:len(ops)-1] {
			switch {
			case isReading(o):
			case inner == nil && isFold(o) && continues(chain[len(chain)-1], o):
				inner = o
			default:
				return nil
			}
		}
	}
	return chain
}

// foldBehind is the chain of folds among ops that v is, or is added from.
func foldBehind(v *ir.Value, ops []*ir.Op) []*ir.Op {
	from := []*ir.Value{v}
	if isAddition(v.Def) {
		from = append(from, v.Def.OperandValues("")...)
	}
	for _, u := range from {
		if u.Def != nil && isFold(u.Def) && slices.Contains(ops, u.Def) {
			return foldChain(u.Def)
		}
	}
	return nil
}

// carried reports a sum so far.
func (n *nest) carried(v *ir.Value) bool {
	return slices.ContainsFunc(n.folds, func(op *ir.Op) bool { return carryOf(op).Params[0] == v })
}

// isFold reports a loop that carries one scalar. One that may be taken in any order
// was a comprehension before, and stays what it was lowered to.
func isFold(op *ir.Op) bool {
	r := rangeOf(op)
	if r == nil || r.Size != "" || len(op.Results) != 1 || len(op.Regions()) != 1 || len(carryOf(op).Params) != 1 {
		return false
	}
	_, scalar := op.Results[0].Type.(ir.Scalar)
	return scalar && len(bodyOf(op).Yields()) == 1 && !hasDirectives(op)
}

func hasDirectives(op *ir.Op) bool { return len(directivesOf(op)) > 0 }

func directivesOf(op *ir.Op) []string {
	for _, c := range op.Clauses {
		if d, ok := c.(*ir.Directives); ok {
			return d.List
		}
	}
	return nil
}

// continues reports that inner goes on with the sum of outer, and outer with
// what inner has added.
func continues(outer, inner *ir.Op) bool {
	return carryOf(inner).Inits[0] == carryOf(outer).Params[0] && bodyOf(outer).Yields()[0] == inner.Results[0]
}

func carryOf(op *ir.Op) *ir.Carry {
	for _, c := range op.Clauses {
		if k, ok := c.(*ir.Carry); ok {
			return k
		}
	}
	return &ir.Carry{}
}

// splitFold finds the term of a fold, and what becomes of its sum: it is the
// element, or is added to it; without a store it goes to other ops.
func (s *sum) splitFold(n *nest) bool {
	last := n.folds[len(n.folds)-1]
	start, total := carryOf(n.folds[0]).Inits[0], n.folds[0].Results[0]
	if !s.splitStep(bodyOf(last).Yields()[0].Def, carryOf(last).Params[0], n) {
		return false
	}
	if n.store == nil {
		s.fresh = isZero(start)
		return s.fresh || len(n.loops) == 0
	}
	stored := n.store.Operand(0)
	switch {
	case stored == total && s.isOld(n, start):
		s.old = start.Def
	case stored == total && isZero(start):
		s.fresh = true
	case stored.Def != nil && stored.Def.Def.Name == "add" && n.defs[stored] && isZero(start):
		a, b := stored.Def.Operand(0), stored.Def.Operand(1)
		switch {
		case b == total && s.isOld(n, a):
			s.old = a.Def
		case a == total && s.isOld(n, b):
			s.old = b.Def
		}
	}
	return (s.fresh || s.old != nil) && mentions(n.loops[len(n.loops)-1], total) == 1
}

// mentions counts the uses of v inside op.
func mentions(op *ir.Op, v *ir.Value) (times int) {
	bodyOf(op).Walk(func(o *ir.Op) bool {
		o.Values(func(u *ir.Value) *ir.Value {
			if u == v {
				times++
			}
			return u
		})
		return true
	})
	return times
}

// isAddition reports an op that adds or subtracts.
func isAddition(op *ir.Op) bool {
	return op != nil && (op.Def.Name == "add" || op.Def.Name == "sub")
}

// splitStep finds what update adds to sofar.
func (s *sum) splitStep(update *ir.Op, sofar *ir.Value, n *nest) bool {
	if !isAddition(update) || !n.defs[update.Results[0]] {
		return false
	}
	a, b := update.Operand(0), update.Operand(1)
	s.negated = update.Def.Name == "sub"
	switch {
	case a == sofar:
		s.term = b
	case b == sofar && !s.negated:
		s.term = a
	}
	return s.term != nil && s.term != sofar
}

// isZero reports the constant 0 that a sum begins with; -0.0 is another one.
func isZero(v *ir.Value) bool {
	if v.Def == nil || v.Def.Def.Name != "const" {
		return false
	}
	l := ir.GetClause[*ir.Literal](v.Def, "")
	if ir.ElemOf(v.Type).IsFloat() {
		x := num.Float(l.Cell)
		return x == 0 && !math.Signbit(x)
	}
	return num.Int(l.Cell) == 0
}
