package interp

import (
	"tenon/ir"
)

// mark says who has touched a cell in the epoch: the one writer, and the one
// reader or, as many, several. Zero is nobody; marks of older epochs count as
// empty, so that nothing needs clearing between loops and barriers.
type mark struct {
	epoch          uint32
	writer, reader int32
}

const many = -1

// conflicts watches memories for two parties of which one writes what the other
// touches. who tells the party of an access, from 1.
type conflicts struct {
	marks map[*ir.Memory][]mark
	outer map[*ir.Memory]ir.Watcher // who watched before
	epoch uint32
	who   func(*ir.Frame) int32
	fault func(op *ir.Op, write bool)
}

// watch starts watching the arrays that f reaches.
func (c *conflicts) watch(f *ir.Frame) {
	for _, o := range f.O {
		if a, ok := o.(*ir.Array); ok && a != nil && a.Mem != nil {
			c.watchMemory(a.Mem)
		}
	}
}

func (c *conflicts) watchMemory(m *ir.Memory) {
	if _, ok := c.outer[m]; !ok {
		c.outer[m] = m.Watch
		m.Watch = c
	}
}

func (c *conflicts) unwatch() {
	for m, w := range c.outer {
		m.Watch = w
	}
	clear(c.outer)
}

// Access implements ir.Watcher.
func (c *conflicts) Access(f *ir.Frame, op *ir.Op, mem *ir.Memory, cell int64, write bool) {
	if w := c.outer[mem]; w != nil {
		w.Access(f, op, mem, cell, write)
	}
	marks := c.marks[mem]
	if len(marks) < len(mem.Cells) { // memory of a slot may have grown
		marks = append(marks, make([]mark, len(mem.Cells)-len(marks))...)
		c.marks[mem] = marks
	}
	m, id := &marks[cell], c.who(f)
	if m.epoch != c.epoch {
		*m = mark{epoch: c.epoch}
	}
	if m.writer != 0 && m.writer != id || write && m.reader != 0 && m.reader != id {
		c.fault(op, write)
	}
	switch {
	case write:
		m.writer = id
	case m.reader == 0:
		m.reader = id
	case m.reader != id:
		m.reader = many
	}
}

// conflictsAt gives the watcher of the given nesting depth, so that a loop run
// many times keeps its marks.
func (r *run) conflictsAt() *conflicts {
	for len(r.watchers) <= r.depth {
		r.watchers = append(r.watchers, &conflicts{marks: map[*ir.Memory][]mark{}, outer: map[*ir.Memory]ir.Watcher{}})
	}
	c := r.watchers[r.depth]
	if len(c.marks) > 64 { // memories of iterations long gone
		clear(c.marks)
	}
	c.epoch++
	if c.epoch == 0 {
		clear(c.marks)
		c.epoch = 1
	}
	return c
}

// Parallel implements ir.Machine.
func (s *stager) Parallel(f *ir.Frame, op *ir.Op, lo, hi, step int64, body func(i int64)) {
	if lo >= hi {
		return
	}
	if step <= 0 {
		raise(op, ir.TrapShape, "the step is %d; it must be positive", step)
	}
	r := s.prog.run
	n := (hi-lo-1)/step + 1
	if n > 1<<30 {
		raise(op, ir.TrapMemory, "a parallel loop of %d iterations is too long to check", n)
	}
	c := r.conflictsAt()
	current := int32(0)
	c.who = func(*ir.Frame) int32 { return current }
	c.fault = func(at *ir.Op, write bool) {
		raise(at, ir.TrapAlias, "two iterations of the parallel loop%s touch one element and one of them writes it", place(op))
	}
	c.watch(f)
	r.depth++
	defer func() { r.depth--; c.unwatch() }()
	for _, k := range r.random.Perm(int(n)) {
		current = int32(k) + 1
		s.Poll(op, 1)
		body(lo + int64(k)*step)
	}
}

// place says where op stands, if that is known.
func place(op *ir.Op) string {
	if op == nil || !op.Loc.IsKnown() {
		return ""
	}
	return " at " + op.Loc.String()
}
