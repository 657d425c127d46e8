package fuzz

import (
	"fmt"
	"strings"

	"tenon/internal/num"
	"tenon/ir"
	"tenon/ir/sym"
)

// domain is the text of a comp's axes and guards, and what they cost.
type domain struct {
	par, red []axis
	dims     []sym.Expr // of a result that has all par axes
	clauses  string
	points   int64
	redDeps  uint // of the red extents and the guards
	maybe    bool // may have no point
}

// maxPoints bounds the work of one comp.
const maxPoints = 2500

// assumed is the size taken for dims known only while running.
const assumed = 8

func extentOf(e sym.Expr, env map[string]int64) int64 {
	if n, ok := eval(e, env); ok {
		return n
	}
	return assumed
}

// parAxes opens one par axis a dim.
func (r *region) parAxes(dims []sym.Expr) domain {
	d := domain{points: 1, dims: dims}
	for i, e := range dims {
		n := extentOf(e, r.env)
		a := axis{name: r.fresh("i"), extent: e, plain: true, hi: n - 1, deps: 1 << i}
		if id, ok := e.IsNNZ(); ok {
			a.edge, a.hi = id, assumed-1
		}
		d.par = append(d.par, a)
		d.points *= max(n, 1)
	}
	return d
}

func axesText(kw string, axes []string) string {
	if len(axes) == 0 {
		return ""
	}
	return " " + kw + "(" + strings.Join(axes, ", ") + ")"
}

// redAxes opens red axes, some with extents that use axes opened before, some
// over the rows of a pattern.
func (r *region) redAxes(d *domain, pats []pattern, n int) {
	var texts []string
	for range n {
		if a, text, ok := r.rowAxes(pats); ok && r.chance(2) {
			d.red, texts = append(d.red, a...), append(texts, text)
			r.axes = append(r.axes, a...)
			d.points *= 3
			d.redDeps |= a[0].deps
			d.maybe = true
			continue
		}
		a := axis{name: r.fresh("k"), plain: true}
		a.extent, a.hi, a.deps = r.redExtent()
		room := max(1, maxPoints/(d.points*max(1, r.cost)))
		if a.hi > room {
			c := min(3, room)
			a.extent, a.hi, a.deps = sym.Const(c), c, 0
		}
		d.points *= max(1, a.hi)
		d.maybe = d.maybe || a.hi <= 0 || a.deps != 0
		a.hi--
		d.redDeps |= a.deps
		d.red, texts = append(d.red, a), append(texts, fmt.Sprintf("%s < %s", a.name, a.extent))
		r.axes = append(r.axes, a)
	}
	d.clauses += axesText("red", texts)
}

// rowAxes runs over the entries of a pattern's row that an axis in scope names.
func (r *region) rowAxes(pats []pattern) ([]axis, string, bool) {
	for _, p := range pats {
		for _, a := range r.axes {
			if a.plain && a.edge == "" && a.extent.Equal(p.rows) {
				cols := extentOf(p.cols, r.env)
				j := axis{name: r.fresh("j"), extent: p.cols, plain: true, hi: cols - 1, deps: a.deps}
				e := axis{name: r.fresh("n"), edge: p.id, hi: assumed - 1, deps: a.deps}
				return []axis{j, e}, fmt.Sprintf("%s:%s in %s[%s]", j.name, e.name, p.name, a.name), true
			}
		}
	}
	return nil, "", false
}

// redExtent is an extent, its size and the axes it depends on.
func (r *region) redExtent() (sym.Expr, int64, uint) {
	if len(r.axes) > 0 && r.chance(4) {
		a := pick(r.gen, r.axes)
		if a.edge == "" {
			return sym.Add(sym.Name(a.name), sym.Const(1)), a.hi + 1, a.deps
		}
	}
	var dims []sym.Expr
	for _, t := range r.tensors {
		for _, d := range t.dims {
			if _, edge := d.IsNNZ(); !edge {
				dims = append(dims, d)
			}
		}
	}
	if len(dims) == 0 || r.chance(6) {
		c := r.Int64N(4)
		return sym.Const(c), c, 0
	}
	e := pick(r.gen, dims)
	return e, extentOf(e, r.env), 0
}

