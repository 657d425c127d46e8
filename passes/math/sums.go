package math

import (
	"slices"

	"tenon/internal/num"
	"tenon/ir"
)

// sums finds 1 + f(x) where a procedure allows `contract`, f(x) has no other
// use and there is a formula for the whole. What is 1 + f(x) rounds once, so that
// the formula may be off by what f and the sum may be together: of 1 + erf x an
// absolute error, where erf x alone needs a relative one.
type sums struct {
	inner map[*ir.Op]*ir.Op // f(x) of a sum
	uses  map[*ir.Op]int    // sums that are left of f(x)
}

func findSums(f *ir.Func) *sums {
	s := &sums{map[*ir.Op]*ir.Op{}, map[*ir.Op]int{}}
	if !slices.Contains(f.Directives, "contract") {
		return s
	}
	f.Body.Walk(func(op *ir.Op) bool {
		if in := summand(op); in != nil {
			s.inner[op] = in
			s.uses[in]++
		}
		return true
	})
	uses := ir.Uses(f)
	for op, in := range s.inner {
		if uses[in.Results[0]] != s.uses[in] {
			delete(s.inner, op)
			delete(s.uses, in)
		}
	}
	return s
}

// of is f(x) of the sum op and the formula for the whole.
func (s *sums) of(op *ir.Op) (*ir.Op, *Row) {
	in := s.inner[op]
	if in == nil {
		return nil, nil
	}
	return in, find(sumRows, in.Def.Name, ir.ElemOf(in.Results[0].Type))
}

// awaited says that sums are still to take in op.
func (s *sums) awaited(op *ir.Op) bool { return s.uses[op] > 0 }

// done notes that the sum op is gone.
func (s *sums) done(op *ir.Op) {
	if in := s.inner[op]; in != nil {
		s.uses[in]--
	}
}

// sweep removes the functions whose sums are gone.
func (s *sums) sweep(r *ir.Region) {
	r.Ops = slices.DeleteFunc(r.Ops, func(op *ir.Op) bool {
		left, known := s.uses[op]
		return known && left == 0
	})
	for _, op := range r.Ops {
		for _, in := range op.Regions() {
			s.sweep(in)
		}
	}
}

// summand is f(x) of 1 + f(x); nil if op is something else.
func summand(op *ir.Op) *ir.Op {
	if op.Def.Name != "add" {
		return nil
	}
	for i := range 2 {
		one, v := op.Operand(i), op.Operand(1-i)
		if one == nil || v == nil || v.Def == nil || !isOne(one) {
			continue
		}
		if find(sumRows, v.Def.Def.Name, ir.ElemOf(v.Type)) != nil {
			return v.Def
		}
	}
	return nil
}

func isOne(v *ir.Value) bool {
	return v.Def != nil && v.Def.Def.Name == "const" && ir.ElemOf(v.Type).IsFloat() &&
		num.Float(ir.GetClause[*ir.Literal](v.Def, "").Cell) == 1
}

// sumRows are formulas of 1 + f(x).
var sumRows = []Row{
	{"tanh", num.F32, unary((*terms).onePlusTanh)},
	{"tanh", num.F64, unary((*terms).onePlusTanh)},
	{"erf", num.F32, unary((*terms).onePlusErf)},
}
