package ir

import (
	"tenon/internal/diag"
	"tenon/ir/sym"
)

// Op is one operation. Clauses stand in the order of its row's specs, nil where
// an optional clause is absent; they hold its operands, attributes and regions.
type Op struct {
	Def     *OpDef
	Results []*Value
	Clauses []Clause
	Loc     Loc
}

// Region is a list of ops, run in order. A region that gives values ends in a
// terminator (yield, return).
type Region struct{ Ops []*Op }

// Last is the terminator of r, or nil if r does not end in one.
func (r *Region) Last() *Op {
	if n := len(r.Ops); n > 0 && r.Ops[n-1].Def.Traits.Has(Terminator) {
		return r.Ops[n-1]
	}
	return nil
}

// Yields are the values that r's terminator gives; nil without a terminator.
func (r *Region) Yields() []*Value {
	last := r.Last()
	if last == nil {
		return nil
	}
	return last.OperandValues("")
}

// Clause returns op's clause introduced by kw, of type C, or the zero C (nil)
// when it is absent. It is our bug if the row has no such clause.
func GetClause[C Clause](op *Op, kw string) C {
	var none C
	i := op.Def.clauseIndex(kw, none.Kind())
	if i < 0 {
		diag.Bugf("%s has no clause %q of that kind", op.Def.Name, kw)
	}
	if op.Clauses[i] == nil {
		return none
	}
	return op.Clauses[i].(C)
}

// SetClause replaces a clause; a nil c removes it.
func SetClause[C Clause](op *Op, kw string, c C) {
	i := op.Def.clauseIndex(kw, c.Kind())
	if i < 0 {
		diag.Bugf("%s has no clause %q of that kind", op.Def.Name, kw)
	}
	if any(c) == any(*new(C)) {
		op.Clauses[i] = nil
		return
	}
	op.Clauses[i] = c
}

// Has reports whether the clause (any kind) introduced by kw is present.
func (op *Op) Has(kw string) bool {
	for i, s := range op.Def.Clauses {
		if s.KW == kw && op.Clauses[i] != nil {
			return true
		}
	}
	return false
}

// Args are the operands of the clause kw ("" for the main list).
func (op *Op) Args(kw string) []Arg {
	if c := GetClause[*Operands](op, kw); c != nil {
		return c.Args
	}
	return nil
}

// OperandValues are the values among Args(kw).
func (op *Op) OperandValues(kw string) []*Value {
	var vs []*Value
	for _, a := range op.Args(kw) {
		if a.Value != nil {
			vs = append(vs, a.Value)
		}
	}
	return vs
}

// Operand is the i-th operand of the main list, which must be a value.
func (op *Op) Operand(i int) *Value { return op.Args("")[i].Value }

// Regions lists the regions directly inside op, in textual order.
func (op *Op) Regions() []*Region {
	var rs []*Region
	for _, c := range op.Clauses {
		switch c := c.(type) {
		case *Block:
			rs = append(rs, c.Region)
		case *Variants:
			for _, v := range c.List {
				rs = append(rs, v.Region)
			}
			rs = append(rs, c.Pick)
		}
	}
	return rs
}

// NewOp makes an op of the row named name (its full name, e.g. "tensor.comp" or
// "add"). Clauses are matched to the row by kind and, where several have that
// kind, by order; SetClause sets one by its word. Results get types from Infer;
// use Builder for the usual case.
func NewOp(name string, loc Loc, clauses ...Clause) *Op {
	def := MustOp(name)
	op := &Op{Def: def, Loc: loc, Clauses: make([]Clause, len(def.Clauses))}
	next := 0
	for _, c := range clauses {
		for next < len(def.Clauses) && def.Clauses[next].Kind != c.Kind() {
			next++
		}
		if next == len(def.Clauses) {
			diag.Bugf("%s has no room for a clause of kind %d", name, c.Kind())
		}
		op.Clauses[next] = c
		next++
	}
	return op
}

