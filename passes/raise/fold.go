package raise

import (
	"math"
	"slices"

	"tenon/internal/num"
	"tenon/ir"
)

// foldOf notes op, in front of the store, if it is a nest of loops that carry one
// scalar: what the innermost one yields is the sum so far and a term.
func (n *nest) foldOf(op *ir.Op) bool {
	if len(n.folds) > 0 {
		return false
	}
	var chain []*ir.Op
	var defs []*ir.Value
	for inner := op; inner != nil; {
		chain = append(chain, inner)
		ops := bodyOf(inner).Ops
		inner = nil
		for _, o := range ops[:len(ops)-1] {
			switch {
			case isReading(o):
				defs = append(defs, o.Results...)
			case inner == nil && isFold(o) && continues(chain[len(chain)-1], o):
				inner = o
			default:
				return false
			}
		}
	}
	n.folds = chain
	for _, v := range defs {
		n.defs[v] = true
	}
	return true
}

// carried reports a sum so far.
func (n *nest) carried(v *ir.Value) bool {
	return slices.ContainsFunc(n.folds, func(op *ir.Op) bool { return carryOf(op).Params[0] == v })
}

// isFold reports a loop that carries one scalar; that it may be taken in any
// order is all that the user may say of it.
func isFold(op *ir.Op) bool {
	r := rangeOf(op)
	if r == nil || r.Size != "" || len(op.Results) != 1 || len(op.Regions()) != 1 || len(carryOf(op).Params) != 1 {
		return false
	}
	_, scalar := op.Results[0].Type.(ir.Scalar)
	return scalar && len(bodyOf(op).Yields()) == 1 && !slices.ContainsFunc(op.Clauses, func(c ir.Clause) bool {
		d, directed := c.(*ir.Directives)
		return directed && !slices.Equal(d.List, []string{"reassoc"})
	})
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
// element, or is added to it.
func (s *sum) splitFold(n *nest, stored *ir.Value) bool {
	last := n.folds[len(n.folds)-1]
	start, total := carryOf(n.folds[0]).Inits[0], n.folds[0].Results[0]
	if !s.splitStep(bodyOf(last).Yields()[0].Def, carryOf(last).Params[0], n) {
		return false
	}
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
	return s.fresh || s.old != nil
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
