package ir

import (
	"slices"

	"tenon/ir/sym"
)

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
	step, known := r.Step.IsConst()
	if known && step <= 0 || !known && v.Facts.Prove(sym.Le(r.Step, sym.Const(0))) {
		v.Errorf(op, "steps by %s; a step is positive", r.Step)
	}
	i, once := sym.Name(r.Name), op.Def.hasWord("once") && op.Has("once")
	id, _ := r.Hi.IsNNZ()
	v.bindSym(op, r.Name, &binding{axis: true, entryOf: id, varying: v.varies(r.Lo) || v.varies(r.Hi)})
	v.Facts.Add(sym.Ge(i, r.Lo))
	if known && step > 1 {
		v.Facts.Add(sym.Eq(sym.Mod(sym.Sub(i, r.Lo), r.Step), sym.Const(0)))
	}
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
	if len(own) == 0 {
		return v.Facts
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
