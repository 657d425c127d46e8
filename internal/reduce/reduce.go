package reduce

import (
	"context"

	"tenon/ir"
	"tenon/passes/pass"
)

// Check says whether the fault shows in m, which it may change.
type Check func(m *ir.Module) (bool, error)

// Progress is told after each step that made the program smaller.
type Progress func(m *ir.Module, checks int)

// Module reduces m, which must show the fault and is not changed. It ends when
// no part can be left out alone, and gives how often it checked. A check that
// errs ends it, as ctx does.
func Module(ctx context.Context, m *ir.Module, shows Check, progress Progress) (*ir.Module, int, error) {
	r := &reducer{ctx: ctx, shows: shows, progress: progress, now: ir.Clone(m), tried: map[string]bool{}}
	pass.UniqueNames(r.now)
	for r.size = sizeOf(r.now); ; {
		before := r.size
		for _, s := range strategies {
			if err := r.apply(s); err != nil {
				return r.now, r.checks, err
			}
		}
		if r.size == before {
			return r.now, r.checks, nil
		}
	}
}

// reducer is a reduction under way.
type reducer struct {
	ctx      context.Context
	shows    Check
	progress Progress
	now      *ir.Module // the smallest so far that shows the fault
	size     size
	checks   int
	tried    map[string]bool // texts that were checked
}

// strategy is a way of leaving out parts.
type strategy struct {
	name  string
	parts func(m *ir.Module) int         // how many parts m has
	drop  func(m *ir.Module, lo, hi int) // leaves out those numbered lo to hi-1
}

// apply leaves out what it can by one strategy: all parts, then halves of them,
// quarters, .. down to single ones. The last come first, since what is used
// stands before its uses.
func (r *reducer) apply(s strategy) error {
	for group := s.parts(r.now); group > 0; group /= 2 {
		for hi := s.parts(r.now); hi > 0; hi = min(hi, s.parts(r.now)) {
			lo := max(0, hi-group)
			if _, err := r.try(s, lo, hi); err != nil {
				return err
			}
			hi = lo
		}
	}
	return nil
}

// try leaves out a group, and reports whether the fault still shows.
func (r *reducer) try(s strategy, lo, hi int) (bool, error) {
	if err := r.ctx.Err(); err != nil {
		return false, err
	}
	m := ir.Clone(r.now)
	s.drop(m, lo, hi)
	if len(m.Funcs()) == 0 || !valid(m) {
		return false, nil
	}
	size, text := sizeOf(m), ir.Print(m)
	if !size.less(r.size) || r.tried[text] {
		return false, nil
	}
	r.tried[text] = true
	r.checks++
	if ok, err := r.shows(ir.Clone(m)); !ok || err != nil {
		return false, err
	}
	r.now, r.size = m, size
	r.progress(m, r.checks)
	return true, nil
}

// valid makes names unique and reports whether m verifies. What the edits leave
// may be such that the verifier itself fails; that is as good as a no.
func valid(m *ir.Module) (ok bool) {
	defer func() {
		if recover() != nil {
			ok = false
		}
	}()
	pass.UniqueNames(m)
	return ir.Verify(m) == nil
}

// size orders programs: by their ops, then by the length of their text.
type size struct{ ops, text int }

func (s size) less(t size) bool { return s.ops < t.ops || s.ops == t.ops && s.text < t.text }

func sizeOf(m *ir.Module) size { return size{Ops(m), len(ir.Print(m))} }

// Ops counts the ops of a module's functions, those inside others too.
func Ops(m *ir.Module) int {
	n := 0
	for _, f := range m.Funcs() {
		f.Body.Walk(func(*ir.Op) bool { n++; return true })
	}
	return n
}
