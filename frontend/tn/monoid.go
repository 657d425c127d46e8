package tn

import (
	"slices"

	"tenon/frontend/tn/syntax"
	"tenon/internal/num"
	"tenon/ir"
	"tenon/ir/sym"
)

// monoidDecl finds the user's monoid that a reduction names, nil if there is
// none.
func (s *site) monoidDecl(id *syntax.Ident) *syntax.Monoid {
	if d := s.f.p.decls[id.Name]; d != nil {
		m, _ := d.node.(*syntax.Monoid)
		return m
	}
	return nil
}

// peekMonoid is the type that a reduction by m of a body of type body gives.
func (f *fnState) peekMonoid(m *syntax.Monoid, body num.Elem) num.Elem {
	p := m.Params[0]
	if e := castElem(p.Type.Name.Name); e != num.Invalid {
		return e
	}
	return body
}

// userReduction elaborates a reduction by a user's monoid.
func (s *site) userReduction(e *syntax.Reduce, want num.Elem) *reduction {
	m := s.monoidDecl(e.Op)
	if m == nil {
		s.f.p.failWith(e.Op.Errorf("no reduction %s", e.Op.Name).
			WithExpected("sum, prod, max, min, mean, any, all, argmax, argmin, logsumexp or a monoid"))
	}
	r := s.domain(e)
	nominal := s.tupleElem(e, r, m, want)
	if r.c.promoteFor(nominal) {
		r.c.promote = true
	}
	carrier := r.c.carrier(nominal)
	mon := s.f.p.monoid(s.f, m, carrier, e)
	s.f.p.used[mon.Name] = true
	ys := r.c.inject(e, m, mon, nominal)
	for i, p := range m.Params {
		el := mon.Elems()[i]
		if castElem(p.Type.Name.Name) == num.Invalid {
			el = nominal
		}
		r.elems = append(r.elems, el)
		r.keep = append(r.keep, i)
	}
	r.conds = r.c.userGuards(e, m, mon, ys)
	r.c.yield(e, ys...)
	r.by = &ir.By{Monoid: mon}
	if m.Result != nil {
		r.after = func(at *site, comps []val) []val { return at.monoidResult(e, m, comps, carrier, nominal) }
	}
	return r
}

// tupleElem is the type that a monoid's type parameter takes.
func (s *site) tupleElem(e *syntax.Reduce, r *reduction, m *syntax.Monoid, want num.Elem) num.Elem {
	elem := num.Invalid
	if t, ok := e.Body.(*syntax.Tuple); ok {
		for i, x := range t.List {
			if i < len(m.Params) && castElem(m.Params[i].Type.Name.Name) == num.Invalid && elem == num.Invalid {
				elem = r.c.peek(x)
			}
		}
	} else {
		elem = r.c.peek(e.Body)
	}
	if elem == num.Invalid {
		elem = want
	}
	if elem == num.Invalid {
		elem = num.F32
	}
	return elem
}

// userGuards turns the guards of e into conditions. Where one over data does not
// hold, the tuple ys of a point becomes the identity.
func (s *site) userGuards(e *syntax.Reduce, m *syntax.Monoid, mon *ir.Monoid, ys []*ir.Value) []sym.Cond {
	var conds []sym.Cond
	for _, w := range e.Where {
		for _, part := range conjuncts(w) {
			if c, ok := s.condition(part); ok {
				conds = append(conds, c)
				continue
			}
			cond := s.exprOf(part, num.Bool)
			for i, id := range s.identity(part, m, mon) {
				ys[i] = s.scalar(part, "select", cond.v, ys[i], id)
			}
		}
	}
	return conds
}

