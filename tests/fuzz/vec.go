package fuzz

import (
	"fmt"
	"slices"
	"strings"

	"tenon/internal/num"
	"tenon/ir"
	"tenon/ir/ops/scalar"
	"tenon/ir/sym"
)

// lane is a vector or mask in scope.
type lane struct {
	name string
	n    int
	elem num.Elem
	mask bool
}

// vecBlock is a region of a proc of the vec level: scalars are its region's.
type vecBlock struct {
	*block
	lanes []lane
	width int // of most vectors
}

// vecProgram makes procs of the vec level.
func vecProgram(g *gen, p *Program) {
	for range 1 + g.IntN(1+g.size/3) {
		g.vecProc()
	}
}

func (g *gen) vecProc() {
	f := &FuncInfo{Name: g.fresh("v"), Roles: map[string]Role{}, level: "vec", dims: []string{"N"}}
	f.Sizes = []map[string]int64{{"N": 16 + g.Int64N(20)}, {"N": 16 + g.Int64N(9)}}
	f.where = []sym.Cond{sym.Ge(sym.Name("N"), sym.Const(16))}
	b := newBlock(g, f)
	v := &vecBlock{block: b, width: pick(g, []int{2, 3, 4, 8, 16})}
	v.buffers()
	for range 2 + g.IntN(4+3*g.size) {
		v.statement()
	}
	v.store()
	v.line("return()")
	g.finishProc(b)
}

// buffers declares one row of each type that vectors have here, and scalars.
func (v *vecBlock) buffers() {
	for i, e := range []num.Elem{v.floatElem(), v.elem(), v.elem(), num.I32} {
		mode := pick(v.gen, []string{"in", "inout", "inout"})
		if i == 0 {
			mode = "inout"
		}
		dims := []sym.Expr{sym.Name("N")}
		if i > 0 && v.chance(3) {
			dims = []sym.Expr{sym.Const(2), sym.Const(16 + v.Int64N(2))}
		}
		t := tval{name: v.fresh("%a"), elem: e, mode: mode, dims: dims, frozen: mode == "in", exact: mode == "in"}
		v.f.parms, v.tensors = append(v.f.parms, t), append(v.tensors, t)
	}
	t := tval{name: v.fresh("%a"), elem: v.elem(), mode: "in", scalar: true, exact: true}
	v.f.parms, v.vals = append(v.f.parms, t), append(v.vals, sval{text: t.name, elem: t.elem, exact: true})
}

func (v *vecBlock) statement() bool { return choose(v.gen, vecMakers, v) }

var vecMakers []weighted[*vecBlock]

func init() {
	vecMakers = []weighted[*vecBlock]{
		{"splat", 4, (*vecBlock).splat, false},
		{"iota", 2, (*vecBlock).iota, false},
		{"first", 3, (*vecBlock).first, false},
		{"load", 6, (*vecBlock).loadLanes, false},
		{"bcast", 2, (*vecBlock).bcast, false},
		{"lanewise", 16, (*vecBlock).lanewise, false},
		{"select", 3, (*vecBlock).selectLanes, false},
		{"cast", 3, (*vecBlock).castLanes, false},
		{"bitcast", 2, (*vecBlock).bitcastLanes, false},
		{"shuffle", 2, (*vecBlock).shuffle, false},
		{"permute", 2, (*vecBlock).permute, false},
		{"gather", 2, (*vecBlock).gatherLanes, false},
		{"scatter", 1, (*vecBlock).scatterLanes, false},
		{"reduce", 3, (*vecBlock).reduce, false},
		{"extract", 2, (*vecBlock).extract, false},
		{"insert", 2, (*vecBlock).insert, false},
		{"prefetch", 1, (*vecBlock).prefetch, false},
		{"dot", 2, (*vecBlock).dot, false},
		{"store", 5, (*vecBlock).store, false},
		{"for", 2, (*vecBlock).loop, false},
		{"scalar", 2, func(v *vecBlock) bool { return v.block.store() }, false},
	}
}

