package tensor

import (
	"tenon/ir"
)

// inner is the innermost loop of a comp, in which nearly all time goes: at each
// point reads, region, then the fold or the writes.
type inner struct {
	m      ir.Machine
	op     *ir.Op
	axis   *axisLoop // nil: a single point
	conds  []func(*ir.Frame) bool
	reads  []access
	enc    []bool // the read is of an encoded tensor
	body   ir.Step
	fold   ir.Step  // nil without red
	writes []access // without red
	dot    *dot     // a region that has a loop of its own
	state  int
}

// innerState is kept in the frame, so that a loop allocates once.
type innerState struct {
	reads, writes         []followed
	slowReads, slowWrites []ir.Step
}

func (in *inner) stateOf(f *ir.Frame) *innerState {
	if st, ok := f.O[in.state].(*innerState); ok && st != nil {
		return st
	}
	st := &innerState{}
	f.O[in.state] = st
	return st
}

// prepare sorts the accesses into followed and slow ones.
func (in *inner) prepare(f *ir.Frame, st *innerState, lo, n int64, permuted bool) {
	st.reads, st.slowReads = st.reads[:0], st.slowReads[:0]
	st.writes, st.slowWrites = st.writes[:0], st.slowWrites[:0]
	for i := range in.reads {
		a := &in.reads[i]
		if !permuted && !in.enc[i] {
			if w, ok := a.follow(f, lo, n); ok {
				st.reads = append(st.reads, w)
				continue
			}
		}
		st.slowReads = append(st.slowReads, a.slow)
	}
	for i := range in.writes {
		a := &in.writes[i]
		if !permuted {
			if w, ok := a.follow(f, lo, n); ok {
				st.writes = append(st.writes, w)
				continue
			}
		}
		st.slowWrites = append(st.slowWrites, a.slow)
	}
}

func (in *inner) run(f *ir.Frame) {
	lo, n := int64(0), int64(1)
	var p *ir.PatternValue
	if in.axis != nil {
		lo, n, p = in.axis.span(f)
	}
	in.m.Poll(in.op, max(n, 1)) // many empty rows take their time, too
	if n <= 0 {
		return
	}
	st := in.stateOf(f)
	in.prepare(f, st, lo, n, p != nil && p.Perm != nil)
	if in.dot != nil && len(st.slowReads) == 0 && p == nil {
		in.dot.run(f, st, n)
		return
	}
	for k := lo; k < lo+n; k++ {
		if in.axis != nil {
			in.axis.set(f, p, k)
		}
		if hold(f, in.conds) {
			in.point(f, st, k)
		}
	}
}

// point evaluates one point of the domain.
func (in *inner) point(f *ir.Frame, st *innerState, k int64) {
	for i := range st.reads {
		r := &st.reads[i]
		f.S[r.slot] = r.cells[r.base+k*r.step]
	}
	if f.E != nil {
		for i := range st.reads {
			r := &st.reads[i]
			f.E[r.slot] = r.shadow[r.base+k*r.step]
		}
	}
	for _, s := range st.slowReads {
		s(f)
	}
	in.body(f)
	if in.fold != nil {
		in.fold(f)
		return
	}
	for i := range st.writes {
		w := &st.writes[i]
		w.cells[w.base+k*w.step] = f.S[w.slot]
		if f.E != nil {
			w.shadow[w.base+k*w.step] = f.E[w.slot]
		}
	}
	for _, s := range st.slowWrites {
		s(f)
	}
}
