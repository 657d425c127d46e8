package lower

import (
	"slices"

	"tenon/internal/num"
	"tenon/ir"
	"tenon/ir/sym"
	"tenon/passes/analysis"
)

// A choice becomes branches: the picked variant runs where its guard holds, else
// the last one, which has none. Where choices are watched, all variants stay even
// if the pick is known.

// choose lowers what the variants hold and emits the branches.
func (l *lowerer) choose(b *ir.Builder, op *ir.Op, facts *sym.Facts) {
	vs := ir.GetClause[*ir.Variants](op, "")
	for _, v := range vs.List {
		l.region(v.Region, analysis.Inside(facts, op, v.Region))
	}
	k := b.Inline(vs.Pick, nil, nil)[0]
	if l.watch {
		k = l.watched(b, op, vs.List, k)
	}
	if n, known := constantOf(k); known {
		l.picked(b, op, vs.List, n, facts)
		return
	}
	l.replaced(op, l.chain(b, op, vs.List, k, 0))
}

// watched puts what forces and counts variants around the pick of a choice.
func (l *lowerer) watched(b *ir.Builder, op *ir.Op, list []ir.Variant, k *ir.Value) *ir.Value {
	number := func(op *ir.Op, name string, n int) {
		ir.SetClause(op, name, &ir.Attr{Value: ir.AttrInt, Int: int64(n)})
	}
	names := &ir.Directives{}
	for i, v := range list {
		names.List = append(names.List, v.Name)
		ran := ir.NewOp("loop.ran", op.Loc)
		number(ran, "choice", l.choices)
		number(ran, "variant", i)
		v.Region.Ops = slices.Insert(v.Region.Ops, 0, ran)
	}
	pick := ir.NewOp("loop.pick", op.Loc, &ir.Operands{Args: []ir.Arg{ir.ValueArg(k)}})
	number(pick, "choice", l.choices)
	ir.SetClause(pick, "variants", names)
	l.choices++
	return b.Add(pick, nil, "variant").Results[0]
}

func constantOf(v *ir.Value) (int64, bool) {
	if v.Def == nil || v.Def.Def.Name != "const" {
		return 0, false
	}
	return num.Int(ir.GetClause[*ir.Literal](v.Def, "").Cell), true
}

// picked emits variant k under its guard and the last one.
func (l *lowerer) picked(b *ir.Builder, op *ir.Op, list []ir.Variant, k int64, facts *sym.Facts) {
	last := len(list) - 1
	if k < 0 || k >= int64(last) {
		l.replaced(op, l.straight(b, list[last].Region))
		return
	}
	var open []sym.Cond
	for _, w := range list[k].Where {
		if !facts.Prove(w.Cond) {
			open = append(open, w.Cond)
		}
	}
	if len(open) == 0 {
		l.replaced(op, l.straight(b, list[k].Region))
		return
	}
	l.replaced(op, branch(b, op, open, list[k].Region, list[last].Region))
}

// chain emits the branches from variant i on, where k is picked while running.
func (l *lowerer) chain(b *ir.Builder, op *ir.Op, list []ir.Variant, k *ir.Value, i int) []*ir.Value {
	if i == len(list)-1 {
		return l.straight(b, list[i].Region)
	}
	conds := []sym.Cond{sym.Eq(sym.Val(k), sym.Const(int64(i)))}
	for _, w := range list[i].Where {
		conds = append(conds, w.Cond)
	}
	if i == len(list)-2 {
		return branch(b, op, conds, list[i].Region, list[i+1].Region)
	}
	rest := &ir.Region{}
	nb := b.In(rest)
	if vs := l.chain(nb, op, list, k, i+1); len(vs) > 0 {
		nb.Yield(vs...)
	}
	return branch(b, op, conds, list[i].Region, rest)
}

func branch(b *ir.Builder, op *ir.Op, conds []sym.Cond, yes, no *ir.Region) []*ir.Value {
	n := ir.NewOp("loop.if", op.Loc, &ir.Conds{List: conds}, &ir.Block{Region: yes})
	ir.SetClause(n, "else", &ir.Block{Region: no})
	return b.Add(n, nil).Results
}

// straight appends the ops of r where the builder stands.
func (l *lowerer) straight(b *ir.Builder, r *ir.Region) []*ir.Value {
	ops := r.Ops
	if r.Last() != nil {
		ops = ops[:len(ops)-1]
	}
	b.Region.Ops = append(b.Region.Ops, ops...)
	return r.Yields()
}

func (l *lowerer) replaced(op *ir.Op, by []*ir.Value) {
	for i, v := range op.Results {
		l.m.Values[v] = by[i]
	}
}
