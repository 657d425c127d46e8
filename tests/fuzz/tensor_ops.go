package fuzz

import (
	"fmt"
	"strings"

	"tenon/internal/num"
	"tenon/ir"
	"tenon/ir/sym"
)

// some is a tensor in scope that fits.
func (s *scope) some(fits func(tval) bool) (tval, bool) {
	var found []tval
	for _, t := range s.vals {
		if !t.scalar && t.enc == "" && !hasEdge(t.dims) && fits(t) {
			found = append(found, t)
		}
	}
	if len(found) == 0 {
		return tval{}, false
	}
	return pick(s.gen, found), true
}

func any1(tval) bool { return true }

// reshape flattens, splits off a 1, or trades dims under a check.
func (s *scope) reshape() bool {
	t, ok := s.some(any1)
	if !ok {
		return false
	}
	product := sym.Const(1)
	for _, d := range t.dims {
		product = sym.Mul(product, d)
	}
	var dims []sym.Expr
	check := ""
	switch s.IntN(4) {
	case 0:
		dims = []sym.Expr{product}
	case 1:
		dims = append([]sym.Expr{sym.Const(1)}, t.dims...)
	case 2:
		for i := len(t.dims) - 1; i >= 0; i-- {
			dims = append(dims, t.dims[i])
		}
	case 3:
		n, ok1 := eval(product, s.env)
		other := s.dim()
		m, ok2 := eval(other, s.env)
		if !ok1 || !ok2 || m <= 0 || n%m != 0 {
			return false
		}
		dims = []sym.Expr{other, sym.Const(n / m)}
		check = fmt.Sprintf(" check(%s)", sym.Eq(product, sym.Mul(dims[0], dims[1])))
	}
	s.bind(fmt.Sprintf("tensor.reshape(%s)%s", t.name, check), tval{elem: t.elem, dims: dims, exact: t.exact, bound: t.bound})
	return true
}

func (s *scope) concat() bool {
	t, ok := s.some(func(t tval) bool { return t.rank() > 0 })
	if !ok {
		return false
	}
	at := s.IntN(t.rank())
	parts, total, exact := []string{t.name}, t.dims[at], t.exact
	for range 1 + s.IntN(2) {
		dims := append([]sym.Expr{}, t.dims...)
		dims[at] = s.dim()
		u := s.tensorOf(t.elem, dims)
		parts, total, exact = append(parts, u.name), sym.Add(total, dims[at]), exact && u.exact
	}
	dims := append([]sym.Expr{}, t.dims...)
	dims[at] = total
	s.bind(fmt.Sprintf("tensor.concat(%s) axis=%d", strings.Join(parts, ", "), at), tval{elem: t.elem, dims: dims, exact: exact})
	return true
}

