package interp

import (
	"slices"

	"tenon/ir"
)

// crew runs n copies of a body by turns. One runs at a time: it goes on until a
// barrier, its end or a fault, then the scheduler picks the next, in an order
// drawn anew for every round.
type crew struct {
	op     *ir.Op
	events chan event
	resume []chan []any // what all handed in; closed to give up
}

// event is why a member stopped running.
type event struct {
	rank  int
	kind  eventKind
	key   string
	value any
	panic any
}

type eventKind uint8

const (
	ended eventKind = iota
	waits
	failed
)

// giveUp unwinds a member whose crew has failed.
type giveUp struct{}

// member is the ir.Syncer of one rank.
type member struct {
	*crew
	rank int
}

// Barrier implements ir.Syncer.
func (m *member) Barrier(key string) { m.Exchange(key, nil) }

// Exchange implements ir.Syncer.
func (m *member) Exchange(key string, mine any) []any {
	m.events <- event{rank: m.rank, kind: waits, key: key, value: mine}
	all, ok := <-m.resume[m.rank]
	if !ok {
		panic(giveUp{})
	}
	return all
}

// Coroutines implements ir.Machine.
func (s *stager) Coroutines(f *ir.Frame, op *ir.Op, n int, shared bool, body func(f *ir.Frame, rank int)) {
	c := &crew{op: op, events: make(chan event), resume: make([]chan []any, n)}
	r := s.prog.run
	for i := range c.resume {
		c.resume[i] = make(chan []any)
	}
	for i := range n {
		go c.start(i, copyFrame(f, &ir.Thread{Rank: i, Ranks: n, Sync: &member{c, i}}), body)
	}
	next := func() {}
	if shared {
		w := r.conflictsAt()
		w.who = func(f *ir.Frame) int32 { return int32(f.T.Rank) + 1 }
		w.fault = func(at *ir.Op, write bool) {
			raise(at, ir.TrapAlias, "two threads touch one element between two barriers and one of them writes it")
		}
		w.watch(f)
		fresh := r.fresh
		r.fresh = w
		r.depth++
		defer func() { r.depth--; r.fresh = fresh; w.unwatch() }()
		next = func() { w.epoch++ }
	}
	c.schedule(n, r.random.Perm, next)
}

func copyFrame(f *ir.Frame, t *ir.Thread) *ir.Frame {
	return &ir.Frame{S: slices.Clone(f.S), E: slices.Clone(f.E), O: slices.Clone(f.O), T: t}
}

// start waits for the first turn, runs the body and reports how it ended.
func (c *crew) start(rank int, f *ir.Frame, body func(*ir.Frame, int)) {
	e := event{rank: rank, kind: ended}
	defer func() {
		if p := recover(); p != nil && p != any(giveUp{}) {
			e.kind, e.panic = failed, p
		}
		c.events <- e
	}()
	if _, ok := <-c.resume[rank]; ok {
		body(f, rank)
	}
}

// schedule runs rounds until all have ended. A round in which some end and some
// wait is a fault, so the members of a round are all or none.
func (c *crew) schedule(n int, perm func(int) []int, next func()) {
	at := make([]event, n) // why each stopped last
	for i := range at {
		at[i].kind = waits
	}
	for n > 0 && at[0].kind == waits {
		values := make([]any, n)
		for i := range at {
			values[i] = at[i].value
		}
		for _, rank := range perm(n) {
			c.resume[rank] <- values
			at[rank] = <-c.events
			if at[rank].kind == failed {
				c.abandon(at)
				panic(at[rank].panic)
			}
		}
		c.agree(at)
		next()
	}
}

// agree traps unless all members ended, or all wait at the same key.
func (c *crew) agree(at []event) {
	for _, b := range at[1:] {
		a := at[0]
		if a.kind == b.kind && a.key == b.key {
			continue
		}
		if a.kind == ended {
			a, b = b, a
		}
		c.abandon(at)
		if b.kind == ended {
			raise(c.op, ir.TrapShape, "rank %d waits at %s, but rank %d has ended: every rank must reach it", a.rank, a.key, b.rank)
		}
		raise(c.op, ir.TrapShape, "rank %d waits at %s, but rank %d at %s: every rank must reach the same one", a.rank, a.key, b.rank, b.key)
	}
}

// abandon unwinds the members that still wait, one after the other.
func (c *crew) abandon(at []event) {
	for i := range at {
		if at[i].kind == waits {
			close(c.resume[i])
			<-c.events
		}
	}
}
