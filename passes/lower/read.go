package lower

import (
	"tenon/ir"
	"tenon/ir/affine"
	"tenon/ir/sym"

	"tenon/internal/num"
)

// read emits a read by its policy.
func (l *lowerer) read(b *ir.Builder, op *ir.Op, r ir.Read, facts *sym.Facts) *ir.Value {
	src, subs := l.m.Value(r.Src), l.exprs(r.Subs)
	dims, _ := ir.DimsOf(src.Type)
	switch r.Policy {
	case ir.PolicyZero:
		if open := outside(subs, dims, facts); len(open) > 0 {
			return orZero(b, op, r.Res.Name, src, subs, open)
		}
	case ir.PolicyClamp:
		for d := range subs {
			below, above := affine.InRange(subs[d], dims[d], nil, facts)
			if !above {
				subs[d] = sym.Min(subs[d], sym.Sub(dims[d], sym.Const(1)))
			}
			if !below || !above {
				subs[d] = sym.Max(subs[d], sym.Const(0))
			}
		}
	}
	return load(b, op, r.Res.Name, src, subs)
}

func load(b *ir.Builder, op *ir.Op, name string, src *ir.Value, subs []sym.Expr) *ir.Value {
	return b.Add(ir.NewOp("load", op.Loc, &ir.Operands{Args: []ir.Arg{ir.ElemArg(src, subs...)}}), nil, name).Results[0]
}

// outside are the conditions for subs to lie in range that facts do not prove.
func outside(subs, dims []sym.Expr, facts *sym.Facts) []sym.Cond {
	var open []sym.Cond
	for d, s := range subs {
		below, above := affine.InRange(s, dims[d], nil, facts)
		if !below {
			open = append(open, sym.Le(sym.Const(0), s))
		}
		if !above {
			open = append(open, sym.Lt(s, dims[d]))
		}
	}
	return open
}

// orZero loads where the conditions hold and gives 0 elsewhere.
func orZero(b *ir.Builder, op *ir.Op, name string, src *ir.Value, subs []sym.Expr, open []sym.Cond) *ir.Value {
	in, out := &ir.Region{}, &ir.Region{}
	yes, no := b.In(in), b.In(out)
	yes.Yield(load(yes, op, name, src, subs))
	no.Yield(no.Const(ir.ElemOf(src.Type), zero(ir.ElemOf(src.Type))))
	branch := ir.NewOp("loop.if", op.Loc, &ir.Conds{List: open}, &ir.Block{Region: in})
	ir.SetClause(branch, "else", &ir.Block{Region: out})
	return b.Add(branch, nil, name).Results[0]
}

// zero is 0 of type e.
func zero(e num.Elem) num.Cell {
	if e.IsFloat() {
		return num.FromFloat(0)
	}
	return num.FromInt(0)
}
