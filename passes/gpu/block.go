package gpu

import (
	"maps"

	"tenon/ir"
	"tenon/ir/sym"
)

// accesses are the buffers that a block has read and written.
type accesses struct{ reads, writes map[*ir.Value]bool }

func newAccesses() accesses { return accesses{map[*ir.Value]bool{}, map[*ir.Value]bool{}} }

// accessesOf lists what op reads and writes, itself and inside.
func accessesOf(op *ir.Op) accesses {
	a := newAccesses()
	walk(op, func(in *ir.Op) {
		args := in.Args
		switch in.Def.Name {
		case "load":
			a.reads[args("")[0].Value] = true
		case "store":
			a.writes[args("")[1].Value] = true
		}
	})
	return a
}

func (a accesses) add(b accesses) {
	maps.Copy(a.reads, b.reads)
	maps.Copy(a.writes, b.writes)
}

func (a accesses) copy() accesses { return accesses{maps.Clone(a.reads), maps.Clone(a.writes)} }

// conflicts reports that b after a, by other threads, needs a barrier between.
func (a accesses) conflicts(b accesses) bool {
	for v := range b.writes {
		if a.reads[v] || a.writes[v] {
			return true
		}
	}
	for v := range b.reads {
		if a.writes[v] {
			return true
		}
	}
	return false
}

// block makes what the threads of a block do together. All threads have the
// same numbers here, and take the same branches.
type block struct {
	m            *mapper
	b            *ir.Builder
	sinceBarrier accesses
}

func (k *block) barrier() {
	k.b.Add(ir.NewOp("gpu.barrier", k.b.Loc), nil)
	k.sinceBarrier = newAccesses()
}

// meet puts a barrier before accesses that need one.
func (k *block) meet(next accesses) {
	if k.sinceBarrier.conflicts(next) {
		k.barrier()
	}
	k.sinceBarrier.add(next)
}

func (k *block) keep(op *ir.Op) { k.b.Region.Ops = append(k.b.Region.Ops, op) }

func (k *block) ops(list []*ir.Op) {
	for _, op := range list {
		k.b.Loc = op.Loc
		folds := foldsOf(op)
		switch {
		case op.Def.Name == "store":
			k.meet(accessesOf(op))
			k.first(1, op)
		case isParallel(op):
			k.meet(accessesOf(op))
			k.share(op)
		case folds != nil:
			k.meet(accessesOf(op))
			k.fold(op, folds)
		case rangeOf(op) != nil:
			k.repeat(op)
		case op.Def.Name == "loop.if":
			k.branch(op)
		default:
			k.meet(accessesOf(op))
			k.keep(op)
		}
	}
}

// first runs ops in the first n threads.
func (k *block) first(n int64, ops ...*ir.Op) {
	few := sym.Lt(sym.Name(k.m.thread), sym.Const(n))
	k.b.Add(ir.NewOp("loop.if", k.b.Loc, &ir.Conds{List: []sym.Cond{few}}, &ir.Block{Region: &ir.Region{Ops: ops}}), nil)
}

// strided is the range of which each thread takes every so manieth iteration.
func (k *block) strided(r *ir.Range) *ir.Range {
	return &ir.Range{Name: r.Name, Lo: sym.Add(r.Lo, sym.Name(k.m.thread)), Hi: r.Hi, Step: sym.Const(k.m.threads)}
}

// share spreads the iterations of a parallel loop over the threads.
func (k *block) share(op *ir.Op) {
	body := &ir.Region{Ops: inOrder(bodyOf(op).Ops)}
	k.keep(ir.NewOp("loop.for", op.Loc, k.strided(rangeOf(op)), &ir.Block{Region: body}))
}

// inside fills a new body for a region of op, with the accesses before it.
func (k *block) inside(r *ir.Region, before accesses) (*ir.Region, accesses) {
	in := &block{m: k.m, b: k.b.In(&ir.Region{}), sinceBarrier: before}
	in.ops(r.Ops)
	return in.b.Region, in.sinceBarrier
}