// Walk calls f for every op in r, outer ops before those in their regions;
// f returns false to skip an op's regions.
func (r *Region) Walk(f func(*Op) bool) {
	for _, op := range r.Ops {
		if !f(op) {
			continue
		}
		for _, in := range op.Regions() {
			in.Walk(f)
		}
	}
}

// Exprs calls f on every index expression of op's own clauses (not those inside
// its regions) and replaces it by what f returns. Value operands are untouched;
// see Values.
func (op *Op) Exprs(f func(sym.Expr) sym.Expr) {
	for _, c := range op.Clauses {
		mapClauseExprs(c, f)
	}
}

// Values calls f on every value that op's own clauses use, also inside index
// expressions, and replaces it by what f returns. Values that a clause binds
// (reads, carried values, block parameters) are not uses.
func (op *Op) Values(f func(*Value) *Value) {
	for _, c := range op.Clauses {
		mapClauseValues(c, f)
	}
	op.Exprs(func(e sym.Expr) sym.Expr {
		if len(e.Refs()) == 0 {
			return e
		}
		return e.SubstRef(func(r sym.Ref) (sym.Expr, bool) {
			return sym.Val(f(r.(*Value))), true
		})
	})
}

func mapClauseExprs(c Clause, f func(sym.Expr) sym.Expr) {
	conds := func(cs []sym.Cond) {
		for i := range cs {
			cs[i].L, cs[i].R = f(cs[i].L), f(cs[i].R)
		}
	}
	subs := func(es []sym.Expr) {
		for i := range es {
			es[i] = f(es[i])
		}
	}
	switch c := c.(type) {
	case *Operands:
		for i := range c.Args {
			mapArgExprs(&c.Args[i], f)
		}
	case *Axes:
		for i := range c.List {
			a := &c.List[i]
			if a.Pattern != nil {
				a.Row = f(a.Row)
			} else {
				a.Extent = f(a.Extent)
			}
		}
	case *Conds:
		conds(c.List)
	case *Reads:
		for i := range c.List {
			subs(c.List[i].Subs)
		}
	case *Outs:
		for i := range c.List {
			subs(c.List[i].Subs)
		}
	case *Range:
		c.Lo, c.Hi, c.Step = f(c.Lo), f(c.Hi), f(c.Step)
	case *Exists:
		for i := range c.Dims {
			conds(c.Dims[i].Conds)
		}
	case *Variants:
		for i := range c.List {
			for j := range c.List[i].Where {
				w := &c.List[i].Where[j].Cond
				w.L, w.R = f(w.L), f(w.R)
			}
		}
	}
}

func mapArgExprs(a *Arg, f func(sym.Expr) sym.Expr) {
	if a.Expr != nil {
		e := f(*a.Expr)
		a.Expr = &e
	}
	if a.View != nil {
		for j := range a.View.Dims {
			d := &a.View.Dims[j]
			d.Start = f(d.Start)
			if d.HasSize {
				d.Size = f(d.Size)
			}
		}
	}
}

func mapClauseValues(c Clause, f func(*Value) *Value) {
	switch c := c.(type) {
	case *Operands:
		for i := range c.Args {
			if c.Args[i].Value != nil {
				c.Args[i].Value = f(c.Args[i].Value)
			}
		}
	case *Axes:
		for i := range c.List {
			if c.List[i].Pattern != nil {
				c.List[i].Pattern = f(c.List[i].Pattern)
			}
		}
	case *Reads:
		for i := range c.List {
			c.List[i].Src = f(c.List[i].Src)
		}
	case *Outs:
		for i := range c.List {
			if c.List[i].Buf != nil {
				c.List[i].Buf = f(c.List[i].Buf)
			}
		}
	case *Carry:
		for i := range c.Inits {
			c.Inits[i] = f(c.Inits[i])
		}
	}
}
