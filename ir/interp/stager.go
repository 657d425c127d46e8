package interp

import (
	"tenon/internal/diag"
	"tenon/internal/num"
	"tenon/ir"
)

// layout counts the slots of a function's frames.
type layout struct {
	scalars, objects int
	shared           map[int64]int // slots in O that ops share by number
}

// stager implements ir.Machine while one function is staged. A region that is
// used inside a function but has names of its own (a decoder, a monoid) gets an
// inner stager: other names and values, the same frame.
type stager struct {
	prog    *Program
	fn      *ir.Func
	layout  *layout
	values  map[*ir.Value]int
	symbols map[string]int
	op      *ir.Op // the op being staged, blamed for the faults of its expressions
}

func newStager(p *Program, f *ir.Func) *stager {
	return &stager{prog: p, fn: f, layout: &layout{}, values: map[*ir.Value]int{}, symbols: map[string]int{}}
}

// inner is a stager for a region with a name space of its own.
func (s *stager) inner() *stager {
	return &stager{prog: s.prog, fn: s.fn, layout: s.layout, op: s.op,
		values: map[*ir.Value]int{}, symbols: map[string]int{}}
}

// Module implements ir.Machine.
func (s *stager) Module() *ir.Module { return s.prog.module }

// Func implements ir.Machine.
func (s *stager) Func() *ir.Func { return s.fn }

// Shadowed implements ir.Machine.
func (s *stager) Shadowed() bool { return s.prog.opts.Shadow }

func isScalar(t ir.Type) bool { _, ok := t.(ir.Scalar); return ok }

func (s *stager) slotOf(v *ir.Value) int {
	slot, ok := s.values[v]
	if !ok {
		if isScalar(v.Type) {
			slot = s.Temp()
		} else {
			slot = s.TempObject()
		}
		s.values[v] = slot
	}
	return slot
}

// Scalar implements ir.Machine.
func (s *stager) Scalar(v *ir.Value) int {
	if !isScalar(v.Type) {
		diag.Bugf("%%%s is %s, no scalar", v.Name, v.Type)
	}
	return s.slotOf(v)
}

// Object implements ir.Machine.
func (s *stager) Object(v *ir.Value) int {
	if isScalar(v.Type) {
		diag.Bugf("%%%s is the scalar %s", v.Name, v.Type)
	}
	return s.slotOf(v)
}

// Symbol implements ir.Machine.
func (s *stager) Symbol(name string) int {
	slot, ok := s.symbols[name]
	if !ok {
		slot = s.Temp()
		s.symbols[name] = slot
	}
	return slot
}

// Temp implements ir.Machine.
func (s *stager) Temp() int {
	s.layout.scalars++
	return s.layout.scalars - 1
}

// TempObject implements ir.Machine.
func (s *stager) TempObject() int {
	s.layout.objects++
	return s.layout.objects - 1
}

// Shared implements ir.Machine.
func (s *stager) Shared(n int64) int {
	slot, ok := s.layout.shared[n]
	if !ok {
		if s.layout.shared == nil {
			s.layout.shared = map[int64]int{}
		}
		slot = s.TempObject()
		s.layout.shared[n] = slot
	}
	return slot
}

// Region implements ir.Machine.
func (s *stager) Region(r *ir.Region) ir.Step {
	var steps []ir.Step
	for _, op := range r.Ops {
		if op.Def.Eval == nil {
			diag.Bugf("%s has no Eval", op.Def.Name)
		}
		at := *s // a view of its own, for the faults of this op while running
		at.op = op
		if step := op.Def.Eval(&at, op); step != nil && !op.Def.Traits.Has(ir.Terminator) {
			steps = append(steps, step)
		}
	}
	return sequence(steps)
}

// sequence runs steps in order; short lists need no loop.
func sequence(steps []ir.Step) ir.Step {
	switch len(steps) {
	case 0:
		return func(*ir.Frame) {}
	case 1:
		return steps[0]
	case 2:
		a, b := steps[0], steps[1]
		return func(f *ir.Frame) { a(f); b(f) }
	case 3:
		a, b, c := steps[0], steps[1], steps[2]
		return func(f *ir.Frame) { a(f); b(f); c(f) }
	}
	return func(f *ir.Frame) {
		for _, s := range steps {
			s(f)
		}
	}
}

// Variant implements ir.Machine.
func (s *stager) Variant() int {
	if v := s.prog.opts.Variant; v != nil {
		return *v
	}
	return -1
}

// Poll implements ir.Machine. The context is asked about once in a million
// evaluations: asking costs a lock.
func (s *stager) Poll(op *ir.Op, n int64) {
	r := s.prog.run
	r.evals += n
	if r.evals < r.poll {
		return
	}
	r.poll = r.evals + 1<<20
	if c := s.prog.opts.Context; c != nil && c.Err() != nil {
		raise(op, ir.TrapMemory, "the run was stopped: %v", c.Err())
	}
	limit := s.prog.opts.MaxEvals
	if limit > 0 {
		r.poll = min(r.poll, limit+1)
		if r.evals > limit {
			raise(op, ir.TrapMemory, "the run was stopped after %d evaluations", limit)
		}
	}
}

// exact is the shadow step of an integer slot.
func exact(f *ir.Frame, slot int) {
	if f.E != nil {
		f.E[slot] = num.Exact(num.Index, f.S[slot])
	}
}