func (v *vecBlock) bindLanes(text string, l lane, typed bool) bool {
	l.name = v.fresh("%v")
	if l.mask || l.elem == num.Bool {
		l.mask, l.elem = true, num.Bool
	}
	typ := ""
	if typed {
		typ = fmt.Sprintf(" : vec<%d x %s>", l.n, l.elem)
		if l.mask {
			typ = fmt.Sprintf(" : mask<%d>", l.n)
		}
	}
	v.line("%s = %s%s", l.name, text, typ)
	v.lanes = append(v.lanes, l)
	return true
}

// some is a vector or mask that fits.
func (v *vecBlock) some(fits func(lane) bool) (lane, bool) {
	var found []lane
	for _, l := range v.lanes {
		if fits(l) {
			found = append(found, l)
		}
	}
	if len(found) == 0 {
		return lane{}, false
	}
	return pick(v.gen, found), true
}

func (v *vecBlock) splat() bool {
	e := v.elem()
	text := ir.FormatLiteral(e, v.cell(e))
	if v.chance(2) {
		text = v.named(v.scalar(e, 1)).text
	}
	return v.bindLanes("vec.splat("+text+")", lane{n: v.width, elem: e}, true)
}

func (v *vecBlock) iota() bool {
	e := pick(v.gen, []num.Elem{num.I64, num.I32, num.I16, num.U8, num.I8})
	return v.bindLanes(fmt.Sprintf("vec.iota(%d)", v.IntN(9)), lane{n: v.width, elem: e}, true)
}

func (v *vecBlock) first() bool {
	text := fmt.Sprint(v.IntN(v.width + 2))
	if v.chance(2) {
		text = fmt.Sprintf("N - %d", 12+v.IntN(12))
	}
	return v.bindLanes("vec.first("+text+")", lane{n: v.width, mask: true}, true)
}

// at is a place with width elements after it in its row.
func (v *vecBlock) at(t tval, width int) string {
	subs := ""
	if len(t.dims) == 2 {
		subs = fmt.Sprint(v.IntN(2)) + ", "
	}
	for _, a := range v.axes {
		if a.hi+int64(width) <= 16 && v.chance(2) {
			return t.name + "[" + subs + a.name + "]"
		}
	}
	return fmt.Sprintf("%s[%s%d]", t.name, subs, v.IntN(17-width))
}

func (v *vecBlock) mask(n int) string {
	if m, ok := v.some(func(l lane) bool { return l.mask && l.n == n }); ok && v.chance(2) {
		return " mask(" + m.name + ")"
	}
	return ""
}

func (v *vecBlock) loadLanes() bool {
	t := pick(v.gen, v.tensors)
	return v.bindLanes("vec.load("+v.at(t, v.width)+")"+v.mask(v.width), lane{n: v.width, elem: t.elem}, true)
}

// numbers is a buffer that is not of bools: lanes of those are masks, which are
// loaded and stored as neighbours only.
func (v *vecBlock) numbers() tval {
	for {
		if t := pick(v.gen, v.tensors); t.elem != num.Bool {
			return t
		}
	}
}

func (v *vecBlock) bcast() bool {
	t := v.numbers()
	return v.bindLanes("vec.bcast("+v.at(t, 1)+")", lane{n: v.width, elem: t.elem}, true)
}

// lanewise applies a row that does a scalar op in each lane: whatever rows of
// that kind there are.
func (v *vecBlock) lanewise() bool {
	a, ok := v.some(func(lane) bool { return true })
	if !ok {
		return false
	}
	e := a.elem
	if a.mask {
		e = num.Bool
	}
	var rows []scalarOp
	for _, d := range ir.AllOps() {
		name, isVec := strings.CutPrefix(d.Name, "vec.")
		for arity := 1; isVec && arity <= 3; arity++ {
			if s := ir.LookupOp(name); s != nil && s.Traits.Has(ir.Elementwise) && name != "cast" && name != "select" && scalar.HasOp(name, arity, e) {
				rows = append(rows, scalarOp{name, arity, e, d.Traits.Has(ir.Comparison)})
			}
		}
	}
	if len(rows) == 0 {
		return false
	}
	o := pick(v.gen, rows)
	args := []string{a.name}
	for len(args) < o.arity {
		b, _ := v.some(func(l lane) bool { return l.n == a.n && l.elem == a.elem && l.mask == a.mask })
		args = append(args, b.name)
	}
	r := lane{n: a.n, elem: a.elem, mask: a.mask || o.compare}
	return v.bindLanes("vec."+o.name+"("+strings.Join(args, ", ")+")", r, false)
}

