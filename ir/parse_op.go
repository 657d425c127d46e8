package ir

import (
	"errors"
	"strings"

	"tenon/internal/diag"
)

// clauseWords are the words that continue an op on a new line: those of the
// registered rows and of the clause kinds. They are never names of ops.
func clauseWords() map[string]bool {
	words := map[string]bool{"at": true, "ordered": true, "empty": true, "from": true, "pick": true,
		"where": true, "to": true, "step": true}
	for _, w := range kindWords {
		words[w] = true
	}
	for _, d := range registry {
		for _, s := range d.Clauses {
			if w := s.word(); w != "" {
				words[w] = true
			}
		}
	}
	return words
}

// kindWords are the words of kinds that have one whatever the row says.
var kindWords = map[ClauseKind]string{KindBy: "by", KindVariants: "variant", KindExists: "exists",
	KindCarry: "carry", KindDirectives: "directives"}

// word is the word that introduces the clause, "" for none.
func (s ClauseSpec) word() string {
	if s.KW == "" {
		return kindWords[s.Kind]
	}
	return s.KW
}

// region reads { ops } into r, in a scope of its own.
func (p *parser) region(r *Region) {
	defer p.enter()()
	into, nest := p.into, p.nest
	p.into, p.nest = r, 0
	p.inScope(func() {
		open := p.expect("{")
		for !p.at("}") {
			switch {
			case p.accept(";"):
			case p.tok().kind == tokEOF:
				panic(p.errorAt(p.tok(), "a region is not closed").WithExpected("`}` for the `{` on line %d", open.line))
			default:
				p.statement()
			}
		}
		p.next()
	})
	p.into, p.nest = into, nest
}

// statement reads an op and its end; after a fault it goes on with the next op
// and gives the results of the lost one no type.
func (p *parser) statement() {
	scope, start := p.scope, p.i
	p.attempt(func() {
		p.op()
		if !p.breaks() && !p.at(";") && !p.at("}") && p.tok().kind != tokEOF {
			p.unexpected("the end of the op: a line break, `;` or `}`")
		}
	}, p.skipOp)
	if len(p.errs) > 0 {
		p.poison(scope, start)
	}
}

// poison binds the result names and dims of an op that starts at token i and may
// have failed, so that their uses are no further faults.
func (p *parser) poison(s *scope, i int) {
	for k := i; k < p.i; k++ {
		if p.toks[k].isWord("exists") {
			p.poisonDims(s, k+1)
		}
	}
	for p.toks[i].kind == tokValue {
		if t := p.toks[i]; s.value(t.text) == nil {
			p.defineValue(s, t, &Value{Name: t.text})
		}
		if !p.toks[i+1].is(",") {
			return
		}
		i += 2
	}
}

func (p *parser) poisonDims(s *scope, k int) {
	for ; k < p.i && !p.toks[k].is(")"); k++ {
		if t := p.toks[k]; t.kind == tokWord && p.toks[k+1].is(":") && !s.sym(t.text) {
			p.defineSym(s, t)
		}
	}
}

// skipOp moves to the end of the op in which a fault was found: the next line
// or `;` outside the brackets and braces that the op has opened.
func (p *parser) skipOp() {
	open, braces := p.nest, 0
	p.nest = 0
	for p.tok().kind != tokEOF {
		t := p.tok()
		switch {
		case braces == 0 && (t.is("}") || t.is(";") && open <= 0 || t.nl && (open <= 0 && !p.continues() || p.startsOp())):
			return
		case t.is("{"):
			braces++
		case t.is("}"):
			braces--
		case braces == 0 && (t.is("(") || t.is("[")):
			open++
		case braces == 0 && (t.is(")") || t.is("]")):
			open--
		}
		p.next()
	}
}

// startsOp guesses whether an op starts here, though a bracket is open: a name
// of an op, perhaps behind `%a, %b =`.
func (p *parser) startsOp() bool {
	i := p.i
	for p.toks[i].kind == tokValue && p.toks[i+1].is(",") {
		i += 2
	}
	if p.toks[i].kind == tokValue && p.toks[i+1].is("=") {
		i += 2
	}
	t := p.toks[i]
	return t.kind == tokOp || t.kind == tokWord && LookupOp(t.text) != nil && (i > p.i || p.toks[i+1].is("("))
}

// op reads one op and appends it to p.into.
func (p *parser) op() {
	start := p.tok()
	names := p.resultNames()
	p.opNamed(start, names, p.opName(), false)
}

func (p *parser) resultNames() []token {
	var names []token
	if p.tok().kind != tokValue {
		return nil
	}
	p.commas(func() { names = append(names, p.expectKind(tokValue, "a result's name such as %x")) })
	p.expect("=")
	return names
}

func (p *parser) opName() *OpDef {
	t := p.tok()
	if t.kind != tokWord && t.kind != tokOp {
		p.unexpected("an op")
	}
	d := LookupOp(t.text)
	if d == nil {
		panic(p.unknownOp(t))
	}
	p.next()
	return d
}

func (p *parser) unknownOp(t token) *diag.Error {
	e := p.errorAt(t, "there is no op %s", t.text)
	for _, d := range AllOps() {
		_, bare, _ := strings.Cut(d.Name, ".")
		if bare == t.text || strings.EqualFold(d.Name, t.text) {
			return e.WithFix("write %s", d.Name)
		}
	}
	return e.WithExpected("a row of the op table; `tenon ops` lists them")
}

