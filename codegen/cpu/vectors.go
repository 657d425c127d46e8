package cpu

import (
	"strings"

	"tenon/codegen/llvm"
	"tenon/internal/num"
	"tenon/ir"
	"tenon/ir/sym"
)

func init() {
	for name, lower := range map[string]func(*proc, *ir.Op){
		"vec.load": lowerVecLoad, "vec.store": lowerVecStore, "vec.gather": lowerGather, "vec.scatter": lowerVecScatter,
		"vec.splat": lowerSplat, "vec.bcast": lowerBcast, "vec.iota": lowerIota, "vec.first": lowerFirst,
		"vec.select": lowerVecSelect, "vec.cast": lowerVecCast, "vec.bitcast": lowerVecBitcast,
		"vec.reduce": lowerReduce, "vec.shuffle": lowerShuffle, "vec.permute": lowerPermute,
		"vec.inside": lowerVecInside, "vec.sub": lowerVecSub, "vec.defined": lowerVecDefined,
		"vec.extract": lowerExtract, "vec.insert": lowerInsert, "vec.prefetch": lowerPrefetch,
	} {
		lowerings[name] = lower
	}
}

// lowerLanewise emits a row that does a scalar operator in each lane.
func lowerLanewise(p *proc, op *ir.Op) {
	var args []llvm.Value
	for _, v := range op.OperandValues("") {
		args = append(args, p.value(v))
	}
	p.values[op.Results[0]] = p.Op(strings.TrimPrefix(op.Def.Name, "vec."), args...)
}

// lowerVecSub turns x - s of a vector that is loaded into x + (-s) for the same
// scalar s in all lanes: an instruction that adds reads x from memory itself,
// where one that subtracts would read s. The bits are the same.
func lowerVecSub(p *proc, op *ir.Op) {
	x, s := op.Operand(0), op.Operand(1)
	if !wholeLoad(x) || !uniformFloat(s) {
		lowerLanewise(p, op)
		return
	}
	p.values[op.Results[0]] = p.Op("add", p.value(x), p.Pin(p.Op("neg", p.value(s))))
}

func wholeLoad(v *ir.Value) bool {
	return v.Def != nil && v.Def.Def.Name == "vec.load" && len(v.Def.OperandValues("mask")) == 0
}

// uniformFloat reports a vector of one f32 or f64 that is no constant.
func uniformFloat(v *ir.Value) bool {
	e := ir.ElemOf(v.Type)
	return v.Def != nil && v.Def.Def.Name == "vec.splat" && e.IsFloat() && e.Bytes() > 2 && !constantLanes(v.Def)
}

// lanesType is the type in registers of a vector or a mask.
func lanesType(t ir.Type) llvm.Type {
	switch t := t.(type) {
	case ir.Vec:
		return llvm.VecOf(t.Elem, t.Lanes)
	case ir.Mask:
		return llvm.VecOf(num.Bool, t.Lanes)
	}
	return llvm.Type{}
}

// maskOf is the mask of a memory op, the zero Value if it has none.
func (p *proc) maskOf(op *ir.Op) llvm.Value {
	if vs := op.OperandValues("mask"); len(vs) == 1 {
		return p.value(vs[0])
	}
	return llvm.Value{}
}

func lowerVecLoad(p *proc, op *ir.Op) {
	t := lanesType(op.Results[0].Type)
	addr := p.row(op, op.Args("")[0], t.Lanes())
	p.values[op.Results[0]] = p.LoadVec(t, addr, p.maskOf(op))
}

func lowerVecStore(p *proc, op *ir.Op) {
	v, a := p.value(op.Operand(0)), op.Args("")[1]
	addr := p.row(op, a, v.Type().Lanes())
	if streamOf(op) > 0 && p.around[p.buffer(a.Value)] {
		p.StoreAround(v, addr)
		return
	}
	p.StoreVec(v, addr, p.maskOf(op))
}

// row is the address of the first of n neighbours in a row, after checks that
// the enabled ones lie in it.
func (p *proc) row(op *ir.Op, a ir.Arg, n int) llvm.Value {
	b, mask := p.buffer(a.Value), p.maskOf(op)
	vs := p.rowOf(b, subscripts(a), mask)
	last := len(vs) - 1
	if !p.opts.Unchecked && !p.fits(op, subscripts(a)[last], b.typ.Dims[last], n) {
		p.lanesInRange(b, last, p.Iota(vs[last], n), mask)
	}
	return p.place(b, vs, mask)
}

