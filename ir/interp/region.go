package interp

import (
	"tenon/internal/num"
	"tenon/ir"
)

// Scalars runs a region of f that computes scalars, such as the pick of a choice,
// by itself. names gives sizes to the dims it uses, given the values it takes
// from outside. The result tells the value of anything in it.
func Scalars(m *ir.Module, f *ir.Func, r *ir.Region, names map[string]int64, given map[*ir.Value]num.Cell) (value func(*ir.Value) num.Cell, err error) {
	defer catch(&err)
	s := newStager(New(m, Options{}), f)
	for n := range names { // slots in any order: nothing depends on them
		s.Symbol(n)
	}
	step := s.Region(r)
	for _, v := range r.Yields() {
		s.Scalar(v)
	}
	for v := range given {
		s.Scalar(v)
	}
	fr := &ir.Frame{S: make([]num.Cell, s.layout.scalars), O: make([]any, s.layout.objects), T: &ir.Thread{Ranks: 1}}
	for n, size := range names {
		fr.S[s.Symbol(n)] = num.FromInt(size)
	}
	for v, c := range given {
		fr.S[s.Scalar(v)] = c
	}
	step(fr)
	return func(v *ir.Value) num.Cell { return fr.S[s.Scalar(v)] }, nil
}