// scatter puts values at places that an index tensor names, or at rows counted
// off.
func (s *scope) scatter() bool {
	base, ok := s.some(func(t tval) bool { return t.rank() > 0 && t.rank() <= 2 && knownDims(t.dims, s.env) })
	if !ok {
		return false
	}
	r := s.region(1)
	r.vals = s.scalars()
	d := r.parAxes([]sym.Expr{s.dim()})
	n := extentOf(base.dims[0], s.env)
	at := d.par[0].name
	clauses := fmt.Sprintf(" par(%s < %s", at, d.par[0].extent)
	r.axes = append(r.axes, d.par...)
	subs := []string{at}
	at1, found := s.some(func(t tval) bool { return t.bound != nil && t.bound.Equal(base.dims[0]) && t.rank() == 1 })
	switch {
	case found:
		clauses = fmt.Sprintf(" par(%s < %s", at, at1.dims[0])
		r.axes[len(r.axes)-1].hi = extentOf(at1.dims[0], s.env) - 1
		r.axes[len(r.axes)-1].extent = at1.dims[0]
		subs[0] = s.fresh("%r")
	case d.par[0].hi >= n:
		clauses = fmt.Sprintf(" par(%s < %s", at, base.dims[0])
		r.axes[len(r.axes)-1].hi = n - 1
		r.axes[len(r.axes)-1].extent = base.dims[0]
	}
	if base.rank() == 2 {
		j := axis{name: s.fresh("i"), extent: base.dims[1], plain: true, hi: extentOf(base.dims[1], s.env) - 1, deps: 2}
		r.axes = append(r.axes, j)
		clauses += fmt.Sprintf(", %s < %s", j.name, j.extent)
		subs = append(subs, j.name)
	}
	clauses += ")"
	reads := r.reads(1 + s.IntN(2))
	if found {
		read := fmt.Sprintf("%s = %s[%s]", subs[0], at1.name, at)
		if reads == "" {
			reads = " in(" + read + ")"
		} else {
			reads = strings.TrimSuffix(reads, ")") + ", " + read + ")"
		}
	}
	r.cost = 100
	vs := r.yields([]num.Elem{base.elem})
	by, exact := "", base.exact && vs[0].exact
	if s.chance(2) {
		m := s.reduction(base.elem)
		by, exact = " by "+m.by, exact && m.exact
	}
	s.bind(fmt.Sprintf("tensor.scatter(%s)%s%s out([%s]) {\n%s}%s", base.name, clauses, reads, strings.Join(subs, ", "), r.out, by),
		tval{elem: base.elem, dims: base.dims, exact: exact})
	return true
}

func knownDims(dims []sym.Expr, env map[string]int64) bool {
	for _, d := range dims {
		if _, ok := eval(d, env); !ok {
			return false
		}
	}
	return true
}

func (s *scope) sort() bool {
	t, ok := s.some(func(t tval) bool { return t.rank() > 0 && t.exact })
	if !ok {
		return false
	}
	at := s.IntN(t.rank())
	s.bind(fmt.Sprintf("tensor.sort(%s) axis=%d%s", t.name, at, s.flag("descending")),
		tval{elem: t.elem, dims: t.dims, exact: true}, tval{elem: num.I64, dims: t.dims, exact: true, bound: &t.dims[at]})
	return true
}

func (s *scope) flag(name string) string {
	if s.chance(2) {
		return " " + name
	}
	return ""
}

func (s *scope) topk() bool {
	t, ok := s.some(func(t tval) bool { return t.rank() > 0 && t.exact && knownDims(t.dims, s.env) })
	if !ok {
		return false
	}
	at := s.IntN(t.rank())
	n := extentOf(t.dims[at], s.env)
	k := pick(s.gen, []sym.Expr{t.dims[at], sym.Const(n), sym.Const((n + 1) / 2), sym.Min(t.dims[at], sym.Const(2))})
	dims := append([]sym.Expr{}, t.dims...)
	dims[at] = k
	s.bind(fmt.Sprintf("tensor.topk(%s, %s) axis=%d%s", t.name, k, at, s.flag("smallest")),
		tval{elem: t.elem, dims: dims, exact: true}, tval{elem: num.I64, dims: dims, exact: true, bound: &t.dims[at]})
	return true
}

// existential brings a dim into scope that an op binds.
func (s *scope) existential(prefix string) string {
	c := s.fresh(prefix)
	s.known[c] = true
	return c
}

func (s *scope) nonzero() bool {
	if s.inner > 0 {
		return false // the dim would leave the region that binds it
	}
	t, ok := s.some(func(t tval) bool { return t.exact })
	if !ok {
		return false
	}
	c := s.existential("c")
	product := sym.Const(1)
	for _, d := range t.dims {
		product = sym.Mul(product, d)
	}
	dims := []sym.Expr{sym.Const(int64(t.rank())), sym.Name(c)}
	u := tval{elem: num.I64, dims: dims, exact: true}
	if t.rank() == 1 {
		u.bound = &t.dims[0]
	}
	s.bind(fmt.Sprintf("tensor.nonzero(%s) exists(%s: 0 <= %s and %s <= %s)", t.name, c, c, c, product), u)
	return true
}

