package fuzz

import (
	"fmt"
	"strings"

	"tenon/internal/num"
	"tenon/ir/sym"
)

// scope is a region of values at the tensor level.
type scope struct {
	*gen
	f     *FuncInfo
	out   *strings.Builder
	vals  []tval
	pats  []pattern
	axes  []axis // indices of the loops around
	env   map[string]int64
	known map[string]bool // existential dims in scope
	inner int             // regions around

	makers     []weighted[*scope]
	wholeShape bool // of comps: results have all axes, in order
}

func (s *scope) line(format string, args ...any) { fmt.Fprintf(s.out, format+"\n", args...) }

func (s *scope) region(points int64) *region {
	return &region{gen: s.gen, out: &strings.Builder{}, axes: append([]axis{}, s.axes...), tensors: s.readable(), env: s.env, cost: points}
}

func (s *scope) readable() []tval {
	var ts []tval
	for _, t := range s.vals {
		if !t.scalar {
			ts = append(ts, t)
		}
	}
	return ts
}

// scalars are the scalar parameters in scope, as a region sees them.
func (s *scope) scalars() []sval {
	var vs []sval
	for _, t := range s.vals {
		if t.scalar {
			vs = append(vs, sval{text: t.name, elem: t.elem, exact: t.exact})
		}
	}
	return vs
}

// dim is an extent that makes sense here.
func (s *scope) dim() sym.Expr {
	var dims []sym.Expr
	for _, t := range s.vals {
		for _, d := range t.dims {
			if _, edge := d.IsNNZ(); !edge {
				dims = append(dims, d)
			}
		}
	}
	if len(dims) > 0 && !s.chance(4) {
		return pick(s.gen, dims)
	}
	return s.newDim(s.f.dims)
}

// newDim is an expression over the names, never negative.
func (g *gen) newDim(names []string) sym.Expr {
	if len(names) == 0 || g.chance(6) {
		return sym.Const(pick(g, []int64{0, 1, 1, 2, 3, 4}))
	}
	n := sym.Name(pick(g, names))
	switch g.IntN(8) {
	case 0:
		return sym.Add(n, sym.Const(1+g.Int64N(2)))
	case 1:
		return sym.FloorDiv(sym.Add(n, sym.Const(1)), sym.Const(2))
	case 2:
		return sym.Mul(sym.Const(2), n)
	case 3:
		return sym.Max(sym.Const(0), sym.Add(n, sym.Const(-1)))
	case 4:
		return sym.Min(n, sym.Const(3))
	}
	return n
}

func (s *scope) shape(maxRank int) []sym.Expr {
	var dims []sym.Expr
	points := int64(1)
	for range s.IntN(maxRank + 1) {
		d := s.dim()
		if n := max(1, extentOf(d, s.env)); points*n <= 600 {
			dims, points = append(dims, d), points*n
		}
	}
	return dims
}

// bind brings results into scope and writes the op that gives them.
func (s *scope) bind(op string, results ...tval) []tval {
	var names, types []string
	for i := range results {
		if results[i].name == "" {
			results[i].name = s.fresh("%t")
		}
		names, types = append(names, results[i].name), append(types, results[i].typ())
	}
	s.line("%s = %s : %s", strings.Join(names, ", "), op, strings.Join(types, ", "))
	s.vals = append(s.vals, results...)
	return results
}

// comp writes a comp that gives tensors of the given shape and types; with no
// types any, from a reduction or not.
func (s *scope) comp(dims []sym.Expr, elems []num.Elem) []tval {
	r := s.region(1)
	d := r.parAxes(dims)
	r.axes = append(r.axes, d.par...)
	r.vals = s.scalars()
	var texts []string
	for _, a := range d.par {
		texts = append(texts, fmt.Sprintf("%s < %s", a.name, a.extent))
	}
	d.clauses = axesText("par", texts)
	return s.finishComp(r, d, elems)
}

// finishComp writes red axes or none, reads, the region and the results.
func (s *scope) finishComp(r *region, d domain, elems []num.Elem) []tval {
	reduce, free := len(elems) <= 1 && s.chance(2), len(elems) == 0
	var m monoid
	if reduce {
		r.redAxes(&d, s.pats, 1+s.IntN(2))
		if s.chance(3) {
			r.guards(&d)
		}
		e := num.Invalid
		if len(elems) == 1 {
			e = elems[0]
		}
		m = s.reduction(e)
		elems = m.elems
	}
	if len(elems) == 0 {
		for range 1 + s.IntN(2) {
			elems = append(elems, s.elem())
		}
	}
	r.cost = d.points
	d.clauses += r.reads(s.IntN(3 + s.size/2))
	vs := r.yields(elems)
	after := ""
	if reduce {
		exact, deps := d.fold(m, vs)
		for i := range vs {
			vs[i].exact, vs[i].deps = exact, deps
		}
		after = r.tail(m, d, false)
	}
	results, lists := s.results(d, vs, free && !s.native && !s.wholeShape && s.chance(2))
	return s.bind(fmt.Sprintf("tensor.comp%s {\n%s}%s", d.clauses+lists, r.out, after), withElems(results, elems)...)
}

func withElems(ts []tval, elems []num.Elem) []tval {
	for i := range ts {
		ts[i].elem = elems[i]
	}
	return ts
}

// results gives the types of a comp's results; with choose, an out clause may
// leave out axes that a result does not depend on, or swap two.
func (s *scope) results(d domain, vs []sval, choose bool) ([]tval, string) {
	var ts []tval
	var lists []string
	short := false
	for _, v := range vs {
		t := tval{exact: v.exact}
		var names []string
		for i, a := range d.par {
			if choose && v.deps&a.deps == 0 && a.edge == "" && !s.chance(3) {
				short = true
				continue
			}
			t.dims, names = append(t.dims, d.dims[i]), append(names, a.name)
		}
		if choose && len(names) > 1 && s.chance(3) && t.dims[0].String() != "" && d.par[0].edge == "" && !hasEdge(t.dims) {
			names[0], names[1] = names[1], names[0]
			t.dims = append([]sym.Expr{}, t.dims...)
			t.dims[0], t.dims[1] = t.dims[1], t.dims[0]
			short = true
		}
		ts, lists = append(ts, t), append(lists, "["+strings.Join(names, ", ")+"]")
	}
	if !short {
		return ts, ""
	}
	return ts, " out(" + strings.Join(lists, ", ") + ")"
}

func hasEdge(dims []sym.Expr) bool {
	for _, d := range dims {
		if _, ok := d.IsNNZ(); ok {
			return true
		}
	}
	return false
}

// tensorOf is a tensor of exactly that type, made if there is none.
func (s *scope) tensorOf(e num.Elem, dims []sym.Expr) tval {
	for _, t := range s.vals {
		if t.elem == e && !t.scalar && t.enc == "" && sameDims(t.dims, dims) && s.chance(2) {
			return t
		}
	}
	return s.comp(dims, []num.Elem{e})[0]
}

func sameDims(a, b []sym.Expr) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !a[i].Equal(b[i]) {
			return false
		}
	}
	return true
}