// rowOf evaluates subscripts and checks those that say which row of b is meant,
// all but the last.
func (p *proc) rowOf(b *buffer, subs []sym.Expr, mask llvm.Value) []llvm.Value {
	vs := make([]llvm.Value, len(subs))
	for d, s := range subs {
		vs[d] = p.expr(s)
		if d < len(subs)-1 {
			p.inRangeWhere(b, d, s, vs[d], mask)
		}
	}
	return vs
}

// place is the address of an element; where a mask may leave out all lanes it
// need not lie in the buffer.
func (p *proc) place(b *buffer, subs []llvm.Value, mask llvm.Value) llvm.Value {
	at := p.position(b, subs)
	if !mask.IsValid() {
		return p.At(b.data, b.typ.Elem, at)
	}
	return p.OffsetBy(b.data, p.product(at, llvm.Index(int64(b.typ.Elem.Bytes()))))
}

// inRangeWhere is inRange if a lane of the mask is set; no mask means all are.
func (p *proc) inRangeWhere(b *buffer, d int, s sym.Expr, v, mask llvm.Value) {
	if !mask.IsValid() {
		p.inRange(b, d, s, v)
		return
	}
	inside := p.facts.Prove(sym.Le(sym.Const(0), s)) && p.facts.Prove(sym.Lt(s, b.typ.Dims[d]))
	if p.opts.Unchecked || inside {
		return
	}
	bad := p.Op("or", p.Op("lt", v, llvm.Index(0)), p.Op("ge", v, b.dims[d]))
	p.failWhen(p.Op("and", bad, p.Any(mask)), ir.TrapIndex, b.arg, d)
}

// fits proves that the enabled ones of n elements from s on lie below dim.
func (p *proc) fits(op *ir.Op, s, dim sym.Expr, n int) bool {
	count := sym.Const(int64(n))
	if vs := op.OperandValues("mask"); len(vs) == 1 {
		first := vs[0].Def
		if first != nil && first.Def.Name == "vec.first" && first.Args("")[0].Expr != nil {
			count = *first.Args("")[0].Expr
		}
	}
	end := sym.Add(s, count)
	whole := p.facts.Prove(sym.Le(end, dim)) || p.facts.Prove(sym.Le(sym.Add(s, sym.Const(int64(n))), dim))
	return whole && p.facts.Prove(sym.Le(sym.Const(0), s))
}

// lanesInRange checks the subscripts of the enabled lanes in dim d.
func (p *proc) lanesInRange(b *buffer, d int, at, mask llvm.Value) {
	n := at.Type().Lanes()
	bad := p.Op("or", p.Op("lt", at, p.Splat(llvm.Index(0), n)), p.Op("ge", at, p.Splat(b.dims[d], n)))
	if mask.IsValid() {
		bad = p.Op("and", bad, mask)
	}
	p.failWhen(p.Any(bad), ir.TrapIndex, b.arg, d)
}

func lowerGather(p *proc, op *ir.Op) {
	base, at := p.indexed(op, op.Args("")[0], op.Operand(1))
	p.values[op.Results[0]] = p.GatherVec(lanesType(op.Results[0].Type), base, at, p.maskOf(op))
}

func lowerVecScatter(p *proc, op *ir.Op) {
	args := op.Args("")
	base, at := p.indexed(op, args[1], args[2].Value)
	p.ScatterVec(p.value(args[0].Value), base, at, p.maskOf(op))
}

// indexed is the row of an element and, in each lane, which element of that row
// is meant; enabled lanes are checked.
func (p *proc) indexed(op *ir.Op, a ir.Arg, idx *ir.Value) (base, at llvm.Value) {
	b, mask := p.buffer(a.Value), p.maskOf(op)
	vs := p.rowOf(b, subscripts(a), mask)
	last := len(vs) - 1
	at = p.Cast(p.value(idx), num.Index)
	at = p.Op("add", at, p.Splat(vs[last], at.Type().Lanes()))
	if !p.opts.Unchecked {
		p.lanesInRange(b, last, at, mask)
	}
	vs[last] = llvm.Index(0)
	return p.place(b, vs, mask), at
}

