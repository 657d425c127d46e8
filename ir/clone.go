package ir

import (
	"slices"

	"tenon/ir/sym"
)

// Mapping says what a copy puts in place of what. Values and names that are
// not in it, and not bound inside what is copied, stay as they are. Copying
// adds what it binds. The zero Mapping copies without a change.
type Mapping struct {
	Values map[*Value]*Value
	Syms   map[string]sym.Expr // "nnz#p" renames a pattern

	// FreshValue and FreshSym, when not nil, name the copies of what is bound
	// inside (names of results, reads, axes, dims); else names are kept.
	FreshValue func(name string) string
	FreshSym   func(name string) string

	monoids   map[*Monoid]*Monoid
	encodings map[*Encoding]*Encoding
	exdims    map[string]bool // renamed in the header already
}

// Value is what stands for v in the copy.
func (m *Mapping) Value(v *Value) *Value {
	if n, ok := m.Values[v]; ok {
		return n
	}
	return v
}

// Expr is e with values and names replaced.
func (m *Mapping) Expr(e sym.Expr) sym.Expr {
	if len(m.Values) > 0 {
		e = e.SubstRef(func(r sym.Ref) (sym.Expr, bool) {
			v, _ := r.(*Value)
			n, ok := m.Values[v]
			if !ok { // a nil value is no Ref
				return sym.Expr{}, false
			}
			return sym.Val(n), true
		})
	}
	return e.Subst(m.Syms)
}

// Cond is c with both sides replaced.
func (m *Mapping) Cond(c sym.Cond) sym.Cond {
	return sym.Cond{L: m.Expr(c.L), R: m.Expr(c.R), Rel: c.Rel}
}

// Type is t with its expressions, pattern and encoding replaced.
func (m *Mapping) Type(t Type) Type {
	t = MapType(t, m.Expr)
	switch t := t.(type) {
	case Pattern:
		if id, ok := m.Syms["nnz#"+t.ID].IsNNZ(); ok {
			t.ID = id
		}
		return t
	case Tensor:
		if e := m.encodings[t.Enc]; e != nil {
			t.Enc = e
		}
		return t
	}
	return t
}

// MapType applies f to every expression in t.
func MapType(t Type, f func(sym.Expr) sym.Expr) Type {
	switch t := t.(type) {
	case Tensor:
		t.Dims = mapExprs(t.Dims, f)
		return t
	case Pattern:
		t.Rows, t.Cols = f(t.Rows), f(t.Cols)
		return t
	case Buf:
		t.Dims, t.Strides, t.Offset = mapExprs(t.Dims, f), mapExprs(t.Strides, f), f(t.Offset)
		t.Dist = mapDist(t.Dist, f)
		return t
	}
	return t
}

func mapDist(d *Dist, f func(sym.Expr) sym.Expr) *Dist {
	if d == nil {
		return nil
	}
	c := *d
	c.Dims = slices.Clone(d.Dims)
	for i := range c.Dims {
		c.Dims[i].Block = f(c.Dims[i].Block)
	}
	return &c
}

func mapExprs(es []sym.Expr, f func(sym.Expr) sym.Expr) []sym.Expr {
	if es == nil {
		return nil
	}
	out := make([]sym.Expr, len(es))
	for i, e := range es {
		out[i] = f(e)
	}
	return out
}

// TypesOf lists the types of values.
func TypesOf(vs []*Value) []Type {
	ts := make([]Type, len(vs))
	for i, v := range vs {
		ts[i] = v.Type
	}
	return ts
}

// bind makes the copy of a value that is bound inside.
func (m *Mapping) bind(v *Value) *Value {
	n := &Value{Name: v.Name, Type: m.Type(v.Type)}
	if m.FreshValue != nil {
		n.Name = m.FreshValue(v.Name)
	}
	if m.Values == nil {
		m.Values = map[*Value]*Value{}
	}
	m.Values[v] = n
	return n
}

func (m *Mapping) bindAll(vs []*Value) []*Value {
	if vs == nil {
		return nil
	}
	out := make([]*Value, len(vs))
	for i, v := range vs {
		out[i] = m.bind(v)
	}
	return out
}

func (m *Mapping) bindSym(name string) string {
	if m.FreshSym == nil || name == "" {
		return name
	}
	n := m.FreshSym(name)
	m.setSym(name, sym.Name(n))
	return n
}

func (m *Mapping) setSym(name string, e sym.Expr) {
	if m.Syms == nil {
		m.Syms = map[string]sym.Expr{}
	}
	m.Syms[name] = e
}

// bindPatterns renames the patterns that types ts bring.
func (m *Mapping) bindPatterns(ts []Type) {
	for _, t := range ts {
		p, ok := t.(Pattern)
		if !ok || m.FreshSym == nil {
			continue
		}
		if _, known := m.Syms["nnz#"+p.ID]; !known {
			m.setSym("nnz#"+p.ID, sym.NNZ(m.FreshSym(p.ID)))
		}
	}
}

// CloneRegion copies r, its ops and what they bind.
func CloneRegion(r *Region, m *Mapping) *Region {
	if r == nil {
		return nil
	}
	out := &Region{Ops: make([]*Op, len(r.Ops))}
	for i, op := range r.Ops {
		out.Ops[i] = CloneOp(op, m)
	}
	return out
}

