package fuzz

import (
	"fmt"
	"slices"
	"strings"

	"tenon/internal/num"
	"tenon/ir/sym"
)

// block is a region of a proc. Its region's tensors are the buffers that may be
// read; indices of loops are its axes.
type block struct {
	*region
	f     *FuncInfo
	inner int
	cheap *int64 // points that the proc may still run through
}

// loopProgram makes a module of procs that may call each other.
func loopProgram(g *gen, p *Program) {
	g.someMonoids(1)
	for range 1 + g.IntN(1+g.size/2) {
		g.blockProc("loop")
	}
}

func newBlock(g *gen, f *FuncInfo) *block {
	budget := int64(40000)
	b := &block{region: &region{gen: g, out: &strings.Builder{}, env: map[string]int64{}, cost: 1, flat: true, loads: true}, f: f, cheap: &budget}
	for k, v := range f.Sizes[0] {
		b.env[k] = v
	}
	return b
}

// finishProc writes the header around what the block holds.
func (g *gen) finishProc(b *block) {
	g.items = append(g.items, b.f.procHeader()+" {\n"+b.out.String()+"}")
	g.funcs = append(g.funcs, b.f)
}

// blockProc writes a proc of loops over buffers at the level loop or tile.
func (g *gen) blockProc(level string) {
	f := &FuncInfo{Name: g.fresh("p"), Roles: map[string]Role{}, Keep: true, level: level}
	f.dims = append([]string{}, dimNames[:1+g.IntN(3)]...)
	f.Sizes = []map[string]int64{g.drawSizes(f.dims)}
	f.Sizes = append(f.Sizes, g.otherSizes(f.Sizes[0]))
	b := newBlock(g, f)
	outs := b.bufferParams()
	for _, t := range outs {
		b.fill(t)
		b.tensors = append(b.tensors, t)
	}
	for range 1 + g.IntN(2+g.size) {
		b.statement()
	}
	b.line("return()")
	g.finishProc(b)
}

// bufferParams declares parameters; the out ones are given, and not in scope
// before they are filled.
func (b *block) bufferParams() (outs []tval) {
	bound := map[string]bool{}
	add := func(t tval) {
		b.f.parms = append(b.f.parms, t)
		if t.mode == "out" {
			outs = append(outs, t)
		} else if t.scalar {
			b.vals = append(b.vals, sval{text: t.name, elem: t.elem, exact: true})
		} else {
			b.tensors = append(b.tensors, t)
		}
	}
	for i := range 2 + b.IntN(3) {
		t := tval{name: b.fresh("%a"), elem: b.elem(), mode: pick(b.gen, []string{"in", "inout", "out"})}
		for range b.IntN(3) {
			t.dims = append(t.dims, b.newDim(b.f.dims))
		}
		if i == 0 {
			t.mode, t.dims = "inout", nil
			for _, d := range b.f.dims {
				if !bound[d] {
					t.dims = append(t.dims, sym.Name(d))
					bound[d] = true
				}
			}
		}
		t.exact, t.frozen = t.mode == "in", t.mode == "in"
		add(t)
	}
	for range b.IntN(3) {
		t := tval{name: b.fresh("%a"), elem: b.elem(), mode: "in", scalar: true, exact: true}
		if t.elem == num.Index {
			b.f.Roles[t.name[1:]] = Role{Values: []int64{0, 1, 2, 3}}
		}
		add(t)
	}
	if b.chance(3) {
		dim := sym.Name(pick(b.gen, b.f.dims))
		t := tval{name: b.fresh("%a"), elem: pick(b.gen, []num.Elem{num.I64, num.I32, num.Index, num.U8}), mode: "in", exact: true, frozen: true,
			bound: &dim, dims: []sym.Expr{b.newDim(b.f.dims)}}
		b.f.Roles[t.name[1:]] = Role{Bound: dim, Stray: b.chance(12)}
		b.f.Keep = false
		add(t)
	}
	return outs
}

func (t tval) buf() string {
	if t.scalar {
		return t.elem.String()
	}
	if t.dist != "" {
		return "buf<" + t.typ() + ", " + t.dist + ">"
	}
	return "buf<" + t.typ() + ">"
}

func (f *FuncInfo) procHeader() string {
	var ps []string
	for _, p := range f.parms {
		ps = append(ps, p.mode+" "+p.name+": "+p.buf())
	}
	dims := ""
	if len(f.dims) > 0 {
		dims = "<" + strings.Join(f.dims, ", ") + ">"
	}
	return fmt.Sprintf("proc %s @%s%s(%s)%s", f.level, f.Name, dims, strings.Join(ps, ", "), f.facts())
}