func (v *vecBlock) selectLanes() bool {
	m, ok := v.some(func(l lane) bool { return l.mask })
	if !ok {
		return false
	}
	a, ok := v.some(func(l lane) bool { return !l.mask && l.n == m.n })
	if !ok {
		return false
	}
	b, _ := v.some(func(l lane) bool { return !l.mask && l.n == m.n && l.elem == a.elem })
	return v.bindLanes(fmt.Sprintf("vec.select(%s, %s, %s)", m.name, a.name, b.name), a, false)
}

func (v *vecBlock) vector() (lane, bool) { return v.some(func(l lane) bool { return !l.mask }) }

func (v *vecBlock) castLanes() bool {
	a, ok := v.vector()
	e := v.elem()
	if ok = ok && e != num.Bool; ok {
		v.bindLanes("vec.cast("+a.name+")", lane{n: a.n, elem: e}, true)
	}
	return ok
}

// bitcastLanes reads the bits of integers, so that no NaN has bits of its own.
func (v *vecBlock) bitcastLanes() bool {
	a, ok := v.integers()
	e := v.elem()
	if ok = ok && e != num.Bool && e.Bytes() == a.elem.Bytes(); ok {
		v.bindLanes("vec.bitcast("+a.name+")", lane{n: a.n, elem: e}, true)
	}
	return ok
}

func (v *vecBlock) shuffle() bool {
	a, ok := v.vector()
	if !ok {
		return false
	}
	b, _ := v.some(func(l lane) bool { return !l.mask && l.elem == a.elem && l.n == a.n })
	var places []string
	for range v.width {
		places = append(places, fmt.Sprint(v.IntN(2*a.n)))
	}
	return v.bindLanes(fmt.Sprintf("vec.shuffle(%s, %s) lanes(%s)", a.name, b.name, strings.Join(places, ", ")), lane{n: v.width, elem: a.elem}, false)
}

func (v *vecBlock) integers() (lane, bool) {
	return v.some(func(l lane) bool { return !l.mask && l.elem.IsInt() && l.elem != num.Bool })
}

func (v *vecBlock) permute() bool {
	a, ok := v.vector()
	i, ok2 := v.integers()
	return ok && ok2 && v.bindLanes(fmt.Sprintf("vec.permute(%s, %s)", a.name, i.name), lane{n: i.n, elem: a.elem}, false)
}

// near is a vector of small numbers, to gather and scatter by.
func (v *vecBlock) near() lane {
	v.bindLanes(fmt.Sprintf("vec.iota(%d)", v.IntN(3)), lane{n: v.width, elem: num.I32}, true)
	i := v.lanes[len(v.lanes)-1]
	v.bindLanes("vec.splat(3)", lane{n: v.width, elem: num.I32}, true)
	v.bindLanes(fmt.Sprintf("vec.and(%s, %s)", i.name, v.lanes[len(v.lanes)-1].name), i, false)
	return v.lanes[len(v.lanes)-1]
}

func (v *vecBlock) gatherLanes() bool {
	t, i := v.numbers(), v.near()
	return v.bindLanes(fmt.Sprintf("vec.gather(%s, %s)%s", v.at(t, 4), i.name, v.mask(v.width)), lane{n: v.width, elem: t.elem}, false)
}

func (v *vecBlock) scatterLanes() bool {
	t, ok := v.writable(func(tval) bool { return true })
	if !ok {
		return false
	}
	a, ok := v.some(func(l lane) bool { return !l.mask && l.elem == t.elem && l.n == v.width })
	if ok {
		v.line("vec.scatter(%s, %s, %s)%s", a.name, v.at(t, 4), v.near().name, v.mask(v.width))
	}
	return ok
}

func (v *vecBlock) reduce() bool {
	a, ok := v.some(func(lane) bool { return true })
	if !ok {
		return false
	}
	e, ops := a.elem, []string{"sum", "prod", "max", "min"}
	switch {
	case a.mask:
		e, ops = num.Bool, []string{"any", "all"}
	case a.elem == num.Bool:
		return false
	case a.elem.IsInt():
		ops = append(ops, "and", "or", "xor")
	}
	s := sval{text: v.fresh("%e"), elem: e}
	v.line("%s = vec.reduce(%s) op=%s", s.text, a.name, pick(v.gen, ops))
	v.vals = append(v.vals, s)
	return true
}

