package ir

import (
	"fmt"
	"slices"

	"tenon/internal/diag"
	"tenon/ir/sym"
)

// EntryPlan says how a function's dims are computed from the extents of its
// arguments when it is entered, and what must be checked. The interpreter, the
// entry code of compiled functions and the header's documentation follow it.
type EntryPlan struct {
	Sources  []EntrySource // every extent that the caller gives, in order
	Bindings []DimBinding  // in the order of evaluation
	Checks   []EntryCheck  // after all bindings, in order
}

// EntrySource is one extent of an argument. In expressions it is the name Name,
// as in `%x[0]`; no dim can be called that.
type EntrySource struct {
	Name  string
	Param int
	Part  int // of an encoded parameter: which part; else -1
	// Dim is the extent's place: the dim of a tensor or buffer (Stride: its
	// stride); 0, 1, 2 for rows, columns and number of entries of a pattern.
	Dim    int
	Stride bool
	Extent sym.Expr // what the type says it is
}

// DimBinding gives the dim named Dim its value, an expression over names of
// sources and dims bound before. "nnz#p" is bound like a dim.
type DimBinding struct {
	Dim    string
	Source int
	Value  sym.Expr
}

// EntryCheck is a condition over dims and sources that must hold.
type EntryCheck struct {
	Source int // index into Sources; -1 for a declared fact
	Param  int // -1 for a fact
	Dim    int
	Cond   sym.Cond
}

// Entry makes the plan of f. A dim that no parameter binds is an error.
func Entry(f *Func) (*EntryPlan, error) {
	e := newEntryPlanner(f.Dims, f.Params, f.Where)
	e.bind()
	var errs diag.List
	for _, d := range f.Dims {
		if !e.bound[d] {
			errs = append(errs, diag.Errorf(f.Loc.First(), "@%s: no parameter binds the dim %s", f.Name, d).
				WithFix("give a parameter the extent %s, or an extent linear in %s alone, such as 2*%s", d, d, d))
		}
	}
	if err := errs.Err(); err != nil {
		return nil, err
	}
	e.checks()
	return &e.plan, nil
}

// OpenPlan says how dims follow from the const parameters of f alone, and what of
// its checks can be made when those are bound. Dims that need other arguments
// are left out.
func OpenPlan(f *Func) *EntryPlan {
	e := newEntryPlanner(f.Dims, f.Params, nil)
	e.plan.Sources = slices.DeleteFunc(e.plan.Sources, func(s EntrySource) bool { return !f.Params[s.Param].Const })
	e.bind()
	e.where = slices.Clone(f.Where)
	e.checks()
	e.plan.Checks = slices.DeleteFunc(e.plan.Checks, func(k EntryCheck) bool {
		return !e.known(k.Cond.L) || !e.known(k.Cond.R)
	})
	return &e.plan
}

// known reports that x is made of sources and bound dims.
func (e *entryPlanner) known(x sym.Expr) bool {
	for _, n := range x.Names() {
		source := slices.ContainsFunc(e.plan.Sources, func(s EntrySource) bool { return s.Name == n })
		if !source && !e.bound[n] {
			return false
		}
	}
	return len(x.Refs()) == 0
}

type entryPlanner struct {
	plan  EntryPlan
	dims  map[string]bool // names to be bound
	bound map[string]bool
	where []Fact
	facts *sym.Facts
	used  map[int]bool // sources that bind a bare name: nothing is left to check
}

func newEntryPlanner(dims []string, params []*Param, where []Fact) *entryPlanner {
	e := &entryPlanner{dims: map[string]bool{}, bound: map[string]bool{}, used: map[int]bool{},
		facts: sym.NewFacts(), where: slices.Clone(where)}
	for _, d := range dims {
		e.dims[d] = true
	}
	for i, p := range params {
		e.sources(i, -1, p.Value)
	}
	for _, f := range e.where {
		e.facts.Add(f.Cond)
	}
	return e
}

// sources lists the extents that the argument for v brings.
func (e *entryPlanner) sources(param, part int, v *Value) {
	add := func(name string, dim int, stride bool, x sym.Expr) {
		e.plan.Sources = append(e.plan.Sources, EntrySource{"%" + v.Name + name, param, part, dim, stride, x})
	}
	switch t := v.Type.(type) {
	case Tensor:
		if t.Enc != nil {
			e.encoded(param, v, t)
			return
		}
		for i, d := range t.Dims {
			add(fmt.Sprintf("[%d]", i), i, false, d)
		}
	case Buf:
		for i, d := range t.Dims {
			add(fmt.Sprintf("[%d]", i), i, false, d)
		}
		for i, d := range t.Strides {
			add(fmt.Sprintf(".stride[%d]", i), i, true, d)
		}
	case Pattern:
		add(".rows", 0, false, t.Rows)
		add(".cols", 1, false, t.Cols)
		add(".nnz", 2, false, sym.NNZ(t.ID))
		e.dims["nnz#"+t.ID] = true
	}
}

