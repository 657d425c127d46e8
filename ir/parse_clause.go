package ir

import (
	"strconv"

	"tenon/internal/num"
	"tenon/ir/sym"
)

func (p *parser) literalClause(op *Op, i int, _ *scope) {
	l := p.literal()
	op.Clauses[i] = &l
}

// literal reads a number, inf, nan or a truth value; its type comes later.
func (p *parser) literal() Literal {
	sign := ""
	if p.accept("-") {
		sign = "-"
	}
	t := p.tok()
	switch {
	case t.kind == tokInt || t.kind == tokFloat || t.isWord("inf"):
		p.next()
		return Literal{Text: sign + t.text}
	case sign == "" && t.isWord("true", "false"):
		p.next()
		return Literal{Text: t.text}
	case t.isWord("nan"):
		p.next()
		return Literal{Text: sign + "nan" + p.nanPayload()}
	}
	p.unexpected("a literal: a number, inf, nan, true or false")
	return Literal{}
}

func (p *parser) nanPayload() string {
	if !p.at("(") {
		return ""
	}
	var text string
	p.parens(func() { text = "(" + p.expectKind(tokHex, "the bits, such as 0x7fc00001").text + ")" })
	return text
}

// typedLiteral resolves l to e at t.
func (p *parser) typedLiteral(t token, l Literal, e num.Elem) Literal {
	if err := l.Resolve(e); err != nil {
		panic(p.errorAt(t, "%v", err))
	}
	return l
}

func (p *parser) attr(op *Op, i int, _ *scope) {
	if op.Def.Clauses[i].word() != "" {
		p.expect("=")
	}
	t := p.tok()
	a := &Attr{Str: t.text}
	switch {
	case t.kind == tokString:
		a.Value = AttrString
		p.next()
	case t.kind == tokItem:
		a.Value = AttrItem
		p.next()
	case t.kind == tokWord && !t.isWord("inf", "nan"):
		a.Value = AttrName
		p.next()
	default:
		*a = p.numberAttr(t)
	}
	op.Clauses[i] = a
}

func (p *parser) numberAttr(t token) Attr {
	l := p.literal()
	if n, err := strconv.ParseInt(l.Text, 10, 64); err == nil {
		return Attr{Value: AttrInt, Int: n}
	}
	l = p.typedLiteral(t, l, num.F64)
	return Attr{Value: AttrFloat, Float: num.Float(l.Cell)}
}

func (p *parser) flag(op *Op, i int, _ *scope) { op.Clauses[i] = &Flag{} }

func (p *parser) axes(op *Op, i int, _ *scope) {
	c := &Axes{}
	p.parens(func() { p.list(")", func() { c.List = append(c.List, p.axis()) }) })
	op.Clauses[i] = c
}

func (p *parser) axis() Axis {
	t := p.expectKind(tokWord, "an axis: i < N, or j:e in %p[i]")
	if p.accept("<") {
		e := p.expr()
		return Axis{Name: p.defineSym(p.scope, t), Extent: e}
	}
	p.expect(":")
	entry := p.expectKind(tokWord, "a name for the entry's number")
	p.expectWord("in")
	a := Axis{Pattern: p.useValue()}
	p.brackets(func() { a.Row = p.expr() })
	a.Name, a.Entry = p.defineSym(p.scope, t), p.defineSym(p.scope, entry)
	return a
}

func (p *parser) conds(op *Op, i int, _ *scope) {
	c := &Conds{}
	p.parens(func() { p.list(")", func() { c.List = append(c.List, p.cond()) }) })
	op.Clauses[i] = c
}

func (p *parser) reads(op *Op, i int, _ *scope) {
	c := &Reads{}
	op.Clauses[i] = c
	p.parens(func() { p.list(")", func() { c.List = append(c.List, p.read()) }) })
}

func (p *parser) read() Read {
	t := p.expectKind(tokValue, "a read such as %x = %t[i, j]")
	p.expect("=")
	src := p.tok()
	r := Read{Res: &Value{Name: t.text}, Src: p.useValue()}
	r.Subs = p.exprList("[", "]")
	if r.Src.Type != nil {
		if _, ok := DimsOf(r.Src.Type); !ok {
			panic(p.errorAt(src, "%%%s has type %s", r.Src.Name, r.Src.Type).WithExpected("a tensor or a buffer"))
		}
		r.Res.Type = Scalar{ElemOf(r.Src.Type)}
	}
	switch {
	case p.acceptWord("zero"):
		r.Policy = PolicyZero
	case p.acceptWord("clamp"):
		r.Policy = PolicyClamp
	}
	p.defineValue(p.scope, t, r.Res)
	return r
}

func (p *parser) outs(op *Op, i int, _ *scope) {
	c := &Outs{}
	p.parens(func() {
		p.list(")", func() {
			var o Out
			if p.tok().kind == tokValue {
				o.Buf = p.useValue()
			}
			o.Subs = p.exprList("[", "]")
			c.List = append(c.List, o)
		})
	})
	op.Clauses[i] = c
}

// carry: the inits are those outside the loop, so that all are read before the
// carried names are bound.
func (p *parser) carry(op *Op, i int, _ *scope) {
	c := &Carry{}
	var names []token
	p.parens(func() {
		p.list(")", func() {
			names = append(names, p.expectKind(tokValue, "a carried value such as %s = %init"))
			p.expect("=")
			c.Inits = append(c.Inits, p.useValue())
		})
	})
	for j, t := range names {
		v := &Value{Name: t.text, Type: c.Inits[j].Type}
		c.Params = append(c.Params, v)
		p.defineValue(p.scope, t, v)
	}
	op.Clauses[i] = c
}

