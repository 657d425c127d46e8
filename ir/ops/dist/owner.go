package dist

import (
	"tenon/ir"
)

// part is a rank's copy of a distributed buffer. It watches the memory.
type part struct {
	m      ir.Machine
	name   string
	lay    *Layout
	rank   int
	arr    *ir.Array
	log    *writeLog
	fresh  []int32 // per element: the phase after the last halo exchange, 0: never
	dirty  int32   // the phase in which this rank last wrote its part
	stride []int64
}

// writeLog holds, per element, the last two phases in which its owner wrote it.
// All ranks' copies of a buffer share it.
type writeLog struct{ last, before []int32 }

func newPart(m ir.Machine, name string, lay *Layout, rank int, arr *ir.Array, log *writeLog) *part {
	p := &part{m: m, name: name, lay: lay, rank: rank, arr: arr, log: log,
		fresh: make([]int32, len(log.last)), stride: ir.CStrides(lay.Shape)}
	arr.Mem.Watch = p
	return p
}

func newLog(l *Layout) *writeLog {
	n, _ := ir.SizeOf(l.Shape)
	return &writeLog{last: make([]int32, n), before: make([]int32, n)}
}

// partOf is the watcher of a distributed buffer, nil for one that has none.
func partOf(arr *ir.Array) *part {
	p, _ := arr.Mem.Watch.(*part)
	return p
}

// index is the element that a cell of the copy holds.
func (p *part) index(cell int64) []int64 {
	idx := make([]int64, len(p.stride))
	for d, s := range p.stride {
		idx[d] = cell / s
		cell %= s
	}
	return idx
}

// Access checks ownership, and that a halo copy is fresh.
func (p *part) Access(f *ir.Frame, op *ir.Op, _ *ir.Memory, cell int64, write bool) {
	idx, now := p.index(cell), phase(f)
	switch {
	case p.lay.Owns(p.rank, idx):
		if write {
			p.noteWrite(cell, now)
		}
	case write:
		p.m.Trap(op, ir.TrapIndex, "rank %d writes element %v of %%%s, which rank %d owns",
			p.rank, idx, p.name, p.lay.Owner(p.rank, idx))
	case !p.lay.Reaches(p.rank, idx):
		p.m.Trap(op, ir.TrapIndex, "rank %d reads element %v of %%%s, which rank %d owns and which lies in no halo",
			p.rank, idx, p.name, p.lay.Owner(p.rank, idx))
	case p.fresh[cell] == 0:
		p.m.Trap(op, ir.TrapIndex, "rank %d reads element %v of %%%s from its halo, which was never exchanged", p.rank, idx, p.name)
	case p.stale(cell, now):
		p.m.Trap(op, ir.TrapIndex, "rank %d reads element %v of %%%s from its halo, but rank %d has written it since the last exchange",
			p.rank, idx, p.name, p.lay.Owner(p.rank, idx))
	}
}

func (p *part) noteWrite(cell int64, now int32) {
	p.dirty = now
	if p.log.last[cell] != now {
		p.log.before[cell], p.log.last[cell] = p.log.last[cell], now
	}
}

// stale decides by the rules in the package's comment.
func (p *part) stale(cell int64, now int32) bool {
	last := p.log.last[cell]
	if last >= now {
		if p.dirty == now && last == now {
			return true
		}
		last = p.log.before[cell]
	}
	return last >= p.fresh[cell]
}

// Snapshot gives a function that puts back what is known of halos, for a run
// of alternatives of which one counts. All ranks come to the function in the
// same phase, one after the other: what another rank has logged in that phase
// it has logged after putting back its own.
func (p *part) Snapshot(f *ir.Frame) func() {
	last, before := append([]int32(nil), p.log.last...), append([]int32(nil), p.log.before...)
	fresh, dirty := append([]int32(nil), p.fresh...), p.dirty
	return func() {
		now := phase(f)
		for cell := range last {
			if p.log.last[cell] != now || p.lay.Owns(p.rank, p.index(int64(cell))) {
				p.log.last[cell], p.log.before[cell] = last[cell], before[cell]
			}
		}
		copy(p.fresh, fresh)
		p.dirty = dirty
	}
}

// phases counts the collectives that a rank has passed.
type phases struct {
	ir.Syncer
	n int32
}

// Phases wraps a rank's Syncer so that it counts; the rank's Thread must carry
// the result while the body of a proc at the dist level runs.
func Phases(s ir.Syncer) ir.Syncer { return &phases{Syncer: s, n: 1} }

func (p *phases) Barrier(key string) {
	p.Syncer.Barrier(key)
	p.n++
}

func (p *phases) Exchange(key string, mine any) []any {
	all := p.Syncer.Exchange(key, mine)
	p.n++
	return all
}

// phase is the number of the frame's phase, from 1.
func phase(f *ir.Frame) int32 {
	if f.T != nil {
		if p, ok := f.T.Sync.(*phases); ok {
			return p.n
		}
	}
	return 1
}
