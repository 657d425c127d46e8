// fuse-loops merges neighbouring loops over the same range.
//
// Before:
//
//	loop.parallel i = 0 to M { .. store(%s, %m[i]) }
//	loop.parallel k = 0 to M { .. load(%m[k]) .. store(%e, %y[k, j]) .. }
//
// After:
//
//	loop.parallel i = 0 to M { .. store(%s, %m[i]); .. load(%m[i]) .. store(%e, %y[i, j]) .. }
//
// and of two folds, or of a parallel loop and a fold inside one iteration of
// another loop, one fold that carries the accumulators of both.
//
// Legal if what one loop writes and the other touches is touched at one
// iteration's own place only: some dim of the buffer has just the loop's index
// as subscript in every access of both. Then an iteration of the second needs
// nothing of another iteration of the first. The second must not use what the
// first gives after its last iteration. What stands between the loops goes
// before both where it does not need the first, else behind both where the
// second does not need it. Bits do not change: each fold takes its points in
// the order it had.
//
// Profit: the loops share a buffer, so that its elements are loaded once or a
// row stays in the cache between them, and a buffer between them may shrink
// (contract-buffers). A merged loop stays under a limit of ops and of buffers:
// beyond it registers spill and streams of memory get in each other's way. An
// outermost parallel loop is not merged with a fold, since its iterations could
// no longer go to several threads.
//
// A branch both of whose sides have become loops over one range goes inside it
// first (sink.go).
//
// It fuses outer loops first, then what has become neighbours inside. It does
// not shift, peel or reverse loops, and leaves loops with directives other than
// `reassoc` alone.
package loop

import (
	"fmt"
	"slices"

	"tenon/ir"
	"tenon/passes/pass"
)

// FuseLoops merges neighbouring loops over the same range.
var FuseLoops = pass.Register(&pass.Pass{
	Name:    "fuse-loops",
	Doc:     "merge neighbouring loops over the same range",
	After:   []string{"lower-comps"},
	Counted: true,
	Options: []pass.Option{
		{Name: "ops", Default: "400", Doc: "the most ops that a merged loop may have"},
		{Name: "buffers", Default: "16", Doc: "the most buffers that a merged loop may touch"},
		{Name: "reach", Default: "16", Doc: "how many loops are looked past for one to merge with"},
	},
	Run: func(c *pass.Context) error {
		p := &loopFuser{c: c, ops: int(c.Int("ops")), buffers: int(c.Int("buffers")), reach: int(c.Int("reach")),
			known: map[*ir.Op]*footprint{}}
		for _, f := range c.Funcs() {
			if f.Level == ir.LevelLoop {
				c.At(f, nil)
				p.last = false
				for p.region(f.Body, false) { // a loop that grew may share a buffer with the one before
				}
				p.last = true
				p.region(f.Body, false) // tells what stays apart
			}
		}
		return nil
	},
})

type loopFuser struct {
	c                   *pass.Context
	ops, buffers, reach int
	known               map[*ir.Op]*footprint // of loops looked at, until they change
	last                bool                  // the round after which nothing changes
}

// region reports whether it merged any loops in r or inside. inner: r stands in
// a loop.
func (p *loopFuser) region(r *ir.Region, inner bool) (merged bool) {
	merged = p.sink(r, inner)
	for i := 0; i < len(r.Ops); i++ {
		if joinable(r.Ops[i]) {
			merged = p.from(r, i, inner) || merged
		}
	}
	for _, op := range r.Ops {
		if isBranch(op) { // done before
			continue
		}
		for _, in := range op.Regions() {
			merged = p.region(in, inner || rangeOf(op) != nil) || merged
		}
	}
	return merged
}

// from merges into the loop at i the loops behind it that fit. What stands
// between goes to one side or the other. The region is rebuilt once, and what
// the merged loop touches is added up: thousands of loops may become one.
func (p *loopFuser) from(r *ir.Region, i int, inner bool) bool {
	m := newMove(p, r.Ops[i])
	last, early, late := i, 0, 0 // what of the region is rebuilt: up to the last loop that merged
	for j, looked := i+1, 0; j < len(r.Ops) && looked < p.reach; j++ {
		op := r.Ops[j]
		if op.Def.Traits.Has(ir.Terminator) {
			break
		}
		if !joinable(op) {
			looked += len(op.Regions())
			m.pass(op)
			continue
		}
		looked++
		if why := p.apart(m, op, inner); why != "" {
			if p.last {
				p.c.Decline(op.Loc, "not merged with the loop before it: %s", why)
			}
			m.pass(op)
			continue
		}
		if !p.c.Apply(op) {
			break
		}
		p.c.Done(op.Loc, "merged with the loop before it, of which an iteration needs its own alone: %s", p.gain(m, op))
		m.take(p, op)
		last, early, late, looked = j, len(m.early), len(m.late), 0
	}
	if last == i {
		return false
	}
	m.loop.Loc = ir.Fuse(m.locs...)
	r.Ops = slices.Concat(r.Ops[:i], m.early[:early], []*ir.Op{m.loop}, m.late[:late], r.Ops[last+1:])
	return true
}

