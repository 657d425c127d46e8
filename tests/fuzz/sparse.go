package fuzz

import (
	"fmt"
	"strings"

	"tenon/internal/num"
	"tenon/ir/sym"
)

// pattern is a sparse structure in scope.
type pattern struct {
	name, id   string
	rows, cols sym.Expr
	format     string
	param      bool
	copyOf     string // has the entries of this pattern in the same order
}

func (p pattern) typ() string {
	return fmt.Sprintf("pattern<%s, %s, nnz#%s, %s>", p.rows, p.cols, p.id, p.format)
}

func (p pattern) edges() sym.Expr { return sym.NNZ(p.id) }

// sparseProgram makes funcs over patterns, edge tensors and encoded tensors.
func sparseProgram(g *gen, p *Program) {
	g.native = false
	g.someMonoids(1)
	for range g.IntN(3) {
		g.encoding()
	}
	for range 1 + g.IntN(1+g.size/3) {
		g.sparseFunc()
	}
}

func (g *gen) sparseFunc() {
	s := g.newFunc()
	s.makers = sparseMakers
	s.f.Keep = false
	for range 1 + g.IntN(2) {
		rows, cols := sym.Name(pick(g, s.f.dims)), sym.Name(pick(g, s.f.dims))
		id := g.fresh("s")
		s.pats = append(s.pats, pattern{name: "%" + id + "p", id: id, rows: rows, cols: cols, format: g.format(), param: true})
	}
	s.params()
	for _, p := range s.pats {
		for range g.IntN(2) {
			s.param(tval{name: g.fresh("%p"), elem: g.elem(), exact: true, dims: append([]sym.Expr{p.edges()}, s.shape(1)...)})
		}
	}
	for _, e := range g.encs {
		s.param(tval{name: g.fresh("%p"), elem: e.elem, dims: e.shape(s), enc: e.name})
	}
	for range 2 + g.IntN(2+g.size) {
		s.statement()
	}
	g.finishFunc(s)
}

var indexElems = []string{"i32", "i64"}

func (g *gen) format() string {
	switch g.IntN(5) {
	case 0:
		return "coo(" + pick(g, indexElems) + ")"
	case 1:
		return fmt.Sprintf("csc(%s, %s)", pick(g, indexElems), pick(g, indexElems))
	}
	return fmt.Sprintf("csr(%s, %s)", pick(g, indexElems), pick(g, indexElems))
}

// sparseMakers are the ops on patterns and encoded tensors, beside those of
// every func.
var sparseMakers []weighted[*scope]

func init() {
	sparseMakers = append([]weighted[*scope]{
		{"edges", 25, (*scope).edgeComp, true},
		{"rows", 25, (*scope).rowComp, true},
		{"transpose", 4, (*scope).transpose, true},
		{"convert", 4, (*scope).convert, true},
		{"coalesce", 3, (*scope).coalesce, true},
		{"same", 4, (*scope).samePattern, true},
		{"parts", 3, (*scope).parts, true},
		{"encoded", 3, (*scope).encoded, true},
	}, tensorMakers...)
}

// edgeComp gives an edge tensor.
func (s *scope) edgeComp() bool {
	if len(s.pats) == 0 {
		return false
	}
	p := pick(s.gen, s.pats)
	r := s.region(1)
	d := r.parAxes(append([]sym.Expr{p.edges()}, s.shape(1)...))
	d.par[0].plain = false
	i := axis{name: s.fresh("i"), extent: p.rows, plain: true, hi: extentOf(p.rows, s.env) - 1, deps: 1}
	j := axis{name: s.fresh("j"), extent: p.cols, plain: true, hi: extentOf(p.cols, s.env) - 1, deps: 1}
	r.axes = append(append(r.axes, i, j), d.par...)
	r.vals = s.scalars()
	texts := []string{fmt.Sprintf("%s < %s, %s:%s in %s[%s]", i.name, p.rows, j.name, d.par[0].name, p.name, i.name)}
	for _, a := range d.par[1:] {
		texts = append(texts, fmt.Sprintf("%s < %s", a.name, a.extent))
	}
	d.clauses = axesText("par", texts)
	s.wholeShape = true
	s.finishComp(r, d, nil)
	s.wholeShape = false
	return true
}

