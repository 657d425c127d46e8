package fuzz

import (
	"fmt"
	"slices"
	"strings"

	"tenon/internal/num"
	"tenon/ir"
	"tenon/ir/sym"
)

// begin starts a function with some dims.
func (s *file) begin(prefix string) *source {
	f := &FuncInfo{Name: s.fresh(prefix), Roles: map[string]Role{}}
	f.dims = append([]string{}, dimNames[:1+s.IntN(3)]...)
	f.Sizes = []map[string]int64{s.drawSizes(f.dims)}
	f.Sizes = append(f.Sizes, s.otherSizes(f.Sizes[0]))
	return &source{file: s, info: f, sizes: f.Sizes[0]}
}

// end registers a function: its text is written, and it may be called.
func (f *source) end(c *callee, text string) {
	c.run = func(m *machine) {
		for _, r := range f.run {
			r(m)
		}
	}
	f.info.Reference = c.reference
	f.items = append(f.items, text)
	f.funcs = append(f.funcs, f.info)
}

func (f *source) line(format string, args ...any) {
	f.lines = append(f.lines, fmt.Sprintf(format, args...))
}

// place is where a statement of the function stands.
func (f *source) place(axes []*srcAxis, cost int64) *place {
	return &place{file: f.file, fn: f, axes: axes, cost: max(1, cost)}
}

// newDim is a dim of a parameter or result.
func (f *source) newDim() sym.Expr {
	d := sym.Name(pick(f.gen, f.info.dims))
	switch f.IntN(14) {
	case 0:
		return sym.Const(f.Int64N(4))
	case 1:
		return sym.Add(d, sym.Const(1))
	case 2:
		return sym.FloorDiv(d, sym.Const(2))
	case 3:
		return sym.Add(d, sym.Name(pick(f.gen, f.info.dims)))
	}
	return d
}

// someDim is a dim of something in scope, so that it can be indexed.
func (f *source) someDim(p *place) sym.Expr {
	var dims []sym.Expr
	for _, t := range f.locals {
		dims = append(dims, t.dims...)
	}
	if len(dims) == 0 || f.chance(8) {
		return f.newDim()
	}
	return pick(f.gen, dims)
}

// params declares parameters such that each dim is told by one.
func (f *source) params() (list []local) {
	bound := map[string]bool{}
	for i := range 1 + f.IntN(3) {
		t := local{name: f.fresh("a"), elem: f.srcElem(), exact: true}
		for range f.IntN(4) {
			t.dims = append(t.dims, f.newDim())
		}
		if i == 0 || f.chance(3) {
			t.dims = t.dims[:min(2, len(t.dims))]
			for _, d := range f.info.dims {
				if !bound[d] {
					t.dims, bound[d] = append(t.dims, sym.Name(d)), true
				}
			}
		}
		list = append(list, t)
	}
	if f.chance(2) {
		list = append(list, local{name: f.fresh("a"), elem: f.srcElem(), exact: true, scalar: true})
	}
	if f.chance(2) {
		d := sym.Name(pick(f.gen, f.info.dims))
		t := local{name: f.fresh("a"), elem: pick(f.gen, []num.Elem{num.I64, num.I32, num.I16, num.U8}), exact: true, bound: &d, dims: []sym.Expr{f.newDim()}}
		f.info.Roles[t.name] = Role{Bound: d, Stray: f.chance(10)}
		list = append(list, t)
	}
	return list
}

// srcElem is a type of the language that tensors and scalars may have.
func (s *file) srcElem() num.Elem {
	for {
		if e := s.elem(); e != num.Index {
			return e
		}
	}
}

func paramList(ps []local) string {
	var parts []string
	for _, p := range ps {
		mode := p.mode
		if mode != "" {
			mode += " "
		}
		parts = append(parts, p.name+": "+mode+p.typ())
	}
	return strings.Join(parts, ", ")
}

// fn writes a fn.
func (s *file) fn() {
	f := s.begin("fn")
	c := &callee{name: f.info.Name, dims: f.info.dims, params: f.params()}
	f.locals = slices.Clone(c.params)
	facts := f.facts()
	for range 1 + f.IntN(2+f.size) {
		f.statement(c)
	}
	c.result = f.returns()
	results := "-> " + c.result[0].typ()
	if len(c.result) > 1 || f.chance(4) {
		var parts []string
		for i, r := range c.result {
			parts = append(parts, fmt.Sprintf("y%d: %s", i, r.typ()))
		}
		results = "-> (" + strings.Join(parts, ", ") + ")"
	}
	f.end(c, "fn "+c.name+"("+paramList(c.params)+") "+results+facts+" {\n"+strings.Join(f.lines, "\n")+"\n}")
	s.fns = append(s.fns, c)
}

func (f *source) facts() string {
	if !f.chance(6) {
		return ""
	}
	d := pick(f.gen, f.info.dims)
	return fmt.Sprintf(" where %s >= %d", d, min(f.sizes[d], 1+f.Int64N(2)))
}

// statement binds something by a let.
func (f *source) statement(c *callee) {
	for range 8 {
		ok := false
		switch f.IntN(10) {
		case 0:
			ok = f.carryLoop()
		case 1:
			ok = f.wholeCall()
		case 2:
			ok = f.callOwn()
		case 3:
			ok = f.concat()
		default:
			ok = f.letOver()
		}
		if ok {
			return
		}
	}
}