// opNamed reads what follows the op's name. nested: it is an operand, so that
// it has one result, and a comma after its type belongs to the list around.
func (p *parser) opNamed(start token, names []token, def *OpDef, nested bool) *Op {
	defer p.enter()()
	op := &Op{Def: def, Loc: At(p.pos(start)), Clauses: make([]Clause, len(def.Clauses))}
	outer := p.scope
	p.scope = &scope{parent: outer}
	for i := range def.Clauses {
		p.clause(op, i, outer)
	}
	p.scope = outer
	var declared []Type
	if p.continues() && p.accept(":") {
		if nested {
			declared = []Type{p.typ()}
		} else {
			declared = p.types()
		}
	}
	if !nested && p.continues() && p.acceptWord("at") {
		op.Loc = p.loc()
	}
	p.finish(op, start, names, declared, nested)
	p.into.Ops = append(p.into.Ops, op)
	return op
}

// continues reports whether the current token may belong to the op in hand.
func (p *parser) continues() bool {
	t := p.tok()
	return !p.breaks() || t.is(":") || t.is("->") || t.kind == tokWord && p.words[t.text]
}

// clause reads the clause at index i of op's row if it is there.
func (p *parser) clause(op *Op, i int, outer *scope) {
	spec := op.Def.Clauses[i]
	kind := &clauseKinds[spec.Kind]
	if !p.continues() || !kind.starts(p, spec) {
		if spec.Optional {
			return
		}
		p.missing(op, spec)
	}
	t := p.tok()
	if spec.word() != "" {
		p.next()
	}
	kind.parse(p, op, i, outer)
	if spec.Kind != KindBlock {
		p.bind(op, i, t)
	}
}

// missing reports at the op if nothing follows, else at what follows.
func (p *parser) missing(op *Op, spec ClauseSpec) {
	t := p.tok()
	if p.breaks() || t.is(";") || t.is("}") || t.kind == tokEOF {
		panic(diag.Errorf(op.Loc.First(), "%s lacks %s", op.Def.Name, describeClause(spec)))
	}
	p.unexpected("%s of %s", describeClause(spec), op.Def.Name)
}

// bind lets the row type what the clause binds.
func (p *parser) bind(op *Op, i int, t token) {
	if op.Def.Bind == nil || p.poisoned(op) {
		return
	}
	if err := op.Def.Bind(op, i); err != nil {
		panic(p.rowError(t, op, err))
	}
}

func (p *parser) rowError(t token, op *Op, err error) *diag.Error {
	var e *diag.Error
	if errors.As(err, &e) {
		if !e.Pos.IsValid() {
			e.Pos, e.Len = p.pos(t), t.width
		}
		return e
	}
	return p.errorAt(t, "%s: %v", op.Def.Name, err)
}

// poisoned reports whether op uses a value that a fault left without a type.
func (p *parser) poisoned(op *Op) bool {
	if len(p.errs) == 0 {
		return false
	}
	found := false
	op.Values(func(v *Value) *Value {
		found = found || v.Type == nil
		return v
	})
	return found
}

// finish types the results of op and compares what is written.
func (p *parser) finish(op *Op, start token, names []token, declared []Type, nested bool) {
	if p.poisoned(op) {
		for _, n := range names {
			v := &Value{Name: n.text, Def: op}
			op.Results = append(op.Results, v)
			p.defineValue(p.scope, n, v)
		}
		if nested {
			op.Results = []*Value{{Name: p.freshName(), Def: op}}
		}
		return
	}
	err := Finish(op, declared, func(i int) string {
		if i < len(names) {
			return names[i].text
		}
		return p.freshName()
	})
	if err != nil {
		panic(p.rowError(start, op, err))
	}
	p.checkResults(op, start, names, declared, nested)
	for i, n := range names {
		p.defineValue(p.scope, n, op.Results[i])
	}
}

func (p *parser) checkResults(op *Op, start token, names []token, declared []Type, nested bool) {
	n := len(op.Results)
	switch {
	case nested && n != 1:
		panic(p.errorAt(start, "%s as an operand gives %d results", op.Def.Name, n).WithExpected("1"))
	case !nested && n != len(names):
		panic(p.errorAt(start, "%s gives %d results, but %d names stand before `=`", op.Def.Name, n, len(names)))
	case declared == nil:
		return
	case len(declared) != n:
		panic(p.errorAt(start, "%s gives %d results, but %d types are written", op.Def.Name, n, len(declared)))
	}
	for i, t := range declared {
		if got := op.Results[i].Type; !SameType(t, got) {
			panic(p.errorAt(start, "result %d of %s has type %s, but %s is written", i+1, op.Def.Name, got, t).
				WithFix("write %s", got))
		}
	}
}

// loc reads a location, the word `at` left out.
func (p *parser) loc() Loc {
	defer p.enter()()
	t := p.tok()
	switch {
	case t.kind == tokString:
		p.next()
		pos := diag.Pos{File: t.text}
		p.expect(":")
		pos.Line = p.smallInt()
		p.expect(":")
		pos.Col = p.smallInt()
		if pos.Line == 0 {
			panic(p.errorAt(t, "lines count from 1"))
		}
		return At(pos)
	case p.acceptWord("node"):
		return Loc{Node: p.expectKind(tokString, "the node's name as a string").text}
	case p.acceptWord("fused"):
		var l Loc
		p.brackets(func() { p.commas(func() { l.Fused = append(l.Fused, p.loc()) }) })
		return l
	}
	p.unexpected(`a location: "file":line:col, node "name" or fused[..]`)
	return Loc{}
}

func (p *parser) smallInt() int {
	t := p.tok()
	n := p.intLit()
	if n > 1<<31-1 {
		panic(p.errorAt(t, "%d is too large", n))
	}
	return int(n)
}
