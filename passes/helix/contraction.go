package helix

import (
	"fmt"
	"slices"

	"tenon/internal/num"
	"tenon/ir"
	"tenon/ir/ops/tensor"
	"tenon/ir/sym"
	"tenon/passes/analysis"
)

// contraction is a comp whose elements are sums of products,
//
//	out[outer, m, n] = finish(sum over also, k of a[outer, m, also, k] b[outer, also, k, n]).
type contraction struct {
	op    *ir.Op
	whole tensor.Comp // writes the result
	fold  tensor.Comp // sums: whole itself, or the one comp in its region
	acc   num.Elem
	half  bool // f16 is converted in hardware
	a, b  *operand

	m, n, k      ir.Axis
	outer        []ir.Axis // the other par axes
	also         []ir.Axis // the other red axes
	formA, formB form

	before *sym.Facts // known at the comp
	facts  *sym.Facts // and inside of it
}

// operand is one of the two factors of the products.
type operand struct {
	value   *ir.Value
	negated bool
	axes    map[string]bool // that it depends on
}

// contraction reads op as one; nil without a reason where it sums no products.
func (h *decomposer) contraction(op *ir.Op, facts *sym.Facts) (*contraction, string) {
	x := &contraction{op: op, whole: tensor.AsComp(op), half: h.machine.half}
	if !x.whole.InBuffers() || !x.findFold() {
		return nil, ""
	}
	x.before, x.facts = facts, facts.Clone()
	analysis.AddAxes(x.facts, x.whole.Par)
	analysis.AddAxes(x.facts, x.fold.Red)
	l, r, negated, ok := product(x.fold.Yields()[0], x.fold.Body)
	if !ok {
		return nil, ""
	}
	if why := x.supported(); why != "" {
		return nil, why
	}
	if why := x.split(l, r, negated); why != "" {
		return nil, why
	}
	x.pickDepth()
	x.formA, x.formB = x.formOf(x.a, x.m), x.formOf(x.b, x.n)
	return x, ""
}

// findFold finds the sum: the comp itself or the only comp in its region.
func (x *contraction) findFold() bool {
	x.fold = x.whole
	if x.whole.By == nil {
		found := 0
		for _, op := range x.whole.Body.Ops {
			if tensor.IsComp(op) {
				x.fold = tensor.AsComp(op)
				found++
			}
		}
		if found != 1 {
			return false
		}
	}
	by := x.fold.By
	if by == nil || by.Monoid.Name != "sum" || !by.Monoid.Builtin || len(x.fold.Yields()) != 1 {
		return false
	}
	x.acc = ir.ElemOf(x.fold.Yields()[0].Type)
	return true
}

// reads and ops are those of the comp and of the one in its region.
func (x *contraction) reads() []ir.Read {
	if x.fold.Op == x.whole.Op {
		return x.whole.In
	}
	return slices.Concat(x.whole.In, x.fold.In)
}

func (x *contraction) ops() []*ir.Op {
	if x.fold.Op == x.whole.Op {
		return x.whole.Body.Ops
	}
	return slices.Concat(x.whole.Body.Ops, x.fold.Body.Ops)
}

// supported says what of the comp cannot be expressed in tiles.
func (x *contraction) supported() string {
	by := x.fold.By
	switch {
	case x.acc != num.F32 && x.acc != num.F64:
		return fmt.Sprintf("there are no micro-kernels for sums of %s", x.acc)
	case by.Ordered:
		return "the sum is to be taken in order"
	case by.Empty != nil || by.EmptyError:
		return "a sum over nothing is not 0"
	case len(x.whole.If) > 0 || len(x.fold.If) > 0:
		return "it has guards"
	case len(x.whole.Out.List) != 1:
		return "it has several results"
	case ir.ElemOf(x.whole.Out.List[0].Buf.Type) != x.acc:
		return "the result has another type than the sums"
	}
	for _, a := range slices.Concat(x.whole.Par, x.fold.Red) {
		if a.Pattern != nil {
			return "it runs over stored entries"
		}
		if tensor.UsesAxes(a.Extent, x.whole.Par) || tensor.UsesAxes(a.Extent, x.fold.Red) {
			return fmt.Sprintf("the extent of %s moves with another axis", a.Name)
		}
	}
	for _, r := range x.reads() {
		if t, ok := r.Src.Type.(ir.Buf); !ok || t.Dist != nil || t.Strides != nil {
			return "it reads what is no plain buffer"
		}
	}
	for _, op := range x.fold.Body.Ops {
		if tensor.IsComp(op) {
			return "its terms are comprehensions"
		}
	}
	return ""
}

// product is v as a product of two values, and whether it has a minus; ok is
// false where it is none. Products of more are not taken apart: another order
// might overflow.
func product(v *ir.Value, in *ir.Region) (l, r *ir.Value, negated, ok bool) {
	for v.Def != nil && slices.Contains(in.Ops, v.Def) {
		switch v.Def.Def.Name {
		case "mul":
			args := v.Def.Args("")
			l, r = args[0].Value, args[1].Value
			return l, r, negated, l != nil && r != nil
		case "neg":
			v, negated = v.Def.Args("")[0].Value, !negated
		default:
			return nil, nil, false, false
		}
	}
	return nil, nil, false, false
}