// guards adds an if clause on the red axes.
func (r *region) guards(d *domain) {
	var conds []string
	for range 1 + r.IntN(2) {
		x, deps := r.indexExpr()
		y, deps2 := r.indexExpr()
		if a := d.red[0]; a.edge == "" {
			x = sym.Name(a.name)
		}
		d.redDeps |= deps | deps2
		conds = append(conds, fmt.Sprintf("%s %s %s", x, pick(r.gen, relations), y))
	}
	d.maybe = true
	d.clauses += " if(" + strings.Join(conds, ", ") + ")"
}

var relations = []string{"<", "<=", ">", ">=", "==", "!="}

// tail is what stands after a reduction's region: by, ordered, empty.
func (r *region) tail(m monoid, d domain, mayStart bool) string {
	s := " by " + m.by
	if r.chance(6) {
		s += " ordered"
	}
	switch {
	case mayStart && r.chance(2):
		s += " from(out)"
	case d.maybe && r.chance(3) || r.chance(10):
		var cells []string
		for _, e := range m.elems {
			cells = append(cells, ir.FormatLiteral(e, r.cell(e)))
		}
		s += " empty(" + strings.Join(cells, ", ") + ")"
	case !d.maybe && r.chance(5):
		s += " empty(error)"
	}
	return s
}

// inside is a region in r, with its own scope.
func (r *region) inside(points int64) *region {
	in := *r
	in.vals = append([]sval{}, r.vals...)
	in.axes = append([]axis{}, r.axes...)
	in.out = &strings.Builder{}
	in.cost = max(1, r.cost) * max(1, points)
	return &in
}

// yields makes one value a component, and the yield.
func (r *region) yields(elems []num.Elem) []sval {
	var vs []sval
	var texts []string
	for i, e := range elems {
		v := r.scalar(e, 1+r.IntN(r.size+1))
		if i == 1 && e == num.I64 && len(r.axes) > 0 && r.chance(2) { // the index of an argmax
			a := r.axes[len(r.axes)-1]
			v = sval{text: fmt.Sprintf("idx(%s): i64", a.name), elem: e, exact: true, deps: a.deps}
		}
		vs, texts = append(vs, v), append(texts, v.text)
	}
	r.line("yield(%s)", strings.Join(texts, ", "))
	return vs
}

// fold is what a reduction makes of its region's values: whether each result
// is exact, and which axes all depend on.
func (d domain) fold(m monoid, vs []sval) (exact bool, deps uint) {
	exact, deps = m.exact, d.redDeps
	for _, v := range vs {
		exact, deps = exact && v.exact, deps|v.deps
	}
	return exact, deps
}

// nested writes a comp inside a region; its result of type e is given, the
// others stay in scope.
func (r *region) nested(e num.Elem) (sval, bool) {
	in := r.inside(1)
	d := domain{points: 1}
	in.redAxes(&d, nil, 1+r.IntN(2))
	in.cost *= d.points
	if r.chance(4) {
		in.guards(&d)
	}
	m := r.reduction(e)
	d.clauses += in.reads(r.IntN(3))
	vs := in.yields(m.elems)
	exact, deps := d.fold(m, vs)
	var names []string
	var types []string
	var results []sval
	for _, e := range m.elems {
		v := sval{text: r.fresh("%e"), elem: e, exact: exact, deps: deps}
		names, types, results = append(names, v.text), append(types, e.String()), append(results, v)
	}
	r.line("%s = tensor.comp%s {\n%s}%s : %s", strings.Join(names, ", "), d.clauses, in.out, r.tail(m, d, false), strings.Join(types, ", "))
	r.vals = append(r.vals, results...)
	return results[0], true
}