// rowComp is a comp whose first axis runs over the rows of a pattern, so that
// red axes may run over their entries.
func (s *scope) rowComp() bool {
	if len(s.pats) == 0 {
		return false
	}
	s.comp(append([]sym.Expr{pick(s.gen, s.pats).rows}, s.shape(1)...), nil)
	return true
}

// derived brings a pattern that an op makes into scope, with the map of its
// entries.
func (s *scope) derived(op string, q pattern, at tval) bool {
	if s.inner > 0 {
		return false // its nnz would leave the region that binds it
	}
	at.name, at.elem, at.exact = s.fresh("%t"), num.I64, true
	s.line("%s, %s = %s : %s, %s", q.name, at.name, op, q.typ(), at.typ())
	s.pats, s.vals = append(s.pats, q), append(s.vals, at)
	return true
}

func (s *scope) newPattern(rows, cols sym.Expr, format string) pattern {
	id := s.fresh("s")
	return pattern{name: "%" + id + "p", id: id, rows: rows, cols: cols, format: format}
}

func (s *scope) transpose() bool {
	if len(s.pats) == 0 {
		return false
	}
	p := pick(s.gen, s.pats)
	q, old := s.newPattern(p.cols, p.rows, s.format()), p.edges()
	return s.derived("tensor.pattern_transpose("+p.name+")", q, tval{dims: []sym.Expr{q.edges()}, bound: &old})
}

func (s *scope) convert() bool {
	if len(s.pats) == 0 {
		return false
	}
	p := pick(s.gen, s.pats)
	q, old := s.newPattern(p.rows, p.cols, s.format()), p.edges()
	if strings.HasPrefix(p.format, "csr") && strings.HasPrefix(q.format, "csr") {
		q.copyOf = p.id
	}
	return s.derived("tensor.pattern_convert("+p.name+")", q, tval{dims: []sym.Expr{q.edges()}, bound: &old})
}

func (s *scope) coalesce() bool {
	if len(s.pats) == 0 {
		return false
	}
	p := pick(s.gen, s.pats)
	q := s.newPattern(p.rows, p.cols, s.format())
	n := q.edges()
	return s.derived("tensor.coalesce("+p.name+")", q, tval{dims: []sym.Expr{p.edges()}, bound: &n})
}

// samePattern takes edge tensors of one pattern over to another that has the
// same entries; now and then to one that has not, which is a fault.
func (s *scope) samePattern() bool {
	for _, q := range s.pats {
		for _, p := range s.pats {
			if p.id == q.id || q.copyOf != p.id && !s.chance(30) {
				continue
			}
			for _, t := range s.vals {
				if len(t.dims) > 0 && !t.scalar && t.dims[0].Equal(q.edges()) {
					dims := append([]sym.Expr{p.edges()}, t.dims[1:]...)
					s.bind(fmt.Sprintf("tensor.same_pattern(%s, %s, %s)", p.name, q.name, t.name), tval{elem: t.elem, dims: dims, exact: t.exact})
					return true
				}
			}
		}
	}
	return false
}

// encoding is a way of storing that the module defines: parts lists the parts'
// types for a shape, group what the last dim is a multiple of.
type encoding struct {
	name  string
	elem  num.Elem
	rank  int
	group int64
	parts func(dims []sym.Expr) []tval
}

// shape is a shape that the encoding can store.
func (e encoding) shape(s *scope) []sym.Expr {
	var dims []sym.Expr
	for i := range e.rank {
		d := sym.Name(s.f.dims[i%len(s.f.dims)])
		if i == e.rank-1 {
			d = sym.Mul(sym.Const(e.group), d)
		}
		dims = append(dims, d)
	}
	return dims
}

