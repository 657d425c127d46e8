package fuzz

import (
	"fmt"
	"slices"
	"strings"

	"tenon/internal/num"
	"tenon/ir/sym"
)

// under is a scope for a region inside s: it sees all of s.
func (s *scope) under() *scope {
	in := *s
	in.out = &strings.Builder{}
	in.vals, in.axes, in.pats = slices.Clone(s.vals), slices.Clone(s.axes), slices.Clone(s.pats)
	in.inner++
	return &in
}

// call calls a func written before. Its dims become expressions of the
// caller's; arguments of the right types are found or made.
func (s *scope) call() bool {
	var callees []*FuncInfo
	for _, f := range s.funcs {
		if f.Keep && len(f.exdims) == 0 {
			callees = append(callees, f)
		}
	}
	if len(callees) == 0 {
		return false
	}
	f := pick(s.gen, callees)
	dims, env := map[string]sym.Expr{}, map[string]int64{}
	for _, d := range f.dims {
		dims[d] = s.dim()
		n, ok := eval(dims[d], s.env)
		if !ok {
			return false
		}
		env[d] = n
	}
	for _, c := range f.where {
		if !holds(c, env) {
			return false
		}
	}
	var args []string
	for _, p := range f.parms {
		if p.scalar {
			return false // a func of the tensor level has no scalars to hand on
		}
		if points(p.dims, env) > 2000 {
			return false
		}
	}
	for _, p := range f.parms {
		args = append(args, s.tensorOf(p.elem, substDims(p.dims, dims)).name)
	}
	var results []tval
	for _, r := range f.rets {
		results = append(results, tval{elem: r.elem, dims: substDims(r.dims, dims)})
	}
	s.bind(fmt.Sprintf("tensor.call @%s(%s)", f.Name, strings.Join(args, ", ")), results...)
	return true
}

func substDims(dims []sym.Expr, by map[string]sym.Expr) []sym.Expr {
	out := make([]sym.Expr, len(dims))
	for i, d := range dims {
		out[i] = d.Subst(by)
	}
	return out
}

func points(dims []sym.Expr, env map[string]int64) int64 {
	n := int64(1)
	for _, d := range dims {
		n *= max(1, extentOf(d, env))
	}
	return n
}

// loop is a sequential loop with one or two carried tensors, and perhaps a
// stacked one.
func (s *scope) loop() bool {
	inits := s.inits()
	in := s.under()
	t := axis{name: s.fresh("t"), plain: true, extent: s.dim()}
	n := extentOf(t.extent, s.env)
	if n > 5 {
		t.extent, n = sym.Const(3), 3
	}
	t.hi = n - 1
	lo, step := "0", ""
	if s.chance(5) {
		lo, t.plain, t.lo = "1", false, 1
	}
	if s.chance(5) {
		step = " step 2"
	}
	in.axes = append(in.axes, t)
	var carry []string
	for _, v := range inits {
		c := v
		c.name, c.exact, c.bound = s.fresh("%c"), false, nil
		carry = append(carry, c.name+" = "+v.name)
		in.vals = append(in.vals, c)
	}
	for range s.IntN(1 + s.size/2) {
		in.statement()
	}
	var yields, types []string
	var results []tval
	for _, v := range inits {
		y := in.comp(v.dims, []num.Elem{v.elem})[0]
		yields = append(yields, y.name)
		results = append(results, tval{name: s.fresh("%t"), elem: v.elem, dims: v.dims})
	}
	text := fmt.Sprintf("yield(%s)", strings.Join(yields, ", "))
	if stacked := in.vals[len(in.vals)-1]; s.chance(2) && !hasEdge(stacked.dims) && stacked.enc == "" && s.outside(stacked.dims) {
		text += " stack(" + stacked.name + ")"
		trip := t.extent
		switch {
		case step != "" || lo != "0":
			low := sym.Const(map[string]int64{"0": 0, "1": 1}[lo])
			k := sym.Const(map[string]int64{"": 1, " step 2": 2}[step])
			trip = sym.Max(sym.Const(0), sym.FloorDiv(sym.Add(t.extent, sym.Neg(low), k, sym.Const(-1)), k))
		case isConst(t.extent):
		default:
			trip = sym.Max(sym.Const(0), t.extent)
		}
		results = append(results, tval{name: s.fresh("%t"), elem: stacked.elem, dims: append([]sym.Expr{trip}, stacked.dims...)})
	}
	var resultNames []string
	for _, r := range results {
		resultNames, types = append(resultNames, r.name), append(types, r.typ())
	}
	s.line("%s = loop.for %s = %s to %s%s carry(%s)%s {\n%s%s\n} : %s", strings.Join(resultNames, ", "), t.name, lo, t.extent, step,
		strings.Join(carry, ", "), s.directives(), in.out, text, strings.Join(types, ", "))
	s.vals = append(s.vals, results...)
	return true
}

