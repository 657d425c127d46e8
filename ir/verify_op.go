package ir

import "tenon/ir/sym"

// op checks one op, its regions included, and brings its results into scope.
func (v *verifier) op(op *Op) {
	before := len(v.Errs)
	v.stack = append(v.stack, op)
	v.legal(op)
	outer := v.Facts
	v.scoped(func() {
		for i, s := range op.Def.Clauses {
			v.clauseAt(op, i, s)
		}
		v.carried(op)
		v.uniform(op)
		if len(v.Errs) == before && op.Def.Verify != nil {
			v.row(op)
		}
	})
	v.Facts = outer
	v.exists(op)
	v.laterFacts(op)
	v.results(op, before)
	v.effects(op, before)
	v.stack = v.stack[:len(v.stack)-1]
}

// row lets op's row check it, with what its axes and ranges say; its own
// conditions are left out: a comp writes where no point of red meets them, too.
func (v *verifier) row(op *Op) {
	facts := v.Facts
	if len(op.Regions()) > 0 {
		v.Facts = v.withoutConds(op)
	}
	v.Around = v.stack[:len(v.stack)-1]
	op.Def.Verify(v.Checker, op)
	v.Facts = facts
}

func (v *verifier) clauseAt(op *Op, i int, s ClauseSpec) {
	var c Clause
	if i < len(op.Clauses) {
		c = op.Clauses[i]
	}
	switch {
	case c == nil && !s.Optional:
		v.Errorf(op, "lacks %s", describeClause(s))
	case c == nil:
	case c.Kind() != s.Kind:
		v.Errorf(op, "has %s where its row wants %s", clauseKinds[c.Kind()].what, describeClause(s))
	default:
		clauseKinds[s.Kind].check(v, op, i, c)
	}
}

// legal holds op against the level of its function.
func (v *verifier) legal(op *Op) {
	if v.Func == nil {
		return
	}
	if spec := SpecOf(v.Func.Level); !spec.Allows(op.Def) {
		v.Errorf(op, "is no op of level %s, the level of @%s", v.Func.Level, v.Func.Name)
	}
}

// results compares the results with what the row infers and binds them.
func (v *verifier) results(op *Op, before int) {
	if len(v.Errs) == before {
		v.inferred(op)
	}
	for _, r := range op.Results {
		if t, ok := r.Type.(Pattern); ok && !v.passesOn(op, t) {
			v.bindPattern(op, t)
		}
	}
	for _, r := range op.Results {
		if r.Def != op {
			v.Errorf(op, "result %%%s belongs to another op", r.Name)
		}
		if r.Type != nil {
			v.typ(op, r.Type)
		}
		if v.Func != nil {
			v.levelType(SpecOf(v.Func.Level), r.Type, "result %"+r.Name)
		}
		v.bindValue(op, r)
	}
}

func (v *verifier) inferred(op *Op) {
	if op.Def.Infer == nil {
		if len(op.Results) > 0 {
			v.Errorf(op, "has no results, but %d are there", len(op.Results))
		}
		return
	}
	types, err := op.Def.Infer(op, TypesOf(op.Results))
	switch {
	case err != nil:
		v.Errorf(op, "%v", err)
	case len(types) != len(op.Results):
		v.Errorf(op, "gives %d results, but %d are there", len(types), len(op.Results))
	default:
		for i, t := range types {
			if r := op.Results[i]; !SameType(t, r.Type) {
				v.Errorf(op, "result %%%s has type %s, but %s follows from the operands", r.Name, r.Type, t)
			}
		}
	}
}

// passesOn reports that op hands on a pattern it was given, as a loop does.
func (v *verifier) passesOn(op *Op, t Pattern) bool {
	found := false
	op.Values(func(x *Value) *Value {
		p, ok := x.Type.(Pattern)
		found = found || ok && p.ID == t.ID
		return x
	})
	return found
}

// exists binds dims that the ops behind op see, with their bounds.
func (v *verifier) exists(op *Op) {
	for _, c := range op.Clauses {
		ex, ok := c.(*Exists)
		if !ok {
			continue
		}
		for _, d := range ex.Dims {
			v.bindExDim(op, d)
		}
	}
}

func (v *verifier) bindExDim(op *Op, d ExDim) {
	if _, listed := v.exdims[d.Name]; listed {
		v.exdims[d.Name]++
	}
	v.bindSym(op, d.Name, &binding{varying: op.Def.Family() == "dist"})
	if len(d.Conds) == 0 {
		v.Errorf(op, "binds the dim %s without bounds; write exists(%s: 0 <= %s)", d.Name, d.Name, d.Name)
	}
	dead := v.Facts.Contradiction() // nothing here is ever reached
	for _, k := range d.Conds {
		v.expr(op, k.L)
		v.expr(op, k.R)
		v.Facts.Add(k)
	}
	if !dead && v.Facts.Contradiction() {
		v.Errorf(op, "no value of %s satisfies its bounds", d.Name)
	}
}

// laterFacts adds the conditions that an op without regions has checked.
func (v *verifier) laterFacts(op *Op) {
	if len(op.Regions()) > 0 {
		return
	}
	for _, c := range op.Clauses {
		if k, ok := c.(*Conds); ok {
			for _, cond := range k.List {
				v.Facts.Add(cond)
			}
		}
	}
}

// use checks that x is visible.
func (v *verifier) use(op *Op, x *Value) {
	switch {
	case x == nil:
		v.fault(op, "lacks an operand")
	case !v.values[x]:
		v.fault(op, "%%%s is used where it is not visible: it must be bound before, here or in a region around", x.Name)
	}
}

// expr checks an index expression: names and values visible, values integers,
// products with at most one factor that is no dim.
func (v *verifier) expr(op *Op, e sym.Expr) {
	if e.Overflowed() {
		v.fault(op, "an index expression overflows 64 bits")
		return
	}
	for _, n := range e.Names() {
		if v.syms[n] != nil {
			continue
		}
		if _, waits := v.exdims[n]; waits {
			v.fault(op, "the dim %s is used before the op that binds it", n)
		} else {
			v.fault(op, "%s is not defined here", n)
		}
	}
	for _, r := range e.Refs() {
		x, ok := r.(*Value)
		if !ok {
			v.fault(op, "an index expression holds something that is no value")
			continue
		}
		v.use(op, x)
		if s, ok := x.Type.(Scalar); !ok || !s.Elem.IsInt() {
			v.fault(op, "%%%s stands in the index expression %s, but has type %s; an integer is wanted", x.Name, e, x.Type)
		}
	}
	v.products(op, e)
}

func (v *verifier) products(op *Op, e sym.Expr) {
	for _, t := range e.Terms() {
		n := 0
		for _, a := range t.Factors {
			if v.moves(a) {
				n++
			}
		}
		if n > 1 {
			v.fault(op, "%s multiplies axes or values with each other; at most one factor may hold any", t.Expr())
		}
	}
}

// moves reports whether an atom holds an axis or a value.
func (v *verifier) moves(a sym.Atom) bool {
	found := false
	a.Expr().Walk(func(x *sym.Atom) bool {
		b := v.syms[x.Name]
		found = found || x.Kind == sym.AtomVal || x.Kind == sym.AtomName && b != nil && b.axis
		return !found
	})
	return found
}

func (v *verifier) exprs(op *Op, es []sym.Expr) {
	for _, e := range es {
		v.expr(op, e)
	}
}
