package ir

import (
	"slices"

	"tenon/ir/sym"
)

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
			op.Def.Verify(v.Checker, op)
		}
	})
	v.Facts = outer
	v.exists(op)
	v.laterFacts(op)
	v.results(op, before)
	v.effects(op, before)
	v.stack = v.stack[:len(v.stack)-1]
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
	for _, k := range d.Conds {
		v.expr(op, k.L)
		v.expr(op, k.R)
		v.Facts.Add(k)
	}
	if v.Facts.Contradiction() {
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

// The clause kinds: uses are checked, then what is bound comes into scope.

func (v *verifier) checkLiteral(op *Op, _ int, c Clause) {}
func (v *verifier) checkFlag(op *Op, _ int, c Clause)    {}

func (v *verifier) checkOperands(op *Op, _ int, c Clause) {
	for _, a := range c.(*Operands).Args {
		switch {
		case a.Value != nil:
			v.use(op, a.Value)
			v.view(op, a)
			if op.Def.Traits.Has(Terminator) && isBuf(a.Value.Type) {
				v.Errorf(op, "lets the buffer %%%s escape from its region", a.Value.Name)
			}
		case a.Expr != nil:
			v.expr(op, *a.Expr)
		case a.Lit == nil:
			v.Errorf(op, "lacks an operand")
		}
	}
}

func isBuf(t Type) bool {
	_, ok := t.(Buf)
	return ok
}

func (v *verifier) view(op *Op, a Arg) {
	if a.View == nil {
		return
	}
	for _, d := range a.View.Dims {
		v.expr(op, d.Start)
		if d.HasSize {
			v.expr(op, d.Size)
		}
	}
	if dims, ok := DimsOf(a.Value.Type); ok && len(dims) != len(a.View.Dims) {
		v.Errorf(op, "%%%s has rank %d, %d subscripts are given", a.Value.Name, len(dims), len(a.View.Dims))
	}
}

func (v *verifier) checkAttr(op *Op, _ int, c Clause) {
	a := c.(*Attr)
	if a.Value != AttrItem {
		return
	}
	for _, it := range v.Module.Items {
		if it.ItemName() == a.Str {
			return
		}
	}
	v.Errorf(op, "there is no item @%s in this module", a.Str)
}

func (v *verifier) checkAxes(op *Op, i int, c Clause) {
	varying := op.Def.Clauses[i].KW == "threads"
	for _, a := range c.(*Axes).List {
		if a.Pattern == nil {
			v.expr(op, a.Extent)
			id, _ := a.Extent.IsNNZ()
			v.bindSym(op, a.Name, &binding{axis: true, entryOf: id, varying: varying})
			v.Facts.AddRange(a.Name, sym.Const(0), a.Extent)
			continue
		}
		v.use(op, a.Pattern)
		v.expr(op, a.Row)
		p, ok := a.Pattern.Type.(Pattern)
		if !ok {
			v.Errorf(op, "%%%s is %s; entries are those of a pattern", a.Pattern.Name, a.Pattern.Type)
			continue
		}
		v.bindSym(op, a.Name, &binding{axis: true})
		v.bindSym(op, a.Entry, &binding{axis: true, entryOf: p.ID})
		v.Facts.AddRange(a.Name, sym.Const(0), p.Cols)
		v.Facts.AddRange(a.Entry, sym.Const(0), sym.NNZ(p.ID))
	}
}

// checkConds: conditions without a word, and those after `if`, hold in the
// regions of the op; others (check, first, last) hold nowhere in it.
func (v *verifier) checkConds(op *Op, i int, c Clause) {
	kw := op.Def.Clauses[i].KW
	for _, k := range c.(*Conds).List {
		v.expr(op, k.L)
		v.expr(op, k.R)
		if !k.Rel.Valid() {
			v.Errorf(op, "has a condition with the relation %q", k.Rel)
		} else if kw == "" || kw == "if" {
			v.Facts.Add(k)
		}
	}
}

func (v *verifier) checkReads(op *Op, _ int, c Clause) {
	for _, r := range c.(*Reads).List {
		v.use(op, r.Src)
		v.exprs(op, r.Subs)
		dims, ok := DimsOf(r.Src.Type)
		switch {
		case !ok:
			v.Errorf(op, "reads %%%s of type %s; only tensors and buffers have elements", r.Src.Name, r.Src.Type)
		case len(dims) != len(r.Subs):
			v.Errorf(op, "%%%s has rank %d, %d subscripts are given", r.Src.Name, len(dims), len(r.Subs))
		default:
			v.edge(op, r, dims)
		}
		if !SameType(r.Res.Type, Scalar{ElemOf(r.Src.Type)}) {
			v.Errorf(op, "%%%s is an element of %s, not of type %v", r.Res.Name, r.Src.Type, r.Res.Type)
		}
		v.bindValue(op, r.Res)
	}
}

// edge: an edge tensor of #p is subscripted by an entry of #p, or by a value
// that is checked while running.
func (v *verifier) edge(op *Op, r Read, dims []sym.Expr) {
	if len(dims) == 0 {
		return
	}
	id, ok := dims[0].IsNNZ()
	if _, gathered := r.Subs[0].IsVal(); !ok || gathered {
		return
	}
	n, _ := r.Subs[0].IsName()
	if b := v.syms[n]; b == nil || b.entryOf != id {
		v.Errorf(op, "%%%s is an edge tensor of #%s, but %s is no entry of #%s", r.Src.Name, id, r.Subs[0], id)
	}
}

func (v *verifier) checkOuts(op *Op, _ int, c Clause) {
	for _, o := range c.(*Outs).List {
		if o.Buf != nil {
			v.use(op, o.Buf)
		}
		v.exprs(op, o.Subs)
	}
}

func (v *verifier) checkCarry(op *Op, _ int, c Clause) {
	k := c.(*Carry)
	if len(k.Inits) != len(k.Params) {
		v.Errorf(op, "carries %d values from %d", len(k.Params), len(k.Inits))
		return
	}
	for _, x := range k.Inits {
		v.use(op, x)
		if isBuf(x.Type) {
			v.Errorf(op, "carries the buffer %%%s; buffers stay where they are", x.Name)
		}
	}
	for i, x := range k.Params {
		if !SameType(x.Type, k.Inits[i].Type) {
			v.Errorf(op, "carries %%%s as %v, but %%%s has type %s", x.Name, x.Type, k.Inits[i].Name, k.Inits[i].Type)
		}
		v.bindValue(op, x)
	}
}

// carried holds the yield of a loop's region against what it carries.
func (v *verifier) carried(op *Op) {
	k, body := carryOf(op), firstBlock(op)
	if k == nil || body == nil || len(k.Params) == 0 {
		return
	}
	last := body.Region.Last()
	if last == nil {
		v.Errorf(op, "carries %d values, but its region does not end in a yield", len(k.Params))
		return
	}
	ys := body.Region.Yields()
	if len(ys) != len(k.Params) {
		v.Errorf(last, "yields %d values, the loop carries %d", len(ys), len(k.Params))
		return
	}
	for i, y := range ys {
		if !SameType(y.Type, k.Params[i].Type) {
			v.Errorf(last, "yields %%%s of type %s for %%%s of type %s", y.Name, y.Type, k.Params[i].Name, k.Params[i].Type)
		}
	}
}

func carryOf(op *Op) *Carry {
	for _, c := range op.Clauses {
		if k, ok := c.(*Carry); ok {
			return k
		}
	}
	return nil
}

func firstBlock(op *Op) *Block {
	for _, c := range op.Clauses {
		if b, ok := c.(*Block); ok {
			return b
		}
	}
	return nil
}

func (v *verifier) checkBy(op *Op, _ int, c Clause) {
	b := c.(*By)
	switch {
	case b.Monoid == nil:
		v.Errorf(op, "lacks a monoid")
	case !b.Monoid.Builtin && Lookup[*Monoid](v.Module, b.Monoid.Name) != b.Monoid:
		v.Errorf(op, "the monoid @%s is no item of this module", b.Monoid.Name)
	case b.Empty != nil && len(b.Empty) != len(b.Monoid.Params):
		v.Errorf(op, "empty has %d values, @%s %d components", len(b.Empty), b.Monoid.Name, len(b.Monoid.Params))
	}
}

func (v *verifier) checkRange(op *Op, _ int, c Clause) {
	r := c.(*Range)
	v.expr(op, r.Lo)
	v.expr(op, r.Hi)
	v.expr(op, r.Step)
	if v.Facts.Prove(sym.Le(r.Step, sym.Const(0))) {
		v.Errorf(op, "steps by %s; a step is positive", r.Step)
	}
	i, once := sym.Name(r.Name), op.Def.hasWord("once") && op.Has("once")
	id, _ := r.Hi.IsNNZ()
	v.bindSym(op, r.Name, &binding{axis: true, entryOf: id, varying: v.varies(r.Lo) || v.varies(r.Hi)})
	v.Facts.Add(sym.Ge(i, r.Lo))
	left := sym.Sub(r.Hi, i)
	if once { // an empty range runs one empty tile
		left = sym.Max(left, sym.Const(0))
	} else {
		v.Facts.Add(sym.Lt(i, r.Hi))
	}
	if r.Size != "" {
		v.bindSym(op, r.Size, &binding{})
		v.Facts.Add(sym.Eq(sym.Name(r.Size), sym.Min(r.Step, left)))
		v.Facts.Add(sym.Ge(sym.Name(r.Size), sym.Const(0)))
	}
}

// hasWord reports whether a clause of the row is introduced by w.
func (d *OpDef) hasWord(w string) bool {
	return slices.ContainsFunc(d.Clauses, func(s ClauseSpec) bool { return s.KW == w })
}

// checkExists does nothing: the dims are for the ops behind this one.
func (v *verifier) checkExists(op *Op, _ int, c Clause) {}

func (v *verifier) checkBlock(op *Op, i int, c Clause) {
	b := c.(*Block)
	before := len(v.Errs)
	v.scoped(func() {
		if op.Def.Clauses[i].KW == "else" {
			v.Facts = v.withoutConds(op)
		}
		v.blockParams(op, i, b, before)
		if op.Def.Traits.Has(Isolated) {
			v.alone(b)
		} else {
			v.region(b.Region)
		}
	})
}

// withoutConds is what is known without op's own conditions.
func (v *verifier) withoutConds(op *Op) *sym.Facts {
	own := map[string]bool{}
	for _, c := range op.Clauses {
		if k, ok := c.(*Conds); ok {
			for _, cond := range k.List {
				own[cond.Key()] = true
			}
		}
	}
	f := sym.NewFacts()
	for _, k := range v.Facts.Conds() {
		if !own[k.Key()] {
			f.Add(k)
		}
	}
	return f
}

// blockParams binds the parameters, whose types must be those the row gives.
func (v *verifier) blockParams(op *Op, i int, b *Block, before int) {
	var old []Type
	for _, q := range b.Params {
		if q.Val != nil {
			old = append(old, q.Val.Type)
		}
	}
	if op.Def.Bind != nil && len(v.Errs) == before {
		if err := op.Def.Bind(op, i); err != nil {
			v.Errorf(op, "%v", err)
		}
	}
	for _, q := range b.Params {
		if q.Val == nil {
			v.bindSym(op, q.Sym, &binding{axis: true})
			continue
		}
		if !SameType(q.Val.Type, old[0]) {
			v.Errorf(op, "%%%s has type %v, but %v follows from the operands", q.Val.Name, old[0], q.Val.Type)
		}
		old = old[1:]
		v.bindValue(op, q.Val)
	}
}

// alone checks a region that sees no values from outside.
func (v *verifier) alone(b *Block) {
	outside := v.values
	v.values = map[*Value]bool{}
	for _, q := range b.Params {
		if q.Val != nil {
			v.values[q.Val] = true
		}
	}
	v.region(b.Region)
	v.values = outside
}

func (v *verifier) checkDirectives(op *Op, _ int, c Clause) {}
