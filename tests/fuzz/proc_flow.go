package fuzz

import (
	"fmt"
	"strings"

	"tenon/internal/num"
	"tenon/ir/sym"
)

// bounds draws the range of a loop: the text after the index, and the index.
// Rectangular ranges, triangles, ranges without their border, run-time bounds.
func (b *block) bounds() (string, axis) {
	d := b.extent()
	n := extentOf(d, b.env)
	a := axis{name: b.fresh("i"), extent: d, plain: true, hi: n - 1}
	switch k := b.IntN(10); {
	case k == 0:
		a.plain, a.lo, a.hi = false, 1, n-2
		return fmt.Sprintf("1 to %s", sym.Add(d, sym.Const(-1))), a
	case k <= 2 && len(b.axes) > 0: // from an index on, or up to it
		o := pick(b.gen, b.axes)
		if b.chance(2) && o.lo >= 0 {
			a.plain, a.lo = false, o.lo
			return fmt.Sprintf("%s to %s", o.name, d), a
		}
		a.plain, a.hi = o.plain, o.hi
		if o.plain {
			a.extent = o.extent
		}
		return fmt.Sprintf("0 to %s", sym.Add(sym.Name(o.name), sym.Const(1))), a
	case k == 3:
		for _, v := range b.vals {
			if v.elem == num.Index && strings.HasPrefix(v.text, "%a") {
				a.plain, a.hi = false, 2
				return fmt.Sprintf("0 to %s", v.text), a
			}
		}
	case k == 4:
		s := 2 + b.Int64N(3)
		return fmt.Sprintf("0 to %s step %d", d, s), a
	}
	return fmt.Sprintf("0 to %s", d), a
}

// extent is an extent of a buffer in scope.
func (b *block) extent() sym.Expr {
	var dims []sym.Expr
	for _, t := range b.tensors {
		dims = append(dims, t.dims...)
	}
	if len(dims) == 0 || b.chance(6) {
		return b.newDim(b.f.dims)
	}
	return pick(b.gen, dims)
}

func (b *block) body(in *block, n int) {
	for range n {
		in.statement()
	}
}

func (b *block) loop() bool {
	text, a := b.bounds()
	if b.cost*max(1, a.hi+1) > 3000 {
		return false
	}
	if b.chance(6) && strings.HasPrefix(text, "0 to") && !strings.Contains(text, "step") {
		return b.blocked(a)
	}
	in := b.under(a.hi + 1)
	in.axes = append(in.axes, a)
	b.body(in, 1+b.IntN(3))
	if b.f.level == "tile" && b.chance(2) {
		b.line("tile.for %s = %s%s {\n%s}", a.name, text, b.directives(), in.out)
		return true
	}
	b.line("loop.for %s = %s%s {\n%s}", a.name, text, b.directives(), in.out)
	return true
}

// blocked is a loop over blocks with a loop over each block inside.
func (b *block) blocked(a axis) bool {
	outer, size := b.fresh("i"), b.fresh("n")
	in := b.under(a.hi + 1)
	in.axes = append(in.axes, axis{name: outer, extent: a.extent, plain: a.plain, hi: a.hi}, a)
	b.body(in, 1+b.IntN(2))
	b.line("loop.for %s:%s = 0 to %s step %d {\nloop.for %s = %s to %s {\n%s}\n}", outer, size, a.extent, 2+b.IntN(3),
		a.name, outer, sym.Add(sym.Name(outer), sym.Name(size)), in.out)
	return true
}

// foldLoop carries scalars through a loop.
func (b *block) foldLoop() bool {
	text, a := b.bounds()
	if b.cost*max(1, a.hi+1) > 3000 {
		return false
	}
	var inits, params []sval
	var carry, types []string
	for range 1 + b.IntN(2) {
		v := b.named(b.scalar(b.elem(), 1))
		p := sval{text: b.fresh("%c"), elem: v.elem}
		inits, params = append(inits, v), append(params, p)
		carry, types = append(carry, p.text+" = "+v.text), append(types, v.elem.String())
	}
	in := b.under(a.hi + 1)
	in.axes = append(in.axes, a)
	in.vals = append(in.vals, params...)
	if b.chance(3) {
		in.statement()
	}
	var yields, results []string
	directives := b.directives()
	for _, p := range params {
		v := in.scalar(p.elem, 1+b.IntN(b.size+1))
		text := v.text
		if p.elem != num.Bool && b.chance(2) {
			text = fmt.Sprintf("%s(%s, %s)", pick(b.gen, []string{"add", "max", "min"}), p.text, v.text)
			if len(params) == 1 && p.elem.IsFloat() && strings.HasPrefix(text, "add") && b.chance(2) {
				directives = ` directives("reassoc")`
			}
		}
		yields, results = append(yields, text), append(results, b.fresh("%e"))
	}
	b.line("%s = loop.for %s = %s carry(%s)%s {\n%syield(%s)\n} : %s", strings.Join(results, ", "), a.name, text, strings.Join(carry, ", "),
		directives, in.out, strings.Join(yields, ", "), strings.Join(types, ", "))
	for i, p := range params {
		b.vals = append(b.vals, sval{text: results[i], elem: p.elem})
	}
	_ = inits
	return true
}

