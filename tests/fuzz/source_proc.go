package fuzz

import (
	"fmt"
	"slices"
	"strings"

	"tenon/internal/num"
	"tenon/ir"
)

// proc writes a loop program.
func (s *file) proc() {
	f := s.begin("p")
	f.isProc = true
	c := &callee{name: f.info.Name, dims: f.info.dims, params: f.params()}
	for i := range c.params {
		t := &c.params[i]
		if t.scalar {
			continue
		}
		t.mode = pick(f.gen, []string{"in", "inout", "out"})
		if i == 0 || t.bound != nil {
			t.mode = map[bool]string{true: "in", false: "inout"}[t.bound != nil]
		}
		t.exact = t.exact && t.mode == "in"
	}
	b := &body{source: f, cost: 1}
	f.locals = nil
	for _, t := range c.params {
		if t.mode != "out" {
			f.locals = append(f.locals, t)
		}
	}
	for _, t := range c.params {
		if t.mode == "out" {
			b.fill(t)
		}
	}
	for range 1 + f.IntN(2+f.size) {
		b.statement()
	}
	for _, t := range c.params {
		if t.mode == "out" || t.mode == "inout" {
			c.result = append(c.result, t)
		}
	}
	f.run = b.run
	f.end(c, "proc "+c.name+"("+paramList(c.params)+")"+f.facts()+" {\n"+strings.Join(b.lines, "\n")+"\n}")
	s.procs = append(s.procs, c)
}

// body is a block of statements of a proc.
type body struct {
	*source
	axes  []*srcAxis
	lines []string
	run   []func(m *machine)
	cost  int64
	depth int
}

func (b *body) line(format string, args ...any) {
	b.lines = append(b.lines, fmt.Sprintf(format, args...))
}

func (b *body) do(f func(m *machine)) { b.run = append(b.run, f) }

func (b *body) expr(e num.Elem, depth int) node {
	return b.place(b.axes, b.cost).typedExpr(e, depth)
}

// under is a block inside of b with its own locals.
func (b *body) under(points int64) *body {
	f := *b.source
	f.locals = slices.Clone(b.locals)
	return &body{source: &f, axes: slices.Clone(b.axes), cost: b.cost * max(1, points), depth: b.depth + 1}
}

func (b *body) all() func(m *machine) {
	run := b.run
	return func(m *machine) {
		for _, f := range run {
			f(m)
		}
	}
}

func (b *body) statement() {
	for range 8 {
		ok := false
		switch k := b.IntN(12); {
		case k <= 3:
			ok = b.assign()
		case k <= 5 && b.depth < 3:
			ok = b.forLoop()
		case k == 6 && b.depth < 3:
			ok = b.ifElse()
		case k == 7:
			ok = b.local()
		case k == 8:
			ok = b.variable()
		case k == 9:
			ok = b.callProc()
		}
		if ok {
			return
		}
	}
}

// fill writes all of an out parameter.
func (b *body) fill(t local) {
	in := b.under(1)
	var texts []string
	for _, d := range t.dims {
		a := b.place(in.axes, 1).newAxis(d)
		a.rng = ""
		in.axes = append(in.axes, a)
		texts = append(texts, a.name+" in 0.."+srcExpr(d))
	}
	in.cost = points(t.dims, b.sizes)
	x := in.expr(t.elem, 1+b.IntN(2))
	axes := in.axes[len(b.axes):]
	var subs []string
	for _, a := range axes {
		subs = append(subs, a.name)
	}
	store := fmt.Sprintf("%s[%s] = %s", t.name, strings.Join(subs, ", "), x.text)
	if len(axes) > 0 {
		store = "for " + strings.Join(texts, ", ") + " { " + store + " }"
	}
	b.line("%s", store)
	b.do(func(m *machine) {
		a := m.arrays[t.name]
		names, ranges := axisRanges(axes, a.Shape)
		m.over(names, ranges, func(at []int64) { a.Mem.Cells[elementOf(a, at)] = x.at(m) })
	})
	b.locals = append(b.locals, t)
}

var assignments = []struct{ text, flt, int string }{{"+=", "add", "add"}, {"-=", "sub", "sub"}, {"*=", "mul", "mul"}, {"/=", "div", "tdiv"}, {"%=", "", "trem"}}

// assign writes an element or a variable.
func (b *body) assign() bool {
	var found []local
	for _, t := range b.locals {
		if t.mode == "inout" || t.mode == "out" || t.mode == "var" {
			found = append(found, t)
		}
	}
	if len(found) == 0 {
		return false
	}
	t := pick(b.gen, found)
	p := b.place(b.axes, b.cost)
	var subs []index
	text := t.name
	for i, d := range t.dims {
		x, in := p.subscript(d)
		for k := 0; !in && k < 6; k++ {
			x, in = p.subscript(d)
		}
		_, fixed := d.IsConst()
		if !in && (x.lo == x.hi || fixed || !b.chance(40)) {
			return false
		}
		subs = append(subs, x)
		text += map[bool]string{true: "[", false: ", "}[i == 0] + x.text
	}
	if len(t.dims) > 0 {
		text += "]"
	} else if !t.scalar {
		text += "[]"
	}
	op, opText := "", "="
	if o := pick(b.gen, assignments); t.elem != num.Bool && b.chance(2) {
		if op = o.int; t.elem.IsFloat() {
			op = o.flt
		}
		if op != "" {
			opText = o.text
		}
	}
	x := p.expr(t.elem, 1+b.IntN(b.size+1))
	b.line("%s %s %s", text, opText, x.text)
	b.do(func(m *machine) { m.assign(t, subs, op, x) })
	return true
}