func (p *parser) by(op *Op, i int, _ *scope) {
	c := &By{Monoid: p.monoidOf()}
	if p.continues() {
		c.Ordered = p.acceptWord("ordered")
	}
	if p.continues() && p.acceptWord("empty") {
		p.parens(func() { p.empty(c) })
	}
	if p.continues() && p.tok().isWord("from") && p.peek().is("(") {
		p.next()
		p.parens(func() { p.expectWord("out") })
		c.FromOut = true
	}
	op.Clauses[i] = c
}

func (p *parser) empty(c *By) {
	if c.EmptyError = p.acceptWord("error"); c.EmptyError {
		return
	}
	start := p.tok()
	elems := c.Monoid.Elems()
	p.commas(func() {
		t := p.tok()
		l := p.literal()
		if n := len(c.Empty); n < len(elems) {
			l = p.typedLiteral(t, l, elems[n])
		}
		c.Empty = append(c.Empty, l)
	})
	if len(c.Empty) != len(elems) {
		panic(p.errorAt(start, "empty has %d values", len(c.Empty)).WithExpected("%d, one a component", len(elems)))
	}
}

// monoidOf reads @name or a built-in with its component types.
func (p *parser) monoidOf() *Monoid {
	t := p.tok()
	if t.kind == tokItem {
		return p.monoidRef()
	}
	p.expectKind(tokWord, "a monoid: @name, or a built-in such as sum(f32)")
	var elems []num.Elem
	p.parens(func() { p.commas(func() { elems = append(elems, p.elem()) }) })
	return p.builtin(t, elems)
}

func (p *parser) builtin(t token, elems []num.Elem) *Monoid {
	m, err := BuiltinMonoid(t.text, elems...)
	if err != nil {
		panic(p.errorAt(t, "%v", err))
	}
	return m
}

func (p *parser) monoidRef() *Monoid {
	t := p.next()
	m, ok := p.items[t.text].(*Monoid)
	if !ok {
		panic(p.errorAt(t, "there is no monoid @%s in this module", t.text))
	}
	return m
}

func (p *parser) rangeClause(op *Op, i int, _ *scope) {
	name := p.expectKind(tokWord, "a loop index")
	var size *token
	if p.accept(":") {
		t := p.expectKind(tokWord, "a name for the step's size")
		size = &t
	}
	p.expect("=")
	c := &Range{Lo: p.expr(), Step: sym.Const(1)}
	p.expectWord("to")
	c.Hi = p.expr()
	if p.acceptWord("step") {
		c.Step = p.expr()
	}
	c.Name = p.defineSym(p.scope, name)
	if size != nil {
		c.Size = p.defineSym(p.scope, *size)
	}
	op.Clauses[i] = c
}

// exists binds dims that the ops behind this one see.
func (p *parser) exists(op *Op, i int, outer *scope) {
	c := &Exists{}
	p.parens(func() { p.list(")", func() { c.Dims = append(c.Dims, p.exDim(outer)) }) })
	op.Clauses[i] = c
}

func (p *parser) exDim(outer *scope) ExDim {
	t := p.expectKind(tokWord, "a dim and its bounds, such as c: 0 <= c and c <= N")
	d := ExDim{Name: p.defineSym(outer, t)}
	if p.accept(":") {
		d.Conds = append(d.Conds, p.cond())
		for p.acceptWord("and") {
			d.Conds = append(d.Conds, p.cond())
		}
	}
	return d
}

func (p *parser) block(op *Op, i int, _ *scope) {
	c := &Block{Region: &Region{}}
	start := p.tok()
	p.inScope(func() {
		var names []token
		if p.at("(") {
			p.parens(func() { p.list(")", func() { names = append(names, p.blockParam(c)) }) })
		}
		op.Clauses[i] = c
		p.bind(op, i, start)
		for j, n := range names {
			if v := c.Params[j].Val; v != nil {
				p.typeBlockParam(op, n, v)
				p.defineValue(p.scope, n, v)
			} else {
				p.defineSym(p.scope, n)
			}
		}
		p.region(c.Region)
	})
}

// typeBlockParam: the row's Bind must have typed v, unless a fault kept it from it.
func (p *parser) typeBlockParam(op *Op, t token, v *Value) {
	if v.Type == nil && !p.poisoned(op) {
		panic(p.errorAt(t, "%s gives %%%s no type", op.Def.Name, t.text))
	}
}

func (p *parser) blockParam(c *Block) token {
	t := p.tok()
	switch t.kind {
	case tokWord:
		c.Params = append(c.Params, BlockParam{Sym: t.text})
	case tokValue:
		c.Params = append(c.Params, BlockParam{Val: &Value{Name: t.text}})
	default:
		p.unexpected("a name or a value such as %%acc")
	}
	return p.next()
}

// variants starts behind the first word `variant`.
func (p *parser) variants(op *Op, i int, _ *scope) {
	c := &Variants{Pick: &Region{}}
	for {
		v := Variant{Name: p.expectKind(tokWord, "the variant's name").text, Region: &Region{}}
		if p.tok().isWord("where") {
			v.Where = p.where()
		}
		p.region(v.Region)
		c.List = append(c.List, v)
		if !p.continues() || !p.acceptWord("variant") {
			break
		}
	}
	if !p.continues() {
		p.unexpected("`pick`")
	}
	p.expectWord("pick")
	p.region(c.Pick)
	op.Clauses[i] = c
}
