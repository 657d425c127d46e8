package interp

import (
	"tenon/internal/diag"
	"tenon/internal/num"
	"tenon/ir"
	"tenon/ir/sym"
)

func (s *stager) callee(op *ir.Op, name string) *staged {
	f := ir.Lookup[*ir.Func](s.prog.module, name)
	if f == nil {
		diag.Bugf("%s calls @%s, which does not exist", op.Def.Name, name)
	}
	return s.prog.stage(f)
}

// Call implements ir.Machine. Dims that op's exists clause names are the
// callee's existential ones, in order.
func (s *stager) Call(op *ir.Op, name string, args []*ir.Value, results []*ir.Value) ir.Step {
	st := s.callee(op, name)
	load, store := make([]func(*ir.Frame) any, len(args)), make([]int, len(results))
	for i, v := range args {
		load[i] = s.loader(v)
	}
	for i, v := range results {
		store[i] = s.slotOf(v)
	}
	dims, check := s.boundDims(op), s.dimChecks(op)
	return func(f *ir.Frame) {
		vals := make([]any, len(load))
		for i, l := range load {
			vals[i] = l(f)
		}
		in := st.call(f, op, vals)
		for i, v := range st.out {
			st.put(f, store[i], &ir.Param{Value: results[i]}, st.get(in, v))
		}
		for i, slot := range dims {
			f.S[slot] = in.S[st.s.Symbol(st.f.ExDims[i])]
			exact(f, slot)
		}
		check(f)
	}
}

// dimChecks stages what op's exists clause says of the dims it names.
func (s *stager) dimChecks(op *ir.Op) ir.Step {
	var conds []sym.Cond
	var holds []func(*ir.Frame) bool
	for _, c := range op.Clauses {
		if ex, ok := c.(*ir.Exists); ok {
			for _, d := range ex.Dims {
				for _, k := range d.Conds {
					conds, holds = append(conds, k), append(holds, s.Cond(k))
				}
			}
		}
	}
	return func(f *ir.Frame) {
		for i, h := range holds {
			if !h(f) {
				raise(op, ir.TrapShape, "%s does not hold of what the callee gives", conds[i])
			}
		}
	}
}

// loader gives the value of v as an argument.
func (s *stager) loader(v *ir.Value) func(*ir.Frame) any {
	slot := s.slotOf(v)
	if !isScalar(v.Type) {
		return func(f *ir.Frame) any { return f.O[slot] }
	}
	e := ir.ElemOf(v.Type)
	return func(f *ir.Frame) any {
		x := Scalar{Elem: e, Cell: f.S[slot]}
		if f.E != nil {
			x.Shadow = f.E[slot]
		}
		return x
	}
}

func (s *stager) boundDims(op *ir.Op) []int {
	var slots []int
	for _, c := range op.Clauses {
		if ex, ok := c.(*ir.Exists); ok {
			for _, d := range ex.Dims {
				slots = append(slots, s.Symbol(d.Name))
			}
		}
	}
	return slots
}

// call runs the function in a frame of its own and returns that frame.
func (st *staged) call(f *ir.Frame, op *ir.Op, args []any) *ir.Frame {
	in := st.newFrame(f.T)
	if err := st.enterArgs(in, args, false); err != nil {
		raise(op, ir.TrapShape, "in the call of @%s: %s", st.f.Name, err.Error())
	}
	st.body(in)
	return in
}

// Invoke implements ir.Machine. Scalar arguments are num.Cell or Scalar.
func (s *stager) Invoke(f *ir.Frame, op *ir.Op, name string, args []any) []any {
	st := s.callee(op, name)
	return st.results(st.call(f, op, args))
}

// Data implements ir.Machine.
func (s *stager) Data(op *ir.Op, name string) *ir.Array {
	p := s.prog
	if a := p.data[name]; a != nil {
		return a
	}
	d := ir.Lookup[*ir.Data](p.module, name)
	if d == nil {
		diag.Bugf("there is no data @%s", name)
	}
	a := p.readData(op, d)
	if p.opts.Shadow && a.Mem.Shadow == nil {
		a.Mem.Shadow = shadows(a.Elem, a.Mem.Cells)
	}
	p.data[name] = a
	return a
}

func (p *Program) readData(op *ir.Op, d *ir.Data) *ir.Array {
	t, ok := d.Type.(ir.Tensor)
	if !ok {
		diag.Bugf("data @%s has type %s", d.Name, d.Type)
	}
	shape := make([]int64, len(t.Dims))
	for i, x := range t.Dims {
		c, ok := x.IsConst()
		if !ok {
			diag.Bugf("data @%s has the dim %s", d.Name, x)
		}
		shape[i] = c
	}
	if d.List == nil && d.File != "" {
		return p.dataFile(op, d, shape)
	}
	a := ir.NewArray(t.Elem, shape...)
	if len(d.List) != len(a.Mem.Cells) {
		raise(op, ir.TrapShape, "data @%s lists %d elements for %s", d.Name, len(d.List), t)
	}
	for i, l := range d.List {
		if err := l.Resolve(t.Elem); err != nil {
			raise(op, ir.TrapShape, "data @%s, element %d: %v", d.Name, i, err)
		}
		a.Mem.Cells[i] = l.Cell
	}
	return a
}

func (p *Program) dataFile(op *ir.Op, d *ir.Data, shape []int64) *ir.Array {
	if p.opts.Data == nil {
		raise(op, ir.TrapNull, "data @%s is kept in %s, and this run reads no files", d.Name, d.File)
	}
	a, err := p.opts.Data(d)
	if err != nil {
		raise(op, ir.TrapNull, "data @%s: %v", d.Name, err)
	}
	want := ir.Array{Elem: ir.ElemOf(d.Type), Shape: shape}
	if describe(a) != describe(&want) {
		raise(op, ir.TrapShape, "data @%s is %s in %s, not %s", d.Name, describe(a), d.File, describe(&want))
	}
	return a
}

// cellsOf lists a's elements in C order.
func cellsOf(a *ir.Array) []num.Cell {
	out := make([]num.Cell, 0, a.Size())
	each(a.Shape, func(idx []int64) {
		pos, _ := a.Cell(idx)
		out = append(out, a.Mem.Cells[pos])
	})
	return out
}

// each calls visit for every index of shape in C order; the slice is reused.
func each(shape []int64, visit func([]int64)) {
	if n, ok := ir.SizeOf(shape); !ok || n == 0 {
		return
	}
	idx := make([]int64, len(shape))
	for {
		visit(idx)
		d := len(idx) - 1
		for ; d >= 0; d-- {
			if idx[d]++; idx[d] < shape[d] {
				break
			}
			idx[d] = 0
		}
		if d < 0 {
			return
		}
	}
}
