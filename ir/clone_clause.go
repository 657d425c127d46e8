package ir

import (
	"slices"

	"tenon/ir/sym"
)

// Copies of clauses, one function a kind. What a clause binds is bound in the
// order of the text: uses before it are mapped first.

func (m *Mapping) literal(c Clause) Clause {
	l := *c.(*Literal)
	return &l
}

func (m *Mapping) operands(c Clause) Clause {
	out := &Operands{}
	for _, a := range c.(*Operands).Args {
		out.Args = append(out.Args, m.arg(a))
	}
	return out
}

func (m *Mapping) arg(a Arg) Arg {
	if a.Value != nil {
		a.Value = m.Value(a.Value)
	}
	if a.Lit != nil {
		l := *a.Lit
		a.Lit = &l
	}
	if a.Expr != nil {
		e := m.Expr(*a.Expr)
		a.Expr = &e
	}
	if a.View != nil {
		v := &View{}
		for _, d := range a.View.Dims {
			v.Dims = append(v.Dims, ViewDim{m.Expr(d.Start), m.Expr(d.Size), d.HasSize})
		}
		a.View = v
	}
	return a
}

func (m *Mapping) attr(c Clause) Clause {
	a := *c.(*Attr)
	return &a
}

func (m *Mapping) flag(Clause) Clause { return &Flag{} }

func (m *Mapping) axes(c Clause) Clause {
	out := &Axes{List: slices.Clone(c.(*Axes).List)}
	for i := range out.List {
		a := &out.List[i]
		if a.Pattern != nil {
			a.Pattern, a.Row = m.Value(a.Pattern), m.Expr(a.Row)
		} else {
			a.Extent = m.Expr(a.Extent)
		}
		a.Name, a.Entry = m.bindSym(a.Name), m.bindSym(a.Entry)
	}
	return out
}

func (m *Mapping) conds(c Clause) Clause { return &Conds{m.condList(c.(*Conds).List)} }

func (m *Mapping) condList(cs []sym.Cond) []sym.Cond {
	out := slices.Clone(cs)
	for i := range out {
		out[i] = m.Cond(out[i])
	}
	return out
}

func (m *Mapping) reads(c Clause) Clause {
	out := &Reads{}
	for _, r := range c.(*Reads).List {
		r.Src, r.Subs = m.Value(r.Src), mapExprs(r.Subs, m.Expr)
		r.Res = m.bind(r.Res)
		out.List = append(out.List, r)
	}
	return out
}

func (m *Mapping) outs(c Clause) Clause {
	out := &Outs{}
	for _, o := range c.(*Outs).List {
		if o.Buf != nil {
			o.Buf = m.Value(o.Buf)
		}
		o.Subs = mapExprs(o.Subs, m.Expr)
		out.List = append(out.List, o)
	}
	return out
}

func (m *Mapping) carry(c Clause) Clause {
	k, out := c.(*Carry), &Carry{}
	for _, v := range k.Inits {
		out.Inits = append(out.Inits, m.Value(v))
	}
	out.Params = m.bindAll(k.Params)
	return out
}

func (m *Mapping) by(c Clause) Clause {
	b := *c.(*By)
	b.Monoid = m.monoidOf(b.Monoid)
	b.Empty = slices.Clone(b.Empty)
	return &b
}

func (m *Mapping) rangeClause(c Clause) Clause {
	r := *c.(*Range)
	r.Lo, r.Hi, r.Step = m.Expr(r.Lo), m.Expr(r.Hi), m.Expr(r.Step)
	r.Name, r.Size = m.bindSym(r.Name), m.bindSym(r.Size)
	return &r
}

func (m *Mapping) exists(c Clause) Clause {
	out := &Exists{}
	for _, d := range c.(*Exists).Dims {
		if m.exdims[d.Name] {
			d.Name = m.headerDim(d.Name)
		} else {
			d.Name = m.bindSym(d.Name)
		}
		d.Conds = m.condList(d.Conds)
		out.Dims = append(out.Dims, d)
	}
	return out
}

// headerDim is the new name of a dim that the function's header lists.
func (m *Mapping) headerDim(name string) string {
	if n, ok := m.Syms[name].IsName(); ok {
		return n
	}
	return name
}

func (m *Mapping) block(c Clause) Clause {
	b, out := c.(*Block), &Block{}
	for _, q := range b.Params {
		if q.Val != nil {
			q.Val = m.bind(q.Val)
		} else {
			q.Sym = m.bindSym(q.Sym)
		}
		out.Params = append(out.Params, q)
	}
	out.Region = CloneRegion(b.Region, m)
	return out
}

func (m *Mapping) variants(c Clause) Clause {
	v, out := c.(*Variants), &Variants{}
	for _, x := range v.List {
		x.Where = m.facts(x.Where)
		x.Region = CloneRegion(x.Region, m)
		out.List = append(out.List, x)
	}
	out.Pick = CloneRegion(v.Pick, m)
	return out
}

func (m *Mapping) directives(c Clause) Clause {
	return &Directives{slices.Clone(c.(*Directives).List)}
}
