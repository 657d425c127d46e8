package pass

import (
	"fmt"
	"sort"

	"tenon/internal/diag"
	"tenon/ir"
)

// Bisect finds the first of the passes that crashes, leaves an invalid module
// or after which m no longer means on seeded inputs what it meant before them
// all; and, if the pass is Counted, an application that turns right into wrong.
// It returns nil if there is none. m is not changed; the error is the user's
// fault, found by a pass.
//
// Passes are tried one by one, since a later one may hide what an earlier one
// did; applications, of which there may be thousands, by bisection.
func (g *Manager) Bisect(m *ir.Module, passes []Instance) (*Wrong, error) {
	UniqueNames(m)
	s := &suspects{start: ir.Clone(m), passes: passes}
	s.before = s.start
	for s.n = range passes {
		s.freedom = max(s.freedom, passes[s.n].Pass.Freedom())
		after, at, err := s.attempt(passes[s.n])
		if bug, ours := err.(*diag.Bug); ours {
			return g.found(s, at, bug), nil
		}
		if err != nil {
			return nil, err
		}
		s.before = after
	}
	return nil, nil
}

// Wrong is what is known of a wrong pass: the bug, whose reproducer stops at the
// wrong application, and the passes, without that limit, and the module before
// them with which it shows.
type Wrong struct {
	Bug    *diag.Bug
	Passes []Instance
	Before *ir.Module
}

// Fault runs passes on copies of m and holds each against m and against the
// module before it. It returns the first fault, nil if there is none.
func Fault(m *ir.Module, passes []Instance) *diag.Bug {
	s := &suspects{start: m, before: m}
	for _, in := range passes {
		s.freedom = max(s.freedom, in.Pass.Freedom())
		after, _, err := s.attempt(in)
		if bug, ours := err.(*diag.Bug); ours {
			bug.Pass = in.Pass.Name
			return bug
		}
		if err != nil {
			return nil
		}
		s.before = after
	}
	return nil
}

// suspects are passes in a list, of which the n-th is on trial.
type suspects struct {
	start, before *ir.Module // before all passes, and before the n-th
	passes        []Instance
	n             int
	freedom       Freedom // of the passes up to the n-th
	whole         bool    // the last attempt was held against start
}

// attempt runs a pass on a copy of s.before. The error is a *diag.Bug where the
// pass crashes, leaves an invalid module or another meaning.
func (s *suspects) attempt(in Instance) (after *ir.Module, at *Context, err error) {
	s.whole = false
	after = ir.Clone(s.before)
	at = newContext(after, in)
	if err := crashing(in, at); err != nil {
		return nil, at, err
	}
	UniqueNames(after)
	if err := ir.Verify(after); err != nil {
		return nil, at, &diag.Bug{Msg: "leaves a module that does not verify: " + err.Error()}
	}
	if err := s.changed(after, in.Pass.Freedom()); err != nil {
		return nil, at, &diag.Bug{Msg: "changes the meaning of " + err.Error()}
	}
	return after, at, nil
}

// changed says how after differs from the module before the pass, and else from
// that before all passes: a run of the former may take too many steps to compare
// with, while a pass that must keep bits is held to them by the former alone.
func (s *suspects) changed(after *ir.Module, freedom Freedom) error {
	_, err := SameMeaning(s.before, after, freedom)
	if err != nil || s.before == s.start {
		return err
	}
	s.whole = true
	_, err = SameMeaning(s.start, after, s.freedom)
	return err
}

// crashing runs a pass and makes its panic an error.
func crashing(in Instance, at *Context) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = bugOf(r)
		}
	}()
	return in.Pass.Run(at)
}

// found completes what is said of the n-th pass, which went wrong as at and bug
// tell.
func (g *Manager) found(s *suspects, at *Context, bug *diag.Bug) *Wrong {
	in := s.passes[s.n]
	wrong := &Wrong{bug, s.passes[s.n : s.n+1], s.before}
	w := &watched{g: g, pass: in, rest: s.passes[s.n:], before: s.before, check: bisects}
	if bug.Stack != "" {
		w.at = at // a crash knows where it was; other faults show at the end of the pass
	}
	where := fmt.Sprintf("\nfirst wrong: pass %d of %d", s.n+1, len(s.passes))
	if k, first := s.application(in, at.applied); first != nil {
		where += fmt.Sprintf(", its application %d of %d", k, max(k, at.applied))
		in = in.withLimit(k)
		w.rest = append([]Instance{in}, w.rest[1:]...)
		if w.at = first; first.applied == k {
			w.at.op = first.lastOp
		}
	}
	if s.attempt(in); s.whole {
		wrong.Before, wrong.Passes = s.start, s.passes[:s.n+1]
		w.before, w.rest = s.start, append(append([]Instance{}, s.passes[:s.n]...), w.rest...)
	}
	bug.Msg += where
	w.complete(bug)
	return wrong
}

// application is the number of an application of in, of n that were counted,
// with which the pass goes wrong and without which it does not, and the context
// of that run; 0 where the pass is not Counted, or goes wrong without any.
func (s *suspects) application(in Instance, n int) (k int, first *Context) {
	if !in.Pass.Counted {
		return 0, nil
	}
	bad := func(limit int) *Context {
		_, at, err := s.attempt(in.withLimit(limit))
		if _, ours := err.(*diag.Bug); ours {
			return at
		}
		return nil
	}
	if bad(0) != nil {
		return 0, nil
	}
	// A pass that crashes while it applies itself has not counted that one.
	k = 1 + sort.Search(n, func(i int) bool { return bad(i+1) != nil })
	return k, bad(k)
}