// split makes the factor that depends on the last axis of the result b, the
// other one a.
func (x *contraction) split(l, r *ir.Value, negated bool) string {
	subs := x.whole.Out.List[0].Subs
	if len(subs) < 2 {
		return "the result has no rows and columns"
	}
	at := slices.IndexFunc(x.whole.Par, func(a ir.Axis) bool { return movesBy1(subs[len(subs)-1], a.Name) })
	if at < 0 {
		return "the last subscript of the result is no axis"
	}
	x.n = x.whole.Par[at]
	x.a, x.b = &operand{l, negated, x.axesOf(l)}, &operand{r, false, x.axesOf(r)}
	if x.a.axes[x.n.Name] {
		x.a, x.b = &operand{r, negated, x.axesOf(r)}, &operand{l, false, x.axesOf(l)}
	}
	if x.a.axes[x.n.Name] || !x.b.axes[x.n.Name] {
		return "not one factor depends on the last axis of the result"
	}
	return x.pickRows()
}

// movesBy1 reports that e is the index plus what does not depend on it.
func movesBy1(e sym.Expr, name string) bool {
	return e.Uses(name) && !sym.Sub(e, sym.Name(name)).Uses(name)
}

// pickRows makes the axis of a alone that comes last in the result the rows, and
// sorts the others.
func (x *contraction) pickRows() string {
	subs := x.whole.Out.List[0].Subs
	for d := len(subs) - 2; d >= 0 && x.m.Name == ""; d-- {
		for _, p := range x.whole.Par {
			if p.Name != x.n.Name && x.a.axes[p.Name] && !x.b.axes[p.Name] && movesBy1(subs[d], p.Name) {
				x.m = p
			}
		}
	}
	if x.m.Name == "" {
		return "no axis is one of the rows alone"
	}
	for _, p := range x.whole.Par {
		if p.Name != x.n.Name && p.Name != x.m.Name {
			x.outer = append(x.outer, p)
		}
	}
	for i, s := range subs {
		used := 0
		for _, p := range []ir.Axis{x.m, x.n} {
			if s.Uses(p.Name) {
				used++
			}
		}
		if used > 1 || i < len(subs)-1 && s.Uses(x.n.Name) || s.Uses(x.m.Name) && !movesBy1(s, x.m.Name) {
			return "rows and columns share a subscript of the result"
		}
	}
	for _, r := range x.fold.Red {
		if !x.a.axes[r.Name] || !x.b.axes[r.Name] {
			return fmt.Sprintf("only one factor depends on %s", r.Name)
		}
	}
	return ""
}

// pickDepth makes the longest summed axis the depth; among equals the one that a
// reads along its rows.
func (x *contraction) pickDepth() {
	const unknown = 512 // the extent that is taken for a dim that may be any
	score := func(r ir.Axis) int64 {
		n, known := r.Extent.IsConst()
		if !known {
			n = unknown
		}
		s := 4 * min(n, unknown)
		for i, o := range []*operand{x.a, x.b} {
			if read := x.read(o); read != nil && len(read.Subs) > 0 && movesBy1(read.Subs[len(read.Subs)-1], r.Name) {
				s += int64(2 - i)
			}
		}
		return s
	}
	best := slices.MaxFunc(x.fold.Red, func(r, s ir.Axis) int { return int(score(r) - score(s)) })
	x.k = best
	for _, r := range x.fold.Red {
		if r.Name != best.Name {
			x.also = append(x.also, r)
		}
	}
}

// read is the read that o consists of, or a conversion of one that micro-kernels
// do; nil where it is computed.
func (x *contraction) read(o *operand) *ir.Read {
	if o.negated {
		return nil
	}
	v := o.value
	if v.Def != nil && v.Def.Def.Name == "cast" {
		if from := v.Def.Args("")[0].Value; from != nil && x.converts(ir.ElemOf(from.Type)) {
			v = from
		}
	}
	for i := range x.fold.In {
		if x.fold.In[i].Res == v {
			return &x.fold.In[i]
		}
	}
	return nil
}

// converts reports that micro-kernels take operands of type e as they lie.
func (x *contraction) converts(e num.Elem) bool {
	switch e {
	case num.BF16:
		return x.acc == num.F32
	case num.F16:
		return x.acc == num.F32 && x.half
	case num.F32:
		return x.acc == num.F64
	}
	return false
}

// elems are the element types of a and b as kernels get them.
func (x *contraction) elems() (a, b num.Elem) {
	of := func(o *operand, f form) num.Elem {
		if f == made {
			return x.acc
		}
		return ir.ElemOf(x.read(o).Src.Type)
	}
	return of(x.a, x.formA), of(x.b, x.formB)
}

// axesOf are the axes that a value of the fold's region depends on.
func (x *contraction) axesOf(v *ir.Value) map[string]bool {
	axes := map[string]bool{}
	seen := map[*ir.Value]bool{}
	var follow func(v *ir.Value)
	mention := func(e sym.Expr) {
		for _, n := range e.Names() {
			axes[n] = true
		}
		for _, r := range e.Refs() {
			follow(r.(*ir.Value))
		}
	}
	follow = func(v *ir.Value) {
		if seen[v] {
			return
		}
		seen[v] = true
		for _, r := range x.reads() {
			if r.Res == v {
				for _, e := range r.Subs {
					mention(e)
				}
			}
		}
		if v.Def != nil && (slices.Contains(x.fold.Body.Ops, v.Def) || slices.Contains(x.whole.Body.Ops, v.Def)) {
			v.Def.Exprs(func(e sym.Expr) sym.Expr { mention(e); return e })
			v.Def.Values(func(u *ir.Value) *ir.Value { follow(u); return u })
		}
	}
	follow(v)
	return axes
}

func numbered(base string, n int) string { return fmt.Sprintf("%s_%d", base, n) }