// identity makes the identity of mon, which m declares: that of a rescaled
// monoid is what its base and its over have.
func (s *site) identity(at syntax.Node, m *syntax.Monoid, mon *ir.Monoid) []*ir.Value {
	elems := mon.Elems()
	if m.Combine != nil {
		elem := num.F32
		for i, p := range m.Params {
			if castElem(p.Type.Name.Name) == num.Invalid {
				elem = elems[i]
			}
		}
		return s.within(s.monoidScope(m, elem)).tuple(m.Identity, m.Identity.List, elems)
	}
	out := make([]*ir.Value, len(elems))
	fill := func(id *syntax.Ident, u *ir.MonoidUse) {
		parts := []*ir.Value{nil}
		if d := s.monoidDecl(id); d != nil {
			parts = s.identity(at, d, u.Monoid)
		} else {
			parts[0] = s.neutral(id.Name, at, ir.ElemOf(u.Params[0].Type))
		}
		for k, p := range u.Params {
			out[slices.Index(mon.Params, p)] = parts[k]
		}
	}
	fill(m.Base.Monoid, mon.Base)
	fill(m.Base.Over, mon.Over)
	return out
}

// inject makes the tuple of one point.
func (s *site) inject(e *syntax.Reduce, m *syntax.Monoid, mon *ir.Monoid, nominal num.Elem) []*ir.Value {
	elems := mon.Elems()
	list := []syntax.Expr{e.Body}
	if t, ok := e.Body.(*syntax.Tuple); ok {
		list = t.List
	}
	if m.Inject == nil {
		if len(list) != len(elems) {
			s.f.p.failWith(e.Body.Errorf("%s reduces tuples of %s, and this is %d", e.Op.Name, count(len(elems), "value"), len(list)).
				WithFix("write a tuple, or give the monoid an `inject`"))
		}
		var ys []*ir.Value
		for i, x := range list {
			ys = append(ys, s.cast(x, s.exprOf(x, s.nominalOf(m, i, elems[i], nominal)).v, elems[i]))
		}
		return ys
	}
	if len(list) != len(m.Inject.Params) {
		s.f.p.failWith(e.Body.Errorf("inject of %s takes %s, and this is %d", e.Op.Name, count(len(m.Inject.Params), "value"), len(list)))
	}
	inner := s.monoidScope(m, s.carrier(nominal))
	for i, p := range m.Inject.Params {
		v := s.expr(list[i], nominal)
		inner.names[p.Name] = &binding{kind: bindScalar, at: p, scalar: val{v.v, ir.ElemOf(v.v.Type)}}
	}
	return s.within(inner).monoidBody(m.Inject.Body, elems)
}

// nominalOf is the program's type of component i.
func (s *site) nominalOf(m *syntax.Monoid, i int, elem, nominal num.Elem) num.Elem {
	if castElem(m.Params[i].Type.Name.Name) == num.Invalid {
		return nominal
	}
	return elem
}

// within is s with another scope, in which only the monoid's names are seen.
func (s *site) within(sc *scope) *site {
	c := *s
	c.scope, c.pure, c.promote = sc, true, false
	return &c
}

func (s *site) monoidScope(m *syntax.Monoid, elem num.Elem) *scope {
	sc := &scope{names: map[string]*binding{}}
	for _, tp := range m.TypeParams {
		sc.names[tp.Name.Name] = &binding{kind: bindElem, at: tp, elem: elem}
	}
	return sc
}

// monoidResult evaluates what the reduction returns from the components.
func (s *site) monoidResult(e *syntax.Reduce, m *syntax.Monoid, comps []val, carrier, nominal num.Elem) []val {
	inner := s.monoidScope(m, nominal)
	for i, p := range m.Params {
		inner.names[p.Name.Name] = &binding{kind: bindScalar, at: p, scalar: comps[i]}
	}
	var out []val
	for _, x := range m.Result.List {
		out = append(out, s.within(inner).expr(x, nominal))
	}
	return out
}

// monoidBody evaluates `= (a, b)` or a body of lets to values of the types
// elems.
func (s *site) monoidBody(b *syntax.MonoidBody, elems []num.Elem) []*ir.Value {
	if b.Values != nil {
		return s.tuple(b, b.Values.List, elems)
	}
	for _, st := range b.Body.Stmts {
		switch st := st.(type) {
		case *syntax.Let:
			if len(st.Targets) != 1 || st.Targets[0].Indexed || st.Value == nil || len(st.For) > 0 {
				s.f.p.failWith(st.Errorf("a monoid's `let` binds one scalar"))
			}
			name := st.Targets[0].Name.Name
			if s.scope.names[name] != nil {
				s.f.p.failWith(st.Errorf("%s is bound already", name).WithFix("choose another name"))
			}
			s.scope.names[name] = &binding{kind: bindScalar, at: st, scalar: s.expr(st.Value, num.Invalid)}
		case *syntax.Return:
			return s.tuple(st, st.Values, elems)
		default:
			s.f.p.failWith(st.Errorf("a monoid's body holds `let` and `return` only"))
		}
	}
	s.f.p.failWith(b.Errorf("the body ends without `return`"))
	return nil
}

