package ir

import (
	"slices"
	"sort"

	"tenon/internal/num"
)

// header reads `tenon ir 1`.
func (p *parser) header() {
	if !p.tok().isWord("tenon") {
		p.unexpected("`tenon ir %d`, the first line of a module", Version)
	}
	p.next()
	p.expectWord("ir")
	t := p.tok()
	if v := p.intLit(); v != Version {
		panic(p.errorAt(t, "the text form has version %d", v).WithExpected("%d, the one this program reads", Version))
	}
}

// itemParsers read an item whose keyword is t and already read.
var itemParsers map[string]func(p *parser, t token)

func init() {
	itemParsers = map[string]func(*parser, token){
		"func": (*parser).funcItem, "proc": (*parser).funcItem, "monoid": (*parser).monoidItem,
		"encoding": (*parser).encodingItem, "kernel": (*parser).kernelItem, "grid": (*parser).gridItem,
		"data": (*parser).dataItem, "extern": (*parser).externItem,
	}
}

const itemWords = "func, proc, monoid, encoding, kernel, grid, data or extern"

func (p *parser) item() {
	t := p.tok()
	f := itemParsers[t.text]
	if t.kind != tokWord || f == nil {
		p.unexpected("%s", itemWords)
	}
	p.next()
	p.inScope(func() { f(p, t) })
	if t := p.tok(); t.kind != tokEOF && !t.nl && !p.at(";") {
		p.unexpected("the end of the item: a line break or `;`")
	}
}

// skipItem moves to the next line that starts an item, outside braces.
func (p *parser) skipItem() {
	for p.tok().kind != tokEOF {
		t := p.tok()
		if t.nl && t.kind == tokWord && itemParsers[t.text] != nil {
			return
		}
		p.next()
	}
}

// add puts an item into the module; a name taken is reported.
func (p *parser) add(t token, it Item) {
	if p.items[t.text] != nil {
		p.report(p.errorAt(t, "@%s is defined twice", t.text).WithFix("rename one of the two"))
		return
	}
	p.items[t.text] = it
	p.mod.Items = append(p.mod.Items, it)
}

func (p *parser) itemName() token { return p.expectKind(tokItem, "the item's name, such as @f") }

// later postpones the region at the current token until all headers are read,
// and skips it.
func (p *parser) later(r *Region) {
	at, sc := p.i, p.scope
	p.bodies = append(p.bodies, func() {
		p.i, p.scope = at, &scope{parent: sc}
		p.region(r)
	})
	p.skipRegion()
}

func (p *parser) skipRegion() {
	open := p.expect("{")
	for n := 1; n > 0; {
		t := p.tok()
		switch {
		case t.kind == tokEOF:
			panic(p.errorAt(t, "a region is not closed").WithExpected("`}` for the `{` on line %d", open.line))
		case t.is("{"):
			n++
		case t.is("}"):
			n--
		}
		p.next()
	}
}

func (p *parser) funcItem(kw token) {
	level := p.expectKind(tokWord, "the function's level, such as tensor")
	if SpecOf(Level(level.text)) == nil {
		p.report(p.errorAt(level, "unknown level %s", level.text).WithExpected("tensor, tile, loop, vec, dist or gpu"))
	}
	name := p.itemName()
	f := &Func{IsProc: kw.text == "proc", Level: Level(level.text), Name: name.text, Loc: At(p.pos(kw)), Body: &Region{}}
	if p.at("<") {
		p.dims(&f.Dims, &f.ExDims)
	}
	f.Params = p.params(f.IsProc)
	if !f.IsProc {
		p.expect("->")
		f.Results = p.results()
	}
	at := p.tok()
	if at.isWord("where") {
		f.Where = p.where()
		p.prove(at, f.Dims, f.Params, f.Where)
	}
	if p.acceptWord("directives") {
		f.Directives = p.directiveList()
	}
	f.Loc = p.itemLoc(f.Loc)
	p.add(name, f)
	p.later(f.Body)
}

// itemLoc reads an item's `at loc`, if it is there.
func (p *parser) itemLoc(l Loc) Loc {
	if p.acceptWord("at") {
		return p.loc()
	}
	return l
}

// dims reads <N, ..; P, ..>; ex is nil where existentials have no place.
func (p *parser) dims(dims, ex *[]string) {
	p.expect("<")
	if !p.at(";") && !p.at(">") {
		p.commas(func() { *dims = append(*dims, p.defineSym(p.scope, p.expectKind(tokWord, "a dim's name"))) })
	}
	if ex != nil && p.accept(";") {
		p.commas(func() { *ex = append(*ex, p.exDimName()) })
	}
	p.expect(">")
}