func (s *scope) uniques() bool {
	if s.inner > 0 {
		return false
	}
	t, ok := s.some(func(t tval) bool { return t.exact && t.rank() == 1 })
	if !ok {
		return false
	}
	c := s.existential("c")
	cd := []sym.Expr{sym.Name(c)}
	s.bind(fmt.Sprintf("tensor.unique(%s) exists(%s: 0 <= %s and %s <= %s)", t.name, c, c, c, t.dims[0]),
		tval{elem: t.elem, dims: cd, exact: true}, tval{elem: num.I64, dims: cd, exact: true, bound: &t.dims[0]},
		tval{elem: num.I64, dims: t.dims, exact: true, bound: &cd[0]}, tval{elem: num.I64, dims: cd, exact: true})
	return true
}

// plan computes a dim from others, and from an integer tensor.
func (s *scope) plan() bool {
	if s.inner > 0 {
		return false
	}
	r := &region{gen: s.gen, out: &strings.Builder{}, env: s.env, cost: 1000}
	in := ""
	t, ok := s.some(func(t tval) bool {
		return t.exact && t.elem.IsInt() && t.elem != num.Bool && t.rank() <= 1 && knownDims(t.dims, s.env)
	})
	if ok && (t.rank() == 0 || extentOf(t.dims[0], s.env) > 0) {
		v := sval{text: s.fresh("%r"), elem: t.elem, exact: true}
		sub := ""
		if t.rank() == 1 {
			sub = fmt.Sprint(s.Int64N(extentOf(t.dims[0], s.env)))
		}
		in = fmt.Sprintf(" in(%s = %s[%s])", v.text, t.name, sub)
		r.vals = append(r.vals, v)
	}
	v := r.scalar(num.I64, 2)
	c := s.existential("c")
	text := fmt.Sprintf("mod(%s, 5: i64)", v.text)
	if s.chance(2) {
		text = fmt.Sprintf("min(max(%s, 0: i64), 4: i64)", v.text)
	}
	s.line("tensor.plan exists(%s: 0 <= %s and %s <= 4)%s {\n%syield(%s)\n}", c, c, c, in, r.out, text)
	if s.chance(2) { // give the dim a use
		s.comp([]sym.Expr{sym.Name(c)}, nil)
	}
	return true
}

func (s *scope) check() bool {
	if len(s.f.dims) == 0 {
		return false
	}
	var conds []string
	for range 1 + s.IntN(2) {
		d := sym.Name(pick(s.gen, s.f.dims))
		n, _ := eval(d, s.env)
		c := pick(s.gen, []sym.Cond{sym.Le(d, sym.Const(n+s.Int64N(9))), sym.Ge(d, sym.Const(min(n, s.Int64N(2)))),
			sym.Lt(sym.Mod(d, sym.Const(2)), sym.Const(2)), sym.Le(sym.Const(0), sym.Add(d, sym.Const(1)))})
		conds = append(conds, c.String())
	}
	s.line("tensor.check(%s)", strings.Join(conds, ", "))
	return true
}

// data adds an item that lists its elements.
func (s *scope) data() bool {
	t := tval{elem: s.elem(), exact: true}
	n := int64(1)
	for range s.IntN(3) {
		d := s.Int64N(4)
		t.dims, n = append(t.dims, sym.Const(d)), n*d
	}
	var list []string
	for range n {
		list = append(list, ir.FormatLiteral(t.elem, s.cell(t.elem)))
	}
	name := s.fresh("d")
	s.items = append(s.items, fmt.Sprintf("data @%s : %s = [%s]", name, t.typ(), strings.Join(list, ", ")))
	s.bind("tensor.data @"+name, t)
	return true
}
