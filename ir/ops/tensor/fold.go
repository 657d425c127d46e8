package tensor

import (
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
	if m.Shadowed() {
		r.anyOrder(yields)
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
