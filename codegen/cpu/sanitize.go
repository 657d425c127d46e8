package cpu

import (
	"tenon/codegen/llvm"
	"tenon/internal/num"
	"tenon/ir"
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
