package reduce

import (
	"tenon/internal/num"
	"tenon/ir"
	"tenon/ir/sym"
)

// heir finds a value to use instead of v, a result of op, which is left out:
// one that is there already, or made with b in op's place. nil: there is none.
type heir func(f *ir.Func, b *ir.Builder, op *ir.Op, v *ir.Value) *ir.Value

// dropOps leaves out ops.
func dropOps(name string, h heir) strategy {
	return strategy{name, func(m *ir.Module) int { return len(ops(m)) }, func(m *ir.Module, lo, hi int) {
		gone := map[*ir.Op]bool{}
		for _, op := range ops(m)[lo:hi] {
			gone[op] = true
		}
		for _, f := range m.Funcs() {
			d := &dropper{f: f, heir: h, gone: gone, with: map[*ir.Value]*ir.Value{}}
			d.region(f.Body)
		}
	}}
}

// ops are the ops of m that may be left out, outer ones before those in them.
func ops(m *ir.Module) []*ir.Op {
	var list []*ir.Op
	for _, f := range m.Funcs() {
		f.Body.Walk(func(op *ir.Op) bool {
			if !op.Def.Traits.Has(ir.Terminator) {
				list = append(list, op)
			}
			return true
		})
	}
	return list
}

// dropper leaves ops out of a function; with is what is used instead of their
// results.
type dropper struct {
	f    *ir.Func
	heir heir
	gone map[*ir.Op]bool
	with map[*ir.Value]*ir.Value
}

func (d *dropper) value(v *ir.Value) *ir.Value {
	for d.with[v] != nil {
		v = d.with[v]
	}
	return v
}

func (d *dropper) region(r *ir.Region) {
	old := r.Ops
	r.Ops = make([]*ir.Op, 0, len(old))
	b := ir.NewBuilder(r)
	for _, op := range old {
		op.Values(d.value)
		if !d.gone[op] {
			r.Ops = append(r.Ops, op)
			for _, in := range op.Regions() {
				d.region(in)
			}
			continue
		}
		b.Loc = op.Loc
		for _, v := range op.Results {
			if w := d.heir(d.f, b, op, v); w != nil {
				d.with[v] = w
			}
		}
	}
}

// operand is an operand of op, or else a parameter, of v's type.
func operand(f *ir.Func, _ *ir.Builder, op *ir.Op, v *ir.Value) (found *ir.Value) {
	op.Values(func(u *ir.Value) *ir.Value {
		if found == nil && ir.SameType(u.Type, v.Type) {
			found = u
		}
		return u
	})
	for _, p := range f.Params {
		if found == nil && ir.SameType(p.Value.Type, v.Type) {
			found = p.Value
		}
	}
	return found
}

// zero is a constant 0, or a tensor of them.
func zero(_ *ir.Func, b *ir.Builder, _ *ir.Op, v *ir.Value) *ir.Value {
	switch t := v.Type.(type) {
	case ir.Scalar:
		return b.Const(t.Elem, num.FromInt(0))
	case ir.Tensor:
		if t.Enc != nil || len(t.Dims) > 0 && isEdge(t.Dims[0]) {
			return nil
		}
		par := &ir.Axes{}
		for _, n := range t.Dims {
			par.List = append(par.List, ir.Axis{Name: b.Fresh("z"), Extent: n})
		}
		body := &ir.Region{}
		in := b.In(body)
		in.Yield(in.Const(t.Elem, num.FromInt(0)))
		comp := ir.NewOp("tensor.comp", b.Loc, par, &ir.Block{Region: body})
		return b.Add(comp, []ir.Type{t}, v.Name).Results[0]
	}
	return nil
}

func isEdge(n sym.Expr) bool {
	_, ok := n.IsNNZ()
	return ok
}

// parameter is a new parameter of f.
func parameter(f *ir.Func, _ *ir.Builder, _ *ir.Op, v *ir.Value) *ir.Value {
	p := &ir.Param{Mode: ir.ModeIn, Value: &ir.Value{Name: v.Name, Type: v.Type}}
	if _, ok := v.Type.(ir.Buf); ok {
		p.Mode = ir.ModeInOut
	}
	f.Params = append(f.Params, p)
	return p.Value
}