func (p *parser) exDimName() string {
	t := p.expectKind(tokWord, "a dim's name")
	if p.scope.sym(t.text) || p.scope.isExDim(t.text) {
		p.report(p.rebound(t, t.text))
	}
	if p.scope.exdims == nil {
		p.scope.exdims = map[string]bool{}
	}
	p.scope.exdims[t.text] = true
	return t.text
}

var modes = map[string]Mode{"in": ModeIn, "out": ModeOut, "inout": ModeInOut}

func (p *parser) params(moded bool) []*Param {
	var ps []*Param
	p.parens(func() { p.list(")", func() { ps = append(ps, p.param(moded)) }) })
	return ps
}

func (p *parser) param(moded bool) *Param {
	q := &Param{Mode: ModeIn}
	if moded {
		t := p.expectKind(tokWord, "in, out or inout")
		m, ok := modes[t.text]
		if !ok {
			panic(p.errorAt(t, "unknown mode %s", t.text).WithExpected("in, out or inout"))
		}
		q.Mode = m
	}
	q.Const = p.acceptWord("const")
	t := p.expectKind(tokValue, "a parameter such as %x: f32[N]")
	p.expect(":")
	q.Value = &Value{Name: t.text, Type: p.typ()}
	p.defineValue(p.scope, t, q.Value)
	return q
}

func (p *parser) results() []Result {
	var rs []Result
	p.parens(func() {
		p.list(")", func() {
			if p.tok().kind == tokValue {
				name := p.next().text
				p.expect(":")
				rs = append(rs, Result{Name: name, Type: p.typ()})
				return
			}
			for _, t := range p.repeatedType() {
				rs = append(rs, Result{Type: t})
			}
		})
	})
	return rs
}

func (p *parser) monoidItem(kw token) {
	name := p.itemName()
	m := &Monoid{Name: name.text, Loc: At(p.pos(kw))}
	p.parens(func() {
		p.commas(func() { m.Params = append(m.Params, p.param(false).Value) })
	})
	for p.tok().isWord("assoc", "comm") {
		if p.next().text == "assoc" {
			m.Assoc = true
		} else {
			m.Comm = true
		}
	}
	m.Loc = p.itemLoc(m.Loc)
	p.add(name, m)
	at, params := p.i, p.scope
	p.bodies = append(p.bodies, func() {
		p.i = at
		p.monoidBody(m, params)
	})
	p.skipRegion()
}

// monoidBody reads what stands in the braces. The components' names are
// visible in base and over only.
func (p *parser) monoidBody(m *Monoid, params *scope) {
	p.expect("{")
	if p.acceptWord("identity") {
		m.Identity = p.freeRegion(nil, nil)
		p.expectWord("combine")
		m.CombineParams, m.Combine = p.paramRegion(slices.Concat(m.Params, m.Params))
	} else if p.acceptWord("base") {
		p.scope = params
		m.Base = p.monoidUse()
		p.expectWord("over")
		m.Over = p.monoidUse()
		p.expectWord("act")
		m.ActParams, m.Act = p.paramRegion(slices.Concat(m.Over.Params, m.Base.Params, m.Base.Params))
	} else {
		p.unexpected("`identity` (a plain monoid) or `base` (a rescaled one)")
	}
	for p.accept(";") {
	}
	p.expect("}")
}

// freeRegion reads a region that sees nothing but the given values.
func (p *parser) freeRegion(names []token, vs []*Value) *Region {
	r, outer := &Region{}, p.scope
	p.scope = &scope{}
	for i, t := range names {
		p.defineValue(p.scope, t, vs[i])
	}
	p.region(r)
	p.scope = outer
	return r
}

// paramRegion reads (%a, ..) { .. }; the parameters have the types of like.
func (p *parser) paramRegion(like []*Value) ([]*Value, *Region) {
	var names []token
	var vs []*Value
	at := p.tok()
	p.parens(func() {
		p.list(")", func() {
			t := p.expectKind(tokValue, "a parameter such as %a")
			v := &Value{Name: t.text}
			if len(vs) < len(like) {
				v.Type = like[len(vs)].Type
			}
			names, vs = append(names, t), append(vs, v)
		})
	})
	if len(vs) != len(like) {
		panic(p.errorAt(at, "%d parameters stand here", len(vs)).WithExpected("%d", len(like)))
	}
	return vs, p.freeRegion(names, vs)
}