// under is a block inside b, run points times as often.
func (b *block) under(points int64) *block {
	r := *b.region
	r.out = &strings.Builder{}
	r.vals, r.axes, r.tensors = slices.Clone(b.vals), slices.Clone(b.axes), slices.Clone(b.tensors)
	r.cost = b.cost * max(1, points)
	return &block{region: &r, f: b.f, inner: b.inner + 1, cheap: b.cheap}
}

// statement writes some op of the loop level.
func (b *block) statement() bool {
	if *b.cheap -= b.cost; *b.cheap < 0 {
		return false
	}
	list := loopMakers
	if b.inner >= 3 {
		list = loopMakers[:flatLoopMakers]
	}
	return choose(b.gen, list, b)
}

const flatLoopMakers = 4

// loopMakers are the ops of the loop level; those without a region first.
var loopMakers []weighted[*block]

func init() {
	loopMakers = []weighted[*block]{
		{"store", 12, (*block).store, false},
		{"copy", 2, (*block).copy, false},
		{"alloc", 2, (*block).alloc, false},
		{"check", 1, (*block).check, false},
		{"comp", 6, (*block).comp, false},
		{"for", 8, (*block).loop, false},
		{"products", 6, (*block).products, false},
		{"fold", 5, (*block).foldLoop, false},
		{"parallel", 3, (*block).parallel, false},
		{"if", 4, (*block).branch, false},
		{"value", 3, (*block).branchValue, false},
		{"call", 3, (*block).call, false},
	}
}

// writable is a buffer that may be written here.
func (b *block) writable(fits func(tval) bool) (tval, bool) {
	var found []tval
	for _, t := range b.tensors {
		if !t.frozen && fits(t) {
			found = append(found, t)
		}
	}
	if len(found) == 0 {
		return tval{}, false
	}
	return pick(b.gen, found), true
}

// place is the subscripts of an element of t that exists at the sizes designed
// for; ok is false if there is none.
func (r *region) place(t tval) (string, bool) {
	var subs []string
	for i, d := range t.dims {
		if i < len(t.owned) {
			subs = append(subs, t.owned[i])
			continue
		}
		n, known := eval(d, r.env)
		text := ""
		for range 4 {
			x, _, in := r.subscript(d, n, known)
			if in && !strings.HasPrefix(x, "%r") {
				text = x
				break
			}
		}
		if text == "" && n > 0 {
			text = fmt.Sprint(r.Int64N(n))
		}
		if text == "" && !r.chance(20) {
			return "", false
		} else if text == "" {
			text = "0"
		}
		subs = append(subs, text)
	}
	return strings.Join(subs, ", "), true
}

// load reads an element of a buffer of elements e.
func (r *region) load(e num.Elem) (sval, bool) {
	var found []tval
	for _, t := range r.tensors {
		if t.elem == e {
			found = append(found, t)
		}
	}
	if len(found) == 0 {
		return sval{}, false
	}
	t := pick(r.gen, found)
	at, ok := r.place(t)
	if !ok {
		return sval{}, false
	}
	return r.emit(fmt.Sprintf("load(%s[%s])", t.name, at), e, t.exact, 0), true
}

// named is v under a name of its own.
func (r *region) named(v sval) sval {
	if strings.HasPrefix(v.text, "%") {
		return v
	}
	name, text := r.fresh("%e"), v.text
	if v.literal {
		text = "const " + text
	}
	r.line("%s = %s", name, text)
	v.text = name
	r.vals = append(r.vals, v)
	return v
}

func (b *block) store() bool {
	t, ok := b.writable(func(tval) bool { return true })
	if !ok {
		return false
	}
	at, ok := b.place(t)
	if !ok {
		return false
	}
	v := b.scalar(t.elem, 1+b.IntN(b.size+1))
	b.line("store(%s, %s[%s])", v.text, t.name, at)
	return true
}

// fill writes all of t: by a comp or by loops.
func (b *block) fill(t tval) {
	if b.chance(2) {
		b.bufferComp(t, false)
		return
	}
	in := b.under(points(t.dims, b.env))
	var subs []string
	open := ""
	for _, d := range t.dims {
		a := axis{name: b.fresh("i"), extent: d, plain: true, hi: extentOf(d, b.env) - 1}
		in.axes = append(in.axes, a)
		subs = append(subs, a.name)
		open += fmt.Sprintf("loop.for %s = 0 to %s {\n", a.name, d)
	}
	v := in.scalar(t.elem, 1+b.IntN(2))
	b.line("%s%sstore(%s, %s[%s])%s", open, in.out, v.text, t.name, strings.Join(subs, ", "), strings.Repeat("\n}", len(t.dims)))
}