// apart says why the loop b, the next one behind m, must stay one of its own;
// "" if it may be merged.
func (p *loopFuser) apart(m *move, b *ir.Op, inner bool) string {
	a := m.loop
	ra, rb := rangeOf(a), rangeOf(b)
	if !ra.Lo.Equal(rb.Lo) || !ra.Hi.Equal(rb.Hi) || !ra.Step.Equal(rb.Step) {
		return "the ranges differ"
	}
	if why := unlike(a, b, inner); why != "" {
		return why
	}
	x, y := m.mine, p.footprint(b)
	shared := false
	for _, v := range x.order {
		s, t := x.by[v], y.by[v]
		if t == nil {
			continue
		}
		shared = true
		if (s.writes || t.writes) && !pinnedBoth(s, ra.Name, t, rb.Name) {
			return "an iteration needs what others write to %" + v.Name
		}
	}
	switch {
	case m.blocks(y):
		return "it needs a result of that loop, or what stands between them"
	case !shared:
		return "they share no buffer"
	case x.ops+y.ops > p.ops:
		return fmt.Sprintf("together they have %d ops, more than %d", x.ops+y.ops, p.ops)
	case streams(x, y) > p.buffers:
		return fmt.Sprintf("together they touch %d buffers, more than %d", streams(x, y), p.buffers)
	}
	return ""
}

// gain says what is loaded once, or stays close, through a merge.
func (p *loopFuser) gain(m *move, b *ir.Op) string {
	x, y := m.mine, p.footprint(b)
	names := ""
	for _, v := range x.order {
		if y.by[v] != nil {
			if names != "" {
				names += ", "
			}
			names += "%" + v.Name
		}
	}
	return "what that has of " + names + " is still at hand"
}

// streams counts the buffers that come from outside: those allocated here may
// shrink to what one iteration needs.
func streams(x, y *footprint) int {
	n := 0
	for _, v := range slices.Concat(x.order, y.order) {
		if v.Def == nil && (x.by[v] == nil || y.by[v] == nil) {
			n += 2
		} else if v.Def == nil {
			n++ // seen twice
		}
	}
	return n / 2
}

func (p *loopFuser) footprint(op *ir.Op) *footprint {
	if p.known[op] == nil {
		p.known[op] = footprintOf([]*ir.Op{op})
	}
	return p.known[op]
}

// joinable reports a loop that could be merged with another: nobody has tied it
// down, and what it gives is what it carries.
func joinable(op *ir.Op) bool {
	return isParallel(op) || isSerial(op)
}

// isParallel reports a loop whose iterations may run in any order and that
// nobody has tied down.
func isParallel(op *ir.Op) bool {
	return op.Def.Traits.Has(ir.ParallelOK) && !op.Has("directives") && len(op.Results) == 0 && rangeOf(op) != nil &&
		rangeOf(op).Size == ""
}

// isSerial reports a loop in order, with or without carried scalars.
func isSerial(op *ir.Op) bool {
	r := rangeOf(op)
	if r == nil || r.Size != "" || len(op.Regions()) != 1 || op.Def.Traits.Has(ir.ParallelOK) {
		return false
	}
	for _, c := range op.Clauses {
		switch c := c.(type) {
		case *ir.Directives:
			if len(c.List) != 1 || c.List[0] != reassoc {
				return false
			}
		case *ir.Carry, *ir.Range, *ir.Block, nil:
		default:
			return false
		}
	}
	for _, v := range op.Results {
		if _, scalar := v.Type.(ir.Scalar); !scalar {
			return false
		}
	}
	return len(op.Results) == len(carryOf(op).Params)
}

// reassoc is the directive of folds whose points may be taken in any brackets.
const reassoc = "reassoc"

func isFold(op *ir.Op) bool { return isSerial(op) && op.Has("directives") }

// unlike says why loops of these two kinds do not become one.
func unlike(a, b *ir.Op, inner bool) string {
	pa, pb, fa, fb := isParallel(a), isParallel(b), isFold(a), isFold(b)
	switch {
	case pa && pb, fa && fb, !pa && !pb && !fa && !fb:
		return ""
	case !(pa || fa) || !(pb || fb):
		return "the iterations of one must run in order"
	case !inner:
		return "the parallel one could no longer go to several threads"
	}
	return ""
}
