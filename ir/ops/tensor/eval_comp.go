package tensor

import (
	"tenon/ir"
	"tenon/ir/sym"
)

// compRun is a comp being staged.
type compRun struct {
	Comp
	m      ir.Machine
	yields []int
	outs   []outRun
}

// outRun is where one result goes.
type outRun struct {
	name string
	obj  int
	subs []sym.Expr
	skip bool // it is not written
}

func stageComp(m ir.Machine, op *ir.Op) ir.Step {
	c := &compRun{Comp: AsComp(op), m: m}
	alloc := c.stageOuts()
	var run ir.Step
	if c.By != nil {
		run = c.reduced()
	} else {
		run = c.mapped()
	}
	if alloc == nil {
		return run
	}
	if rest := c.stageUncovered(); rest != nil {
		return func(f *ir.Frame) { alloc(f); run(f); rest(f) }
	}
	return func(f *ir.Frame) { alloc(f); run(f) }
}

// scalars reports that the comp yields scalars into slots: it is nested.
func (c *compRun) scalars() bool {
	if len(c.Op.Results) == 0 {
		return false
	}
	_, ok := c.Op.Results[0].Type.(ir.Scalar)
	return ok
}

// stageOuts finds where results go; in value form the step it gives makes the
// arrays.
func (c *compRun) stageOuts() ir.Step {
	if c.InBuffers() {
		for _, o := range c.Out.List {
			c.outs = append(c.outs, outRun{name: o.Buf.Name, obj: c.m.Object(o.Buf), subs: o.Subs})
		}
		return nil
	}
	if c.scalars() {
		return nil
	}
	var makes []ir.Step
	for r, v := range c.Op.Results {
		axes, err := c.resultAxes(r)
		if err != nil {
			c.m.Trap(c.Op, ir.TrapShape, "%v", err)
		}
		c.outs = append(c.outs, outRun{name: v.Name, obj: c.m.Object(v), subs: resultSubs(axes)})
		makes = append(makes, makeArray(c.m, v))
	}
	return func(f *ir.Frame) {
		for _, s := range makes {
			s(f)
		}
	}
}

// resultSubs are the subscripts of a result over axes: a row axis and its
// entries are one dim.
func resultSubs(axes []ir.Axis) []sym.Expr {
	var subs []sym.Expr
	for i, a := range axes {
		if a.Pattern == nil {
			subs = append(subs, sym.Name(a.Name))
			continue
		}
		if row, ok := a.Row.IsName(); ok && i > 0 && axes[i-1].Pattern == nil && axes[i-1].Name == row {
			subs = subs[:len(subs)-1]
		}
		subs = append(subs, sym.Name(a.Entry))
	}
	return subs
}

// makeArray stages a fresh array for v.
func makeArray(m ir.Machine, v *ir.Value) ir.Step {
	shape, obj, e := stageShape(m, v), m.Object(v), ir.ElemOf(v.Type)
	return func(f *ir.Frame) { f.O[obj] = m.Array(f, e, shape(f)) }
}

// stageShape stages the dims of v's type.
func stageShape(m ir.Machine, v *ir.Value) func(*ir.Frame) []int64 {
	dims, _ := ir.DimsOf(v.Type)
	fs := make([]func(*ir.Frame) int64, len(dims))
	for d, x := range dims {
		fs[d] = m.Expr(x)
	}
	return func(f *ir.Frame) []int64 {
		shape := make([]int64, len(fs))
		for d, x := range fs {
			shape[d] = x(f)
		}
		return shape
	}
}

// innerLoop stages the innermost loop over axis (nil: one point).
func (c *compRun) innerLoop(axis *ir.Axis, par bool, conds []func(*ir.Frame) bool) *inner {
	in := &inner{m: c.m, op: c.Op, conds: conds, state: c.m.TempObject()}
	if axis != nil {
		in.axis = stageAxis(c.m, c.Op, *axis, par)
	}
	var bound []*ir.Value
	for _, r := range c.In {
		in.reads = append(in.reads, stageRead(c.m, c.Op, r, axis, bound))
		in.enc = append(in.enc, isEncoded(r.Src))
		bound = append(bound, r.Res)
	}
	in.body = c.m.Region(c.Body)
	for _, v := range c.Yields() {
		c.yields = append(c.yields, c.m.Scalar(v))
	}
	return in
}

