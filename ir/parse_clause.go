package ir

import (
	"strconv"

	"tenon/internal/diag"
	"tenon/internal/num"
	"tenon/ir/sym"
)

// clauseKind is what the text form knows of a kind of clause: whether one
// starts at the current token, how to read one (its word is read already) and
// how to write one (its word left out). outer is the scope around the op.
type clauseKind struct {
	what   string
	starts func(p *parser, s ClauseSpec) bool
	parse  func(p *parser, op *Op, i int, outer *scope)
	write  func(w *printer, c Clause)
	clone  func(m *Mapping, c Clause) Clause
	check  func(v *verifier, op *Op, i int, c Clause)
}

var clauseKinds [KindDirectives + 1]clauseKind

func init() {
	clauseKinds = [...]clauseKind{
		KindLiteral:    {"a literal", startsLiteral, (*parser).literalClause, (*printer).literal, (*Mapping).literal, (*verifier).checkLiteral},
		KindOperands:   {"operands", startsParen, (*parser).operands, (*printer).operands, (*Mapping).operands, (*verifier).checkOperands},
		KindAttr:       {"an attribute", startsAttr, (*parser).attr, (*printer).attr, (*Mapping).attr, (*verifier).checkAttr},
		KindFlag:       {"a flag", startsWord, (*parser).flag, (*printer).flag, (*Mapping).flag, (*verifier).checkFlag},
		KindAxes:       {"axes", startsParen, (*parser).axes, (*printer).axes, (*Mapping).axes, (*verifier).checkAxes},
		KindConds:      {"conditions", startsParen, (*parser).conds, (*printer).conds, (*Mapping).conds, (*verifier).checkConds},
		KindReads:      {"reads", startsParen, (*parser).reads, (*printer).reads, (*Mapping).reads, (*verifier).checkReads},
		KindOuts:       {"outs", startsParen, (*parser).outs, (*printer).outs, (*Mapping).outs, (*verifier).checkOuts},
		KindCarry:      {"carried values", startsWord, (*parser).carry, (*printer).carry, (*Mapping).carry, (*verifier).checkCarry},
		KindBy:         {"a monoid", startsWord, (*parser).by, (*printer).by, (*Mapping).by, (*verifier).checkBy},
		KindRange:      {"a range", startsRange, (*parser).rangeClause, (*printer).rangeClause, (*Mapping).rangeClause, (*verifier).checkRange},
		KindExists:     {"dims", startsWord, (*parser).exists, (*printer).exists, (*Mapping).exists, (*verifier).checkExists},
		KindBlock:      {"a region", startsBlock, (*parser).block, (*printer).block, (*Mapping).block, (*verifier).checkBlock},
		KindVariants:   {"variants", startsWord, (*parser).variants, (*printer).variants, (*Mapping).variants, (*verifier).checkVariants},
		KindDirectives: {"directives", startsWord, (*parser).directivesClause, (*printer).directives, (*Mapping).directives, (*verifier).checkDirectives},
	}
}

// describeClause says what a row wants, for messages.
func describeClause(s ClauseSpec) string {
	what := clauseKinds[s.Kind].what
	if w := s.word(); w != "" {
		return "`" + w + "` (" + what + ")"
	}
	return what
}

func startsWord(p *parser, s ClauseSpec) bool { return p.tok().isWord(s.word()) }

func startsParen(p *parser, s ClauseSpec) bool {
	if w := s.word(); w != "" {
		return p.tok().isWord(w) && p.peek().is("(")
	}
	return p.at("(")
}

// startsAttr: an attribute without a word is a bare @name, as in tensor.call @f.
func startsAttr(p *parser, s ClauseSpec) bool {
	if s.word() == "" {
		return p.tok().kind == tokItem
	}
	return startsWord(p, s) && p.peek().is("=")
}

func startsBlock(p *parser, s ClauseSpec) bool {
	if s.word() != "" {
		return startsWord(p, s)
	}
	return p.at("{") || p.at("(")
}

func startsRange(p *parser, s ClauseSpec) bool {
	if s.word() != "" {
		return startsWord(p, s)
	}
	return p.tok().kind == tokWord && (p.peek().is("=") || p.peek().is(":"))
}

func startsLiteral(p *parser, s ClauseSpec) bool {
	if s.word() != "" {
		return startsWord(p, s)
	}
	t := p.tok()
	return t.kind == tokInt || t.kind == tokFloat || t.is("-") || t.isLit("inf", "nan", "true", "false")
}

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
	case sign == "" && t.isLit("true", "false"):
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

func (p *parser) operands(op *Op, i int, _ *scope) {
	c := &Operands{}
	spec := op.Def.Clauses[i]
	p.parens(func() {
		p.list(")", func() { c.Args = append(c.Args, p.arg(op.Def, spec)) })
	})
	op.Clauses[i] = c
}

