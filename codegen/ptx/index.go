package ptx

import (
	"tenon/codegen/llvm"
	"tenon/internal/diag"
	"tenon/internal/num"
	"tenon/ir"
	"tenon/ir/sym"
)

// expr emits an index expression.
func (k *kernel) expr(e sym.Expr) llvm.Value {
	v, _ := k.tracked(e, false)
	return v
}

// tracked emits e. With track it also tells whether e leaves 64 bits, which
// numbers that the program read or made can bring about; dims and loop indices
// count memory or time and cannot.
func (k *kernel) tracked(e sym.Expr, track bool) (sum, left llvm.Value) {
	sum, left = llvm.Index(e.Constant()), llvm.Int(num.Bool, 0)
	note := func(v, over llvm.Value) llvm.Value {
		left = k.Op("or", left, over)
		return v
	}
	for _, t := range e.Terms() {
		v := llvm.Index(t.Coef)
		for i := range t.Factors {
			if x := k.atom(&t.Factors[i]); track {
				v = note(k.MulOverflow(v, x))
			} else {
				v = k.product(v, x)
			}
		}
		if track {
			sum = note(k.AddOverflow(sum, v))
		} else {
			sum = k.sum(sum, v)
		}
	}
	return sum, left
}

// product multiplies, leaving out a factor of 1; sum leaves out 0.
func (k *kernel) product(a, b llvm.Value) llvm.Value {
	if n, ok := a.AsInt(); ok && n == 1 {
		return b
	}
	return k.Op("mul", a, b)
}

func (k *kernel) sum(a, b llvm.Value) llvm.Value {
	if n, ok := a.AsInt(); ok && n == 0 {
		return b
	}
	return k.Op("add", a, b)
}

// divisions are the two ways to emit a division of index expressions: flooring,
// and truncating where the dividend is known not to be negative.
var divisions = map[sym.Kind]struct{ floor, plain string }{
	sym.AtomFloorDiv: {"floordiv", "tdiv"},
	sym.AtomMod:      {"mod", "trem"},
}

func (k *kernel) atom(a *sym.Atom) llvm.Value {
	switch a.Kind {
	case sym.AtomName:
		v, ok := k.names[a.Name]
		if !ok {
			diag.Bugf("%s: %s is not bound", k.src.Name, a.Name)
		}
		return v
	case sym.AtomVal:
		return k.Cast(k.value(a.Ref.(*ir.Value)), num.Index)
	case sym.AtomMin:
		return k.Op("min", k.expr(a.Args[0]), k.expr(a.Args[1]))
	case sym.AtomMax:
		return k.Op("max", k.expr(a.Args[0]), k.expr(a.Args[1]))
	}
	d, ok := divisions[a.Kind]
	if !ok {
		diag.Bugf("%s: an index expression has an atom of kind %d", k.src.Name, a.Kind)
	}
	if k.facts.Prove(sym.Le(sym.Const(0), a.Args[0])) {
		return k.Op(d.plain, k.expr(a.Args[0]), k.expr(a.Args[1]))
	}
	return k.Op(d.floor, k.expr(a.Args[0]), k.expr(a.Args[1]))
}

func (k *kernel) value(v *ir.Value) llvm.Value {
	x, ok := k.values[v]
	if !ok {
		diag.Bugf("%s: %%%s has no value", k.src.Name, v.Name)
	}
	return x
}

var relations = map[sym.Rel]string{sym.EQ: "eq", sym.NE: "ne", sym.LT: "lt", sym.LE: "le", sym.GT: "gt", sym.GE: "ge"}

// all emits a conjunction.
func (k *kernel) all(conds []sym.Cond) llvm.Value {
	holds := llvm.Int(num.Bool, 1)
	for i, c := range conds {
		v := k.Op(relations[c.Rel], k.expr(c.L), k.expr(c.R))
		if i > 0 {
			v = k.Op("and", holds, v)
		}
		holds = v
	}
	return holds
}

// under emits with more facts, which end with it.
func (k *kernel) under(conds []sym.Cond, emit func()) {
	outer := k.facts
	k.facts = outer.Clone()
	for _, c := range conds {
		k.facts.Add(c)
	}
	emit()
	k.facts = outer
}
