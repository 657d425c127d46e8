package fuzz

import (
	"math"
	"strings"

	"tenon/internal/num"
)

// reduction gives an e by folding over new axes.
func (p *place) reduction(e num.Elem, depth int) (node, bool) {
	name, body := p.reductionOf(e)
	in := *p
	axes, points := in.reduceAxes(name == "argmax" || name == "argmin")
	in.cost = p.cost * max(1, points)
	x := in.typedExpr(body, depth-1)
	guards, guardText := in.guards(name)
	r := &fold{name: name, body: x, axes: axes, guards: guards}
	var texts []string
	for _, a := range axes {
		texts = append(texts, a.text(guardText+" "+x.text))
	}
	text := name + "[" + strings.Join(texts, ", ") + guardText + "] " + x.text
	exact := x.exact && (!body.IsFloat() || name == "max" || name == "min" || strings.HasPrefix(name, "arg"))
	return node{text: text, prec: precUnary, elem: e, typed: true, open: true, exact: exact && len(guards) == 0, at: r.value}, true
}

func (p *place) reductionOf(e num.Elem) (name string, body num.Elem) {
	switch {
	case e == num.Bool:
		return pick(p.gen, []string{"any", "all"}), num.Bool
	case e == num.I64 && p.chance(3):
		body = pick(p.gen, p.elems())
		for body == num.Bool {
			body = num.F32
		}
		return pick(p.gen, []string{"argmax", "argmin"}), body
	case e.IsFloat() && p.chance(4):
		return pick(p.gen, []string{"mean", "logsumexp"}), e
	}
	return pick(p.gen, []string{"sum", "sum", "sum", "max", "min", "prod"}), e
}

// reduceAxes opens one to three axes: over dims, parts of dims, up to an outer
// index.
func (p *place) reduceAxes(arg bool) (axes []*srcAxis, points int64) {
	points = 1
	n := 1 + p.IntN(2)
	p.axes = append([]*srcAxis{}, p.axes...)
	for range n {
		a := p.newAxis(p.fn.someDim(p))
		if size := a.hi + 1; p.cost*points*size > 4000 {
			break
		}
		switch k := p.IntN(8); {
		case k == 0:
			lo := p.Int64N(3)
			hi := dimIndex(a.extent, p.fn.sizes)
			step := int64(1)
			a.rng = " in " + constIndex(lo).text + ".." + hi.text
			if p.chance(2) {
				step = 2 + p.Int64N(2)
				a.rng += " step " + constIndex(step).text
			}
			a.lo = lo
			a.bounds = func(m *machine) (int64, int64, int64) { return lo, hi.at(m), step }
		case k == 1 && len(p.axes) > 0 && !(arg && len(axes) > 0):
			up := pick(p.gen, p.axes).value()
			a.rng, a.hi = " in 0.."+up.text+" + 1", up.hi
			a.bounds = func(m *machine) (int64, int64, int64) { return 0, up.at(m) + 1, 1 }
		}
		points *= max(1, a.hi+1)
		axes, p.axes = append(axes, a), append(p.axes, a)
	}
	if len(axes) == 0 {
		a := p.newAxis(p.fn.someDim(p))
		a.rng, a.hi = " in 0..2", 1
		a.bounds = func(*machine) (int64, int64, int64) { return 0, 2, 1 }
		axes, p.axes = append(axes, a), append(p.axes, a)
		points = 2
	}
	return axes, points
}

// guards limit the domain: over indices, over data.
func (p *place) guards(name string) (conds []guardCond, text string) {
	if !p.chance(4) {
		return nil, ""
	}
	var texts []string
	for range 1 + p.IntN(2) {
		if p.chance(2) {
			c := p.indexCompare()
			for strings.Contains(c.text, "/") { // of what may be negative it is no index expression
				c = p.indexCompare()
			}
			texts, conds = append(texts, c.text), append(conds, guardCond{c, false})
			continue
		}
		c := p.logicOverData()
		texts, conds = append(texts, c.text), append(conds, guardCond{c, true})
	}
	// Guards over indices say which points there are; data are read at those alone.
	var first, then []guardCond
	for _, c := range conds {
		if c.data {
			then = append(then, c)
		} else {
			first = append(first, c)
		}
	}
	return append(first, then...), " where " + strings.Join(texts, ", ")
}

// guardCond is a guard; one over data keeps the point, with a neutral value.
type guardCond struct {
	node
	data bool
}

func (p *place) logicOverData() node {
	on := num.F32
	for _, t := range p.locals() {
		if t.elem != num.Bool {
			on = t.elem
		}
	}
	if n, ok := p.someRead(on); ok {
		c := pick(p.gen, comparisons)
		lit := p.literalNode(on)
		l, _ := p.operand(n, precSum, false)
		r, _ := p.operand(lit, precSum, true)
		return node{text: l + " " + c.text + " " + r, prec: precCompare, elem: num.Bool, typed: true, at: func(m *machine) num.Cell {
			x, y := n.at(m), lit.at(m)
			return num.Binary(c.op, m.carrier(on))(x, y)
		}}
	}
	return p.indexCompare()
}

