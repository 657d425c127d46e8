package cpu

import (
	"tenon/codegen/llvm"
	"tenon/internal/diag"
	"tenon/internal/num"
	"tenon/ir"
	"tenon/ir/sym"
)

// expr emits an index expression.
func (p *proc) expr(e sym.Expr) llvm.Value {
	if !p.opts.Unchecked && mayLeave64(e) {
		return p.checkedExpr(e)
	}
	sum, some := llvm.Index(e.Constant()), e.Constant() != 0
	for _, t := range e.Terms() {
		v, coef := p.atoms(t.Factors), t.Coef
		switch {
		case coef == -1 && some:
			sum = p.Op("sub", sum, v)
			continue
		case coef != 1:
			v = p.Op("mul", v, llvm.Index(coef))
		}
		if some {
			v = p.Op("add", sum, v)
		}
		sum, some = v, true
	}
	return sum
}

// mayLeave64 reports that e computes with a number of 64 bits that the program
// read or made, which may be any. Dims and loop indices count memory or time.
func mayLeave64(e sym.Expr) bool {
	terms := e.Terms()
	for _, t := range terms {
		alone := len(terms) == 1 && len(t.Factors) == 1 && t.Coef == 1 && e.Constant() == 0
		for _, a := range t.Factors {
			if a.Kind == sym.AtomVal && !alone && ir.ElemOf(a.Ref.(*ir.Value).Type).Bits() == 64 {
				return true
			}
		}
	}
	return false
}

// checkedExpr emits e and stops the program where it leaves 64 bits: wrapped, a
// subscript would read another element, or one that a proof about numbers
// without bounds lets through.
func (p *proc) checkedExpr(e sym.Expr) llvm.Value {
	sum, left := llvm.Index(e.Constant()), llvm.Int(num.Bool, 0)
	note := func(v, over llvm.Value) llvm.Value {
		left = p.Op("or", left, over)
		return v
	}
	for _, t := range e.Terms() {
		v := llvm.Index(t.Coef)
		for i := range t.Factors {
			v = note(p.MulOverflow(v, p.atom(&t.Factors[i])))
		}
		sum = note(p.AddOverflow(sum, v))
	}
	p.failWhen(left, ir.TrapOverflow, -1, -1)
	return sum
}

func (p *proc) atoms(factors []sym.Atom) llvm.Value {
	var product llvm.Value
	for i := range factors {
		v := p.atom(&factors[i])
		if product.IsValid() {
			v = p.Op("mul", product, v)
		}
		product = v
	}
	return product
}

// divisions are the two ways to emit a division of index expressions: flooring,
// and truncating where the dividend is known not to be negative.
var divisions = map[sym.Kind]struct{ op, plain string }{
	sym.AtomFloorDiv: {"floordiv", "tdiv"},
	sym.AtomMod:      {"mod", "trem"},
}

func (p *proc) atom(a *sym.Atom) llvm.Value {
	switch a.Kind {
	case sym.AtomName:
		return p.name(a.Name)
	case sym.AtomVal:
		return p.Cast(p.value(a.Ref.(*ir.Value)), num.Index)
	case sym.AtomMin:
		return p.Op("min", p.expr(a.Args[0]), p.expr(a.Args[1]))
	case sym.AtomMax:
		return p.Op("max", p.expr(a.Args[0]), p.expr(a.Args[1]))
	}
	d := divisions[a.Kind]
	if p.facts.Prove(sym.Le(sym.Const(0), a.Args[0])) {
		return p.Op(d.plain, p.expr(a.Args[0]), p.expr(a.Args[1]))
	}
	return p.Op(d.op, p.expr(a.Args[0]), p.expr(a.Args[1]))
}

// name is the value of a dim or loop index; a part takes it from its body.
func (p *proc) name(n string) llvm.Value {
	v, ok := p.names[n]
	if !ok && p.part != nil {
		return p.capture(p.part.body.name(n), llvm.Param{})
	}
	if !ok {
		diag.Bugf("%s: %s is not bound", p.src.Name, n)
	}
	return v
}

func (p *proc) value(v *ir.Value) llvm.Value {
	x, ok := p.values[v]
	if !ok && p.part != nil {
		return p.capture(p.part.body.value(v), llvm.Param{})
	}
	if !ok {
		diag.Bugf("%s: %%%s has no value", p.src.Name, v.Name)
	}
	return x
}

var relations = map[sym.Rel]string{sym.EQ: "eq", sym.NE: "ne", sym.LT: "lt", sym.LE: "le", sym.GT: "gt", sym.GE: "ge"}

// cond emits a comparison of index expressions.
func (p *proc) cond(c sym.Cond) llvm.Value {
	return p.Op(relations[c.Rel], p.expr(c.L), p.expr(c.R))
}

// all emits a conjunction.
func (p *proc) all(cs []sym.Cond) llvm.Value {
	holds := llvm.Int(num.Bool, 1)
	for i, c := range cs {
		v := p.cond(c)
		if i > 0 {
			v = p.Op("and", holds, v)
		}
		holds = v
	}
	return holds
}

// under runs emit with more facts, and with names bound; both end with it.
func (p *proc) under(conds []sym.Cond, names map[string]llvm.Value, emit func()) {
	facts, saved := p.facts, map[string]llvm.Value{}
	p.facts = facts.Clone()
	for _, c := range conds {
		p.facts.Add(c)
	}
	for n, v := range names { // no order enters what is emitted
		saved[n] = p.names[n]
		p.names[n] = v
	}
	emit()
	p.facts = facts
	for n, v := range saved {
		if v.IsValid() {
			p.names[n] = v
		} else {
			delete(p.names, n)
		}
	}
}
