package analysis

import (
	"slices"

	"tenon/ir"
	"tenon/ir/sym"
)

// Access is an op that touches a buffer, and where.
type Access struct {
	Op    *ir.Op
	At    int        // number of the op in the order of the text
	Path  []Step     // the ops around it, outermost first
	Subs  []sym.Expr // the element, or the first one; nil: any
	Width int64      // elements along the last dim; 0: any number of them, on both sides
	Read  bool
	Write bool
}

// Step is an op with the region through which a path goes.
type Step struct {
	Op     *ir.Op
	Region *ir.Region
}

// Child is the op of a region that holds a, or is it; depth is how many ops are
// around that region.
func (a *Access) Child(depth int) *ir.Op {
	if depth < len(a.Path) {
		return a.Path[depth].Op
	}
	return a.Op
}

// Accesses are those of all buffers of a function, in the order of the text.
type Accesses struct {
	Of    map[*ir.Value][]*Access
	Place map[*ir.Op]Place
	// Aliased are the buffers that another value may stand for: nothing is known
	// of how those are used.
	Aliased map[*ir.Value]bool
}

// Place is where an op stands: its number and that of the last op inside it,
// and the ops around it.
type Place struct {
	First, Last int
	Path        []Step
}

// FindAccesses walks f once.
func FindAccesses(f *ir.Func) *Accesses {
	a := &Accesses{Of: map[*ir.Value][]*Access{}, Place: map[*ir.Op]Place{}, Aliased: map[*ir.Value]bool{}}
	next := 0
	a.region(f.Body, nil, &next)
	return a
}

func (a *Accesses) region(r *ir.Region, path []Step, next *int) {
	for _, op := range r.Ops {
		first := *next
		*next++
		a.op(op, first, path)
		for _, in := range op.Regions() {
			a.region(in, append(path[:len(path):len(path)], Step{op, in}), next)
		}
		a.Place[op] = Place{first, *next - 1, path}
	}
}

// op notes what op itself does.
func (a *Accesses) op(op *ir.Op, at int, path []Step) {
	if op.Def.Traits.Has(ir.Allocates) || op.Def.Name == "vec.prefetch" {
		return
	}
	var touched []*ir.Value
	op.Values(func(v *ir.Value) *ir.Value {
		if _, ok := v.Type.(ir.Buf); ok && !slices.Contains(touched, v) {
			touched = append(touched, v)
		}
		return v
	})
	for _, v := range touched {
		a.Of[v] = append(a.Of[v], accessOf(op, v, at, path))
		a.Aliased[v] = a.Aliased[v] || givesBuffer(op)
	}
}

// givesBuffer reports that op makes or binds a buffer that may be one it was
// given.
func givesBuffer(op *ir.Op) bool {
	isBuf := func(v *ir.Value) bool { _, ok := v.Type.(ir.Buf); return ok }
	if slices.ContainsFunc(op.Results, isBuf) {
		return true
	}
	for _, c := range op.Clauses {
		if k, ok := c.(*ir.Carry); ok && slices.ContainsFunc(k.Params, isBuf) {
			return true
		}
	}
	return false
}

// element says which operand of an op is the element that it touches.
type element struct {
	operand int
	write   bool
	row     bool // neighbours, as many as the vector has lanes
	any     bool // anywhere in the row
}

var elements = map[string]element{
	"load": {}, "store": {operand: 1, write: true},
	"vec.load": {row: true}, "vec.bcast": {}, "vec.gather": {any: true},
	"vec.store": {operand: 1, write: true, row: true}, "vec.scatter": {operand: 1, write: true, any: true},
}

// accessOf is what op does to v; of an op that is not known to touch one element
// or a row of them it is anything.
func accessOf(op *ir.Op, v *ir.Value, at int, path []Step) *Access {
	a := &Access{Op: op, At: at, Path: path, Read: true, Write: true}
	e, known := elements[op.Def.Name]
	if !known {
		return a
	}
	arg := op.Args("")[e.operand]
	if arg.Value != v || arg.View == nil {
		return a
	}
	a.Read, a.Write, a.Subs, a.Width = !e.write, e.write, []sym.Expr{}, 1
	for _, d := range arg.View.Dims {
		a.Subs = append(a.Subs, d.Start)
	}
	switch {
	case e.any:
		a.Width = 0
	case e.row && e.write:
		a.Width = lanes(op.Operand(0).Type)
	case e.row:
		a.Width = lanes(op.Results[0].Type)
	}
	return a
}

func lanes(t ir.Type) int64 {
	switch t := t.(type) {
	case ir.Vec:
		return int64(t.Lanes)
	case ir.Mask:
		return int64(t.Lanes)
	}
	return 0
}
