package fuzz

import (
	"fmt"
	"regexp"
	"strings"

	"tenon/internal/num"
	"tenon/ir/sym"
)

// srcAxis is an index in scope.
type srcAxis struct {
	name   string
	extent sym.Expr // it runs over 0..extent, where rng is ""
	lo, hi int64    // the values it takes at the sizes designed for, both inclusive
	rng    string   // the range written out; "": it follows from a subscript
	bounds func(m *machine) (lo, hi, step int64)
}

func (a *srcAxis) value() index {
	return index{a.name, precPostfix, a.lo, a.hi, func(m *machine) int64 { return m.idx[a.name] }}
}

// text is the axis as a let or a reduction of a body names it. The range of one
// that no subscript of the body tells is written out.
func (a *srcAxis) text(body string) string {
	alone := regexp.MustCompile(`[\[,] ?` + a.name + `[\],]`)
	if a.rng == "" && !alone.MatchString(body) {
		return a.name + " in 0.." + srcExpr(a.extent)
	}
	return a.name + a.rng
}

// newAxis opens an axis over a dim.
func (p *place) newAxis(d sym.Expr) *srcAxis {
	a := &srcAxis{name: freeIndex(p.axes), extent: d, hi: extentOf(d, p.fn.sizes) - 1}
	a.bounds = func(m *machine) (int64, int64, int64) { return 0, m.dim(d), 1 }
	if p.chance(6) {
		a.rng = " in 0.." + srcExpr(d)
	}
	return a
}

// someRead reads a local of type e, if there is one.
func (p *place) someRead(e num.Elem) (node, bool) {
	var found []local
	for _, t := range p.locals() {
		if t.elem == e && t.mode != "unset" {
			found = append(found, t)
		}
	}
	if len(found) == 0 {
		return node{}, false
	}
	return p.read(pick(p.gen, found)), true
}

// read reads an element of t, in range or with a policy.
func (p *place) read(t local) node {
	n := node{text: t.name, prec: precPostfix, elem: t.elem, typed: true, exact: t.exact}
	if t.scalar {
		n.at = func(m *machine) num.Cell { return m.arrays[t.name].Mem.Cells[0] }
		return n
	}
	var subs []func(m *machine) int64
	var texts []string
	policy := ""
	for _, d := range t.dims {
		x, in := p.subscript(d)
		subs, texts = append(subs, x.at), append(texts, x.text)
		_, fixed := d.IsConst()
		if !in && policy == "" && (x.lo == x.hi || fixed || !p.chance(60)) { // what is never inside is refused
			policy = " zero"
			if p.chance(2) && allPositive(t.dims, p.fn.sizes) {
				policy = " clamp"
			}
		}
	}
	n.text = t.name + "[" + strings.Join(texts, ", ") + "]" + policy
	n.at = func(m *machine) num.Cell { return m.element(t, subs, policy) }
	return n
}

func allPositive(dims []sym.Expr, sizes map[string]int64) bool {
	for _, d := range dims {
		if extentOf(d, sizes) <= 0 {
			return false
		}
	}
	return true
}

// element reads an element as a policy says.
func (m *machine) element(t local, subs []func(m *machine) int64, policy string) num.Cell {
	a := m.arrays[t.name]
	at := make([]int64, len(subs))
	for d, s := range subs {
		at[d] = s(m)
	}
	for d, n := range a.Shape {
		switch {
		case policy == " clamp" && n > 0:
			at[d] = min(max(at[d], 0), n-1)
		case policy == " zero" && (at[d] < 0 || at[d] >= n):
			return 0
		}
	}
	return a.Mem.Cells[elementOf(a, at)]
}

// subscript is an index for a dim of n elements, and whether it lies in it
// wherever it is evaluated at the sizes designed for.
func (p *place) subscript(d sym.Expr) (index, bool) {
	n := extentOf(d, p.fn.sizes)
	var same []*srcAxis
	for _, a := range p.axes {
		if a.rng == "" && a.extent.Equal(d) {
			same = append(same, a)
		}
	}
	if len(same) > 0 && !p.chance(4) {
		a := pick(p.gen, same)
		if p.chance(6) {
			x, i := dimIndex(d, p.fn.sizes), a.value()
			return index{p.indexOperand(x, precSum) + " - 1 - " + a.name, precSum, 0, n - 1,
				func(m *machine) int64 { return x.at(m) - 1 - i.at(m) }}, true
		}
		return a.value(), true
	}
	if g, ok := p.gathered(d); ok && p.chance(2) {
		return g, true
	}
	_, fixed := d.IsConst()
	for range 6 {
		x := p.index()
		if fixed && x.lo == x.hi { // a size that no element has, where the code runs at all, is refused
			continue
		}
		if !p.bare(x) && x.lo >= 0 && x.hi < n {
			return x, true
		}
	}
	if n > 0 && p.chance(2) {
		return constIndex(p.Int64N(n)), true
	}
	x := p.index()
	for p.bare(x) {
		x = p.index()
	}
	return x, x.lo >= 0 && x.hi < n
}

// bare: an index alone, or with a number added, says what it runs over.
func (p *place) bare(x index) bool {
	for _, a := range p.axes {
		if a.rng == "" && strings.Contains(x.text, a.name) && x.prec != precProduct && !strings.Contains(x.text, "(") {
			return true
		}
	}
	return false
}

// gathered is a subscript read from an integer tensor.
func (p *place) gathered(d sym.Expr) (index, bool) {
	if p.gathers >= 2 {
		return index{}, false
	}
	p.gathers++
	defer func() { p.gathers-- }()
	for _, t := range p.locals() {
		if t.bound == nil || !t.bound.Equal(d) || t.scalar {
			continue
		}
		g := p.read(t)
		if strings.Contains(g.text, " zero") || strings.Contains(g.text, " clamp") {
			return index{}, false
		}
		x := index{g.text, precPostfix, 0, extentOf(d, p.fn.sizes) - 1, func(m *machine) int64 { return num.Int(g.at(m)) }}
		if p.chance(6) {
			return index{fmt.Sprintf("%s + 1", g.text), precSum, 1, x.hi + 1, func(m *machine) int64 { return x.at(m) + 1 }}, true
		}
		return x, true
	}
	return index{}, false
}
