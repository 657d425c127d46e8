package interp

import (
	"tenon/internal/diag"
	"tenon/ir"
	"tenon/ir/ops/dist"
)

// onRanks is the body of a proc at the dist level: run outside a grid it starts
// the grid's ranks, gives each a copy of the buffers, and at the end puts what
// they own into the caller's. A rank that calls such a proc just runs it.
func (st *staged) onRanks(body ir.Step) ir.Step {
	grid := ""
	if st.f.Level == ir.LevelDist {
		grid = dist.GridOf(st.f)
	}
	if grid == "" {
		return body
	}
	c := &crowd{st: st, ranks: 1, body: body}
	for _, n := range st.s.GridShape(grid) {
		c.ranks *= int(n)
	}
	for _, p := range st.f.Params {
		if _, ok := p.Value.Type.(ir.Buf); ok {
			c.params = append(c.params, p)
			c.slots = append(c.slots, st.s.Object(p.Value))
			c.layouts = append(c.layouts, dist.LayoutOf(st.s, p, grid))
		}
	}
	return func(f *ir.Frame) {
		if f.T.Sync != nil {
			body(f)
			return
		}
		c.run(f)
	}
}

// crowd is a proc staged to run on the ranks of a grid.
type crowd struct {
	st      *staged
	ranks   int
	body    ir.Step
	params  []*ir.Param // the buffers
	slots   []int
	layouts []func(*ir.Frame) *dist.Layout
}

func (c *crowd) run(f *ir.Frame) {
	layouts, copies := make([]*dist.Layout, len(c.params)), make([][]*ir.Array, len(c.params))
	for i, p := range c.params {
		layouts[i] = c.layouts[i](f)
		copies[i] = dist.Distribute(c.st.s, f, p, layouts[i], f.O[c.slots[i]].(*ir.Array))
	}
	c.st.s.Coroutines(f, nil, c.ranks, false, func(rf *ir.Frame, rank int) {
		rf.T.Sync = dist.Phases(rf.T.Sync)
		for i, slot := range c.slots {
			rf.O[slot] = copies[i][rank]
		}
		c.body(rf)
	})
	for i, p := range c.params {
		if p.Mode == ir.ModeIn {
			continue
		}
		if err := dist.Collect(p, layouts[i], copies[i], f.O[c.slots[i]].(*ir.Array)); err != nil {
			panic(stop{&Fault{ir.TrapAlias, diag.Errorf(c.st.f.Loc.First(), "@%s: %v", c.st.f.Name, err)}})
		}
	}
}