// CloneOp copies op, its regions and results.
func CloneOp(op *Op, m *Mapping) *Op {
	c := &Op{Def: op.Def, Loc: op.Loc, Clauses: make([]Clause, len(op.Clauses))}
	for i, x := range op.Clauses {
		if x != nil {
			c.Clauses[i] = clauseKinds[x.Kind()].clone(m, x)
		}
	}
	m.bindPatterns(TypesOf(op.Results))
	c.Results = m.bindAll(op.Results)
	for _, v := range c.Results {
		v.Def = c
	}
	return c
}

// Clone copies a module; nothing in the copy points into m, built-in monoids
// and rows of the op table aside.
func Clone(m *Module) *Module { return cloneWith(m, &Mapping{}) }

// Snapshot is a copy of m that shares the bodies of micro-kernels, which no pass
// changes and which may be most of a module.
func Snapshot(m *Module) *Module {
	rest, bodies := &Module{}, m.Bodies()
	for _, it := range m.Items {
		if f, ok := it.(*Func); !ok || !bodies[f.Name] {
			rest.Items = append(rest.Items, it)
		}
	}
	copied := Clone(rest).Items
	out := &Module{}
	for _, it := range m.Items {
		if f, ok := it.(*Func); ok && bodies[f.Name] {
			out.Items = append(out.Items, it)
			continue
		}
		out.Items, copied = append(out.Items, copied[0]), copied[1:]
	}
	return out
}

func cloneWith(src *Module, base *Mapping) *Module {
	base.monoids, base.encodings = map[*Monoid]*Monoid{}, map[*Encoding]*Encoding{}
	for _, it := range src.Items {
		switch it := it.(type) {
		case *Monoid:
			base.monoids[it] = &Monoid{}
		case *Encoding:
			base.encodings[it] = &Encoding{}
		}
	}
	out := &Module{}
	for _, it := range src.Items {
		m := &Mapping{FreshValue: base.FreshValue, FreshSym: base.FreshSym,
			monoids: base.monoids, encodings: base.encodings, Values: map[*Value]*Value{}}
		out.Items = append(out.Items, m.item(it))
	}
	return out
}

func (m *Mapping) item(it Item) Item {
	switch it := it.(type) {
	case *Func:
		return m.function(it)
	case *Monoid:
		return m.monoid(it)
	case *Encoding:
		return m.encoding(it)
	case *Kernel:
		k := *it
		k.Dims, k.Tile, k.Needs = m.bindSyms(it.Dims), slices.Clone(it.Tile), slices.Clone(it.Needs)
		k.Params = m.params(it.Params)
		k.Meaning = CloneRegion(it.Meaning, m)
		return &k
	case *Grid:
		return &Grid{it.Name, slices.Clone(it.Axes)}
	case *Extern:
		x := *it
		return &x
	case *Data:
		d := *it
		d.List = slices.Clone(it.List)
		return &d
	}
	return it
}

// CloneFunc copies f; see Mapping for what may be replaced on the way.
func CloneFunc(f *Func, m *Mapping) *Func { return m.function(f) }

func (m *Mapping) function(f *Func) *Func {
	c := *f
	c.Dims = m.bindSyms(f.Dims)
	c.ExDims = m.bindSyms(f.ExDims)
	m.exdims = map[string]bool{}
	for _, d := range f.ExDims {
		m.exdims[d] = true
	}
	c.Params = m.params(f.Params)
	c.Where = m.facts(f.Where)
	c.Directives = slices.Clone(f.Directives)
	c.Body = CloneRegion(f.Body, m)
	c.Results = slices.Clone(f.Results)
	for i := range c.Results {
		c.Results[i].Type = m.Type(f.Results[i].Type)
	}
	return &c
}

func (m *Mapping) bindSyms(names []string) []string {
	if names == nil {
		return nil
	}
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = m.bindSym(n)
	}
	return out
}

func (m *Mapping) params(ps []*Param) []*Param {
	var ts []Type
	for _, p := range ps {
		ts = append(ts, p.Value.Type)
	}
	m.bindPatterns(ts)
	out := make([]*Param, len(ps))
	for i, p := range ps {
		out[i] = &Param{Mode: p.Mode, Const: p.Const, Value: m.bind(p.Value)}
	}
	return out
}

func (m *Mapping) facts(fs []Fact) []Fact {
	out := slices.Clone(fs)
	for i := range out {
		out[i].Cond = m.Cond(out[i].Cond)
	}
	return out
}

func (m *Mapping) monoidOf(x *Monoid) *Monoid {
	if n := m.monoids[x]; n != nil {
		return n
	}
	return x
}

func (m *Mapping) monoid(x *Monoid) *Monoid {
	c := m.monoids[x]
	*c = *x
	c.Params = m.bindAll(x.Params)
	use := func(u *MonoidUse) *MonoidUse {
		if u == nil {
			return nil
		}
		n := &MonoidUse{Monoid: m.monoidOf(u.Monoid)}
		for _, v := range u.Params {
			n.Params = append(n.Params, m.Value(v))
		}
		return n
	}
	c.Base, c.Over = use(x.Base), use(x.Over)
	c.Identity = CloneRegion(x.Identity, m)
	c.CombineParams = m.bindAll(x.CombineParams)
	c.Combine = CloneRegion(x.Combine, m)
	c.ActParams = m.bindAll(x.ActParams)
	c.Act = CloneRegion(x.Act, m)
	return c
}

func (m *Mapping) encoding(x *Encoding) *Encoding {
	c := m.encodings[x]
	*c = *x
	c.Dims = m.bindSyms(x.Dims)
	c.Where = m.facts(x.Where)
	c.Parts = m.params(x.Parts)
	c.Subs = m.bindSyms(x.Subs)
	c.Decode = CloneRegion(x.Decode, m)
	return c
}