func (m *machine) assign(t local, subs []index, op string, x node) {
	a := m.arrays[t.name]
	at := make([]int64, len(subs))
	for d, s := range subs {
		at[d] = s.at(m)
	}
	v := x.at(m)
	pos := elementOf(a, at)
	if op != "" {
		v = num.Binary(op, t.elem)(a.Mem.Cells[pos], v)
	}
	a.Mem.Cells[pos] = v
}

// forLoop runs over a range: whole dims, parts of them, with steps, up to an
// outer index; several in one statement.
func (b *body) forLoop() bool {
	in := b.under(1)
	var texts []string
	var bounds []func(m *machine) (int64, int64, int64)
	for range 1 + b.IntN(2) {
		a := b.place(in.axes, 1).newAxis(b.someDim(nil))
		if in.cost*max(1, a.hi+1) > 1500 {
			break
		}
		text := a.name + " in 0.." + srcExpr(a.extent)
		switch k := b.IntN(8); {
		case k == 0:
			text, a.lo, a.rng = fmt.Sprintf("%s in 1..%s", a.name, srcExpr(a.extent)), 1, "part"
			hi := dimIndex(a.extent, b.sizes)
			a.bounds = func(m *machine) (int64, int64, int64) { return 1, hi.at(m), 1 }
		case k == 1:
			step, hi := 2+b.Int64N(3), dimIndex(a.extent, b.sizes)
			text += fmt.Sprintf(" step %d", step)
			a.bounds = func(m *machine) (int64, int64, int64) { return 0, hi.at(m), step }
		case k == 2 && len(in.axes) > 0:
			up := pick(b.gen, in.axes).value()
			text, a.hi, a.rng = a.name+" in 0.."+up.text+" + 1", up.hi, "part"
			a.bounds = func(m *machine) (int64, int64, int64) { return 0, up.at(m) + 1, 1 }
		}
		in.cost *= max(1, a.hi+1)
		in.axes, texts, bounds = append(in.axes, a), append(texts, text), append(bounds, a.bounds)
	}
	if len(texts) == 0 {
		return false
	}
	for range 1 + b.IntN(3) {
		in.statement()
	}
	b.line("for %s {\n%s\n}", strings.Join(texts, ", "), strings.Join(in.lines, "\n"))
	axes, body := in.axes[len(b.axes):], in.all()
	b.do(func(m *machine) { m.loops(axes, bounds, body) })
	return true
}

func (m *machine) loops(axes []*srcAxis, bounds []func(m *machine) (int64, int64, int64), body func(m *machine)) {
	if len(axes) == 0 {
		body(m)
		return
	}
	lo, hi, step := bounds[0](m)
	for i := lo; i < hi; i += step {
		m.idx[axes[0].name] = i
		m.loops(axes[1:], bounds[1:], body)
	}
}

func (b *body) ifElse() bool {
	cond := func() node {
		if len(b.axes) > 0 && b.chance(2) {
			return b.place(b.axes, b.cost).indexCompare()
		}
		return b.expr(num.Bool, 2)
	}
	var conds []node
	var blocks []func(m *machine)
	text := ""
	for range 1 + b.IntN(2) {
		c, in := cond(), b.under(1)
		in.statement()
		text += fmt.Sprintf("if %s {\n%s\n} else ", c.text, strings.Join(in.lines, "\n"))
		conds, blocks = append(conds, c), append(blocks, in.all())
	}
	otherwise := func(*machine) {}
	if b.chance(2) {
		in := b.under(1)
		in.statement()
		text += "{\n" + strings.Join(in.lines, "\n") + "\n}"
		otherwise = in.all()
	} else {
		text = strings.TrimSuffix(text, " else ")
	}
	b.line("%s", text)
	b.do(func(m *machine) {
		for i, c := range conds {
			if num.IsTrue(c.at(m)) {
				blocks[i](m)
				return
			}
		}
		otherwise(m)
	})
	return true
}

func (b *body) local() bool {
	e := b.srcElem()
	x := b.expr(e, 1+b.IntN(b.size+1))
	t := local{name: b.fresh("v"), elem: e, scalar: true, exact: x.exact}
	b.line("let %s = %s", t.name, x.text)
	b.keep(t, x)
	return true
}

// keep evaluates x into t of rank 0.
func (b *body) keep(t local, x node) {
	b.do(func(m *machine) {
		a := ir.NewArray(t.elem)
		a.Mem.Cells[0] = x.at(m)
		m.arrays[t.name] = a
	})
	b.locals = append(b.locals, t)
}

// variable declares a scalar with a value, or an array of zeros.
func (b *body) variable() bool {
	t := local{name: b.fresh("v"), elem: b.srcElem(), mode: "var"}
	if b.chance(2) {
		t.scalar = true
		x := b.expr(t.elem, 1)
		b.line("var %s: %s = %s", t.name, t.elem, x.text)
		b.keep(t, x)
		return true
	}
	for range 1 + b.IntN(2) {
		t.dims = append(t.dims, b.newDim())
	}
	if points(t.dims, b.sizes)*b.cost > 3000 {
		return false
	}
	b.line("var %s: %s", t.name, t.typ())
	b.do(func(m *machine) { m.arrays[t.name] = ir.NewArray(t.elem, m.shape(t.dims)...) })
	b.locals = append(b.locals, t)
	return true
}

func (b *body) callProc() bool {
	if len(b.procs) == 0 || b.cost > 20 {
		return false
	}
	c := pick(b.gen, b.procs)
	args, dims, ok := b.argumentsFor(c, true)
	if !ok {
		return false
	}
	var names []string
	for _, a := range args {
		names = append(names, a.name)
	}
	b.line("%s(%s)", c.name, strings.Join(names, ", "))
	b.do(func(m *machine) { c.call(m, args, dims) })
	return true
}
