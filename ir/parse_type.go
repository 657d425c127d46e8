package ir

import (
	"math"
	"strconv"

	"tenon/internal/num"
	"tenon/ir/sym"
)

// types reads a comma list of types; `8 * T` is T eight times.
func (p *parser) types() []Type {
	var ts []Type
	p.commas(func() { ts = append(ts, p.repeatedType()...) })
	return ts
}

// maxRepeat bounds `n * T`: no op has more results.
const maxRepeat = 4096

func (p *parser) repeatedType() []Type {
	n := int64(1)
	if p.tok().kind == tokInt {
		t := p.tok()
		n = p.intLit()
		p.expect("*")
		if n < 1 || n > maxRepeat {
			panic(p.errorAt(t, "a type cannot stand %d times", n).WithExpected("1 to %d", maxRepeat))
		}
	}
	t := p.typ()
	ts := make([]Type, n)
	for i := range ts {
		ts[i] = t
	}
	return ts
}

// typeParsers are the types that start with a word of their own.
var typeParsers map[string]func(*parser) Type

func init() {
	typeParsers = map[string]func(*parser) Type{
		"pattern": (*parser).patternType, "buf": (*parser).bufType, "vec": (*parser).vecType, "mask": (*parser).maskType,
	}
}

func (p *parser) typ() Type {
	defer p.enter()()
	t := p.tok()
	if f := typeParsers[t.text]; t.kind == tokWord && f != nil {
		p.next()
		p.expect("<")
		return f(p)
	}
	e := p.elem()
	if !p.at("[") {
		return Scalar{e}
	}
	tt := Tensor{Elem: e, Dims: p.exprList("[", "]")}
	if p.acceptWord("enc") {
		tt.Enc = p.encodingRef()
	}
	return tt
}

func (p *parser) elem() num.Elem {
	t := p.expectKind(tokWord, "a type such as f32[M, N]")
	e := num.ElemByName(t.text)
	if e == num.Invalid {
		panic(p.errorAt(t, "unknown element type %s", t.text).
			WithExpected("f64 f32 f16 bf16 i64 i32 i16 i8 u8 bool or index"))
	}
	return e
}

// encodingRef reads @e, which may be defined further down.
func (p *parser) encodingRef() *Encoding {
	t := p.expectKind(tokItem, "an encoding such as @e")
	if _, ok := p.encUses[t.text]; !ok {
		p.encUses[t.text] = t
	}
	return p.encodingNamed(t.text)
}

func (p *parser) encodingNamed(name string) *Encoding {
	e := p.encodings[name]
	if e == nil {
		e = &Encoding{Name: name}
		p.encodings[name] = e
	}
	return e
}

func (p *parser) patternType() Type {
	t := Pattern{Rows: p.expr()}
	p.expect(",")
	t.Cols = p.expr()
	p.expect(",")
	p.expectWord("nnz")
	t.ID = p.expectKind(tokHash, "the pattern's name, nnz#p").text
	p.expect(",")
	t.Format = p.format()
	p.expect(">")
	return t
}

// formatArgs says which arguments a format has: block sizes, pointers, indices.
var formatArgs = map[string]struct{ blocks, ptr bool }{
	"csr": {false, true}, "csc": {false, true}, "coo": {false, false}, "bsr": {true, true},
}

func (p *parser) format() Format {
	t := p.expectKind(tokWord, "csr, csc, coo or bsr")
	args, ok := formatArgs[t.text]
	if !ok {
		panic(p.errorAt(t, "unknown format %s", t.text).WithExpected("csr, csc, coo or bsr"))
	}
	f := Format{Kind: t.text}
	p.parens(func() {
		if args.blocks {
			f.BlockRows = p.intLit()
			p.expect(",")
			f.BlockCols = p.intLit()
			p.expect(",")
		}
		if args.ptr {
			f.Ptr = p.indexElem()
			p.expect(",")
		}
		f.Idx = p.indexElem()
	})
	return f
}

