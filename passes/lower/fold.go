package lower

import (
	"slices"

	"tenon/internal/num"
	"tenon/ir"
	"tenon/ir/ops/tensor"
	"tenon/ir/sym"
	"tenon/passes/analysis"
)

// folding is a reduction being emitted. flag is set where a carried bool beside
// the accumulators tells whether there was a point.
type folding struct {
	*lowerer
	c       tensor.Comp
	combine *ir.Region
	params  []*ir.Value
	conds   [][]sym.Cond
	flag    bool
}

// fold emits the reduction of c at one point of par.
func (l *lowerer) fold(b *ir.Builder, c tensor.Comp, facts *sym.Facts) []*ir.Value {
	identity, params, combine := c.By.Monoid.Derived()
	f := &folding{lowerer: l, c: c, params: params, combine: combine, conds: byAxis(c.If, c.Red)}
	if c.InBuffers() { // the others hold already
		f.conds[0] = nil
	}
	if !c.By.EmptyError && c.By.Empty == nil {
		return f.red(b, 0, f.start(b, identity), facts)
	}
	if some, ok := f.nonEmpty(facts); ok {
		return f.unlessEmpty(b, identity, some, facts)
	}
	f.flag = true
	acc := append(f.start(b, identity), b.Const(num.Bool, num.FromBool(false)))
	return f.flagged(b, f.red(b, 0, acc, facts))
}

// start gives what the accumulators start from.
func (f *folding) start(b *ir.Builder, identity *ir.Region) []*ir.Value {
	if !f.c.By.FromOut {
		return b.Inline(identity, nil, nil)
	}
	var old []*ir.Value
	for _, o := range f.c.Out.List {
		old = append(old, load(b, f.c.Op, o.Buf.Name+"_e", f.m.Value(o.Buf), f.exprs(o.Subs)))
	}
	return old
}

// nonEmpty are the conditions on extents that decide whether there is a point;
// ok is false where that depends on more.
func (f *folding) nonEmpty(facts *sym.Facts) (some []sym.Cond, ok bool) {
	for d, conds := range f.conds {
		if d > 0 && len(conds) > 0 {
			return nil, false
		}
		some = append(some, conds...)
	}
	for d, a := range f.c.Red {
		if tensor.UsesAxes(a.Extent, f.c.Red[:d]) {
			return nil, false
		}
		if k := sym.Le(sym.Const(1), a.Extent); !facts.Prove(k) {
			some = append(some, k)
		}
	}
	return some, true
}

// unlessEmpty folds where the conditions hold; elsewhere the value is
// empty(..), or the program stops.
func (f *folding) unlessEmpty(b *ir.Builder, identity *ir.Region, some []sym.Cond, facts *sym.Facts) []*ir.Value {
	some = f.lowerer.conds(some)
	f.conds[0] = nil
	if f.c.By.EmptyError || len(some) == 0 {
		if len(some) > 0 {
			b.Add(ir.NewOp("tensor.check", f.c.Op.Loc, &ir.Conds{List: some}), nil)
		}
		return f.red(b, 0, f.start(b, identity), with(facts, some))
	}
	then, empty := &ir.Region{}, &ir.Region{}
	yes, no := b.In(then), b.In(empty)
	yes.Yield(f.red(yes, 0, f.start(yes, identity), with(facts, some))...)
	no.Yield(f.empty(no)...)
	op := ir.NewOp("loop.if", f.c.Op.Loc, &ir.Conds{List: some}, &ir.Block{Region: then})
	ir.SetClause(op, "else", &ir.Block{Region: empty})
	return b.Add(op, nil, f.names()...).Results
}

// empty are the values over no point.
func (f *folding) empty(b *ir.Builder) []*ir.Value {
	var vs []*ir.Value
	for _, l := range f.c.By.Empty {
		vs = append(vs, b.Const(l.Elem, l.Cell))
	}
	return vs
}

// flagged replaces the accumulators where the flag says that there was no point.
func (f *folding) flagged(b *ir.Builder, acc []*ir.Value) []*ir.Value {
	k := len(acc) - 1
	some, acc := acc[k], acc[:k]
	if f.c.By.EmptyError {
		n := b.Cast(some, num.I64)
		b.Add(ir.NewOp("tensor.check", f.c.Op.Loc, &ir.Conds{List: []sym.Cond{sym.Le(sym.Const(1), sym.Val(n))}}), nil)
		return acc
	}
	out := slices.Clone(acc)
	for i, e := range f.empty(b) {
		out[i] = b.Scalar("select", some, acc[i], e)
	}
	return out
}

// red emits the loop over red axis d, which carries acc, under the conditions
// that can be decided there, and gives the accumulators after it.
func (f *folding) red(b *ir.Builder, d int, acc []*ir.Value, facts *sym.Facts) []*ir.Value {
	if len(f.conds[d]) == 0 {
		return f.axis(b, d, acc, facts)
	}
	then, skip := &ir.Region{}, &ir.Region{}
	yes, no := b.In(then), b.In(skip)
	yes.Yield(f.axis(yes, d, acc, with(facts, f.conds[d]))...)
	no.Yield(acc...)
	op := ir.NewOp("loop.if", f.c.Op.Loc, &ir.Conds{List: f.lowerer.conds(f.conds[d])}, &ir.Block{Region: then})
	ir.SetClause(op, "else", &ir.Block{Region: skip})
	return b.Add(op, nil, f.names()...).Results
}

func (f *folding) axis(b *ir.Builder, d int, acc []*ir.Value, facts *sym.Facts) []*ir.Value {
	if d == len(f.c.Red) {
		return f.take(b, acc, facts)
	}
	carry := &ir.Carry{Inits: acc}
	for i, v := range acc {
		carry.Params = append(carry.Params, &ir.Value{Name: f.names()[i], Type: v.Type})
	}
	body := &ir.Region{}
	inner := facts.Clone()
	analysis.AddAxes(inner, f.c.Red[d:d+1])
	r := f.over(f.c.Red[d])
	inner = with(inner, f.conds[d+1])
	f.conds[d+1] = f.bound(r, f.conds[d+1], facts)
	nb := b.In(body)
	nb.Yield(f.red(nb, d+1, carry.Params, inner)...)
	op := ir.NewOp("loop.for", f.c.Op.Loc, r, carry, &ir.Block{Region: body})
	if d == len(f.c.Red)-1 && f.c.By.Monoid.Assoc && f.c.By.Monoid.Comm && !f.c.By.Ordered {
		ir.SetClause(op, "directives", &ir.Directives{List: []string{"reassoc"}})
	}
	return b.Add(op, nil, f.names()...).Results
}

// take folds one point into the accumulators.
func (f *folding) take(b *ir.Builder, acc []*ir.Value, facts *sym.Facts) []*ir.Value {
	k := len(f.c.By.Monoid.Params)
	x := f.body(b, f.c, facts)
	next := b.Inline(f.combine, f.params, slices.Concat(acc[:k], x))
	if f.flag {
		next = append(next, b.Const(num.Bool, num.FromBool(true)))
	}
	return next
}

// names are those of the accumulators: the monoid's components, and the flag.
func (f *folding) names() []string {
	var names []string
	for _, p := range f.c.By.Monoid.Params {
		names = append(names, "acc_"+p.Name)
	}
	if f.flag {
		names = append(names, "some")
	}
	return names
}