func (p *parser) monoidUse() *MonoidUse {
	u, t := &MonoidUse{}, p.tok()
	var item *Monoid
	if t.kind == tokItem {
		item = p.monoidRef()
	} else {
		p.expectKind(tokWord, "a monoid: @name, or a built-in such as sum")
	}
	p.parens(func() { p.commas(func() { u.Params = append(u.Params, p.useValue()) }) })
	if u.Monoid = item; item != nil {
		return u
	}
	var elems []num.Elem
	for _, v := range u.Params {
		elems = append(elems, ElemOf(v.Type))
	}
	if !isPairMonoid(t.text) {
		elems = elems[:1] // applied to each
	}
	u.Monoid = p.builtin(t, elems)
	return u
}

func (p *parser) encodingItem(kw token) {
	name := p.itemName()
	e := p.encodingNamed(name.text)
	e.Loc = At(p.pos(kw))
	if p.at("<") {
		p.dims(&e.Dims, nil)
	}
	p.expectWord("of")
	e.Elem = p.elem()
	if at := p.tok(); at.isWord("where") {
		e.Where = p.where()
		p.prove(at, e.Dims, nil, e.Where)
	}
	e.Loc = p.itemLoc(e.Loc)
	p.add(name, e)
	p.expect("{")
	for !p.tok().isWord("decode") {
		if p.accept(";") {
			continue
		}
		if !p.tok().isWord("part") {
			p.unexpected("`part` or `decode`")
		}
		p.next()
		e.Parts = append(e.Parts, p.param(false))
	}
	p.next()
	var subs []token
	p.parens(func() { p.list(")", func() { subs = append(subs, p.expectKind(tokWord, "a subscript's name")) }) })
	for _, t := range subs {
		e.Subs = append(e.Subs, p.defineSym(p.scope, t))
	}
	e.Decode = &Region{}
	p.later(e.Decode)
	for p.accept(";") {
	}
	p.expect("}")
}

func (p *parser) kernelItem(kw token) {
	name := p.itemName()
	k := &Kernel{Name: name.text, Loc: At(p.pos(kw)), Meaning: &Region{}}
	if p.at("<") {
		p.dims(&k.Dims, nil)
	}
	p.expectWord("tile")
	p.parens(func() { p.commas(func() { k.Tile = append(k.Tile, p.intLit()) }) })
	p.expectWord("needs")
	p.parens(func() {
		p.list(")", func() { k.Needs = append(k.Needs, p.expectKind(tokString, "a target feature as a string").text) })
	})
	p.expectWord("cost")
	k.Cost = p.itemName().text
	p.expectWord("body")
	k.Body = p.itemName().text
	k.Params = p.params(true)
	k.Loc = p.itemLoc(k.Loc)
	p.add(name, k)
	p.later(k.Meaning)
}

func (p *parser) gridItem(token) {
	name := p.itemName()
	g := &Grid{Name: name.text}
	p.parens(func() {
		p.commas(func() { g.Axes = append(g.Axes, p.defineSym(p.scope, p.expectKind(tokWord, "a grid axis"))) })
	})
	p.add(name, g)
}

func (p *parser) externItem(kw token) {
	name := p.itemName()
	what := p.expectKind(tokWord, "what it is: cost or sizes")
	p.add(name, &Extern{Name: name.text, What: what.text, Loc: At(p.pos(kw))})
}

func (p *parser) dataItem(kw token) {
	name := p.itemName()
	d := &Data{Name: name.text, Loc: At(p.pos(kw))}
	p.expect(":")
	d.Type = p.typ()
	p.expect("=")
	if p.acceptWord("file") {
		d.File = p.expectKind(tokString, "a file name").text
		p.expectWord("key")
		d.Key = p.expectKind(tokString, "a key in the file").text
	} else {
		e := ElemOf(d.Type)
		d.List = []Literal{}
		p.brackets(func() {
			p.list("]", func() {
				t := p.tok()
				d.List = append(d.List, p.typedLiteral(t, p.literal(), e))
			})
		})
	}
	p.add(name, d)
}

// unknownEncodings reports the encodings that are named but not defined.
func (p *parser) unknownEncodings() {
	var names []string
	for name := range p.encUses {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		if _, ok := p.items[name].(*Encoding); !ok {
			p.report(p.errorAt(p.encUses[name], "there is no encoding @%s in this module", name))
		}
	}
}