func (p *parser) indexElem() num.Elem {
	t := p.tok()
	e := p.elem()
	if e != num.I32 && e != num.I64 {
		panic(p.errorAt(t, "index arrays are not %s", e).WithExpected("i32 or i64"))
	}
	return e
}

func (p *parser) bufType() Type {
	b := Buf{Elem: p.elem()}
	b.Dims = p.exprList("[", "]")
	for p.accept(",") {
		p.bufAttr(&b)
	}
	p.expect(">")
	return b
}

func (p *parser) bufAttr(b *Buf) {
	t := p.expectKind(tokWord, "strides, offset, space or dist")
	switch t.text {
	case "strides":
		b.Strides = p.exprList("(", ")")
		if len(b.Strides) != len(b.Dims) {
			panic(p.errorAt(t, "%d strides for %d dims", len(b.Strides), len(b.Dims)))
		}
	case "offset":
		p.parens(func() { b.Offset = p.expr() })
	case "space":
		p.parens(func() { b.Space = p.expectKind(tokWord, "a memory space such as shared").text })
	case "dist":
		p.parens(func() { b.Dist = p.dist(len(b.Dims)) })
	default:
		panic(p.errorAt(t, "unknown buffer attribute %s", t.text).WithExpected("strides, offset, space or dist"))
	}
}

func (p *parser) dist(rank int) *Dist {
	d := &Dist{Grid: p.expectKind(tokItem, "a grid such as @g").text}
	t := p.tok()
	for p.accept(",") {
		if p.acceptWord("partial") {
			p.parens(func() { d.Partial = p.expectKind(tokWord, "a monoid's name, such as sum").text })
			break
		}
		d.Dims = append(d.Dims, p.dimDist())
	}
	if len(d.Dims) == 0 {
		for range rank {
			d.Dims = append(d.Dims, DimDist{Axis: -1})
		}
	}
	if len(d.Dims) != rank {
		panic(p.errorAt(t, "%d of %d dims are distributed", len(d.Dims), rank).WithExpected("one entry a dim, `*` for none"))
	}
	return d
}

func (p *parser) dimDist() DimDist {
	if p.accept("*") {
		return DimDist{Axis: -1}
	}
	var d DimDist
	switch {
	case p.acceptWord("block"):
	case p.acceptWord("cyclic"):
		d.Cyclic = true
		p.parens(func() { d.Block = p.expr() })
	default:
		p.unexpected("`*`, `block/0` or `cyclic(b)/0`")
	}
	p.expect("/")
	d.Axis = int(min(p.intLit(), 1<<20))
	if p.acceptWord("halo") {
		p.parens(func() {
			d.HaloLow = p.intLit()
			p.expect(",")
			d.HaloTop = p.intLit()
		})
	}
	return d
}

func (p *parser) vecType() Type {
	v := Vec{Lanes: p.lanes()}
	p.expectWord("x")
	v.Elem = p.elem()
	p.expect(">")
	return v
}

func (p *parser) maskType() Type {
	m := Mask{p.lanes()}
	p.expect(">")
	return m
}

func (p *parser) lanes() int {
	t := p.tok()
	n := p.intLit()
	if n < 1 || n > 1<<16 {
		panic(p.errorAt(t, "a vector cannot have %d lanes", n).WithExpected("1 to 65536"))
	}
	return int(n)
}

// intLit reads an integer without a sign.
func (p *parser) intLit() int64 {
	t := p.expectKind(tokInt, "an integer")
	n, err := strconv.ParseInt(t.text, 10, 64)
	if err != nil {
		panic(p.errorAt(t, "integer %s does not fit 64 bits", t.text))
	}
	return n
}

func (p *parser) exprList(open, end string) []sym.Expr {
	es := []sym.Expr{}
	p.between(open, end, func() { p.list(end, func() { es = append(es, p.expr()) }) })
	return es
}