func (v *vecBlock) extract() bool {
	a, ok := v.vector()
	if !ok {
		return false
	}
	s := sval{text: v.fresh("%e"), elem: a.elem}
	v.line("%s = vec.extract(%s) lane=%d", s.text, a.name, v.IntN(a.n))
	v.vals = append(v.vals, s)
	return true
}

func (v *vecBlock) insert() bool {
	a, ok := v.vector()
	if !ok {
		return false
	}
	x := v.named(v.scalar(a.elem, 1))
	return v.bindLanes(fmt.Sprintf("vec.insert(%s, %s) lane=%d", a.name, x.text, v.IntN(a.n)), a, false)
}

func (v *vecBlock) prefetch() bool {
	t := pick(v.gen, v.tensors)
	subs := make([]string, len(t.dims))
	for i := range subs {
		subs[i] = fmt.Sprint(v.IntN(90))
	}
	v.line("vec.prefetch(%s[%s])%s", t.name, strings.Join(subs, ", "), pick(v.gen, []string{"", " level=1", " level=2"}))
	return true
}

// dotShapes are the dot-product and matrix rows: types, and how many lanes the
// factors have for that many of the accumulator.
var dotShapes = []struct {
	name          string
	acc, a, b     num.Elem
	lanes, factor int
}{
	{"dpbf16", num.F32, num.BF16, num.BF16, 4, 2}, {"dpbusd", num.I32, num.U8, num.I8, 4, 4}, {"dpbssd", num.I32, num.I8, num.I8, 2, 4},
	{"dpbuud", num.I32, num.U8, num.U8, 4, 4}, {"dpwssd", num.I32, num.I16, num.I16, 4, 2},
	{"mmbf16", num.F32, num.BF16, num.BF16, 4, 2}, {"mmss", num.I32, num.I8, num.I8, 4, 4}, {"mmus", num.I32, num.U8, num.I8, 4, 4},
}

func (v *vecBlock) dot() bool {
	d := pick(v.gen, dotShapes)
	lanes := func(e num.Elem, n int) string {
		l, ok := v.some(func(l lane) bool { return !l.mask && l.elem == e && l.n == n })
		if !ok || v.chance(3) {
			v.bindLanes("vec.splat("+ir.FormatLiteral(e, v.cell(e))+")", lane{n: n, elem: e}, true)
			l = v.lanes[len(v.lanes)-1]
		}
		return l.name
	}
	text := fmt.Sprintf("vec.%s(%s, %s, %s)", d.name, lanes(d.acc, d.lanes), lanes(d.a, d.lanes*d.factor), lanes(d.b, d.lanes*d.factor))
	return v.bindLanes(text, lane{n: d.lanes, elem: d.acc}, false)
}

func (v *vecBlock) store() bool {
	t, ok := v.writable(func(tval) bool { return true })
	if !ok {
		return false
	}
	a, ok := v.some(func(l lane) bool { return l.elem == t.elem })
	if ok {
		v.line("vec.store(%s, %s)%s", a.name, v.at(t, a.n), v.mask(a.n))
	}
	return ok
}

// loop carries a vector.
func (v *vecBlock) loop() bool {
	a, ok := v.vector()
	if !ok || v.inner > 1 {
		return false
	}
	hi := int64(1 + v.IntN(4))
	in := &vecBlock{block: v.under(hi), lanes: slices.Clone(v.lanes), width: v.width}
	in.axes = append(in.axes, axis{name: v.fresh("i"), extent: sym.Const(hi), plain: true, hi: hi - 1})
	c := a
	c.name = v.fresh("%c")
	in.lanes = append(in.lanes, c)
	for range 1 + v.IntN(3) {
		in.statement()
	}
	y, _ := in.some(func(l lane) bool { return l.n == a.n && l.elem == a.elem && !l.mask })
	name := v.fresh("%v")
	v.line("%s = loop.for %s = 0 to %d carry(%s = %s) {\n%syield(%s)\n} : vec<%d x %s>", name, in.axes[len(in.axes)-1].name, hi, c.name, a.name, in.out, y.name, a.n, a.elem)
	a.name = name
	v.lanes = append(v.lanes, a)
	return true
}