// encoded lists the extents of the parts: the caller hands those in. What the
// encoding asks of its dims becomes facts of the function.
func (e *entryPlanner) encoded(param int, v *Value, t Tensor) {
	m := EncodingDims(t)
	for i, p := range t.Enc.Parts {
		part := &Value{Name: v.Name + "." + p.Value.Name, Type: m.Type(p.Value.Type)}
		e.sources(param, i, part)
	}
	for _, f := range t.Enc.Where {
		f.Cond = m.Cond(f.Cond)
		if !slices.ContainsFunc(e.where, func(g Fact) bool { return g.Cond.Equal(f.Cond) }) {
			e.where = append(e.where, f)
		}
	}
}

// EncodingDims maps the dims of t's encoding to the extents of t.
func EncodingDims(t Tensor) *Mapping {
	m := &Mapping{Syms: map[string]sym.Expr{}}
	for i, d := range t.Enc.Dims {
		if i < len(t.Dims) {
			m.Syms[d] = t.Dims[i]
		}
	}
	return m
}

// bind takes bare names first, in order, then whatever has one unknown left,
// until nothing more can be bound.
func (e *entryPlanner) bind() {
	for i, s := range e.plan.Sources {
		if n, ok := s.Extent.IsName(); ok && e.unknown(n) {
			e.set(n, i, sym.Name(s.Name))
			e.used[i] = true
		}
	}
	for again := true; again; {
		again = false
		for i, s := range e.plan.Sources {
			again = e.solve(i, s) || again
		}
	}
}

func (e *entryPlanner) unknown(name string) bool { return e.dims[name] && !e.bound[name] }

func (e *entryPlanner) set(name string, source int, value sym.Expr) {
	e.bound[name] = true
	e.plan.Bindings = append(e.plan.Bindings, DimBinding{name, source, value})
}

// solve binds the one unknown of source i, if its extent is linear in it with a
// constant coefficient, or the exact quotient of such a term. That the division
// leaves no remainder is what the check `source == extent` then says.
func (e *entryPlanner) solve(i int, s EntrySource) bool {
	var name string
	for _, n := range s.Extent.Names() {
		if e.unknown(n) {
			if name != "" {
				return false
			}
			name = n
		} else if !e.bound[n] {
			return false
		}
	}
	if name == "" || len(s.Extent.Refs()) > 0 {
		return false
	}
	left, right := s.Extent, sym.Name(s.Name)
	if a, ok := left.IsAtom(); ok && a.Kind == sym.AtomFloorDiv && e.exact(a) {
		left, right = a.Args[0], sym.Mul(right, a.Args[1])
	}
	coef, rest, ok := left.Linear(name)
	c, isConst := coef.IsConst()
	if !ok || !isConst || c == 0 {
		return false
	}
	value := sym.Sub(right, rest)
	if c < 0 {
		value, c = sym.Neg(value), -c
	}
	e.set(name, i, sym.FloorDiv(value, sym.Const(c)))
	return true
}

// exact reports that the facts prove a division by a constant to be exact.
func (e *entryPlanner) exact(a sym.Atom) bool {
	if _, ok := a.Args[1].IsConst(); !ok {
		return false
	}
	return e.facts.Prove(sym.Eq(sym.Mod(a.Args[0], a.Args[1]), sym.Const(0)))
}

// checks lists what the bindings do not already say.
func (e *entryPlanner) checks() {
	for i, s := range e.plan.Sources {
		if !e.used[i] {
			e.plan.Checks = append(e.plan.Checks, EntryCheck{i, s.Param, s.Dim, sym.Eq(sym.Name(s.Name), s.Extent)})
		}
	}
	for _, b := range e.plan.Bindings {
		if _, bare := b.Value.IsName(); !bare {
			s := e.plan.Sources[b.Source]
			e.plan.Checks = append(e.plan.Checks, EntryCheck{b.Source, s.Param, s.Dim, sym.Ge(sym.Name(b.Dim), sym.Const(0))})
		}
	}
	for _, f := range e.where {
		if f.Provenance == Declared {
			e.plan.Checks = append(e.plan.Checks, EntryCheck{-1, -1, -1, f.Cond})
		}
	}
}
