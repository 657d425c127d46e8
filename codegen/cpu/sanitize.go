package cpu

import (
	"tenon/codegen/llvm"
	"tenon/internal/num"
	"tenon/ir"
	"tenon/ir/ops/vec"
	"tenon/ir/sym"
)

// lowerInside checks an element or a part without asking what is known of it.
func lowerInside(p *proc, op *ir.Op) {
	a := op.Args("")[0]
	b := p.buffer(a.Value)
	bad := llvm.Int(num.Bool, 0)
	facts := p.facts.Clone()
	for d, w := range a.View.Dims {
		v, n, size := p.expr(w.Start), llvm.Index(1), sym.Const(1)
		if w.HasSize {
			n, size = p.expr(w.Size), w.Size
		}
		for _, out := range []llvm.Value{p.Op("lt", v, llvm.Index(0)), p.Op("lt", n, llvm.Index(0)), p.Op("gt", v, p.Op("sub", b.dims[d], n))} {
			bad = p.Op("or", bad, out)
		}
		facts.Add(sym.Le(sym.Const(0), w.Start))
		facts.Add(sym.Le(sym.Add(w.Start, size), b.typ.Dims[d]))
	}
	p.failWhen(bad, ir.TrapBounds, b.arg, p.line(op))
	p.facts = facts // so that the access need not check once more
}

// lowerDefined compares the bits of an element with those of poison.
func lowerDefined(p *proc, op *ir.Op) {
	a := op.Args("")[0]
	b := p.buffer(a.Value)
	e := b.typ.Elem
	bits := p.LoadElem(words[int64(e.Bytes())], b.data, p.element(b, subscripts(a)))
	p.failWhen(p.Op("eq", bits, poisonBits(e)), ir.TrapUndefined, b.arg, p.line(op))
}

// lowerPoison fills a buffer, as integers, so that no NaN is made quiet.
func lowerPoison(p *proc, op *ir.Op) {
	a := op.Args("")[0]
	if a.View != nil {
		refuse(op)
	}
	b := p.buffer(a.Value)
	n := llvm.Index(1)
	for _, d := range b.dims {
		n = p.product(n, d)
	}
	bits := poisonBits(b.typ.Elem)
	p.For(llvm.Index(0), n, llvm.Index(1), nil, func(i llvm.Value, _ []llvm.Value) []llvm.Value {
		p.StoreElem(bits, b.data, i)
		return nil
	})
}

// lanesOf are the element numbers, along the last dim, of the lanes that a check
// is about, the subscripts in the other dims, and which lanes are enabled.
func (p *proc) lanesOf(op *ir.Op) (b *buffer, at llvm.Value, others []llvm.Value, mask llvm.Value) {
	args := op.Args("")
	b = p.buffer(args[0].Value)
	subs := subscripts(args[0])
	last := len(subs) - 1
	for _, s := range subs[:last] {
		others = append(others, p.expr(s))
	}
	first := p.expr(subs[last])
	if len(args) == 1 {
		return b, p.Iota(first, vec.Lanes(op)), others, p.maskOf(op)
	}
	at = p.Cast(p.value(args[1].Value), num.Index)
	return b, p.Op("add", at, p.Splat(first, at.Type().Lanes())), others, p.maskOf(op)
}

// lowerVecInside checks the lanes of an access.
func lowerVecInside(p *proc, op *ir.Op) {
	b, at, others, mask := p.lanesOf(op)
	n, last := at.Type().Lanes(), len(others)
	bad := p.Op("or", p.Op("lt", at, p.Splat(llvm.Index(0), n)), p.Op("ge", at, p.Splat(b.dims[last], n)))
	row := llvm.Int(num.Bool, 0)
	for d, v := range others {
		row = p.Op("or", row, p.Op("or", p.Op("lt", v, llvm.Index(0)), p.Op("ge", v, b.dims[d])))
	}
	bad = p.Op("or", bad, p.Splat(row, n))
	p.failWhenAny(bad, mask, ir.TrapBounds, b, op)
}

// lowerVecDefined compares the bits of the lanes' elements with those of poison.
func lowerVecDefined(p *proc, op *ir.Op) {
	b, at, others, mask := p.lanesOf(op)
	n, word := at.Type().Lanes(), words[int64(b.typ.Elem.Bytes())]
	base := p.At(b.data, b.typ.Elem, p.position(b, append(others, llvm.Index(0))))
	bits := p.GatherVec(llvm.VecOf(word, n), base, at, mask)
	p.failWhenAny(p.Op("eq", bits, p.Splat(poisonBits(b.typ.Elem), n)), mask, ir.TrapUndefined, b, op)
}

// failWhenAny stops the program where a check fails in an enabled lane.
func (p *proc) failWhenAny(bad, mask llvm.Value, code ir.TrapCode, b *buffer, op *ir.Op) {
	if mask.IsValid() {
		bad = p.Op("and", bad, mask)
	}
	p.failWhen(p.Any(bad), code, b.arg, p.line(op))
}

// poisonBits is poison in memory, as an integer.
func poisonBits(e num.Elem) llvm.Value {
	word := words[int64(e.Bytes())]
	return llvm.Const(word, num.FromBits(word, num.Bits(e, num.Poison(e))))
}

// line is the line of op in the file of its function; where it comes from other
// files alone, that of the function.
func (p *proc) line(op *ir.Op) int {
	own := p.src.Loc.First()
	var find func(l ir.Loc) int
	find = func(l ir.Loc) int {
		if l.Pos.IsValid() && l.Pos.File == own.File {
			return l.Pos.Line
		}
		for _, f := range l.Fused {
			if n := find(f); n > 0 {
				return n
			}
		}
		return 0
	}
	if n := find(op.Loc); n > 0 {
		return n
	}
	return own.Line
}