// arg reads one operand. Operands of scalar ops may be scalar ops themselves
// and typed literals; those become ops before this one.
func (p *parser) arg(def *OpDef, spec ClauseSpec) Arg {
	if spec.Exprs {
		return ExprArg(p.expr())
	}
	t, after := p.tok(), p.peek()
	scalar := def.Family() == "scalar"
	switch {
	case t.kind == tokValue && (after.is(",") || after.is(")") || after.is("[")):
		a := Arg{Value: p.useValue()}
		if after.is("[") {
			a.View = p.view()
		}
		return a
	case scalar && t.kind == tokWord && p.nestedOp(t, after):
		return p.nestedArg()
	case p.startsArgLiteral(t, after):
		return p.literalArg(t, scalar)
	}
	e := p.expr()
	if c, ok := e.IsConst(); ok && scalar && p.at(":") {
		return p.constArg(t, Literal{Text: strconv.FormatInt(c, 10)})
	}
	return ExprArg(e)
}

func (p *parser) nestedOp(t, after token) bool {
	d := LookupOp(t.text)
	return d != nil && (after.is("(") || len(d.Clauses) > 0 && d.Clauses[0].Kind == KindLiteral)
}

func (p *parser) nestedArg() Arg {
	start := p.tok()
	def := p.opName()
	if def.Traits.Has(Terminator) {
		panic(p.errorAt(start, "%s is no operand", def.Name))
	}
	return ValueArg(p.opNamed(start, nil, def, true).Results[0])
}

// startsArgLiteral: an integer without a dot is an index expression, which
// serves as a literal too (Arg.AsLiteral).
func (p *parser) startsArgLiteral(t, after token) bool {
	number := func(t token) bool { return t.kind == tokFloat || t.isLit("inf", "nan") && !p.scope.sym(t.text) }
	return number(t) || t.isLit("true", "false") && !p.scope.sym(t.text) || t.kind == tokString || t.is("-") && number(after)
}

func (p *parser) literalArg(t token, scalar bool) Arg {
	if t.kind == tokString {
		panic(p.errorAt(t, "a string is no operand"))
	}
	l := p.literal()
	if scalar && p.at(":") {
		return p.constArg(t, l)
	}
	return LitArg(l)
}

// constArg reads `: type` behind a literal and makes the const.
func (p *parser) constArg(t token, l Literal) Arg {
	p.expect(":")
	at := p.tok()
	typ := p.typ()
	s, ok := typ.(Scalar)
	if !ok {
		panic(p.errorAt(at, "a literal has no type %s", typ).WithExpected("an element type"))
	}
	def := LookupOp("const")
	if def == nil {
		panic(p.errorAt(t, "there is no op const"))
	}
	l = p.typedLiteral(t, l, s.Elem)
	op := &Op{Def: def, Loc: At(p.pos(t)), Clauses: []Clause{&l}}
	op.Results = []*Value{{Name: p.freshName(), Type: s, Def: op}}
	p.into.Ops = append(p.into.Ops, op)
	return ValueArg(op.Results[0])
}

func (p *parser) view() *View {
	v := &View{}
	p.brackets(func() {
		p.list("]", func() {
			d := ViewDim{Start: p.expr()}
			if d.HasSize = p.accept(":"); d.HasSize {
				d.Size = p.expr()
			}
			v.Dims = append(v.Dims, d)
		})
	})
	return v
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
	case t.kind == tokWord && !t.isLit("inf", "nan"):
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

// where reads the list of facts behind the word.
func (p *parser) where() []Fact {
	var fs []Fact
	p.expectWord("where")
	p.parens(func() { p.commas(func() { fs = append(fs, p.fact()) }) })
	return fs
}

func (p *parser) fact() Fact {
	t := p.expectKind(tokWord, "declared, proved or guarded")
	f := Fact{Provenance: Provenance(t.text)}
	switch f.Provenance {
	case Declared, Proved, Guarded:
	default:
		panic(p.errorAt(t, "unknown provenance %s", t.text).WithExpected("declared, proved or guarded"))
	}
	f.Cond = p.cond()
	return f
}

func (p *parser) directivesClause(op *Op, i int, _ *scope) {
	op.Clauses[i] = &Directives{List: p.directiveList()}
}

func (p *parser) directiveList() []string {
	var ds []string
	p.parens(func() {
		p.commas(func() { ds = append(ds, p.expectKind(tokString, "a directive as a string").text) })
	})
	return ds
}

// prove checks the facts of a `where` that claim to be proved, given the others
// and what holds of every dim (0 <= N).
func (p *parser) prove(t token, dims []string, fs []Fact) {
	known := sym.NewFacts()
	for _, d := range dims {
		known.Add(sym.Ge(sym.Name(d), sym.Const(0)))
	}
	for _, f := range fs {
		if f.Provenance != Proved {
			known.Add(f.Cond)
		}
	}
	for _, f := range fs {
		if f.Provenance == Proved && !known.Prove(f.Cond) {
			p.report(unproved(p.pos(t), f.Cond))
		}
	}
}

func unproved(pos diag.Pos, c sym.Cond) *diag.Error {
	return diag.Errorf(pos, "fact %s is marked proved, but no proof is found", c).
		WithFix("mark it declared (checked at entry), or give the facts it follows from")
}
