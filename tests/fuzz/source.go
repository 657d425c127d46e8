package fuzz

import (
	"fmt"
	"slices"
	"strings"

	"tenon/internal/num"
	"tenon/ir"
	"tenon/ir/interp"
	"tenon/ir/sym"
)

// sourceProgram writes a file of the Tenon language. Every expression is written
// together with what it means, a function in Go on numbers: the front end and
// the interpreter are held against that.
func sourceProgram(g *gen, p *Program) {
	p.Source = true
	s := &file{gen: g}
	for range 1 + g.IntN(1+g.size/2) {
		switch {
		case g.chance(3):
			s.proc()
		default:
			s.fn()
		}
	}
	p.Text = s.layout(strings.Join(s.items, "\n"))
}

// file is the text of a program and the functions that later ones may call.
type file struct {
	*gen
	items []string
	fns   []*callee
	procs []*callee
}

// callee is a function with what it computes.
type callee struct {
	name   string
	dims   []string
	params []local
	result []local
	run    func(m *machine)
}

// local is a tensor (rank 0: a scalar) that a function knows by a name.
type local struct {
	name   string
	elem   num.Elem
	dims   []sym.Expr
	axes   []string // the indices that its dims are called by, if any
	scalar bool     // read without brackets, and not a buffer
	exact  bool     // any implementation gives these values
	bound  *sym.Expr
	mode   string // of a proc's parameter; "var": a local that can be assigned
}

func (t local) typ() string {
	if t.scalar {
		return t.elem.String()
	}
	return t.elem.String() + "[" + srcExprs(t.dims) + "]"
}

// srcExpr writes a dim as the language does.
func srcExpr(e sym.Expr) string { return strings.ReplaceAll(e.String(), "//", "/") }

func srcExprs(es []sym.Expr) string {
	parts := make([]string, len(es))
	for i, e := range es {
		parts[i] = srcExpr(e)
	}
	return strings.Join(parts, ", ")
}

// machine is a direct evaluation under way: what every name stands for.
type machine struct {
	idx     map[string]int64 // indices and dims
	arrays  map[string]*ir.Array
	promote bool // f16 and bf16 are computed in f32: in a reduction over them
}

// stop is the panic of an evaluation whose data are at fault.
type stop struct{}

// carrier is the type that values of e are computed in.
func (m *machine) carrier(e num.Elem) num.Elem {
	if m.promote && (e == num.F16 || e == num.BF16) {
		return num.F32
	}
	return e
}

// elementOf finds the place of an element; it stops outside of a.
func elementOf(a *ir.Array, at []int64) int {
	pos := int64(0)
	for d, i := range at {
		if i < 0 || i >= a.Shape[d] {
			panic(stop{})
		}
		pos = pos*a.Shape[d] + i
	}
	return int(pos)
}

// over runs body at each point of a rectangle, in row-major order.
func (m *machine) over(names []string, ranges []span, body func(at []int64)) {
	at := make([]int64, len(names))
	var loop func(d int)
	loop = func(d int) {
		if d == len(names) {
			body(at)
			return
		}
		for i := ranges[d].lo; i < ranges[d].hi; i++ {
			at[d] = i
			m.idx[names[d]] = i
			loop(d + 1)
		}
	}
	loop(0)
}

func (m *machine) dim(e sym.Expr) int64 {
	v, err := e.Eval(sym.Names(m.idx))
	if err != nil {
		panic(stop{})
	}
	return v
}

func (m *machine) shape(dims []sym.Expr) []int64 {
	out := make([]int64, len(dims))
	for i, d := range dims {
		out[i] = max(0, m.dim(d))
	}
	return out
}

// reference runs a function directly: its results, or that it stops.
func (c *callee) reference(args []any, sizes map[string]int64) (results []any, stopped bool) {
	defer func() {
		if r := recover(); r != nil {
			if _, ok := r.(stop); !ok {
				panic(r)
			}
			results, stopped = nil, true
		}
	}()
	m := &machine{idx: map[string]int64{}, arrays: map[string]*ir.Array{}}
	for k, v := range sizes {
		m.idx[k] = v
	}
	for i, p := range c.params {
		m.arrays[p.name] = argument(args[i], m, p)
	}
	c.run(m)
	for _, r := range c.result {
		results = append(results, m.arrays[r.name])
	}
	return results, false
}

// argument is the array that stands for an argument: a new one for an out
// parameter.
func argument(v any, m *machine, t local) *ir.Array {
	if a, ok := v.(*ir.Array); ok {
		return a
	}
	a := ir.NewArray(t.elem, m.shape(t.dims)...)
	if s, ok := v.(interp.Scalar); ok {
		a.Mem.Cells[0] = s.Cell
	}
	return a
}

// layout spreads the text: line breaks, spaces and comments mean nothing.
func (s *file) layout(text string) string {
	if s.chance(2) {
		return text
	}
	words := strings.Split(text, " ")
	for i := range words[:len(words)-1] {
		switch s.IntN(30) {
		case 0:
			words[i] += "\n"
		case 1:
			words[i] += " // a comment, + and [\n"
		case 2:
			words[i] += " "
		}
	}
	return strings.Join(words, " ")
}

// fresh index names: a few letters, so that they are used again and again.
var indexNames = strings.Split("i j k l m n r t u w", " ")

func freeIndex(inScope []*srcAxis) string {
	for _, n := range indexNames {
		if !slices.ContainsFunc(inScope, func(a *srcAxis) bool { return a.name == n }) {
			return n
		}
	}
	return fmt.Sprintf("z%d", len(inScope))
}
