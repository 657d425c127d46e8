package loop

import (
	"slices"

	"tenon/ir"
	"tenon/ir/sym"
)

// move is a loop that is to be merged with one behind it, and what has been
// looked past on the way: early ops may go before the loop, late ones behind
// the merged one.
type move struct {
	loop        *ir.Op
	early, late []*ir.Op
	locs        []ir.Loc           // of what became loop
	mine        *footprint         // of loop
	behind      *footprint         // of late
	given       map[*ir.Value]bool // results of loop and of late
}

func newMove(p *loopFuser, loop *ir.Op) *move {
	m := &move{loop: loop, locs: []ir.Loc{loop.Loc}, mine: p.footprint(loop), behind: footprintOf(nil), given: map[*ir.Value]bool{}}
	m.give(loop)
	return m
}

// take merges op into the loop.
func (m *move) take(p *loopFuser, op *ir.Op) {
	delete(p.known, m.loop)
	delete(p.known, op)
	var added []*ir.Op
	m.loop, added = join(m.loop, op)
	m.mine.add(added)
	m.locs = append(m.locs, op.Loc)
	m.give(m.loop)
	p.known[m.loop] = m.mine
}

func (m *move) give(op *ir.Op) {
	for _, v := range op.Results {
		m.given[v] = true
	}
}

// pass puts op to one side. Only what cannot write goes before the loop: it has
// to commute with the loop and with all that is late.
func (m *move) pass(op *ir.Op) {
	f := footprintOf([]*ir.Op{op})
	if !f.synced && !m.behind.synced && !f.uses(m.given) && !f.conflicts(m.mine) && !f.conflicts(m.behind) && !f.writes() {
		m.early = append(m.early, op)
		return
	}
	m.late = append(m.late, op)
	m.behind.add([]*ir.Op{op})
	m.give(op)
}

// blocks reports that a loop with footprint f cannot go before what is late, or
// needs what only stands there, or a result of the loop.
func (m *move) blocks(f *footprint) bool {
	return m.behind.synced || f.uses(m.given) || f.conflicts(m.behind)
}

// join gives the loop that does in each iteration what a does, then what b
// does, and the ops of b that are in it now. It takes the body of a over.
func join(a, b *ir.Op) (n *ir.Op, added []*ir.Op) {
	body, m := bodyOf(a), renamed(rangeOf(a).Name, rangeOf(b).Name, carryOf(b))
	ya, yb := body.Yields(), bodyOf(b).Yields()
	body.Ops = body.Ops[:len(body.Ops)-terminators(body)]
	for _, op := range bodyOf(b).Ops[:len(bodyOf(b).Ops)-terminators(bodyOf(b))] {
		added = append(added, ir.CloneOp(op, m))
	}
	body.Ops = append(body.Ops, added...)
	if isParallel(a) && isParallel(b) {
		return a, added
	}
	ca, cb := carryOf(a), carryOf(b)
	carry := &ir.Carry{Params: slices.Concat(ca.Params, cb.Params), Inits: slices.Concat(ca.Inits, cb.Inits)}
	fold := a
	if isParallel(a) {
		fold = b
	}
	r := *rangeOf(a)
	n = ir.NewOp(fold.Def.Name, a.Loc, &r, &ir.Block{Region: body})
	if isFold(fold) {
		ir.SetClause(n, "directives", &ir.Directives{List: []string{reassoc}})
	}
	if len(carry.Params) > 0 {
		ir.SetClause(n, "carry", carry)
		end := ir.NewBuilder(body)
		end.Loc = b.Loc
		end.Yield(slices.Concat(ya, values(m, yb))...)
	}
	n.Results = slices.Concat(a.Results, b.Results)
	for _, v := range n.Results {
		v.Def = n
	}
	return n, added
}

// terminators is 1 where r ends in a terminator.
func terminators(r *ir.Region) int {
	if r.Last() != nil {
		return 1
	}
	return 0
}

// renamed maps the index jv to iv, also where the body has the name iv for
// something else.
func renamed(iv, jv string, carry *ir.Carry) *ir.Mapping {
	m := &ir.Mapping{Values: map[*ir.Value]*ir.Value{}, Syms: map[string]sym.Expr{jv: sym.Name(iv)}}
	for _, v := range carry.Params {
		m.Values[v] = v
	}
	if iv != jv {
		m.FreshSym = func(name string) string {
			if name == iv {
				return jv // free now: what was called so is the merged index
			}
			return name
		}
	}
	return m
}
