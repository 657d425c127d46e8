package raise

import (
	"fmt"
	"slices"

	"tenon/internal/diag"
	"tenon/ir"
	"tenon/ir/ops/tensor"
	"tenon/ir/sym"
)

// sum is what a nest adds to an element: C[subs] = C[subs] + term.
type sum struct {
	buf     *ir.Value // nil where the sum goes to other ops than a store
	subs    []sym.Expr
	old     *ir.Op // the load of the element
	term    *ir.Value
	negated bool     // it is subtracted
	fresh   bool     // the sum begins at 0, not at the element
	loads   []*ir.Op // of the term, in the order in which it uses them
	ops     []*ir.Op // the other ops of the term, operands first
	product bool     // two of the loads are multiplied
}

// sum reads what the nest adds up, or says why it is no sum of products; without
// a reason where it adds nothing up.
func (n *nest) sum() (*sum, string) {
	s := &sum{}
	if n.store != nil {
		element := n.store.Args("")[1]
		s.buf, s.subs = element.Value, starts(element.View)
	}
	found := false
	if len(n.folds) > 0 {
		found = s.splitFold(n)
	} else {
		found = s.splitUpdate(n, n.store.Operand(0).Def)
	}
	if !found {
		return nil, ""
	}
	if s.buf != nil && ir.ElemOf(s.buf.Type) != ir.ElemOf(s.term.Type) {
		return nil, "the terms have another type than the elements"
	}
	if why := s.read(n, s.term, map[*ir.Value]bool{}); why != "" {
		return nil, why
	}
	if !s.product {
		return nil, "the terms are no products of two elements"
	}
	return s, ""
}

// splitUpdate finds the old element and the term in update, which is stored.
func (s *sum) splitUpdate(n *nest, update *ir.Op) bool {
	if !isAddition(update) {
		return false
	}
	for _, v := range update.OperandValues("") {
		if s.isOld(n, v) && s.splitStep(update, v, n) {
			s.old = v.Def
			return true
		}
	}
	return false
}

// isOld reports that v is the element as it was, loaded beside the store.
func (s *sum) isOld(n *nest, v *ir.Value) bool {
	if v.Def == nil || v.Def.Def.Name != "load" || !slices.Contains(bodyOf(n.loops[len(n.loops)-1]).Ops, v.Def) {
		return false
	}
	from := v.Def.Args("")[0]
	return from.Value == s.buf && slices.EqualFunc(starts(from.View), s.subs, sym.Expr.Equal)
}

// read collects the ops that v needs, operands first; seen says of each value
// whether an element enters it.
func (s *sum) read(n *nest, v *ir.Value, seen map[*ir.Value]bool) string {
	if n.carried(v) {
		return "the terms read the sum so far"
	}
	if n.fixed[v] {
		return "the terms need what the loops compute by more than reading"
	}
	if _, done := seen[v]; done || !n.defs[v] {
		return ""
	}
	op := v.Def
	if op.Def.Name == "load" {
		seen[v] = true
		s.loads = append(s.loads, op)
		return s.readable(n, op)
	}
	entering := 0
	why := ""
	op.Values(func(u *ir.Value) *ir.Value {
		if why == "" {
			why = s.read(n, u, seen)
		}
		if seen[u] {
			entering++
		}
		return u
	})
	seen[v] = entering > 0
	s.product = s.product || op.Def.Name == "mul" && entering == 2
	s.ops = append(s.ops, op)
	return why
}

// readable says why a load of the term cannot be a read of a comprehension.
func (s *sum) readable(n *nest, op *ir.Op) string {
	from := op.Args("")[0]
	if from.Value == s.buf {
		return fmt.Sprintf("the terms read %%%s, which they are added to", s.buf.Name)
	}
	for _, e := range starts(from.View) {
		refs := e.Refs()
		if len(refs) > 1 || len(refs) == 1 && n.defs[refs[0].(*ir.Value)] {
			return fmt.Sprintf("which element of %%%s a term reads is computed inside", from.Value.Name)
		}
	}
	return ""
}

// comp is the comprehension over d that adds the terms to the elements, gives
// them to the buffer that out names, or without one is their sum. A load of an
// element that is read already is the same read.
func (s *sum) comp(loc ir.Loc, d *domain, out *ir.Outs) *ir.Op {
	m := &ir.Mapping{Values: map[*ir.Value]*ir.Value{}, Syms: d.counted}
	var in []ir.Read
	for _, op := range s.loads {
		from := op.Args("")[0]
		subs := d.exprs(starts(from.View))
		at := slices.IndexFunc(in, func(r ir.Read) bool {
			return r.Src == from.Value && slices.EqualFunc(r.Subs, subs, sym.Expr.Equal)
		})
		if at < 0 {
			at = len(in)
			res := &ir.Value{Name: op.Results[0].Name, Type: op.Results[0].Type}
			in = append(in, ir.Read{Res: res, Src: from.Value, Subs: subs})
		}
		m.Values[op.Results[0]] = in[at].Res
	}
	body := &ir.Region{}
	b := ir.NewBuilder(body)
	b.Loc = loc
	for _, op := range s.ops {
		body.Ops = append(body.Ops, ir.CloneOp(op, m))
	}
	term := m.Value(s.term)
	if s.negated {
		term = b.Scalar("neg", term)
	}
	b.Yield(term)
	monoid, err := ir.BuiltinMonoid("sum", ir.ElemOf(term.Type))
	if err != nil {
		diag.Bugf("a sum of %s: %v", term.Type, err)
	}
	return tensor.New(loc, tensor.Comp{Par: d.par, Red: d.red, If: d.guards, In: in, Out: out,
		Body: body, By: &ir.By{Monoid: monoid, FromOut: s.old != nil}})
}

func starts(v *ir.View) []sym.Expr {
	var subs []sym.Expr
	if v != nil {
		for _, d := range v.Dims {
			subs = append(subs, d.Start)
		}
	}
	return subs
}
