package ir

import (
	"fmt"

	"tenon/internal/diag"
)

// Limits of the parser: a text that exceeds them is refused, not misread.
const (
	maxParseErrors = 20  // reported in one run
	maxNesting     = 250 // regions, parentheses and nested operands together
)

// Parse reads the text form of a module. The error is a diag.List with every
// fault found; the module is nil then. Ops must be registered (importing
// tenon/ir/ops does that).
func Parse(file, text string) (*Module, error) {
	toks, errs := lex(file, text)
	p := newParser(file, toks, errs)
	p.run()
	if len(p.errs) > 0 {
		return nil, p.errs.Err()
	}
	return p.mod, nil
}

// parser reads tokens by recursive descent. A syntax fault is a panic with a
// *diag.Error that the op or item around it recovers; parsing goes on behind
// it. Values whose op failed have no type (nil), and ops that use one are not
// typed, so that a fault is reported once.
type parser struct {
	file    string
	toks    []token
	i       int
	errs    diag.List
	mod     *Module
	scope   *scope
	into    *Region // where the ops of nested operands go
	depth   int     // nesting of everything
	lexical int     // how many of errs the lexer found
	nest    int     // open parentheses and brackets: line breaks are free inside

	items     map[string]Item
	encodings map[string]*Encoding // by name, made at the first mention
	encUses   map[string]token     // the first mention
	bodies    []func()             // regions of items, read after all headers
	taken     map[string]bool      // every %name of the text
	fresh     int
	words     map[string]bool // clause words: they continue an op on a new line
}

// tooMany ends a run with too many errors.
type tooMany struct{}

func newParser(file string, toks []token, errs diag.List) *parser {
	p := &parser{file: file, toks: toks, errs: errs, lexical: len(errs), mod: &Module{}, scope: &scope{},
		items: map[string]Item{}, encodings: map[string]*Encoding{}, encUses: map[string]token{},
		taken: map[string]bool{}, words: clauseWords()}
	for _, t := range toks {
		if t.kind == tokValue {
			p.taken[t.text] = true
		}
	}
	return p
}

func (p *parser) run() {
	defer func() {
		if r := recover(); r != nil {
			if _, ok := r.(tooMany); !ok {
				panic(r)
			}
		}
	}()
	p.attempt(p.header, p.skipItem)
	for p.tok().kind != tokEOF {
		if p.accept(";") {
			continue
		}
		p.attempt(p.item, p.skipItem)
	}
	end := p.i
	for _, body := range p.bodies {
		p.fresh = 0
		p.attempt(body, func() {})
	}
	p.i = end
	p.unknownEncodings()
}

// attempt runs f; after a syntax fault in it, it restores the state and calls
// skip, which must move on.
func (p *parser) attempt(f, skip func()) {
	scope, into, depth, nest, before := p.scope, p.into, p.depth, p.nest, p.i
	defer func() {
		r := recover()
		if r == nil {
			return
		}
		e, ok := r.(*diag.Error)
		if !ok {
			panic(r)
		}
		p.report(e)
		open := p.nest - nest
		p.scope, p.into, p.depth, p.nest = scope, into, depth, nest
		if p.i == before && p.tok().kind != tokEOF {
			p.i++
		}
		p.nest = open
		skip()
		p.nest = nest
	}()
	f()
}

// report records a fault that parsing survives. What follows from a faulty
// lexeme on the same line, or is known already, is left out.
func (p *parser) report(e *diag.Error) {
	for i, old := range p.errs {
		if e.Pos == old.Pos && e.Msg == old.Msg || i < p.lexical && e.Pos.Line == old.Pos.Line {
			return
		}
	}
	p.errs = append(p.errs, e)
	if len(p.errs) >= maxParseErrors {
		panic(tooMany{})
	}
}

func (p *parser) pos(t token) diag.Pos { return diag.Pos{File: p.file, Line: t.line, Col: t.col} }

// errorAt makes a fault at t; the caller reports it or panics with it.
func (p *parser) errorAt(t token, format string, args ...any) *diag.Error {
	e := diag.Errorf(p.pos(t), format, args...)
	e.Len = t.width
	return e
}

// unexpected ends the op or item in hand.
func (p *parser) unexpected(expected string, args ...any) {
	panic(p.errorAt(p.tok(), "unexpected %s", p.tok()).WithExpected(expected, args...))
}

func (p *parser) tok() token  { return p.toks[p.i] }
func (p *parser) peek() token { return p.toks[min(p.i+1, len(p.toks)-1)] }
func (p *parser) prev() token { return p.toks[max(p.i-1, 0)] }

func (p *parser) next() token {
	t := p.toks[p.i]
	if p.i < len(p.toks)-1 {
		p.i++
	}
	return t
}

func (p *parser) at(punct string) bool { return p.tok().is(punct) }

func (p *parser) accept(punct string) bool {
	if p.at(punct) {
		p.next()
		return true
	}
	return false
}