// repeat keeps a loop that all threads go through. Where it writes, each
// iteration ends in a barrier, so that the next one begins with none open.
func (k *block) repeat(op *ir.Op) {
	writes := len(accessesOf(op).writes) > 0 || hasFold(op)
	before := k.sinceBarrier.copy()
	body, after := k.inside(bodyOf(op), k.sinceBarrier.copy())
	if writes {
		end := ir.NewOp("gpu.barrier", op.Loc)
		at := len(body.Ops)
		if at > 0 && body.Ops[at-1].Def.Name == "yield" {
			at--
		}
		body.Ops = append(body.Ops[:at:at], append([]*ir.Op{end}, body.Ops[at:]...)...)
		after = newAccesses()
	}
	bodyOf(op).Ops = body.Ops
	before.add(after) // there may be no iteration
	k.sinceBarrier = before
	k.keep(op)
}

// branch keeps a branch that all threads take alike.
func (k *block) branch(op *ir.Op) {
	before, ends := k.sinceBarrier, newAccesses()
	for _, r := range op.Regions() {
		body, after := k.inside(r, before.copy())
		r.Ops = body.Ops
		ends.add(after)
	}
	if len(op.Regions()) == 1 {
		ends.add(before)
	}
	k.sinceBarrier = ends
	k.keep(op)
}

func hasFold(op *ir.Op) (found bool) {
	walk(op, func(in *ir.Op) { found = found || foldsOf(in) != nil })
	return found
}

// fold lets each thread fold its iterations, from the identity, and puts the
// threads' results together in shared memory, half as many at each barrier.
func (k *block) fold(op *ir.Op, folds []*ir.Op) {
	carry := carryOf(op)
	inner := &ir.Carry{Params: carry.Params}
	for i, by := range folds {
		e := ir.ElemOf(carry.Params[i].Type)
		inner.Inits = append(inner.Inits, k.b.Const(e, identity(by.Def.Name, e)))
	}
	body := &ir.Region{Ops: inOrder(bodyOf(op).Ops)}
	part := k.b.Add(ir.NewOp("loop.for", op.Loc, k.strided(rangeOf(op)), inner, &ir.Block{Region: body}), ir.TypesOf(op.Results))
	T := k.m.threads
	t := sym.Name(k.m.thread)
	shared := make([]*ir.Value, len(folds))
	for i, by := range folds {
		typ := ir.Buf{Elem: ir.ElemOf(op.Results[i].Type), Dims: []sym.Expr{sym.Const(T)}, Space: "shared"}
		shared[i] = k.b.Add(ir.NewOp("gpu.shared", by.Loc), []ir.Type{typ}, k.b.Fresh("shared")).Results[0]
		k.store(k.b, part.Results[i], shared[i], t)
	}
	k.barrier()
	for n := T / 2; n > 0; n /= 2 {
		in := k.b.In(&ir.Region{})
		for i, by := range folds {
			sum := in.Scalar(by.Def.Name, k.load(in, shared[i], t), k.load(in, shared[i], sym.Add(t, sym.Const(n))))
			k.store(in, sum, shared[i], t)
		}
		k.first(n, in.Region.Ops...)
		k.barrier()
	}
	for i, by := range folds {
		whole := k.load(k.b, shared[i], sym.Const(0))
		last := k.b.Scalar(by.Def.Name, carry.Inits[i], whole).Def
		last.Results = []*ir.Value{op.Results[i]}
		op.Results[i].Def = last
	}
}

func (k *block) load(b *ir.Builder, buf *ir.Value, at sym.Expr) *ir.Value {
	ops := &ir.Operands{Args: []ir.Arg{ir.ElemArg(buf, at)}}
	return b.Add(ir.NewOp("load", b.Loc, ops), nil).Results[0]
}

func (k *block) store(b *ir.Builder, v, buf *ir.Value, at sym.Expr) {
	b.Add(ir.NewOp("store", b.Loc, &ir.Operands{Args: []ir.Arg{ir.ValueArg(v), ir.ElemArg(buf, at)}}), nil)
}