func (b *block) comp() bool {
	t, ok := b.writable(func(t tval) bool { return b.cost*points(t.dims, b.env) < 4000 })
	if ok {
		b.bufferComp(t, true)
	}
	return ok
}

// bufferComp writes a comp into t, which it covers whole unless again is set:
// t was written before.
func (b *block) bufferComp(t tval, again bool) {
	r := &region{gen: b.gen, out: &strings.Builder{}, axes: slices.Clone(b.axes), env: b.env, cost: b.cost}
	for _, u := range b.tensors {
		if u.name != t.name {
			r.tensors = append(r.tensors, u)
		}
	}
	r.vals = slices.Clone(b.vals)
	free := t.dims[len(t.owned):]
	d := r.parAxes(free)
	r.axes = append(r.axes, d.par...)
	var texts []string
	subs := slices.Clone(t.owned)
	for _, a := range d.par {
		texts, subs = append(texts, fmt.Sprintf("%s < %s", a.name, a.extent)), append(subs, a.name)
	}
	d.clauses = axesText("par", texts)
	reduce := b.chance(2)
	m := b.reduction(t.elem)
	elems := []num.Elem{t.elem}
	guarded := false
	if reduce {
		r.redAxes(&d, nil, 1+b.IntN(2))
		if b.chance(3) {
			r.guards(&d)
		}
	} else if again && len(d.par) > 0 && b.chance(3) {
		x, _ := r.indexExpr()
		d.clauses += fmt.Sprintf(" if(%s %s %s)", d.par[0].name, pick(b.gen, relations), x)
		guarded = true
	}
	_ = guarded
	r.cost = b.cost * d.points
	reads := r.reads(b.IntN(3))
	if again && b.chance(3) {
		v := sval{text: b.fresh("%r"), elem: t.elem}
		own := fmt.Sprintf("%s = %s[%s]", v.text, t.name, strings.Join(subs, ", "))
		if reads == "" {
			reads = " in(" + own + ")"
		} else {
			reads = strings.TrimSuffix(reads, ")") + ", " + own + ")"
		}
		r.vals = append(r.vals, v)
	}
	r.yields(elems)
	after := ""
	if reduce {
		after = r.tail(m, d, again)
	}
	b.line("tensor.comp%s%s out(%s[%s]) {\n%s}%s", d.clauses, reads, t.name, strings.Join(subs, ", "), r.out, after)
	*b.cheap -= b.cost * d.points
}

// copy copies a buffer or a corner of one.
func (b *block) copy() bool {
	to, ok := b.writable(func(t tval) bool { return len(t.owned) == 0 })
	if !ok || b.f.level == "tile" {
		return false
	}
	for _, from := range b.tensors {
		if from.name == to.name || from.elem != to.elem || from.rank() != to.rank() || len(from.owned) > 0 {
			continue
		}
		if sameDims(from.dims, to.dims) && b.chance(2) {
			b.line("loop.copy(%s, %s)", from.name, to.name)
			return true
		}
		var x, y []string
		for i := range from.dims {
			n := min(extentOf(from.dims[i], b.env), extentOf(to.dims[i], b.env))
			k := b.Int64N(n + 1)
			x = append(x, fmt.Sprintf("%d:%d", b.Int64N(n-k+1), k))
			y = append(y, fmt.Sprintf("%d:%d", b.Int64N(n-k+1), k))
		}
		b.line("loop.copy(%s[%s], %s[%s])", from.name, strings.Join(x, ", "), to.name, strings.Join(y, ", "))
		return true
	}
	return false
}

// alloc makes a temporary and fills it.
func (b *block) alloc() bool {
	t := tval{elem: b.elem()}
	for range b.IntN(3) {
		t.dims = append(t.dims, b.newDim(b.f.dims))
	}
	if points(t.dims, b.env)*b.cost > 4000 {
		return false
	}
	b.temporary(t)
	return true
}

func (b *block) temporary(t tval) tval {
	t.name = b.fresh("%a")
	b.line("%s = loop.alloc : %s", t.name, t.buf())
	b.fill(t)
	b.tensors = append(b.tensors, t)
	return t
}

func (b *block) check() bool {
	d := pick(b.gen, b.f.dims)
	b.line("tensor.check(%s <= %d)", d, b.env[d]+b.Int64N(9))
	return true
}
