package ir

import (
	"strconv"
)

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
	number := func(t token) bool { return t.kind == tokFloat || t.isWord("inf", "nan") && !p.scope.sym(t.text) }
	return number(t) || t.isWord("true", "false") && !p.scope.sym(t.text) || t.kind == tokString || t.is("-") && number(after)
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
