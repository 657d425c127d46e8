package tensor

import (
	"math"
	"slices"

	"tenon/internal/num"
	"tenon/ir"
)

// A target may take the terms of a sum in any order, so the bound of a sum
// follows from the magnitudes of all its terms, not from the partial sums that
// the interpreter meets. anyOrder makes the shadows of a fold so: for built-in
// sums and products, for the components of a plain monoid that are sums, and for
// those that a rescaled monoid sums.
func (r *fold) anyOrder(yields []int) {
	mon := r.by.Monoid
	switch {
	case mon.Base != nil:
		if over := mon.Over.Monoid; over.Builtin && over.Name == "sum" && over.Elems()[0].IsFloat() {
			r.spread(yields)
		}
	case mon.Builtin:
		if e := mon.Elems()[0]; slices.Contains([]string{"sum", "prod"}, mon.Name) && e.IsFloat() {
			s := &looseShadow{r.m.TempObject(), r.acc[0], yields[0], e, mon.Name == "prod"}
			r.start, r.take, r.finish = s.start(r.start), s.alone(), s.finish
		}
	default:
		for i, e := range mon.Elems() {
			if e.IsFloat() && isSum(mon, i) {
				s := &looseShadow{r.m.TempObject(), r.acc[i], yields[i], e, false}
				r.start, r.take, r.finish = s.start(r.start), s.beside(r.take), s.then(r.finish)
			}
		}
	}
}

// isSum reports that component i of a plain monoid is combined by adding.
func isSum(mon *ir.Monoid, i int) bool {
	if mon.Combine == nil {
		return false
	}
	v := mon.Combine.Yields()[i]
	if v.Def == nil || v.Def.Def != ir.LookupOp("add") {
		return false
	}
	a, b := mon.CombineParams[i], mon.CombineParams[i+len(mon.Params)]
	x, y := v.Def.Operand(0), v.Def.Operand(1)
	return x == a && y == b || x == b && y == a
}

// looseShadow keeps the shadow of a sum or product of floats.
type looseShadow struct {
	obj, acc, x int
	elem        num.Elem
	prod        bool
}

// shadowState is kept in the frame.
type shadowState struct {
	sum  num.SumShadow
	prod num.ProdShadow
}

// start begins with the accumulator's own shadow if first sets it to anything
// but the identity.
func (s *looseShadow) start(first ir.Step) ir.Step {
	return func(f *ir.Frame) {
		first(f)
		st, ok := f.O[s.obj].(*shadowState)
		if !ok || st == nil {
			st = &shadowState{}
			f.O[s.obj] = st
		}
		if s.prod {
			st.prod = num.NewProdShadow(s.elem)
		} else {
			st.sum = num.SumShadow{}
		}
		if f.E[s.acc].Hi != 0 && !s.prod || f.E[s.acc].Hi != 1 && s.prod || f.E[s.acc].Err != 0 {
			s.add(st, f.E[s.acc])
		}
	}
}

func (s *looseShadow) add(st *shadowState, x num.Shadow) {
	if s.prod {
		st.prod.Add(x)
	} else {
		st.sum.Add(x)
	}
}

// alone folds the value and gathers the shadow, which finish puts in place.
func (s *looseShadow) alone() ir.Step {
	op := "add"
	if s.prod {
		op = "mul"
	}
	g := num.Binary(op, s.elem)
	return func(f *ir.Frame) {
		f.S[s.acc] = g(f.S[s.acc], f.S[s.x])
		s.add(f.O[s.obj].(*shadowState), f.E[s.x])
	}
}

// beside gathers the shadow next to the whole monoid's combination.
func (s *looseShadow) beside(take ir.Step) ir.Step {
	return func(f *ir.Frame) {
		take(f)
		s.add(f.O[s.obj].(*shadowState), f.E[s.x])
	}
}

func (s *looseShadow) finish(f *ir.Frame) {
	st := f.O[s.obj].(*shadowState)
	if s.prod {
		f.E[s.acc] = st.prod.Result()
	} else {
		f.E[s.acc] = st.sum.Result(s.elem)
	}
}

func (s *looseShadow) then(first ir.Step) ir.Step {
	return func(f *ir.Frame) { first(f); s.finish(f) }
}

// spread folds, beside a rescaled sum, the magnitudes of its terms under the
// same rescaling: n roundings of that total bound what another order may add.
func (r *fold) spread(yields []int) {
	mon := r.by.Monoid
	acc, x, count := make([]int, len(r.acc)), make([]int, len(r.acc)), r.m.Temp()
	summed := make([]bool, len(acc))
	for i, p := range mon.Params {
		acc[i], x[i] = r.m.Temp(), r.m.Temp()
		summed[i] = slices.Contains(mon.Over.Params, p)
	}
	combine := r.m.Combine(mon, acc, x)
	start, take, finish := r.start, r.take, r.finish
	r.start = func(f *ir.Frame) {
		start(f)
		f.S[count] = 0
		magnitudes(f, r.acc, acc, summed)
	}
	r.take = func(f *ir.Frame) {
		magnitudes(f, yields, x, summed)
		combine(f)
		f.S[count]++
		take(f)
	}
	unit := math.Ldexp(1, -mon.Over.Monoid.Elems()[0].Bits())
	r.finish = func(f *ir.Frame) {
		finish(f)
		for i, slot := range r.acc {
			bound := float64(f.S[count]) * unit * math.Abs(f.E[acc[i]].Hi)
			if summed[i] && !math.IsInf(bound, 0) {
				f.E[slot].Err = max(f.E[slot].Err, bound)
			}
		}
	}
}

// magnitudes copies scalars, those that are summed without their sign.
func magnitudes(f *ir.Frame, from, to []int, summed []bool) {
	for i, s := range from {
		f.S[to[i]], f.E[to[i]] = f.S[s], f.E[s]
		if summed[i] {
			f.S[to[i]] = num.FromFloat(math.Abs(num.Float(f.S[s])))
			e := &f.E[to[i]]
			if e.Hi < 0 {
				e.Hi, e.Lo = -e.Hi, -e.Lo
			}
		}
	}
}