// expr reads an index expression.
func (p *parser) expr() sym.Expr {
	defer p.enter()()
	start := p.tok()
	e := p.product()
	for !p.breaks() {
		switch {
		case p.accept("+"):
			e = sym.Add(e, p.product())
		case p.accept("-"):
			e = sym.Sub(e, p.product())
		default:
			return p.bounded(start, e)
		}
	}
	return p.bounded(start, e)
}

func (p *parser) bounded(start token, e sym.Expr) sym.Expr {
	if e.Overflowed() {
		panic(p.errorAt(start, "index expression overflows 64 bits or is too large"))
	}
	return e
}

func (p *parser) product() sym.Expr {
	e := p.factor()
	for !p.breaks() {
		t := p.tok()
		switch {
		case p.accept("*"):
			e = sym.Mul(e, p.factor())
		case p.accept("//"):
			e = sym.FloorDiv(e, p.divisor(t))
		case p.acceptWord("mod"):
			e = sym.Mod(e, p.divisor(t))
		case t.is("/"):
			panic(p.errorAt(t, "an index expression has no truncating division").
				WithFix("write a tight `//` (floor), or the op tdiv on values"))
		default:
			return e
		}
	}
	return e
}

// divisor reads what stands after // or mod; a constant must be positive.
func (p *parser) divisor(t token) sym.Expr {
	e := p.factor()
	if c, ok := e.IsConst(); ok && c <= 0 {
		panic(p.errorAt(t, "division by %d", c).WithExpected("a positive divisor"))
	}
	return e
}

// leastMagnitude is the least integer without its sign, which alone does not
// fit 64 bits.
const leastMagnitude = "9223372036854775808"

func (p *parser) factor() sym.Expr {
	defer p.enter()()
	if p.accept("-") {
		if t := p.tok(); t.kind == tokInt && t.text == leastMagnitude {
			p.next()
			return sym.Const(math.MinInt64)
		}
		return sym.Neg(p.factor())
	}
	t := p.tok()
	switch {
	case t.kind == tokInt:
		return sym.Const(p.intLit())
	case t.kind == tokValue:
		return sym.Val(p.useValue())
	case t.is("("):
		var e sym.Expr
		p.parens(func() { e = p.expr() })
		return e
	case t.isWord("min", "max") && p.peek().is("("):
		return p.extremum()
	case t.isWord("nnz") && p.peek().kind == tokHash:
		p.next()
		return sym.NNZ(p.next().text)
	case t.kind == tokWord:
		return p.useSym()
	}
	p.unexpected("an index expression: a name, an integer, %%v, min, max or parentheses")
	return sym.Expr{}
}

func (p *parser) useSym() sym.Expr {
	t := p.next()
	if !p.scope.sym(t.text) && !p.scope.isExDim(t.text) {
		e := p.errorAt(t, "%s is not defined here", t.text).
			WithExpected("a dim, axis, loop index or tile size that is visible")
		if v := p.scope.value(t.text); v != nil {
			e.WithFix("write %%%s for the value", t.text)
		}
		p.report(e)
		p.defineSym(p.scope, t)
	}
	return sym.Name(t.text)
}

func (p *parser) extremum() sym.Expr {
	f := sym.Min
	if p.next().text == "max" {
		f = sym.Max
	}
	var e sym.Expr
	p.parens(func() {
		e = p.expr()
		p.expect(",")
		e = f(e, p.expr())
	})
	return e
}

var relations = []sym.Rel{sym.EQ, sym.NE, sym.LT, sym.LE, sym.GT, sym.GE}

func (p *parser) cond() sym.Cond {
	l := p.expr()
	for _, r := range relations {
		if p.accept(string(r)) {
			return sym.Cond{L: l, Rel: r, R: p.expr()}
		}
	}
	p.unexpected("one of == != < <= > >=")
	return sym.Cond{}
}