func (s *site) tuple(at syntax.Node, list []syntax.Expr, elems []num.Elem) []*ir.Value {
	if len(list) != len(elems) {
		s.f.p.failWith(at.Errorf("%s, and %s needed", count(len(list), "value"), count(len(elems), "component")))
	}
	var ys []*ir.Value
	for i, x := range list {
		ys = append(ys, s.exprOf(x, elems[i]).v)
	}
	return ys
}

// monoid makes the module's monoid of m for one element type, once.
func (p *program) monoid(f *fnState, m *syntax.Monoid, elem num.Elem, at syntax.Node) *ir.Monoid {
	name := m.Name.Name
	if len(m.TypeParams) > 0 {
		name += "_" + elem.String()
		if ok := elemClass(m.TypeParams[0].Class.Name); len(m.TypeParams) > 1 || ok == nil || !ok(elem) {
			p.failWith(at.Errorf("%s is not defined for %s", m.Name.Name, elem).WithNote(m.Name.At(), "declared here"))
		}
	}
	if mon := p.monoids[name]; mon != nil {
		return mon
	}
	if p.building[name] {
		p.failWith(at.Errorf("the monoid %s is built from itself", m.Name.Name).WithNote(m.Name.At(), "declared here").
			WithFix("give one of them an `identity` and a `combine` of its own"))
	}
	p.building[name] = true
	defer delete(p.building, name)
	mon := &ir.Monoid{Name: name, Loc: loc(m.Name)}
	for _, prop := range m.Props {
		mon.Assoc = mon.Assoc || prop == "assoc"
		mon.Comm = mon.Comm || prop == "comm"
	}
	s := &site{f: f, names: &names{vals: map[string]bool{}, syms: map[string]bool{}}, cache: map[string]*ir.Value{}, pure: true}
	s.scope = s.monoidScope(m, elem)
	for _, prm := range m.Params {
		e := s.castType(prm.Type.Name.Name)
		if e == num.Invalid || prm.Type.Dims != nil {
			p.failWith(prm.Errorf("a component is a scalar").WithExpected("an element type or the type parameter"))
		}
		if slices.ContainsFunc(mon.Params, func(v *ir.Value) bool { return v.Name == prm.Name.Name }) {
			p.failWith(prm.Errorf("the component %s is declared twice", prm.Name.Name).WithFix("rename one of them"))
		}
		mon.Params = append(mon.Params, &ir.Value{Name: s.names.val(prm.Name.Name), Type: ir.Scalar{Elem: e}})
	}
	if m.Combine != nil {
		s.plain(m, mon, elem)
	} else {
		s.rescaled(m, mon, elem)
	}
	p.monoids[name] = mon
	return mon
}

func (s *site) plain(m *syntax.Monoid, mon *ir.Monoid, elem num.Elem) {
	elems := mon.Elems()
	c := s.block(m, elem)
	c.yield(m, c.tuple(m.Identity, m.Identity.List, elems)...)
	mon.Identity = c.region
	if len(m.Combine.Left) != len(elems) || len(m.Combine.Right) != len(elems) {
		s.f.p.failWith(m.Combine.Errorf("combine takes two tuples of %s", count(len(elems), "component")).
			WithFix("name %d in each pair of brackets", len(elems)))
	}
	c = s.block(m, elem)
	mon.CombineParams = c.bindParams(append(append([]*syntax.Ident{}, m.Combine.Left...), m.Combine.Right...), append(elems, elems...))
	c.yield(m.Combine, c.monoidBody(m.Combine.Body, elems)...)
	mon.Combine = c.region
}