// shapeAxes opens an axis a dim of a new tensor.
func (f *source) shapeAxes(n int) (dims []sym.Expr, axes []*srcAxis, points int64) {
	points = 1
	p := f.place(nil, 1)
	for range n {
		d := f.someDim(p)
		size := extentOf(d, f.sizes)
		if points*size > 600 {
			break
		}
		a := p.newAxis(d)
		dims, axes, points = append(dims, d), append(axes, a), points*max(1, size)
		p.axes = axes
	}
	return dims, axes, points
}

// letOver binds a tensor by its elements.
func (f *source) letOver() bool {
	e := f.srcElem()
	dims, axes, points := f.shapeAxes(f.IntN(4))
	x := f.place(axes, points).typedExpr(e, 1+f.IntN(f.size+1))
	t := local{name: f.fresh("v"), elem: e, dims: dims, exact: x.exact, scalar: len(dims) == 0}
	var texts []string
	for _, a := range axes {
		texts, t.axes = append(texts, a.text(x.text)), append(t.axes, a.name)
	}
	switch {
	case len(axes) == 0:
		f.line("let %s = %s", t.name, x.text)
	case f.chance(3):
		f.line("let %s = %s for %s", t.name, x.text, strings.Join(texts, ", "))
	default:
		f.line("let %s[%s] = %s", t.name, strings.Join(texts, ", "), x.text)
	}
	f.run = append(f.run, func(m *machine) { m.arrays[t.name] = m.tensor(e, dims, axes, x) })
	f.locals = append(f.locals, t)
	return true
}

// tensor evaluates an expression at every point of a shape.
func (m *machine) tensor(e num.Elem, dims []sym.Expr, axes []*srcAxis, x node) *ir.Array {
	a := ir.NewArray(e, m.shape(dims)...)
	names, ranges := axisRanges(axes, a.Shape)
	m.over(names, ranges, func(at []int64) {
		pos := elementOf(a, at)
		a.Mem.Cells[pos] = x.at(m)
	})
	return a
}

func axisRanges(axes []*srcAxis, shape []int64) (names []string, ranges []span) {
	for i, a := range axes {
		names, ranges = append(names, a.name), append(ranges, span{0, shape[i]})
	}
	return names, ranges
}

// returns ends the function.
func (f *source) returns() []local {
	var out []local
	for range 1 + f.IntN(2) {
		t := f.locals[len(f.locals)-1-f.IntN(min(len(f.locals), 4))]
		if !t.scalar && !slices.ContainsFunc(out, func(o local) bool { return o.name == t.name }) {
			out = append(out, t)
		}
	}
	if len(out) > 0 && f.chance(2) {
		var names []string
		for _, t := range out {
			names = append(names, t.name)
		}
		f.line("return %s", strings.Join(names, ", "))
		return out
	}
	e := f.srcElem()
	dims, axes, points := f.shapeAxes(1 + f.IntN(3))
	if len(axes) == 0 {
		dims = []sym.Expr{sym.Const(2)}
		axes = []*srcAxis{{name: "i", extent: dims[0], hi: 1}}
	}
	x := f.place(axes, points).typedExpr(e, 1+f.IntN(f.size+1))
	t := local{name: f.fresh("y"), elem: e, dims: dims}
	var texts []string
	for _, a := range axes {
		texts = append(texts, a.text(x.text))
	}
	f.line("return %s for %s", x.text, strings.Join(texts, ", "))
	f.run = append(f.run, func(m *machine) { m.arrays[t.name] = m.tensor(e, dims, axes, x) })
	return []local{t}
}

// carryLoop binds the last and all values of a recurrence.
func (f *source) carryLoop() bool {
	e := f.srcElem()
	dims, axes, points := f.shapeAxes(f.IntN(2))
	trip := f.someDim(nil)
	n := extentOf(trip, f.sizes)
	if points*n > 600 {
		return false
	}
	for _, a := range axes {
		a.rng = " in 0.." + srcExpr(a.extent)
	}
	init := f.place(axes, points).typedExpr(e, 1)
	carried := local{name: f.fresh("s"), elem: e, dims: dims, scalar: len(dims) == 0}
	t := &srcAxis{name: freeIndex(axes), extent: trip, hi: n - 1, rng: " in 0.." + srcExpr(trip)}
	in := f.place(append([]*srcAxis{t}, axes...), points*max(1, n))
	in.extra = []local{carried}
	next := in.typedExpr(e, 1+f.IntN(f.size+1))
	target := carried.name
	var texts []string
	for _, a := range axes {
		texts = append(texts, a.name+a.rng)
	}
	if len(axes) > 0 {
		target += "[" + strings.Join(texts, ", ") + "]"
	}
	last := local{name: f.fresh("v"), elem: e, dims: dims, scalar: len(dims) == 0}
	all := local{name: f.fresh("v"), elem: e, dims: append([]sym.Expr{trip}, dims...)}
	f.line("let %s, %s = for %s%s carry %s = %s {\nnext %s = %s\nstack %s }", last.name, all.name, t.name, t.rng, target, init.text, target, next.text, carried.name)
	f.run = append(f.run, func(m *machine) {
		m.arrays[carried.name] = m.tensor(e, dims, axes, init)
		steps := max(0, m.dim(trip))
		stacked := ir.NewArray(e, append([]int64{steps}, m.shape(dims)...)...)
		for k := range steps {
			m.idx[t.name] = k
			now := m.tensor(e, dims, axes, next)
			copy(stacked.Mem.Cells[k*now.Size():], now.Mem.Cells)
			m.arrays[carried.name] = now
		}
		m.arrays[last.name], m.arrays[all.name] = m.arrays[carried.name], stacked
	})
	f.locals = append(f.locals, last, all)
	return true
}