// encoding adds an encoding to the module: integers with a scale a group, two
// codebooks, packed nibbles, or one factor for all.
func (g *gen) encoding() {
	name := g.fresh("enc")
	k := int64(2 + g.IntN(3))
	over := func(e sym.Expr) sym.Expr { return sym.FloorDiv(e, sym.Const(k)) }
	e := encoding{name: name, elem: pick(g, []num.Elem{num.F32, num.F64}), rank: 2, group: k}
	text := ""
	switch g.IntN(4) {
	case 0:
		text = `encoding @NAME<N, K> of E where(declared K mod G == 0) {
  part %q: i8[N, K]; part %s: f16[N, K//G]
  decode(n, k) { %w = tensor.comp red(c < 1) in(%a = %q[n, k], %b = %s[n, k//G]) { yield(mul(cast(%a): E, cast(%b): E)) } by sum(E) : E
    yield(%w) } }`
		e.parts = func(d []sym.Expr) []tval {
			return []tval{{elem: num.I8, dims: d}, {elem: num.F16, dims: []sym.Expr{d[0], over(d[1])}}}
		}
	case 1:
		text = `encoding @NAME<N, K> of E where(declared K mod G == 0) {
  part %codes: u8[N, K//G, 2]; part %books: bf16[2, 16, G]
  decode(n, k) { %w = tensor.comp red(c < 2) in(%q = %codes[n, k//G, c], %b = %books[c, %q, k mod G] clamp) {
      yield(cast(%b): E) } by sum(E) : E; yield(%w) } }`
		e.parts = func(d []sym.Expr) []tval {
			return []tval{{elem: num.U8, dims: []sym.Expr{d[0], over(d[1]), sym.Const(2)}}, {elem: num.BF16, dims: []sym.Expr{sym.Const(2), sym.Const(16), sym.Const(k)}}}
		}
	case 2:
		k, e.group = 2, 2
		text = `encoding @NAME<N, K> of E where(declared K mod 2 == 0) {
  part %q: u8[N, K//2]
  decode(n, k) { %w = tensor.comp red(c < 1) in(%a = %q[n, k//2]) {
      %s = shl(idx(k mod 2): u8, 2: u8); %v = and(shr(%a, %s), 15: u8); yield(sub(cast(%v): E, 8.0: E)) } by sum(E) : E
    yield(%w) } }`
		e.parts = func(d []sym.Expr) []tval {
			return []tval{{elem: num.U8, dims: []sym.Expr{d[0], over(d[1])}}}
		}
	case 3:
		e.rank, e.group = 1, 1
		text = `encoding @NAME<N> of E { part %q: bf16[N]; part %s: E[]
  decode(n) { %w = tensor.comp red(c < 1) in(%a = %q[n], %b = %s[]) { yield(mul(cast(%a): E, %b)) } by sum(E) : E
    yield(%w) } }`
		el := e.elem
		e.parts = func(d []sym.Expr) []tval { return []tval{{elem: num.BF16, dims: d}, {elem: el}} }
	}
	text = strings.NewReplacer("NAME", name, ": E[", ": "+e.elem.String()+"[", "sum(E)", "sum("+e.elem.String()+")", "of E", "of "+e.elem.String(), ": E", ": "+e.elem.String(), "G", fmt.Sprint(k)).Replace(text)
	g.items = append(g.items, text)
	g.encs = append(g.encs, e)
}

func (s *scope) encodedValue() (tval, encoding, bool) {
	for _, t := range s.vals {
		for _, e := range s.encs {
			if t.enc == e.name && t.enc != "" {
				return t, e, true
			}
		}
	}
	return tval{}, encoding{}, false
}

// parts takes an encoded tensor apart.
func (s *scope) parts() bool {
	t, e, ok := s.encodedValue()
	if ok {
		s.bind("tensor.parts("+t.name+")", e.parts(t.dims)...)
	}
	return ok
}

// encoded puts one together.
func (s *scope) encoded() bool {
	if len(s.encs) == 0 || s.inner > 0 {
		return false
	}
	e := pick(s.gen, s.encs)
	dims := e.shape(s)
	var names []string
	for _, p := range e.parts(dims) {
		names = append(names, s.tensorOf(p.elem, p.dims).name)
	}
	s.bind(fmt.Sprintf("tensor.encoded(%s)", strings.Join(names, ", ")), tval{elem: e.elem, dims: dims, enc: e.name})
	return true
}