// parallel is a loop whose iterations write the buffers of their own index
// only, and read no others that are written.
func (b *block) parallel() bool {
	in := b.under(1)
	a := axis{name: b.fresh("i"), plain: true}
	var first *tval
	for i := range in.tensors {
		t := &in.tensors[i]
		switch {
		case t.frozen:
		case t.rank() <= len(t.owned):
			t.frozen = true
		case first == nil:
			first = t
			a.extent = t.dims[len(t.owned)]
			a.hi = extentOf(a.extent, b.env) - 1
			t.owned = append(append([]string{}, t.owned...), a.name)
		case t.dims[len(t.owned)].Equal(a.extent) && b.chance(2):
			t.owned = append(append([]string{}, t.owned...), a.name)
		default:
			t.frozen = true
		}
	}
	if first == nil || b.cost*(a.hi+1) > 3000 {
		return false
	}
	in.cost *= max(1, a.hi+1)
	in.axes = append(in.axes, a)
	b.body(in, 1+b.IntN(3))
	if b.f.level == "tile" {
		b.line("tile.for %s = 0 to %s parallel%s {\n%s}", a.name, a.extent, b.directives(), in.out)
		return true
	}
	b.line("loop.parallel %s = 0 to %s%s {\n%s}", a.name, a.extent, b.directives(), in.out)
	return true
}

// condition is a comparison of indices, dims and integers read from memory that
// does not change.
func (b *block) condition() string {
	x, _ := b.indexExpr()
	y, _ := b.indexExpr()
	return fmt.Sprintf("%s %s %s", x, pick(b.gen, relations), y)
}

func (b *block) conditions() string {
	c := b.condition()
	if b.chance(3) {
		c += ", " + b.condition()
	}
	return c
}

func (b *block) branch() bool {
	yes, no := b.under(1), b.under(1)
	b.body(yes, 1+b.IntN(2))
	text := ""
	if b.chance(2) {
		b.body(no, 1)
		text = fmt.Sprintf(" else {\n%s}", no.out)
	}
	b.line("loop.if (%s) {\n%s}%s", b.conditions(), yes.out, text)
	return true
}

func (b *block) branchValue() bool {
	yes, no := b.under(1), b.under(1)
	var names, types, a, c []string
	var results []sval
	for range 1 + b.IntN(2) {
		e := b.elem()
		x, y := yes.scalar(e, 2), no.scalar(e, 2)
		v := sval{text: b.fresh("%e"), elem: e, exact: x.exact && y.exact}
		names, types, a, c = append(names, v.text), append(types, e.String()), append(a, x.text), append(c, y.text)
		results = append(results, v)
	}
	b.line("%s = loop.if (%s) {\n%syield(%s)\n} else {\n%syield(%s)\n} : %s", strings.Join(names, ", "), b.conditions(),
		yes.out, strings.Join(a, ", "), no.out, strings.Join(c, ", "), strings.Join(types, ", "))
	b.vals = append(b.vals, results...)
	return true
}

// call calls a proc written before, with temporaries or fitting buffers.
func (b *block) call() bool {
	var callees []*FuncInfo
	for _, f := range b.funcs {
		if f.Keep && f.Name != b.f.Name {
			callees = append(callees, f)
		}
	}
	if b.f.level == "tile" || len(callees) == 0 || b.cost > 3 || *b.cheap < 20000 {
		return false
	}
	f := pick(b.gen, callees)
	dims, env := map[string]sym.Expr{}, map[string]int64{}
	for _, d := range f.dims {
		dims[d] = b.extent()
		n := extentOf(dims[d], b.env)
		if n > 11 {
			return false
		}
		env[d] = n
	}
	var args []string
	used := map[string]bool{}
	for _, p := range f.parms {
		if p.scalar {
			args = append(args, b.scalarArg(p.elem))
			continue
		}
		args = append(args, b.bufferArg(p, substDims(p.dims, dims), used))
	}
	b.line("loop.call @%s(%s)", f.Name, strings.Join(args, ", "))
	*b.cheap -= 20000
	return true
}

func (b *block) scalarArg(e num.Elem) string {
	if e == num.Index || e == num.I64 {
		return fmt.Sprint(b.IntN(4))
	}
	return b.named(b.scalar(e, 1)).text
}

// bufferArg is a buffer of these dims: one in scope if none of the call's other
// arguments is it, else a new one.
func (b *block) bufferArg(p tval, dims []sym.Expr, used map[string]bool) string {
	for _, t := range b.tensors {
		ok := t.elem == p.elem && sameDims(t.dims, dims) && len(t.owned) == 0 && !used[t.name] && (p.mode == "in" || !t.frozen)
		if ok && b.chance(2) {
			used[t.name] = true
			return t.name
		}
	}
	t := b.temporary(tval{elem: p.elem, dims: dims})
	used[t.name] = true
	return t.name
}
