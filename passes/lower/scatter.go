package lower

import (
	"slices"

	"tenon/ir"
	"tenon/ir/ops/tensor"
	"tenon/ir/sym"
	"tenon/passes/analysis"
)

// scatter copies the operands and lets sequential loops put the values: points
// may meet in an element, and their order is the meaning.
func (b *bufferiser) scatter(op *ir.Op) {
	c := tensor.Comp{Op: op, Body: bodyOf(op), By: ir.GetClause[*ir.By](op, "by")}
	if x := ir.GetClause[*ir.Axes](op, "par"); x != nil {
		c.Par = x.List
	}
	if x := ir.GetClause[*ir.Reads](op, "in"); x != nil {
		c.In = x.List
	}
	if sparse(op, c) {
		b.refuse(op, " over a pattern or an encoded tensor")
		return
	}
	var to []*ir.Value
	for i, v := range op.Results {
		p := b.place(v)
		b.copy(b.m.Value(op.OperandValues("")[i]), p, "a scatter changes some of its elements")
		to = append(to, p)
	}
	facts := b.facts.Clone()
	nb := b.here()
	for d, a := range c.Par {
		body := &ir.Region{}
		nb.Add(ir.NewOp("loop.for", op.Loc, &ir.Range{Name: a.Name, Lo: sym.Const(0), Hi: b.m.Expr(a.Extent), Step: sym.Const(1)},
			&ir.Block{Region: body}), nil)
		nb = nb.In(body)
		analysis.AddAxes(facts, c.Par[d:d+1])
	}
	b.put(nb, c, to, facts)
	for i, v := range op.Results {
		b.made(v, to[i])
	}
}

// sparse reports that c or a comp inside it needs index arrays or a decoder.
func sparse(op *ir.Op, c tensor.Comp) bool {
	found := false
	look := func(c tensor.Comp) {
		for _, a := range c.Axes() {
			found = found || a.Pattern != nil
		}
		for _, r := range c.In {
			t, ok := r.Src.Type.(ir.Tensor)
			found = found || ok && t.Enc != nil
		}
	}
	look(c)
	c.Body.Walk(func(in *ir.Op) bool {
		if tensor.IsComp(in) {
			look(tensor.AsComp(in))
		}
		return true
	})
	return found
}

// put emits one point of a scatter.
func (b *bufferiser) put(nb *ir.Builder, c tensor.Comp, to []*ir.Value, facts *sym.Facts) {
	l := &lowerer{m: b.m} // shares what b has bound
	values := l.body(nb, c, facts)
	outs := ir.GetClause[*ir.Outs](c.Op, "out").List
	if c.By != nil {
		var old []*ir.Value
		for i, o := range outs {
			old = append(old, load(nb, c.Op, to[i].Name+"_e", to[i], l.exprs(o.Subs)))
		}
		_, params, combine := c.By.Monoid.Derived()
		values = nb.Inline(combine, params, slices.Concat(old, values))
	}
	for i, o := range outs {
		nb.Add(ir.NewOp("store", c.Op.Loc, &ir.Operands{Args: []ir.Arg{
			ir.ValueArg(values[i]), ir.ElemArg(to[i], l.exprs(o.Subs)...)}}), nil)
	}
}
