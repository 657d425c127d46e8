package interp

import (
	"fmt"
	"slices"

	"tenon/internal/diag"
	"tenon/internal/num"
	"tenon/ir"
	"tenon/ir/sym"
)

// entry is what a call of a function does before its body: put the arguments
// into slots, bind dims, check the declared facts.
type entry struct {
	dims   *dimPlan
	slots  []int
	shapes []func(*ir.Frame) []int64 // of the arguments that have one
	sizes  ir.Step                   // the shape program, nil if no argument needs it
}

func (st *staged) stageEntry() {
	f, s := st.f, st.s
	e := &entry{dims: s.planDims(f)}
	for _, p := range f.Params {
		e.slots = append(e.slots, s.slotOf(p.Value))
		e.shapes = append(e.shapes, s.shape(p.Value.Type))
		dims, _ := ir.DimsOf(p.Value.Type)
		if p.Mode == ir.ModeOut && e.sizes == nil && usesAny(dims, f.ExDims) {
			e.sizes = s.Region(&ir.Region{Ops: ir.ShapeProgram(f)})
		}
	}
	st.entry = e
}

func usesAny(dims []sym.Expr, names []string) bool {
	for _, d := range dims {
		for _, n := range d.Names() {
			if slices.Contains(names, n) {
				return true
			}
		}
	}
	return false
}

// shape stages the dims of t; nil where it has none.
func (s *stager) shape(t ir.Type) func(*ir.Frame) []int64 {
	dims, ok := ir.DimsOf(t)
	if !ok {
		return nil
	}
	fs := s.subscripts(dims)
	return func(f *ir.Frame) []int64 {
		shape := make([]int64, len(fs))
		for d, x := range fs {
			shape[d] = x(f)
		}
		return shape
	}
}

// enter prepares frame f. top is the entry from outside: there the arguments
// themselves are checked, aliasing is refused and out buffers are poisoned.
func (st *staged) enter(f *ir.Frame, args []any, top bool) error {
	code, err := ir.TrapShape, st.enterArgs(f, args, top)
	if err == nil && top {
		code, err = ir.TrapAlias, aliased(st.f, args)
	}
	if err == nil && top {
		code, err = ir.TrapShape, st.outs(f, args)
	}
	if err == nil {
		return nil
	}
	if !err.Pos.IsValid() {
		err.Pos = st.f.Loc.First()
	}
	return &Fault{code, err}
}

func (st *staged) enterArgs(f *ir.Frame, args []any, top bool) *diag.Error {
	e := st.entry
	if top {
		for i, p := range st.f.Params {
			if err := checkArg(st.f, p, args[i], st.s.prog.opts.Unchecked); err != nil {
				return err
			}
		}
	}
	for i, p := range st.f.Params { // scalars first: dims and facts may speak of them
		if _, scalar := p.Value.Type.(ir.Scalar); scalar {
			st.put(f, e.slots[i], p, args[i])
		}
	}
	if err := e.dims.bind(f, args); err != nil {
		return err
	}
	for i, a := range args {
		st.put(f, e.slots[i], st.f.Params[i], a)
		if x, ok := a.(*ir.Encoded); ok && !slices.Equal(x.Shape, e.shapes[i](f)) {
			return &diag.Error{Msg: fmt.Sprintf("%%%s of @%s has the shape %v", st.f.Params[i].Value.Name, st.f.Name, x.Shape),
				Expected: fmt.Sprint(e.shapes[i](f))}
		}
	}
	return nil
}

// put stores an argument in its slot.
func (st *staged) put(f *ir.Frame, slot int, p *ir.Param, a any) {
	switch a := a.(type) {
	case Scalar:
		f.S[slot] = a.Cell
		if f.E != nil {
			f.E[slot] = a.Shadow
			if a.Shadow == (num.Shadow{}) {
				f.E[slot] = num.Exact(a.Elem, a.Cell)
			}
		}
	case num.Cell:
		f.S[slot] = a
		exactElem(f, ir.ElemOf(p.Value.Type), slot)
	case nil:
	default:
		f.O[slot] = a
	}
}

// outs poisons out buffers, makes those not given, and gives what is read its
// shadows.
func (st *staged) outs(f *ir.Frame, args []any) *diag.Error {
	for i, p := range st.f.Params {
		switch a := args[i].(type) {
		case *ir.Array:
			if p.Mode == ir.ModeOut {
				poisonArray(a)
			}
			st.s.withShadows(a)
		case *ir.Encoded:
			for _, part := range a.Parts {
				st.s.withShadows(part)
			}
		}
	}
	if st.sizes != nil {
		st.sizes(f)
	}
	for i, p := range st.f.Params {
		switch a := args[i].(type) {
		case nil:
			f.O[st.entry.slots[i]] = st.s.prog.array(nil, ir.ElemOf(p.Value.Type), st.entry.shapes[i](f))
		case *ir.Array:
			if want := st.entry.shapes[i](f); st.sizes != nil && !slices.Equal(a.Shape, want) {
				return &diag.Error{Msg: fmt.Sprintf("%%%s of @%s has the shape %v", p.Value.Name, st.f.Name, a.Shape), Expected: fmt.Sprint(want)}
			}
		}
	}
	return nil
}

// withShadows gives an argument's memory the shadows of exact values; what it
// held from another run says nothing of its cells now.
func (s *stager) withShadows(a *ir.Array) {
	a.Mem.Shadow = nil
	if s.Shadowed() {
		a.Mem.Shadow = shadows(a.Elem, a.Mem.Cells)
	}
}

// aliased refuses buffers that overlap where one of them is written.
func aliased(fn *ir.Func, args []any) *diag.Error {
	for i, p := range fn.Params {
		a, ok := args[i].(*ir.Array)
		if !ok || !fn.IsProc || a.Size() == 0 {
			continue
		}
		for j := range i {
			b, ok := args[j].(*ir.Array)
			q := fn.Params[j]
			if !ok || a.Mem != b.Mem || b.Size() == 0 || p.Mode == ir.ModeIn && q.Mode == ir.ModeIn {
				continue
			}
			lo1, hi1 := extent(a)
			lo2, hi2 := extent(b)
			if lo1 <= hi2 && lo2 <= hi1 {
				return &diag.Error{Msg: fmt.Sprintf("%%%s and %%%s of @%s overlap in memory and one is written", q.Value.Name, p.Value.Name, fn.Name),
					Fix: "pass separate buffers"}
			}
		}
	}
	return nil
}

// extent is the first and the last cell of a non-empty array.
func extent(a *ir.Array) (lo, hi int64) {
	lo, hi = a.Off, a.Off
	for d, n := range a.Shape {
		if step := (n - 1) * a.Strides[d]; step < 0 {
			lo += step
		} else {
			hi += step
		}
	}
	return lo, hi
}
