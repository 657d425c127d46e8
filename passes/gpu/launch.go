package gpu

import (
	"slices"

	"tenon/ir"
	"tenon/ir/sym"
)

func rangeOf(op *ir.Op) *ir.Range {
	for _, c := range op.Clauses {
		if r, ok := c.(*ir.Range); ok {
			return r
		}
	}
	return nil
}

func bodyOf(op *ir.Op) *ir.Region { return op.Regions()[0] }

func isParallel(op *ir.Op) bool { return op.Def.Name == "loop.parallel" }

// builder builds a new body for f, with names for values that f has not.
func builder(f *ir.Func) *ir.Builder {
	b := ir.NewBuilder(&ir.Region{})
	for _, p := range f.Params {
		b.Reserve(p.Value.Name)
	}
	f.Body.Walk(func(op *ir.Op) bool {
		for _, v := range op.Results {
			b.Reserve(v.Name)
		}
		for _, c := range op.Clauses {
			if k, ok := c.(*ir.Carry); ok {
				for _, v := range k.Params {
					b.Reserve(v.Name)
				}
			}
		}
		return true
	})
	return b
}

// walk visits op and what is inside it.
func walk(op *ir.Op, visit func(*ir.Op)) {
	visit(op)
	for _, r := range op.Regions() {
		r.Walk(func(in *ir.Op) bool { visit(in); return true })
	}
}

// madeInside says which scalars ops make in a launch: those that are read from
// memory, made by a loop or branch, or from such ones.
func madeInside(ops []*ir.Op) (made map[*ir.Value]bool) {
	made = map[*ir.Value]bool{}
	for _, op := range ops {
		if !op.Def.Traits.Has(ir.Pure) || usesAny(op, made) {
			for _, v := range op.Results {
				made[v] = true
			}
		}
	}
	return made
}

func usesAny(op *ir.Op, values map[*ir.Value]bool) (uses bool) {
	walk(op, func(in *ir.Op) {
		in.Values(func(v *ir.Value) *ir.Value {
			uses = uses || values[v]
			return v
		})
	})
	return uses
}

// crosses reports that a parallel loop reads a scalar that a launch before it
// would make.
func crosses(ops []*ir.Op) bool {
	made := madeInside(ops)
	return slices.ContainsFunc(ops, func(op *ir.Op) bool { return isParallel(op) && usesAny(op, made) })
}

// sequence makes a launch of each parallel loop, and one of what stands between
// two of them; numbers that no launch makes stay outside.
func (m *mapper) sequence(ops []*ir.Op) {
	made := madeInside(ops)
	var between []*ir.Op
	flush := func() {
		if len(between) > 0 {
			m.serial(between)
		}
		between = nil
	}
	for _, op := range ops {
		switch {
		case isParallel(op):
			flush()
			m.parallel(op)
		case op.Def.Traits.Has(ir.Pure) && !usesAny(op, made):
			m.out.Region.Ops = append(m.out.Region.Ops, op)
		default:
			between = append(between, op)
		}
	}
	flush()
}

// serial makes a launch of one block.
func (m *mapper) serial(ops []*ir.Op) {
	m.blocks([]ir.Axis{{Name: m.fresh("g"), Extent: sym.Const(1)}}, ops, ops[0].Loc)
}

// parallel makes a launch of a nest of parallel loops.
func (m *mapper) parallel(op *ir.Op) {
	nest, ops := perfect(op)
	var list []ir.Axis
	for _, p := range nest {
		r := rangeOf(p)
		list = append(list, ir.Axis{Name: r.Name, Extent: sym.Sub(r.Hi, r.Lo)})
		if zero, ok := r.Lo.IsConst(); !ok || zero != 0 {
			shift(ops, r.Name, sym.Add(sym.Name(r.Name), r.Lo))
		}
	}
	inner := list[len(list)-1].Name
	if slices.ContainsFunc(ops, func(op *ir.Op) bool { return wantsBlock(op, inner) }) {
		m.blocks(list, ops, op.Loc)
		return
	}
	m.points(list, ops, op.Loc)
}

// perfect is the nest of parallel loops that begins with op, as far as bounds
// are the same in all iterations, and what is inside.
func perfect(op *ir.Op) (nest []*ir.Op, ops []*ir.Op) {
	mine := map[string]bool{}
	for {
		nest = append(nest, op)
		mine[rangeOf(op).Name] = true
		ops = bodyOf(op).Ops
		if len(ops) != 1 || !isParallel(ops[0]) {
			return nest, ops
		}
		op = ops[0]
		for _, e := range []sym.Expr{rangeOf(op).Lo, rangeOf(op).Hi} {
			if slices.ContainsFunc(e.Names(), func(n string) bool { return mine[n] }) {
				return nest, ops
			}
		}
	}
}

// shift replaces an index in ops.
func shift(ops []*ir.Op, name string, by sym.Expr) {
	for _, op := range ops {
		walk(op, func(in *ir.Op) {
			in.Exprs(func(e sym.Expr) sym.Expr { return e.Subst(map[string]sym.Expr{name: by}) })
		})
	}
}

// launch adds a launch and gives the builder of its body.
func (m *mapper) launch(blocks []ir.Axis, loc ir.Loc) *ir.Builder {
	m.thread = m.fresh("t")
	body := &ir.Region{}
	m.out.Add(ir.NewOp("gpu.launch", loc, &ir.Axes{List: blocks},
		&ir.Axes{List: []ir.Axis{{Name: m.thread, Extent: sym.Const(m.threads)}}}, &ir.Block{Region: body}), nil)
	b := m.out.In(body)
	b.Loc = loc
	return b
}

// points gives each point of the axes a thread, the last axis along the threads
// of a block.
func (m *mapper) points(list []ir.Axis, ops []*ir.Op, loc ir.Loc) {
	last := len(list) - 1
	inner := list[last]
	part := m.fresh("g")
	T := sym.Const(m.threads)
	list[last] = ir.Axis{Name: part, Extent: sym.FloorDiv(sym.Add(inner.Extent, sym.Const(m.threads-1)), T)}
	b := m.launch(list, loc)
	at := sym.Add(sym.Mul(T, sym.Name(part)), sym.Name(m.thread))
	shift(ops, inner.Name, at)
	b.Add(ir.NewOp("loop.if", loc, &ir.Conds{List: []sym.Cond{sym.Lt(at, inner.Extent)}},
		&ir.Block{Region: &ir.Region{Ops: inOrder(ops)}}), nil)
}

// blocks gives each point of the axes a block.
func (m *mapper) blocks(list []ir.Axis, ops []*ir.Op, loc ir.Loc) {
	b := m.launch(list, loc)
	k := &block{m: m, b: b, sinceBarrier: newAccesses()}
	k.ops(ops)
}

// inOrder turns the parallel loops of ops into loops that one thread runs.
func inOrder(ops []*ir.Op) []*ir.Op {
	out := slices.Clone(ops)
	for i, op := range out {
		for _, r := range op.Regions() {
			r.Ops = inOrder(r.Ops)
		}
		if isParallel(op) {
			out[i] = ir.NewOp("loop.for", op.Loc, rangeOf(op), &ir.Block{Region: bodyOf(op)})
		}
	}
	return out
}
