package fuzz

import (
	"fmt"
	"slices"
	"strings"

	"tenon/internal/num"
	"tenon/ir/sym"
)

// tensorProgram makes a module of funcs that may call each other.
func tensorProgram(g *gen, p *Program) {
	g.someMonoids(2)
	for range 1 + g.IntN(1+g.size/2) {
		g.tensorFunc()
	}
}

// newFunc starts a func of the tensor level with some dims.
func (g *gen) newFunc() *scope {
	f := &FuncInfo{Name: g.fresh("f"), Roles: map[string]Role{}, Keep: true}
	f.dims = append([]string{}, dimNames[:1+g.IntN(3)]...)
	s := &scope{gen: g, f: f, out: &strings.Builder{}, known: map[string]bool{}, makers: tensorMakers}
	f.Sizes = []map[string]int64{g.drawSizes(f.dims)}
	f.Sizes = append(f.Sizes, g.otherSizes(f.Sizes[0]))
	s.env = map[string]int64{}
	for k, v := range f.Sizes[0] {
		s.env[k] = v
	}
	return s
}

// tensorFunc writes one func of the tensor level.
func (g *gen) tensorFunc() {
	s := g.newFunc()
	s.params()
	for range 1 + g.IntN(2+g.size) {
		s.statement()
	}
	g.finishFunc(s)
}

// params declares parameters such that each dim is bound.
func (s *scope) params() {
	bound := map[string]bool{}
	for i := range 1 + s.IntN(3) {
		t := tval{name: s.fresh("%p"), elem: s.elem(), exact: true}
		for range s.IntN(4) {
			t.dims = append(t.dims, s.newDim(s.f.dims))
		}
		if i == 0 || s.chance(3) {
			t.dims = t.dims[:min(2, len(t.dims))]
			for _, d := range s.f.dims {
				if !bound[d] {
					t.dims = append(t.dims, sym.Name(d))
					bound[d] = true
				}
			}
		}
		s.param(t)
	}
	if s.chance(3) {
		s.param(tval{name: s.fresh("%p"), elem: s.elem(), exact: true, scalar: true})
	}
	if s.chance(3) {
		s.indexParam(s.dim(), []sym.Expr{s.dim()})
	}
	if s.chance(8) {
		d := sym.Name(pick(s.gen, s.f.dims))
		n, _ := eval(d, s.env)
		s.f.where = append(s.f.where, sym.Ge(d, sym.Const(min(n, 1+s.Int64N(2)))))
	}
}

func (s *scope) param(t tval) {
	s.f.parms = append(s.f.parms, t)
	s.vals = append(s.vals, t)
}

// indexParam declares integers that index a dim.
func (s *scope) indexParam(dim sym.Expr, shape []sym.Expr) {
	t := tval{name: s.fresh("%p"), elem: pick(s.gen, []num.Elem{num.I64, num.I32, num.I16, num.U8, num.Index}), exact: true, bound: &dim, dims: shape}
	s.f.Roles[t.name[1:]] = Role{Bound: dim, Stray: s.chance(12)}
	s.f.Keep = false
	s.param(t)
}

// finishFunc writes the return and the header.
func (g *gen) finishFunc(s *scope) {
	var rets []tval
	for range 1 + g.IntN(3) {
		// The later values are those that hang on the others.
		n := len(s.vals)
		t := s.vals[n-1-g.IntN(min(n, 4))]
		if !t.scalar && t.enc == "" && s.returnable(t.dims) {
			rets = append(rets, t)
		}
	}
	if len(rets) == 0 {
		s.wholeShape = true
		rets = s.comp(s.shape(2), nil)
	}
	s.f.rets = rets
	g.items = append(g.items, s.header()+" {\n"+s.out.String()+"return("+names(rets)+")\n}")
	g.funcs = append(g.funcs, s.f)
}

// returnable: the edges of a pattern made inside have no name outside.
func (s *scope) returnable(dims []sym.Expr) bool {
	for _, d := range dims {
		if id, ok := d.IsNNZ(); ok && !slices.ContainsFunc(s.pats, func(p pattern) bool { return p.id == id && p.param }) {
			return false
		}
	}
	return true
}

func names(ts []tval) string {
	var parts []string
	for _, t := range ts {
		parts = append(parts, t.name)
	}
	return strings.Join(parts, ", ")
}

func (s *scope) header() string {
	var ps, rs, ex []string
	for _, p := range s.pats {
		if p.param {
			ps = append(ps, p.name+": "+p.typ())
		}
	}
	for _, p := range s.f.parms {
		ps = append(ps, p.name+": "+p.typ())
	}
	for _, r := range s.f.rets {
		rs = append(rs, r.typ())
		for _, d := range r.dims {
			for _, n := range d.Names() {
				if s.known[n] && !slices.Contains(ex, n) {
					ex = append(ex, n)
				}
			}
		}
	}
	s.f.exdims = ex
	dims := strings.Join(s.f.dims, ", ")
	if len(ex) > 0 {
		dims += "; " + strings.Join(ex, ", ")
	}
	if dims != "" {
		dims = "<" + dims + ">"
	}
	return fmt.Sprintf("func tensor @%s%s(%s) -> (%s)%s", s.f.Name, dims, strings.Join(ps, ", "), strings.Join(rs, ", "), s.f.facts())
}

// facts is the where clause.
func (f *FuncInfo) facts() string {
	if len(f.where) == 0 {
		return ""
	}
	var facts []string
	for _, c := range f.where {
		facts = append(facts, "declared "+c.String())
	}
	return " where(" + strings.Join(facts, ", ") + ")"
}

// statement writes some op of the tensor level.
func (s *scope) statement() bool {
	list := s.makers
	if s.inner >= 2 {
		list = tensorMakers[:flatMakers]
	}
	return choose(s.gen, list, s)
}

// tensorMakers are the ops of the tensor level; those without a region first.
// A new op is one more row.
var tensorMakers []weighted[*scope]

const flatMakers = 11

func init() {
	tensorMakers = []weighted[*scope]{
		{"comp", 30, func(s *scope) bool { s.comp(s.shape(3), nil); return true }, false},
		{"reshape", 3, (*scope).reshape, false},
		{"concat", 3, (*scope).concat, false},
		{"scatter", 3, (*scope).scatter, true},
		{"sort", 2, (*scope).sort, true},
		{"topk", 2, (*scope).topk, true},
		{"nonzero", 2, (*scope).nonzero, true},
		{"unique", 2, (*scope).uniques, true},
		{"plan", 2, (*scope).plan, false},
		{"check", 1, (*scope).check, false},
		{"data", 1, (*scope).data, true},
		{"call", 4, (*scope).call, false},
		{"for", 3, (*scope).loop, false},
		{"if", 2, (*scope).branch, false},
		{"choose", 2, (*scope).variants, true},
	}
}