// last splits off the last axis.
func last(axes []ir.Axis) (outer []ir.Axis, axis *ir.Axis) {
	if len(axes) == 0 {
		return nil, nil
	}
	return axes[:len(axes)-1], &axes[len(axes)-1]
}

// mapped stages a comp without red.
func (c *compRun) mapped() ir.Step {
	outer, axis := last(c.Par)
	conds := condsAt(c.m, c.If, c.Par)
	in := c.innerLoop(axis, true, conds[len(c.Par)])
	if c.scalars() {
		in.fold = c.keepScalars()
	}
	for i, o := range c.outs {
		if o.skip {
			continue
		}
		in.writes = append(in.writes, stageWrite(c.m, c.Op, o.name, o.obj, o.subs, c.yields[i], axis, nil))
	}
	run := ir.Step(in.run)
	if len(c.Par) > 0 {
		run = guarded(conds[0], run)
	}
	return unlessEmpty(c.m, c.Par, nest(c.m, c.Op, outer, true, conds, run))
}

// guarded runs step where the conditions that need no axis hold.
func guarded(conds []func(*ir.Frame) bool, step ir.Step) ir.Step {
	if len(conds) == 0 {
		return step
	}
	return func(f *ir.Frame) {
		if hold(f, conds) {
			step(f)
		}
	}
}

// keepScalars moves the yielded scalars to the results.
func (c *compRun) keepScalars() ir.Step {
	to := make([]int, len(c.Op.Results))
	for i, v := range c.Op.Results {
		to[i] = c.m.Scalar(v)
	}
	return func(f *ir.Frame) {
		for i, s := range c.yields {
			f.S[to[i]] = f.S[s]
			if f.E != nil {
				f.E[to[i]] = f.E[s]
			}
		}
	}
}

// reduced stages a comp with red: at each point of par a fold over red, then
// the writes.
func (c *compRun) reduced() ir.Step {
	outer, axis := last(c.Red)
	conds := condsAt(c.m, c.withoutRedFree(), c.Red)
	in := c.innerLoop(axis, false, conds[len(c.Red)])
	acc := c.accumulators()
	var old ir.Step
	if c.By.FromOut {
		old = c.oldElements(acc)
	}
	fold := stageFold(c.m, c.Op, c.By, acc, c.yields, old)
	in.fold = fold.take
	in.dot = c.asDot(in, fold)
	var writes []access
	for i, o := range c.outs {
		if o.skip {
			continue
		}
		writes = append(writes, stageWrite(c.m, c.Op, o.name, o.obj, o.subs, acc[i], nil, nil))
	}
	point := c.pointOf(fold, unlessEmpty(c.m, c.Red, nest(c.m, c.Op, outer, false, conds, in.run)), writes)
	none := make([][]func(*ir.Frame) bool, len(c.Par)+1)
	return unlessEmpty(c.m, c.Par, nest(c.m, c.Op, c.Par, true, none, point))
}

// withoutRedFree are the conditions that decide points of red.
func (c *compRun) withoutRedFree() []sym.Cond {
	var out []sym.Cond
	for _, k := range c.If {
		if UsesAxes(k.L, c.Red) || UsesAxes(k.R, c.Red) {
			out = append(out, k)
		}
	}
	return out
}

// pointOf stages one point of par.
func (c *compRun) pointOf(r *fold, red ir.Step, writes []access) ir.Step {
	var free []func(*ir.Frame) bool
	for _, k := range c.RedFree() {
		free = append(free, c.m.Cond(k))
	}
	buffers := c.InBuffers()
	return func(f *ir.Frame) {
		work := hold(f, free)
		if !work && buffers {
			return
		}
		r.start(f)
		if work {
			red(f)
		}
		r.finish(f)
		for i := range writes {
			writes[i].slow(f)
		}
	}
}

// accumulators are the results' slots, or fresh ones.
func (c *compRun) accumulators() []int {
	acc := make([]int, len(c.yields))
	for i := range acc {
		if c.scalars() {
			acc[i] = c.m.Scalar(c.Op.Results[i])
		} else {
			acc[i] = c.m.Temp()
		}
	}
	return acc
}

// oldElements starts from what the out buffers hold.
func (c *compRun) oldElements(acc []int) ir.Step {
	var reads []ir.Step
	for i, o := range c.Out.List {
		reads = append(reads, c.m.Element(c.Op, o.Buf, o.Subs, ir.PolicyError, acc[i]))
	}
	return func(f *ir.Frame) {
		for _, r := range reads {
			r(f)
		}
	}
}