func (s *site) rescaled(m *syntax.Monoid, mon *ir.Monoid, elem num.Elem) {
	nb, nv := len(m.Base.Comps), len(m.Base.Scaled)
	if nb+nv != len(mon.Params) {
		s.f.p.failWith(m.Base.Errorf("base and over name %s of %d", count(nb+nv, "component"), len(mon.Params)).WithFix("each component stands in one of them"))
	}
	mon.Base = s.use(m.Base.Monoid, m.Base.Comps, mon, elem, nb)
	mon.Over = s.use(m.Base.Over, m.Base.Scaled, mon, elem, 1)
	var be, ve []num.Elem
	for _, p := range mon.Base.Params {
		be = append(be, ir.ElemOf(p.Type))
	}
	for _, p := range mon.Over.Params {
		ve = append(ve, ir.ElemOf(p.Type))
	}
	if len(m.Act.Params) != nv+2*nb {
		s.f.p.failWith(m.Act.Errorf("act takes %s, and %d named", count(nv+2*nb, "value"), len(m.Act.Params)).
			WithExpected("the scaled components, the old base, the new base"))
	}
	c := s.block(m, elem)
	mon.ActParams = c.bindParams(m.Act.Params, append(append(append([]num.Elem{}, ve...), be...), be...))
	c.yield(m.Act, c.monoidBody(m.Act.Body, ve)...)
	mon.Act = c.region
}

// use reads `base B(n, u)` or `over V(v)`; k is how many components B has.
func (s *site) use(id *syntax.Ident, comps []*syntax.Ident, mon *ir.Monoid, elem num.Elem, k int) *ir.MonoidUse {
	u := &ir.MonoidUse{}
	for _, c := range comps {
		var v *ir.Value
		for _, p := range mon.Params {
			if p.Name == c.Name {
				v = p
			}
		}
		if v == nil {
			s.f.p.failWith(c.Errorf("%s is not a component", c.Name).WithExpected("one of the names in the monoid's head"))
		}
		u.Params = append(u.Params, v)
	}
	if d := s.monoidDecl(id); d != nil {
		u.Monoid = s.f.p.monoid(s.f, d, elem, id)
	} else {
		b, err := ir.BuiltinMonoid(id.Name, ir.ElemOf(u.Params[0].Type))
		if err != nil {
			s.f.p.failWith(id.Errorf("no monoid %s", id.Name).WithExpected("a monoid, or sum, prod, max, min, any, all"))
		}
		u.Monoid = b
	}
	if len(u.Monoid.Params) != k {
		s.f.p.failWith(id.Errorf("%s has %s, and %d named", id.Name, count(len(u.Monoid.Params), "component"), k))
	}
	return u
}

// block is a fresh region for a part of a monoid.
func (s *site) block(m *syntax.Monoid, elem num.Elem) *site {
	c := *s
	c.region, c.names, c.scope = &ir.Region{}, s.names.child(), s.monoidScope(m, elem)
	return &c
}

func (s *site) bindParams(ids []*syntax.Ident, elems []num.Elem) []*ir.Value {
	var vs []*ir.Value
	for i, id := range ids {
		if s.scope.names[id.Name] != nil {
			s.f.p.failWith(id.Errorf("%s is named twice", id.Name).WithFix("rename one of them"))
		}
		v := &ir.Value{Name: s.names.val(id.Name), Type: ir.Scalar{Elem: elems[i]}}
		s.scope.names[id.Name] = &binding{kind: bindScalar, at: id, scalar: val{v, elems[i]}}
		vs = append(vs, v)
	}
	return vs
}

// monoidOrder lists the used monoids so that each stands behind those it uses.
func (p *program) monoidOrder() []string {
	var out []string
	done := map[string]bool{}
	var add func(k string)
	add = func(k string) {
		m := p.monoids[k]
		if m == nil || done[k] {
			return
		}
		done[k] = true
		for _, u := range []*ir.MonoidUse{m.Base, m.Over} {
			if u != nil && !u.Monoid.Builtin {
				add(u.Monoid.Name)
			}
		}
		out = append(out, k)
	}
	for _, k := range sortedKeys(p.used) {
		add(k)
	}
	return out
}