// fold is what a reduction does.
type fold struct {
	name   string
	body   node
	axes   []*srcAxis
	guards []guardCond
}

// each runs f at the points of the domain: kept is false where a guard over data
// takes a point out, place is its number and value the last index.
func (r *fold) each(m *machine, f func(x num.Cell, kept bool, place, value int64)) {
	saved := map[string]int64{}
	for _, a := range r.axes {
		saved[a.name] = m.idx[a.name]
	}
	var loop func(d int, place int64)
	loop = func(d int, place int64) {
		if d == len(r.axes) {
			kept := true
			for _, g := range r.guards {
				if !num.IsTrue(g.at(m)) {
					if !g.data {
						return
					}
					kept = false
				}
			}
			f(r.body.at(m), kept, place, m.idx[r.axes[d-1].name])
			return
		}
		a := r.axes[d]
		lo, hi, step := a.bounds(m)
		n := max(0, (hi-lo+step-1)/step)
		for k := range n {
			m.idx[a.name] = lo + k*step
			loop(d+1, place*n+k)
		}
	}
	loop(0, 0)
	for k, v := range saved {
		m.idx[k] = v
	}
}

// value is the reduction's result, rounded once where it is computed wide.
func (r *fold) value(m *machine) num.Cell {
	e, outer := r.body.elem, m.promote
	if e == num.F16 || e == num.BF16 {
		m.promote = true
	}
	ce := m.carrier(e)
	var out num.Cell
	switch r.name {
	case "argmax", "argmin":
		out, ce = r.arg(m), num.I64
		e = num.I64
	case "mean":
		out = r.mean(m, ce)
	case "logsumexp":
		out = r.logSumExp(m, ce)
	default:
		out = r.folded(m, r.name, ce, func(x num.Cell) num.Cell { return x })
	}
	m.promote = outer
	if ce != e {
		out = num.Cast(ce, e, out)
	}
	return out
}

// folds are the ops and neutral elements of the reductions by one op.
var foldOps = map[string]string{"sum": "add", "prod": "mul", "max": "max", "min": "min", "any": "or", "all": "and"}

func neutral(name string, e num.Elem) num.Cell {
	lo, hi := int64(0), int64(1)
	if e.IsInt() {
		lo, hi = num.IntRange(e)
	}
	switch {
	case name == "prod" && e.IsFloat():
		return num.FromFloat(1)
	case name == "prod" || name == "all":
		return num.FromInt(1)
	case name == "max" && e.IsFloat():
		return num.FromFloat(math.Inf(-1))
	case name == "min" && e.IsFloat():
		return num.FromFloat(math.Inf(1))
	case name == "max":
		return num.FromInt(lo)
	case name == "min":
		return num.FromInt(hi)
	}
	return 0
}

func (r *fold) folded(m *machine, name string, e num.Elem, f func(x num.Cell) num.Cell) num.Cell {
	acc, op := neutral(name, e), num.Binary(foldOps[name], e)
	r.each(m, func(x num.Cell, kept bool, _, _ int64) {
		x = f(x)
		if !kept {
			x = neutral(name, e)
		}
		acc = op(acc, x)
	})
	return acc
}

func (r *fold) mean(m *machine, e num.Elem) num.Cell {
	n := int64(0)
	r.each(m, func(_ num.Cell, kept bool, _, _ int64) {
		if kept {
			n++
		}
	})
	if n == 0 {
		return 0
	}
	sum := r.folded(m, "sum", e, func(x num.Cell) num.Cell { return x })
	return num.Binary("div", e)(sum, num.Cast(num.I64, e, num.FromInt(n)))
}

func (r *fold) logSumExp(m *machine, e num.Elem) num.Cell {
	same := func(x num.Cell) num.Cell { return x }
	top := r.folded(m, "max", e, same)
	if math.IsInf(num.Float(top), 0) {
		top = 0
	}
	sum := r.folded(m, "sum", e, func(x num.Cell) num.Cell { return num.Unary("exp", e)(num.Binary("sub", e)(x, top)) })
	return num.Binary("add", e)(top, num.Unary("log", e)(sum))
}

// arg is the place of the greatest or least value: the lowest of equals, the
// first NaN; -1 where guards over data leave nothing, a fault where there is
// no point at all.
func (r *fold) arg(m *machine) num.Cell {
	points, best, at := 0, num.Cell(0), int64(-1)
	r.each(m, func(x num.Cell, kept bool, place, value int64) {
		points++
		if len(r.axes) == 1 {
			place = value
		}
		if kept && (at < 0 || better(r.name == "argmax", r.body.elem, x, best)) {
			best, at = x, place
		}
	})
	if points == 0 {
		panic(stop{})
	}
	return num.FromInt(at)
}

func better(greater bool, e num.Elem, x, best num.Cell) bool {
	if !e.IsFloat() {
		return greater && num.Int(x) > num.Int(best) || !greater && num.Int(x) < num.Int(best)
	}
	a, b := num.Float(x), num.Float(best)
	if b != b {
		return false
	}
	return a != a || greater && a > b || !greater && a < b
}
