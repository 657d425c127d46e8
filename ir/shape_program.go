package ir

import (
	"slices"

	"tenon/ir/sym"
)

// ShapeProgram lists, in order, the ops of f's body that bind dims from what the
// caller gives alone: other dims, scalars, and elements of parameters that are
// only read; and the scalar ops that those need. It may run before the body,
// when a call is planned: the dims are then as good as bound at entry, and
// results may have them as sizes.
func ShapeProgram(f *Func) []*Op {
	s := &shapeProgram{names: map[string]bool{}, known: map[*Value]bool{}, params: map[*Value]bool{}, by: map[*Value]*Op{}, need: map[*Op]bool{}}
	for _, d := range f.Dims {
		s.names[d] = true
	}
	for _, p := range f.Params {
		if p.Mode == ModeIn || p.Mode == "" {
			_, scalar := p.Value.Type.(Scalar)
			s.known[p.Value], s.params[p.Value] = scalar, !scalar
		}
	}
	for _, op := range f.Body.Ops {
		s.look(op)
	}
	var ops []*Op
	for _, op := range f.Body.Ops {
		if s.need[op] {
			ops = append(ops, op)
		}
	}
	return ops
}

// PlannedDims are the dims that the shape program binds, in order.
func PlannedDims(f *Func) (dims []string) {
	for _, op := range ShapeProgram(f) {
		for _, d := range boundBy(op) {
			dims = append(dims, d.Name)
		}
	}
	return dims
}

func boundBy(op *Op) []ExDim {
	for _, c := range op.Clauses {
		if x, ok := c.(*Exists); ok {
			return x.Dims
		}
	}
	return nil
}

type shapeProgram struct {
	names  map[string]bool // bound so far
	known  map[*Value]bool // scalars that are there
	params map[*Value]bool // arrays that may be read
	by     map[*Value]*Op  // who made a known scalar
	need   map[*Op]bool
}

func (s *shapeProgram) look(op *Op) {
	dims := boundBy(op)
	switch {
	case len(dims) > 0 && s.fits(op):
		for _, d := range dims {
			s.names[d.Name] = true
		}
		s.take(op)
	case op.Def.Family() == "scalar" && len(op.Regions()) == 0 && s.fits(op):
		for _, r := range op.Results {
			s.known[r], s.by[r] = true, op
		}
	}
}

// take notes op and the scalar ops that it needs.
func (s *shapeProgram) take(op *Op) {
	if op == nil || s.need[op] {
		return
	}
	s.need[op] = true
	eachValue(op, func(v *Value) { s.take(s.by[v]) })
}

// fits reports that op uses known scalars and names alone, but for reads of
// parameters and what it binds itself.
func (s *shapeProgram) fits(op *Op) bool {
	ok := true
	inside, names := map[*Value]bool{}, map[string]bool{}
	for _, d := range boundBy(op) {
		names[d.Name] = true
	}
	walkOps(op, func(o *Op) {
		ok = ok && !o.Def.Traits.Has(Call) && len(loopNames(o)) == 0
		for _, r := range o.Results {
			inside[r] = true
		}
		for _, c := range o.Clauses {
			if r, isReads := c.(*Reads); isReads {
				for _, x := range r.List {
					inside[x.Res] = true
					ok = ok && s.params[x.Src]
					inside[x.Src] = true
				}
			}
		}
	})
	eachValue(op, func(v *Value) { ok = ok && (inside[v] || s.known[v]) })
	walkOps(op, func(o *Op) {
		o.Exprs(func(e sym.Expr) sym.Expr {
			for _, n := range e.Names() {
				ok = ok && (s.names[n] || names[n])
			}
			return e
		})
	})
	return ok
}

// loopNames are the symbols that op binds for its regions.
func loopNames(op *Op) (names []string) {
	for _, c := range op.Clauses {
		switch c := c.(type) {
		case *Range:
			names = append(names, c.Name)
		case *Axes:
			for _, a := range c.List {
				names = append(names, a.Name)
			}
		}
	}
	return names
}

func walkOps(op *Op, f func(*Op)) {
	f(op)
	for _, r := range op.Regions() {
		r.Walk(func(o *Op) bool { f(o); return true })
	}
}

func eachValue(op *Op, f func(*Value)) {
	walkOps(op, func(o *Op) {
		o.Values(func(v *Value) *Value {
			f(v)
			return v
		})
	})
}

// Planned reports that all names in dims are bound at entry or by the shape
// program.
func Planned(f *Func, dims []sym.Expr) bool {
	planned := append(slices.Clone(f.Dims), PlannedDims(f)...)
	for _, d := range dims {
		for _, n := range d.Names() {
			if !slices.Contains(planned, n) {
				return false
			}
		}
	}
	return true
}
