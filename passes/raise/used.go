package raise

import (
	"fmt"
	"slices"

	"tenon/ir"
	"tenon/ir/sym"
)

// reorders lets a fold whose sum is used where it is be taken in any order, as
// the sums of comprehensions are: also one of other terms than products.
func (r *raiser) reorders(op *ir.Op) {
	n := &nest{folds: foldChain(op)}
	if n.folds == nil || !n.note() {
		return
	}
	last := n.folds[len(n.folds)-1]
	s := &sum{}
	if hasDirectives(last) || !s.splitFold(n) || s.read(n, s.term, map[*ir.Value]bool{}) != "" || len(s.loads) == 0 {
		return
	}
	if why := s.apart(rangeOf(last).Name); why != "" {
		r.stay = append(r.stay, remark{op, why})
		return
	}
	if r.c.Apply(op) {
		r.done[op.Loc.String()] = true
		r.c.Done(op.Loc, "the sum over %s may be taken in any order", rangeOf(last).Name)
		ir.SetClause(last, "directives", &ir.Directives{List: []string{"reassoc"}})
	}
}

// apart says why a sum over k into one element is no faster in any order: its
// terms are not read side by side.
func (s *sum) apart(k string) string {
	for _, op := range s.loads {
		from := op.Args("")[0]
		for i, e := range starts(from.View) {
			coef, _, ok := e.Linear(k)
			if c, known := coef.IsConst(); e.Uses(k) && (!ok || !known || c != 1 || i < len(from.View.Dims)-1) {
				return fmt.Sprintf("they add to one element, and their terms lie apart in %%%s", from.Value.Name)
			}
		}
	}
	return ""
}

// expands says why the sums of a nest, which go to other ops, should not be kept
// in a buffer of their own until those run; "" if they should. They are worth it
// where each element of an operand is read for several of them.
func (r *raiser) expands(s *sum, d *domain) string {
	names := func(op *ir.Op) (used []string) {
		for _, e := range starts(op.Args("")[0].View) {
			used = append(used, e.Names()...)
		}
		return used
	}
	var all []string
	for _, op := range s.loads {
		all = append(all, names(op)...)
	}
	for _, a := range d.par {
		if !slices.Contains(all, a.Name) {
			return fmt.Sprintf("the sums are the same for each %s", a.Name)
		}
		for _, e := range a.Extent.Names() {
			if !slices.Contains(r.f.Dims, e) {
				return fmt.Sprintf("how many %s there are is not known in advance", a.Name)
			}
		}
	}
	without := func(op *ir.Op) int {
		return slices.IndexFunc(d.par, func(a ir.Axis) bool { return !slices.Contains(names(op), a.Name) })
	}
	for _, x := range s.loads {
		for _, y := range s.loads {
			if i, j := without(x), without(y); i >= 0 && j >= 0 && i != j {
				return ""
			}
		}
	}
	return "no operand is read for several sums"
}

// expanded allocates a buffer of the sums over d, and gives the element that the
// comprehension writes and the one that is read in the loops of n.
func (d *domain) expanded(n *nest) (alloc *ir.Op, out ir.Out, total func(b *ir.Builder) *ir.Value) {
	t := ir.Buf{Elem: ir.ElemOf(n.folds[0].Results[0].Type)}
	var at []sym.Expr
	for i, op := range n.loops {
		t.Dims = append(t.Dims, d.par[i].Extent)
		r := rangeOf(op)
		out.Subs = append(out.Subs, sym.Name(r.Name))
		at = append(at, sym.FloorDiv(sym.Sub(sym.Name(r.Name), d.box[i].Lo), r.Step))
	}
	alloc = ir.NewOp("loop.alloc", n.folds[0].Loc)
	out.Buf = ir.NewBuilder(&ir.Region{}).Add(alloc, []ir.Type{t}, n.folds[0].Results[0].Name).Results[0]
	return alloc, out, func(b *ir.Builder) *ir.Value {
		load := ir.NewOp("load", b.Loc, &ir.Operands{Args: []ir.Arg{ir.ElemArg(out.Buf, at...)}})
		return b.Add(load, nil, n.folds[0].Results[0].Name).Results[0]
	}
}
