package tensor

import (
	"tenon/ir"
)

// stageScatter copies the operands, then runs its points in order.
func stageScatter(m ir.Machine, op *ir.Op) ir.Step {
	body := ir.GetClause[*ir.Block](op, "").Region
	c := &compRun{m: m, Comp: Comp{Op: op, Body: body, Par: parOf(op)}}
	if x := ir.GetClause[*ir.Reads](op, "in"); x != nil {
		c.In = x.List
	}
	outer, axis := last(c.Par)
	in := c.innerLoop(axis, true, nil)
	put := scatterWrites(m, op, c.yields)
	in.fold = put
	run := unlessEmpty(m, c.Par, nest(m, op, outer, true, make([][]func(*ir.Frame) bool, len(c.Par)+1), in.run))
	copies := copyOperands(m, op)
	return func(f *ir.Frame) { copies(f); run(f) }
}

func copyOperands(m ir.Machine, op *ir.Op) ir.Step {
	var srcs, dsts []int
	for i, v := range op.OperandValues("") {
		srcs, dsts = append(srcs, m.Object(v)), append(dsts, m.Object(op.Results[i]))
	}
	return func(f *ir.Frame) {
		for i, s := range srcs {
			a := f.O[s].(*ir.Array)
			b := m.Array(f, a.Elem, a.Shape)
			visit(a, func(n int64, _ []int64, pos int64) { transfer(a.Mem, pos, b.Mem, n, a.Elem) })
			f.O[dsts[i]] = b
		}
	}
}

// scatterWrites puts the yielded values where they belong, combined with what
// is there under by.
func scatterWrites(m ir.Machine, op *ir.Op, yields []int) ir.Step {
	outs, by := ir.GetClause[*ir.Outs](op, "out"), ir.GetClause[*ir.By](op, "by")
	var steps []ir.Step
	from := yields
	if by != nil {
		from = make([]int, len(yields))
		for i, o := range outs.List {
			from[i] = m.Temp()
			steps = append(steps, m.Element(op, op.Results[i], o.Subs, ir.PolicyError, from[i]))
		}
		steps = append(steps, m.Combine(by.Monoid, from, yields))
	}
	for i, o := range outs.List {
		v := op.Results[i]
		w := stageWrite(m, op, v.Name, m.Object(v), o.Subs, from[i], nil, nil)
		steps = append(steps, w.slow)
	}
	return func(f *ir.Frame) {
		for _, s := range steps {
			s(f)
		}
	}
}
