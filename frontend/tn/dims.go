package tn

import (
	"tenon/frontend/tn/syntax"
	"tenon/ir"
	"tenon/ir/sym"
)

// equate makes two dims that meet in one index equal. Two different constants
// are an error that points at both; a name is replaced by the other dim from
// now on (equal dims are one name, and the entry check that binds one compares
// the other); what is left becomes a declared fact, checked at entry, or a check
// where a dim is only known while running.
func (f *fnState) equate(at syntax.Node, a, b sym.Expr, why string) {
	a, b = f.canon(a), f.canon(b)
	if a.Equal(b) {
		return
	}
	if f.facts().Prove(sym.Eq(a, b)) {
		return
	}
	if f.facts().Prove(sym.Ne(a, b)) {
		e := at.Errorf("sizes differ: %s and %s%s", shown(a), shown(b), why)
		if why == "" {
			e.WithExpected("two dims that meet in one index to be equal").WithFix("use different index names, or make the dims equal")
		}
		f.p.failWith(e)
	}
	if f.runtime(a) || f.runtime(b) {
		f.check(at, sym.Eq(a, b))
		return
	}
	if f.replaceName(a, b) || f.replaceName(b, a) {
		return
	}
	f.declare(sym.Eq(a, b))
}

// replaceName makes name a stand for b, if a is a dim of the function's own
// that b does not mention.
func (f *fnState) replaceName(a, b sym.Expr) bool {
	n, ok := a.IsName()
	if !ok || !f.dimNames[n] || mentions(b, n) {
		return false
	}
	if m, ok := b.IsName(); ok && f.dimNames[m] && f.dimOrder[m] > f.dimOrder[n] {
		return false // keep the name that the signature has first
	}
	if _, isName := b.IsName(); !isName {
		return false // N == 8: keep both, and check it at entry
	}
	f.equal[n] = b
	for k, v := range f.equal {
		f.equal[k] = v.Subst(map[string]sym.Expr{n: b})
	}
	f.factsCache = nil
	return true
}

func mentions(e sym.Expr, name string) bool {
	for _, n := range e.Names() {
		if n == name {
			return true
		}
	}
	return false
}

// canon is e with equal dims replaced.
func (f *fnState) canon(e sym.Expr) sym.Expr {
	if len(f.equal) == 0 {
		return e
	}
	return e.Subst(f.equal)
}

// runtime reports that e mentions a dim that is bound inside the function.
func (f *fnState) runtime(e sym.Expr) bool {
	for _, n := range e.Names() {
		if !f.dimNames[n] {
			return true
		}
	}
	return len(e.Refs()) > 0
}

// runtimeNames is runtime for names alone, with the number of a pattern's
// entries taken for a dim, which it is to the IR.
func (f *fnState) runtimeNames(e sym.Expr) bool {
	for _, n := range e.Names() {
		if _, nnz := sym.Name(n).IsNNZ(); !nnz && !f.dimNames[n] {
			return true
		}
	}
	return false
}

// declare adds a fact that is checked at entry, unless it is known.
func (f *fnState) declare(c sym.Cond) {
	if f.facts().Prove(c) {
		return
	}
	f.f.Where = append(f.f.Where, ir.Fact{Provenance: ir.Declared, Cond: c})
	f.factsCache = nil
}

// check adds a check that is done while running.
func (f *fnState) check(at syntax.Node, c sym.Cond) {
	op := ir.NewOp("tensor.check", loc(at))
	ir.SetClause(op, "", &ir.Conds{List: []sym.Cond{c}})
	f.region.Ops = append(f.region.Ops, op)
}

// facts is what is known about the function's dims: none is negative, and the
// declared facts hold.
func (f *fnState) facts() *sym.Facts {
	if f.factsCache != nil {
		return f.factsCache
	}
	fs := sym.NewFacts()
	for _, n := range sortedKeys(f.dimNames) {
		fs.Add(sym.Ge(f.canon(sym.Name(n)), sym.Const(0)))
	}
	for _, w := range f.f.Where {
		fs.Add(sym.Cond{L: f.canon(w.Cond.L), Rel: w.Cond.Rel, R: f.canon(w.Cond.R)})
	}
	for _, c := range f.known {
		fs.Add(sym.Cond{L: f.canon(c.L), Rel: c.Rel, R: f.canon(c.R)})
	}
	f.factsCache = fs
	return fs
}

// settle rewrites the finished function so that equal dims are one name.
func (f *fnState) settle() {
	if len(f.equal) == 0 {
		return
	}
	fn := f.f
	var dims []string
	for _, d := range fn.Dims {
		if _, gone := f.equal[d]; !gone {
			dims = append(dims, d)
		}
	}
	fn.Dims = dims
	for _, p := range fn.Params {
		p.Value.Type = f.canonType(p.Value.Type)
	}
	for i := range fn.Results {
		fn.Results[i].Type = f.canonType(fn.Results[i].Type)
	}
	where := fn.Where[:0]
	for _, w := range fn.Where {
		w.Cond.L, w.Cond.R = f.canon(w.Cond.L), f.canon(w.Cond.R)
		if !(w.Cond.Rel == "==" && w.Cond.L.Equal(w.Cond.R)) {
			where = append(where, w)
		}
	}
	fn.Where = where
	fn.Body.Walk(func(op *ir.Op) bool {
		op.Exprs(f.canon)
		f.settleExists(op)
		for _, v := range boundValues(op) {
			v.Type = f.canonType(v.Type)
		}
		return true
	})
}

// settleExists renames the dims that op binds.
func (f *fnState) settleExists(op *ir.Op) {
	for _, c := range op.Clauses {
		if ex, ok := c.(*ir.Exists); ok {
			for i := range ex.Dims {
				if n, ok := f.equal[ex.Dims[i].Name].IsName(); ok {
					ex.Dims[i].Name = n
				}
			}
		}
	}
}

// boundValues lists the values that op defines, its clauses' included.
func boundValues(op *ir.Op) []*ir.Value {
	vs := append([]*ir.Value(nil), op.Results...)
	for _, c := range op.Clauses {
		switch c := c.(type) {
		case *ir.Carry:
			vs = append(vs, c.Params...)
		case *ir.Reads:
			for _, r := range c.List {
				vs = append(vs, r.Res)
			}
		case *ir.Block:
			for _, p := range c.Params {
				if p.Val != nil {
					vs = append(vs, p.Val)
				}
			}
		}
	}
	return vs
}

func (f *fnState) canonType(t ir.Type) ir.Type {
	dims := func(es []sym.Expr) []sym.Expr {
		out := make([]sym.Expr, len(es))
		for i, e := range es {
			out[i] = f.canon(e)
		}
		return out
	}
	switch t := t.(type) {
	case ir.Tensor:
		t.Dims = dims(t.Dims)
		return t
	case ir.Buf:
		t.Dims = dims(t.Dims)
		return t
	case ir.Pattern:
		t.Rows, t.Cols = f.canon(t.Rows), f.canon(t.Cols)
		return t
	}
	return t
}