func lowerSplat(p *proc, op *ir.Op) {
	t := lanesType(op.Results[0].Type)
	v := p.Splat(p.operand(op.Args("")[0], t.Elem()), t.Lanes())
	if p.pins && constantLanes(op) {
		v = p.Pin(v)
	}
	p.values[op.Results[0]] = v
}

func lowerBcast(p *proc, op *ir.Op) {
	a, t := op.Args("")[0], op.Results[0].Type.(ir.Vec)
	b := p.buffer(a.Value)
	p.values[op.Results[0]] = p.Splat(p.LoadElem(t.Elem, b.data, p.element(b, subscripts(a))), t.Lanes)
}

func lowerIota(p *proc, op *ir.Op) {
	t := op.Results[0].Type.(ir.Vec)
	p.values[op.Results[0]] = p.Iota(p.Cast(p.operand(op.Args("")[0], num.Index), t.Elem), t.Lanes)
}

func lowerFirst(p *proc, op *ir.Op) {
	t := op.Results[0].Type.(ir.Mask)
	p.values[op.Results[0]] = p.FirstN(p.Cast(p.operand(op.Args("")[0], num.Index), num.Index), t.Lanes)
}

func lowerVecSelect(p *proc, op *ir.Op) {
	p.values[op.Results[0]] = p.Select(p.value(op.Operand(0)), p.value(op.Operand(1)), p.value(op.Operand(2)))
}

func lowerVecCast(p *proc, op *ir.Op) {
	p.values[op.Results[0]] = p.Cast(p.value(op.Operand(0)), ir.ElemOf(op.Results[0].Type))
}

func lowerVecBitcast(p *proc, op *ir.Op) {
	p.values[op.Results[0]] = p.Bitcast(p.value(op.Operand(0)), ir.ElemOf(op.Results[0].Type))
}

// foldedBy is the operator of a reduction of lanes.
var foldedBy = map[string]string{"sum": "add", "prod": "mul", "any": "or", "all": "and"}

func lowerReduce(p *proc, op *ir.Op) {
	name := ir.GetClause[*ir.Attr](op, "op").Str
	if by := foldedBy[name]; by != "" {
		name = by
	}
	p.values[op.Results[0]] = p.Reduce(name, p.value(op.Operand(0)))
}

func lowerShuffle(p *proc, op *ir.Op) {
	var vs []llvm.Value
	for _, v := range op.OperandValues("") {
		vs = append(vs, p.value(v))
	}
	var ns []int
	for _, a := range op.Args("lanes") {
		n, _ := a.Expr.IsConst() // verified
		ns = append(ns, int(n))
	}
	p.values[op.Results[0]] = p.Shuffle(vs, ns)
}

func lowerPermute(p *proc, op *ir.Op) {
	p.values[op.Results[0]] = p.Permute(p.value(op.Operand(0)), p.value(op.Operand(1)))
}

func laneAttr(op *ir.Op) int { return int(ir.GetClause[*ir.Attr](op, "lane").Int) }

func lowerExtract(p *proc, op *ir.Op) {
	p.values[op.Results[0]] = p.Extract(p.value(op.Operand(0)), laneAttr(op))
}

func lowerInsert(p *proc, op *ir.Op) {
	p.values[op.Results[0]] = p.Insert(p.value(op.Operand(0)), p.value(op.Operand(1)), laneAttr(op))
}

// lowerPrefetch may aim past the end: nothing is read.
func lowerPrefetch(p *proc, op *ir.Op) {
	a := op.Args("")[0]
	b := p.buffer(a.Value)
	var vs []llvm.Value
	for _, s := range subscripts(a) {
		vs = append(vs, p.expr(s))
	}
	level := int64(1)
	if l := ir.GetClause[*ir.Attr](op, "level"); l != nil {
		level = l.Int
	}
	bytes := p.Op("mul", p.position(b, vs), llvm.Index(int64(b.typ.Elem.Bytes())))
	p.Prefetch(p.OffsetBy(b.data, bytes), int(level))
}
