package access

import "tenon/ir"

// IsScalar reports whether v lives in a scalar slot.
func IsScalar(v *ir.Value) bool {
	_, ok := v.Type.(ir.Scalar)
	return ok
}

// Move stages dst = src.
func Move(m ir.Machine, src, dst *ir.Value) ir.Step {
	if IsScalar(src) {
		from, to := m.Scalar(src), m.Scalar(dst)
		return func(f *ir.Frame) {
			f.S[to] = f.S[from]
			if f.E != nil {
				f.E[to] = f.E[from]
			}
		}
	}
	from, to := m.Object(src), m.Object(dst)
	return func(f *ir.Frame) { f.O[to] = f.O[from] }
}

// Moves stages dsts = srcs, all at once: a source that is also a destination
// gives its old value.
func Moves(m ir.Machine, srcs, dsts []*ir.Value) ir.Step {
	var steps []ir.Step
	first := srcs
	if overlap(srcs, dsts) {
		first = make([]*ir.Value, len(srcs))
		for i, s := range srcs {
			first[i] = &ir.Value{Name: s.Name, Type: s.Type}
			steps = append(steps, Move(m, s, first[i]))
		}
	}
	for i, d := range dsts {
		steps = append(steps, Move(m, first[i], d))
	}
	return Seq(steps...)
}

func overlap(srcs, dsts []*ir.Value) bool {
	for i, s := range srcs {
		for j, d := range dsts {
			if s == d && i != j {
				return true
			}
		}
	}
	return false
}

// Seq runs steps in order; nil ones are left out.
func Seq(steps ...ir.Step) ir.Step {
	var run []ir.Step
	for _, s := range steps {
		if s != nil {
			run = append(run, s)
		}
	}
	switch len(run) {
	case 0:
		return func(*ir.Frame) {}
	case 1:
		return run[0]
	case 2:
		a, b := run[0], run[1]
		return func(f *ir.Frame) { a(f); b(f) }
	}
	return func(f *ir.Frame) {
		for _, s := range run {
			s(f)
		}
	}
}
