package raise

import (
	"slices"

	"tenon/ir"
)

// What stands in a nest beside its sum gets loops of its own: the ops before the
// sum in front of the comprehension, those after it behind. Ops that read belong
// to whom they are read for, and are repeated.

// part is the nest with the ops of one side alone; nil if there are none that
// do something. total stands for the sum that folds carry to them.
func (n *nest) part(behind bool, total func(b *ir.Builder) *ir.Value) *ir.Op {
	m := &ir.Mapping{Values: map[*ir.Value]*ir.Value{}}
	var build func(d int) *ir.Op
	build = func(d int) *ir.Op {
		body := &ir.Region{}
		b := ir.NewBuilder(body)
		b.Loc = n.loops[d].Loc
		before, after := n.sides(d)
		for _, op := range before {
			if isReading(op) || !behind {
				body.Ops = append(body.Ops, ir.CloneOp(op, m))
			}
		}
		switch {
		case d+1 < len(n.loops):
			if in := build(d + 1); in != nil {
				body.Ops = append(body.Ops, in)
			}
		case behind && n.store == nil:
			m.Values[n.folds[0].Results[0]] = total(b)
		}
		if behind {
			for _, op := range after {
				body.Ops = append(body.Ops, ir.CloneOp(op, m))
			}
		}
		dropUnused(body)
		if len(body.Ops) == 0 {
			return nil
		}
		r := *rangeOf(n.loops[d])
		return ir.NewOp(n.loops[d].Def.Name, n.loops[d].Loc, &r, &ir.Block{Region: body})
	}
	return build(0)
}

// dropUnused takes out of r the ops that only read and whose results nothing
// uses.
func dropUnused(r *ir.Region) {
	used := map[*ir.Value]bool{}
	use := func(v *ir.Value) *ir.Value { used[v] = true; return v }
	for i := len(r.Ops) - 1; i >= 0; i-- {
		op := r.Ops[i]
		if isReading(op) && !slices.ContainsFunc(op.Results, func(v *ir.Value) bool { return used[v] }) {
			r.Ops = slices.Delete(r.Ops, i, i+1)
			continue
		}
		(&ir.Region{Ops: []*ir.Op{op}}).Walk(func(o *ir.Op) bool { o.Values(use); return true })
	}
}

// side says of each op beside the sum, and inside one, on which sides it runs: 1
// in front, 2 behind. ok is false if an op behind needs what one in front has
// made by more than reading.
func (n *nest) side() (on map[*ir.Op]int, ok bool) {
	on = map[*ir.Op]int{}
	ok = true
	var need func(op *ir.Op, side int)
	need = func(op *ir.Op, side int) {
		(&ir.Region{Ops: []*ir.Op{op}}).Walk(func(o *ir.Op) bool {
			if on[o]&side != 0 {
				return false
			}
			on[o] |= side
			o.Values(func(v *ir.Value) *ir.Value {
				if n.defs[v] {
					need(v.Def, side)
				}
				ok = ok && (side == 1 || !n.fixed[v])
				return v
			})
			return true
		})
	}
	for d := range n.loops {
		before, after := n.sides(d)
		for _, op := range before {
			if !isReading(op) {
				need(op, 1)
			}
		}
		for _, op := range after {
			need(op, 2)
		}
	}
	return on, ok
}
