package tensor

import (
	"slices"

	"tenon/internal/num"
	"tenon/ir"
)

// fold is a staged reduction: the accumulators start, take in the yielded
// values, and are finished.
type fold struct {
	m      ir.Machine
	op     *ir.Op
	by     *ir.By
	acc    []int
	some   int // slot that tells whether there was a point, -1: nobody asks
	start  ir.Step
	take   ir.Step
	finish ir.Step
}

// stageFold stages the fold; old, if not nil, sets the accumulators to what the
// fold starts from instead of the identity.
func stageFold(m ir.Machine, op *ir.Op, by *ir.By, acc, yields []int, old ir.Step) *fold {
	r := &fold{m: m, op: op, by: by, acc: acc, some: -1}
	r.start, r.take, r.finish = m.Identity(by.Monoid, acc), m.Combine(by.Monoid, acc, yields), func(*ir.Frame) {}
	if old != nil {
		r.start = old
	}
	if s := r.shadowed(yields); s != nil {
		r.take, r.finish = s.take(r.take), s.finish
		r.start = s.start(r.start)
	}
	if by.Empty != nil || by.EmptyError {
		r.watchEmpty()
	}
	return r
}

// watchEmpty makes the value over no point what the program says.
func (r *fold) watchEmpty() {
	r.some = r.m.Temp()
	start, take, finish, some := r.start, r.take, r.finish, r.some
	r.start = func(f *ir.Frame) { f.S[some] = 0; start(f) }
	r.take = func(f *ir.Frame) { f.S[some] = 1; take(f) }
	elems := r.by.Monoid.Elems()
	r.finish = func(f *ir.Frame) {
		finish(f)
		if f.S[some] != 0 {
			return
		}
		if r.by.EmptyError {
			r.m.Trap(r.op, ir.TrapShape, "%s has nothing to reduce: its domain is empty, and empty(error) says that this is an error", r.by.Monoid.Name)
		}
		for i, slot := range r.acc {
			f.S[slot] = r.by.Empty[i].Cell
			if f.E != nil {
				f.E[slot] = num.Exact(elems[i], f.S[slot])
			}
		}
	}
}

// looseShadow keeps the shadow of a built-in sum or product of floats, whose
// terms a target may take in any order.
type looseShadow struct {
	obj, acc, x int
	elem        num.Elem
	prod        bool
}

// shadowed is the loose shadow of the fold, nil where there is none.
func (r *fold) shadowed(yields []int) *looseShadow {
	mon := r.by.Monoid
	loose := []string{"sum", "prod"}
	if !r.m.Shadowed() || !mon.Builtin || !slices.Contains(loose, mon.Name) || !mon.Elems()[0].IsFloat() {
		return nil
	}
	return &looseShadow{r.m.TempObject(), r.acc[0], yields[0], mon.Elems()[0], mon.Name == "prod"}
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

// take folds the value; the shadow that the fold itself computes is replaced
// in the end.
func (s *looseShadow) take(ir.Step) ir.Step {
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

func (s *looseShadow) finish(f *ir.Frame) {
	st := f.O[s.obj].(*shadowState)
	if s.prod {
		f.E[s.acc] = st.prod.Result()
	} else {
		f.E[s.acc] = st.sum.Result(s.elem)
	}
}
