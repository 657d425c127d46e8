// plan-workspace gives buffers that do not live at the same time one place in
// the workspace.
//
// Before:
//
//	%a = loop.alloc : buf<f32[M, N]>
//	%b = loop.alloc : buf<f32[M, N]>
//	%c = loop.alloc : buf<f64[K]>
//	.. writes %a ..  .. reads %a, writes %b ..  .. reads %b, writes %c ..
//
// After:
//
//	%a = loop.alloc slot=0 : buf<f32[M, N]>
//	.. writes %a ..
//	%b = loop.alloc slot=1 : buf<f32[M, N]>
//	.. reads %a, writes %b ..
//	%c = loop.alloc slot=0 : buf<f64[K]>
//	.. reads %b, writes %c ..
//
// The buffers of a slot begin at one address, so that the size of a slot is the
// greatest of theirs, an expression over dims: max(4*M*N, 8*K) here. The
// workspace is its slots one after the other. An allocation moves to where its
// buffer is first used: making a buffer ends the life of those before it in the
// slot.
//
// Buffers are placed by size, the greatest first, each into a slot that is free
// while it lives: one that is proved to be large enough if there is any. Sizes
// are compared by their values where every dim is 1000; that decides the order
// alone, never what is right.
//
// Legal for buffers in C order outside parallel loops whose sizes follow from
// the dims. The others, such as the rows that an iteration of a parallel loop
// has for itself, keep memory of their own.
//
// Slots that a module has already are forgotten first: what holds is what this
// pass finds.
package memory

import (
	"cmp"
	"math"
	"slices"

	"tenon/ir"
	"tenon/ir/ops/loop"
	"tenon/ir/sym"
	"tenon/passes/analysis"
	"tenon/passes/pass"
)

// PlanWorkspace assigns slots.
var PlanWorkspace = pass.Register(&pass.Pass{
	Name:    "plan-workspace",
	Doc:     "give buffers that do not live at the same time one place in the workspace",
	After:   []string{"lower-comps", "contract-buffers", "vectorise", "reuse-buffers"},
	Counted: true,
	Run: func(c *pass.Context) error {
		for _, f := range c.Funcs() {
			if f.IsProc && (f.Level == ir.LevelLoop || f.Level == ir.LevelVec) {
				c.At(f, nil)
				planWorkspace(c, f)
			}
		}
		return nil
	},
})

// piece is a buffer that gets a slot.
type piece struct {
	*life
	size   sym.Expr // in bytes
	sample int64    // size where every dim is 1000
}

// slot is a part of the workspace.
type slot struct {
	size   sym.Expr
	pieces []*piece // by first op
}

func planWorkspace(c *pass.Context, f *ir.Func) {
	f.Body.Walk(func(op *ir.Op) bool {
		if op.Def.Name == "loop.alloc" {
			loop.SetSlot(op, -1)
		}
		return true
	})
	known := append(slices.Clone(f.Dims), ir.PlannedDims(f)...)
	facts := analysis.AtEntry(f)
	var pieces []*piece
	for _, l := range livesIn(f, analysis.FindAccesses(f)) {
		if l.inWorkspace(known, facts) && c.Apply(l.alloc) {
			size := bytes(l.buf.Type.(ir.Buf))
			pieces = append(pieces, &piece{l, size, sample(size)})
		}
	}
	p := &planner{facts: facts, proved: map[[2]string]bool{}}
	for _, x := range bySize(pieces) {
		n := p.place(x)
		loop.SetSlot(x.alloc, int64(n))
	}
	for _, x := range pieces {
		n, _ := loop.Slot(x.alloc)
		if s := p.slots[n]; len(s.pieces) > 1 {
			c.Done(x.alloc.Loc, "%%%s, of %s bytes, is one of %d buffers that share slot %d of the workspace: no two of them live at the same time", x.buf.Name, x.size, len(s.pieces), n)
		}
	}
	sink(f.Body, pieces)
}

// sample is the value of a size where every dim is 1000.
func sample(size sym.Expr) int64 {
	n, err := size.Eval(sym.Env{Name: func(string) (int64, bool) { return 1000, true }})
	if err != nil {
		return math.MaxInt64
	}
	return n
}

// bySize puts the greatest first, equal ones in the order in which they begin.
func bySize(pieces []*piece) []*piece {
	sorted := slices.Clone(pieces)
	slices.SortStableFunc(sorted, func(a, b *piece) int {
		return cmp.Or(cmp.Compare(b.sample, a.sample), cmp.Compare(a.first, b.first))
	})
	return sorted
}

type planner struct {
	facts  *sym.Facts
	slots  []*slot
	proved map[[2]string]bool // pairs of sizes of which the first is proved to be no greater
}

// place finds a slot for x, a free one that covers it if there is any, else a
// free one that may have to grow, else a new one.
func (p *planner) place(x *piece) (n int) {
	n = -1
	for i := len(p.slots) - 1; i >= 0; i-- {
		s := p.slots[i]
		if !s.free(x) {
			continue
		}
		if p.covers(s.size, x.size) {
			s.add(x)
			return i
		}
		if n < 0 {
			n = i
		}
	}
	if n < 0 {
		p.slots = append(p.slots, &slot{size: x.size})
		n = len(p.slots) - 1
	} else {
		p.slots[n].size = sym.Max(p.slots[n].size, x.size)
	}
	p.slots[n].add(x)
	return n
}

// covers proves size <= room.
func (p *planner) covers(room, size sym.Expr) bool {
	key := [2]string{size.Key(), room.Key()}
	yes, known := p.proved[key]
	if !known {
		yes = p.facts.Prove(sym.Le(size, room))
		p.proved[key] = yes
	}
	return yes
}

// at is the place of x among the pieces of s.
func (s *slot) at(x *piece) int {
	i, _ := slices.BinarySearchFunc(s.pieces, x.first, func(y *piece, first int) int { return cmp.Compare(y.first, first) })
	return i
}

// free reports that nothing in s lives while x does.
func (s *slot) free(x *piece) bool {
	i := s.at(x)
	return (i == 0 || s.pieces[i-1].last < x.first) && (i == len(s.pieces) || x.last < s.pieces[i].first)
}

func (s *slot) add(x *piece) { s.pieces = slices.Insert(s.pieces, s.at(x), x) }

// sink moves each allocation to just before the op that uses it first.
func sink(r *ir.Region, pieces []*piece) {
	moved := map[*ir.Op]bool{}
	before := map[*ir.Op][]*ir.Op{} // looked up only
	for _, x := range pieces {
		moved[x.alloc] = true
		before[x.from] = append(before[x.from], x.alloc)
	}
	sinkIn(r, moved, before)
}

func sinkIn(r *ir.Region, moved map[*ir.Op]bool, before map[*ir.Op][]*ir.Op) {
	ops := make([]*ir.Op, 0, len(r.Ops))
	for _, op := range r.Ops {
		if moved[op] {
			continue
		}
		ops = append(append(ops, before[op]...), op)
		for _, in := range op.Regions() {
			sinkIn(in, moved, before)
		}
	}
	r.Ops = ops
}