func (p *parser) acceptWord(w string) bool {
	if p.tok().isWord(w) {
		p.next()
		return true
	}
	return false
}

func (p *parser) expect(punct string) token {
	if !p.at(punct) {
		p.unexpected("`%s`", punct)
	}
	return p.next()
}

func (p *parser) expectWord(w string) token {
	if !p.tok().isWord(w) {
		p.unexpected("`%s`", w)
	}
	return p.next()
}

func (p *parser) expectKind(k tokenKind, what string) token {
	if p.tok().kind != k {
		p.unexpected("%s", what)
	}
	return p.next()
}

// enter counts one level of nesting; leave it with `defer p.enter()()`.
func (p *parser) enter() func() {
	p.depth++
	if p.depth > maxNesting {
		panic(p.errorAt(p.tok(), "nested more than %d deep", maxNesting).WithFix("name the inner parts"))
	}
	return func() { p.depth-- }
}

// parens reads "(" f ")"; brackets reads "[" f "]". Line breaks are free inside.
func (p *parser) parens(f func())   { p.between("(", ")", f) }
func (p *parser) brackets(f func()) { p.between("[", "]", f) }

func (p *parser) between(open, end string, f func()) {
	defer p.enter()()
	p.expect(open)
	p.nest++
	f()
	p.expect(end)
	p.nest--
}

// list reads one or more f separated by commas; end closes an empty list.
func (p *parser) list(end string, f func()) {
	if p.at(end) {
		return
	}
	p.commas(f)
}

func (p *parser) commas(f func()) {
	f()
	for p.accept(",") {
		f()
	}
}

// breaks reports whether a line break ends the op before the current token.
func (p *parser) breaks() bool {
	t := p.tok()
	return p.nest == 0 && t.nl && !p.prev().is(",")
}

// scope is what is visible in a region, beside what its parent shows.
type scope struct {
	parent *scope
	values map[string]*Value
	syms   map[string]bool
	lines  map[string]int // where a name was bound, for messages
	exdims map[string]bool
}

func (s *scope) value(name string) *Value {
	for ; s != nil; s = s.parent {
		if v := s.values[name]; v != nil {
			return v
		}
	}
	return nil
}

func (s *scope) sym(name string) bool {
	for ; s != nil; s = s.parent {
		if s.syms[name] {
			return true
		}
	}
	return false
}

// boundAt is the line where key ("%x" or "i") was bound.
func (s *scope) boundAt(key string) int {
	for ; s != nil; s = s.parent {
		if n := s.lines[key]; n > 0 {
			return n
		}
	}
	return 0
}

// isExDim reports whether name is a dim of the function that waits for the op
// that binds it.
func (s *scope) isExDim(name string) bool {
	for ; s != nil; s = s.parent {
		if s.exdims[name] {
			return true
		}
	}
	return false
}

func (s *scope) note(key string, line int) {
	if s.lines == nil {
		s.lines = map[string]int{}
	}
	s.lines[key] = line
}

// inScope runs f in a new scope.
func (p *parser) inScope(f func()) {
	p.scope = &scope{parent: p.scope}
	f()
	p.scope = p.scope.parent
}

// defineValue binds a %name at t; a name that is visible is not rebound.
func (p *parser) defineValue(s *scope, t token, v *Value) {
	if s.value(t.text) != nil {
		p.report(p.rebound(t, "%"+t.text))
	}
	if s.values == nil {
		s.values = map[string]*Value{}
	}
	s.values[t.text] = v
	s.note("%"+t.text, t.line)
}

// defineSym binds a symbolic integer.
func (p *parser) defineSym(s *scope, t token) string {
	if s.sym(t.text) {
		p.report(p.rebound(t, t.text))
	}
	if s.syms == nil {
		s.syms = map[string]bool{}
	}
	s.syms[t.text] = true
	s.note(t.text, t.line)
	return t.text
}

func (p *parser) rebound(t token, name string) *diag.Error {
	e := p.errorAt(t, "%s is bound already", name).WithFix("choose another name")
	if n := p.scope.boundAt(name); n > 0 {
		e.Expected = fmt.Sprintf("a name not visible here; %s was bound on line %d", name, n)
	}
	return e
}

// useValue reads a %name that must be visible.
func (p *parser) useValue() *Value {
	t := p.expectKind(tokValue, "a value such as %x")
	v := p.scope.value(t.text)
	if v == nil {
		p.report(p.errorAt(t, "%%%s is not defined here", t.text).
			WithExpected("a value bound earlier, in this region or one around it"))
		v = &Value{Name: t.text}
		p.defineValue(p.scope, t, v)
	}
	return v
}

// freshName is a value name that the text does not use; they start anew in each
// item.
func (p *parser) freshName() string {
	for {
		p.fresh++
		name := fmt.Sprintf("t%d", p.fresh)
		if !p.taken[name] {
			return name
		}
	}
}
