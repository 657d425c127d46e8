package cpu

import (
	"fmt"

	"tenon/codegen/llvm"
	"tenon/internal/num"
	"tenon/ir"
)

// An outermost loop.parallel becomes a function of its own, which runs a part of
// the iterations:
//
//	NAME.partK(first, last, error, what it uses of the body..) -> code
//
// How many parts there are, and where each begins, follows from the number of
// iterations and the work in each, never from the number of threads. So results
// have the same bits however many threads there are, and which of several
// errors is reported does not depend on them either: it is that of the first
// part that has one. One part is a plain call. Several go to the threads: the
// caller's parallel_for, or OpenMP (see threads.go).
//
// What a part uses of the body are its parameters, found while it is emitted, so
// that LLVM sees buffers that do not overlap in it too. Loops inside a part run
// in order.

// splitting is how the parallel loops of a body become parts.
type splitting struct {
	shared  *support
	name    string // of the function that parts are named after
	plan    llvm.Value
	count   int        // of loops so far
	records llvm.Value // a tenon_error a part, once some part can fail
}

// part is what a part takes from its body, in the order of its parameters.
type part struct {
	body  *proc
	taken []llvm.Value
	as    map[llvm.Value]llvm.Value // looked up only
}

// maxParts bounds the errors that are kept, and gives 64 threads four parts
// each, so that a slow one does not hold up the rest.
const maxParts = 256

// whole is what the iterations of a part are rounded up to where there are as
// many: then only the last part ends within a vector, and no two write one
// cache line of a row.
const whole = 64

// lowerParallel emits a loop whose iterations may run in any order.
func lowerParallel(p *proc, op *ir.Op) { p.unlessDonated(op, func() { p.parallelLoop(op) }) }

func (p *proc) parallelLoop(op *ir.Op) {
	ops := p.partOps()
	if p.split == nil || ops == 0 {
		p.versions(op, func() { p.inOrder(op) })
		return
	}
	lo, hi, step := p.bounds(rangeOf(op))
	fn, taken, fails := p.emitPart(op)
	n := p.Trips(lo, hi, step)
	chunk := p.chunk(n, p.expr(p.costOf(op)), ops)
	args := func(first, last, report llvm.Value) []llvm.Value {
		return append([]llvm.Value{first, last, report}, taken...)
	}
	report := p.Params()[len(p.Params())-1]
	p.If(p.Op("ge", chunk, n), func() []llvm.Value {
		code := p.Call(fn, args(llvm.Index(0), n, report)...)
		if fails {
			p.When(p.Op("ne", code, llvm.Int(num.I32, 0)), func() { p.Jump(p.exit, errorOf(p.Func, code, report)...) })
		}
		return nil
	}, func() []llvm.Value {
		p.threads(fn, taken, n, chunk, fails)
		return nil
	})
}

// partOps is how many operations make a part; 0: loops are not split.
func (p *proc) partOps() int64 {
	if p.opts.PartOps != 0 {
		return p.opts.PartOps
	}
	return p.Module().Desc().PartOps
}

// chunk is the number of iterations in a part, for n iterations that cost
// work each.
func (p *proc) chunk(n, work llvm.Value, ops int64) llvm.Value {
	total, over := p.MulOverflow(n, p.Op("max", work, llvm.Index(1)))
	parts := p.Select(over, llvm.Index(maxParts), p.Op("tdiv", total, llvm.Index(ops)))
	parts = p.Op("max", llvm.Index(1), p.Op("min", llvm.Index(maxParts), p.Op("min", n, parts)))
	chunk := p.ceilDiv(n, parts)
	rounded := p.Op("and", p.Op("add", chunk, llvm.Index(whole-1)), llvm.Index(-whole))
	round := p.Op("and", p.Op("ge", chunk, llvm.Index(whole)), p.Op("lt", chunk, llvm.Index(1<<62)))
	return p.Select(round, rounded, chunk)
}

// ceilDiv is a / b rounded up, for a >= 0 and b > 0.
func (p *proc) ceilDiv(a, b llvm.Value) llvm.Value {
	q := p.Op("tdiv", a, b)
	return p.Op("add", q, p.Cast(p.Op("ne", p.Op("mul", q, b), a), num.Index))
}

// emitPart emits the function for parts of op: the function, what it takes of
// p, and whether it can fail.
func (p *proc) emitPart(op *ir.Op) (fn *llvm.Func, taken []llvm.Value, fails bool) {
	r := rangeOf(op)
	fn = p.Module().NewInternal(fmt.Sprintf("%s.part%d", p.split.name, p.split.count), i32, llvm.Param{Name: "first", Type: index},
		llvm.Param{Name: "last", Type: index}, llvm.Param{Name: "error", Type: llvm.Ptr, NoAlias: true})
	p.split.count++
	fn.NoInline() // so that its noalias parameters keep their meaning
	q := newProc(fn, p.shared, p.src, p.fields, p.opts)
	q.part = &part{body: p, as: map[llvm.Value]llvm.Value{}}
	q.Flags, q.facts, q.fold, q.looped, q.opening = p.Flags, p.facts.Clone(), p.fold, p.looped, p.opening
	q.Source(op.Loc.First())
	lo, hi, step := q.expr(r.Lo), q.expr(r.Hi), q.expr(r.Step)
	q.versions(op, func() {
		q.For(fn.Param(0), fn.Param(1), llvm.Index(1), nil, func(k llvm.Value, _ []llvm.Value) []llvm.Value {
			iv := q.plus(lo, q.product(k, step))
			q.iteration(r, iv, hi, step, func() { q.region(bodyOf(op)) })
			return nil
		})
	})
	fails = q.exit.Used()
	q.finish(fn.Param(2))
	return fn, q.part.taken, fails
}

// capture is a value of the body as a parameter of the part p.
func (p *proc) capture(v llvm.Value, attrs llvm.Param) llvm.Value {
	if v.IsConst() {
		return v
	}
	if x, ok := p.part.as[v]; ok {
		return x
	}
	attrs.Name, attrs.Type = fmt.Sprintf("use.%d", len(p.part.taken)), v.Type()
	x := p.AddParam(attrs)
	p.part.taken, p.part.as[v] = append(p.part.taken, v), x
	return x
}

// captureBuffer is a buffer of the body in the part p.
func (p *proc) captureBuffer(b *buffer) *buffer {
	c := *b
	c.data = p.capture(b.data, llvm.Param{NoAlias: b.arg < 0 || !sharedParams(p.src)[b.arg], Const: b.arg >= 0 && p.fields[b.arg].Param.Mode == ir.ModeIn})
	c.dims, c.strides = make([]llvm.Value, len(b.dims)), make([]llvm.Value, len(b.strides))
	for d := range b.dims {
		c.dims[d] = p.capture(b.dims[d], llvm.Param{})
		c.strides[d] = p.capture(b.strides[d], llvm.Param{})
	}
	return &c
}