// inits are one or two small tensors for a loop to begin with.
func (s *scope) inits() []tval {
	var inits []tval
	for range 1 + s.IntN(2) {
		t, ok := s.some(func(t tval) bool { return points(t.dims, s.env) <= 100 })
		if !ok {
			t = s.comp(s.shape(2), []num.Elem{s.elem()})[0]
		}
		inits = append(inits, t)
	}
	return inits
}

func isConst(e sym.Expr) bool { _, ok := e.IsConst(); return ok }

// directives now and then constrain a loop; they have no meaning of their own.
func (g *gen) directives() string {
	if !g.chance(8) {
		return ""
	}
	return ` directives("unroll(2)")`
}

// outside reports that dims have a meaning outside the region at hand.
func (s *scope) outside(dims []sym.Expr) bool {
	for _, d := range dims {
		for _, n := range d.Names() {
			if _, ok := s.env[n]; !ok && !s.known[n] {
				return false
			}
		}
	}
	return true
}

// branch is an if with results.
func (s *scope) branch() bool {
	r := s.region(1)
	x, _ := r.indexExpr()
	y, _ := r.indexExpr()
	dims, e := s.shape(2), s.elem()
	yes, no := s.under(), s.under()
	a := yes.comp(dims, []num.Elem{e})[0]
	b := no.comp(dims, []num.Elem{e})[0]
	t := tval{name: s.fresh("%t"), elem: e, dims: dims, exact: a.exact && b.exact}
	s.line("%s = loop.if (%s %s %s) {\n%syield(%s)\n} else {\n%syield(%s)\n} : %s", t.name, x, pick(s.gen, relations), y, yes.out, a.name, no.out, b.name, t.typ())
	s.vals = append(s.vals, t)
	return true
}

// variants is a tile.choose whose variants compute the same.
func (s *scope) variants() bool {
	dims, e := s.shape(2), s.elem()
	var b strings.Builder
	var chosen []string
	for _, d := range s.f.dims {
		chosen = append(chosen, d)
	}
	count := 1 + s.IntN(3)
	in := s.under()
	u := in.comp(dims, []num.Elem{e})[0]
	for i := range count {
		where := ""
		if i < count-1 && len(chosen) > 0 {
			where = fmt.Sprintf(" where(guarded %s <= %d)", pick(s.gen, chosen), 2+s.IntN(6))
		}
		fmt.Fprintf(&b, " variant v%d%s {\n%syield(%s)\n}", i, where, in.out, u.name)
	}
	choice := fmt.Sprintf("yield(%d: i32)", s.IntN(count))
	if len(chosen) > 0 && count > 1 && s.chance(2) {
		if cost := s.costTable(); s.chance(2) {
			choice = fmt.Sprintf("%%c0 = tile.cost table=@%s (%s) : f64\n%%c1 = tile.cost table=@%s (%s) : f64\nyield(select(le(%%c0, %%c1), 0: i32, 1: i32))",
				cost, chosen[0], cost, strings.Join(chosen, ", "))
		} else {
			choice = fmt.Sprintf("yield(select(lt(idx(%s): i64, 4: i64), 0: i32, %d: i32))", chosen[0], count-1)
		}
	}
	clause := ""
	if len(chosen) > 0 {
		clause = " dims(" + strings.Join(chosen, ", ") + ")"
	}
	t := tval{name: s.fresh("%t"), elem: e, dims: dims, exact: u.exact}
	s.line("%s = tile.choose%s%s pick {\n%s\n} : %s", t.name, clause, b.String(), choice, t.typ())
	s.vals = append(s.vals, t)
	return true
}

// costTable is an extern cost of the module.
func (g *gen) costTable() string {
	const name = "cost"
	if !slices.Contains(g.items, "extern @cost cost") {
		g.items = append(g.items, "extern @cost cost")
	}
	return name
}
