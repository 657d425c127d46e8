// interchange-folds moves the loop of a fold out of a parallel loop whose
// elements lie side by side in memory.
//
// Before:
//
//	loop.parallel n = 0 to N {
//	  %s = loop.for k = 0 to K carry(%a = %z) { yield(add(%a, mul(load(%x[m, k]), load(%w[k, n])))) } : f32
//	  store(%s, %y[m, n]) }
//
// After:
//
//	%acc = loop.alloc : buf<f32[N]>
//	loop.parallel n = 0 to N { store(%z, %acc[n]) }
//	loop.for k = 0 to K { loop.parallel n = 0 to N { .. store(add(load(%acc[n]), ..), %acc[n]) } }
//	loop.parallel n = 0 to N { store(load(%acc[n]), %y[m, n]) }
//
// Where the fold goes on from the elements that it is stored to, which lie side
// by side, it is taken in them and needs no accumulators.
//
// Legal if the fold's bounds are the same for all n, and what the fold and the
// ops before it read is written nowhere in the parallel loop. Each element is
// folded in the same order as before, so bits do not change.
//
// Profit: with k innermost, an access that moves by rows costs a cache line a
// step; with n innermost it costs a part of one, and one that only moves with k
// nothing. Accesses are counted so, and the accumulators in memory against it.
//
// It moves one fold at a time, the outer one of a nest first, and does not
// block loops for the cache.
package loop

import (
	"slices"

	"tenon/ir"
	"tenon/ir/sym"
	"tenon/passes/analysis"
	"tenon/passes/pass"
)

// InterchangeFolds moves the loops of folds outwards.
var InterchangeFolds = pass.Register(&pass.Pass{
	Name:    "interchange-folds",
	Doc:     "move the loop of a fold out of a parallel loop over adjacent elements",
	After:   []string{"lower-comps"},
	Counted: true,
	Run: func(c *pass.Context) error {
		for _, f := range c.Funcs() {
			if f.Level == ir.LevelLoop {
				c.At(f, nil)
				x := &interchanger{c: c}
				x.region(f.Body, analysis.AtEntry(f))
			}
		}
		return nil
	},
})

type interchanger struct{ c *pass.Context }

func (x *interchanger) region(r *ir.Region, facts *sym.Facts) {
	for i := 0; i < len(r.Ops); i++ {
		op := r.Ops[i]
		if f := x.candidate(op); f != nil && x.c.Apply(op) {
			x.c.Done(f.inner.Loc, "the fold goes around the loop over %s, whose elements do not need each other: the accesses go along rows", rangeOf(op).Name)
			ops := f.split(facts)
			r.Ops = append(r.Ops[:i:i], append(ops, r.Ops[i+1:]...)...)
		}
		for _, in := range r.Ops[i].Regions() {
			x.region(in, analysis.Inside(facts, r.Ops[i], in))
		}
	}
}

// fold is a parallel loop around one fold: the ops before it, the fold, the ops
// after it.
type fold struct {
	outer, inner  *ir.Op
	before, after []*ir.Op
	home          []ir.Arg // the elements that the fold is taken in, if it is: one a carried value
}

// candidate is the fold in op if it may and should be moved outwards.
func (x *interchanger) candidate(op *ir.Op) *fold {
	if !isParallel(op) || rangeOf(op).Size != "" || !rangeOf(op).Step.Equal(sym.Const(1)) {
		return nil
	}
	f := findFold(op)
	if f == nil {
		return nil
	}
	f.findHome()
	if why := f.stays(); why != "" {
		x.c.Decline(f.inner.Loc, "the fold stays inside: %s", why)
		return nil
	}
	return f
}

// findFold splits the body of a parallel loop around its only inner loop.
func findFold(op *ir.Op) *fold {
	f := &fold{outer: op}
	for _, in := range bodyOf(op).Ops {
		switch {
		case f.inner != nil:
			f.after = append(f.after, in)
			if rangeOf(in) != nil && len(in.Results) > 0 {
				return nil // two folds
			}
		case rangeOf(in) != nil:
			if len(in.Results) == 0 || rangeOf(in).Size != "" {
				return nil
			}
			f.inner = in
		case len(in.Regions()) > 0 || in.Def.Traits.Has(ir.Allocates):
			return nil
		default:
			f.before = append(f.before, in)
		}
	}
	if f.inner == nil || len(f.inner.Results) != len(carryOf(f.inner).Inits) {
		return nil
	}
	return f
}

// stays says why the fold cannot or should not be moved.
func (f *fold) stays() string {
	n := rangeOf(f.outer).Name
	mine := map[*ir.Value]bool{}
	for _, op := range f.before {
		for _, v := range op.Results {
			mine[v] = true
		}
		if op.Def.Name != "load" && !op.Def.Traits.Has(ir.Pure) {
			return "an op before it has effects"
		}
	}
	r := rangeOf(f.inner)
	for _, e := range []sym.Expr{r.Lo, r.Hi, r.Step} {
		if e.Uses(n) {
			return "its bounds differ from element to element"
		}
		for _, v := range e.Refs() {
			if mine[v.(*ir.Value)] {
				return "its bounds are computed for each element"
			}
		}
	}
	for _, v := range carryOf(f.inner).Inits {
		if _, ok := v.Type.(ir.Scalar); !ok {
			return "it carries more than scalars"
		}
	}
	if f.conflicts() {
		return "it reads what the loop writes"
	}
	if !f.pays() {
		return "its accesses are no better the other way round"
	}
	return ""
}

// conflicts reports that the fold has effects, or that something it or the ops
// before it read is written in the loop.
func (f *fold) conflicts() bool {
	_, all := touched([]*ir.Op{f.outer})
	order, early := touched(append(append([]*ir.Op{}, f.before...), f.inner))
	for _, v := range order {
		if early[v].writes || early[v].opaque || all[v].writes {
			return true
		}
	}
	return f.inner.HasEffects() && writesAny(f.inner)
}

// writesAny reports effects other than reading and stopping.
func writesAny(op *ir.Op) bool {
	found := false
	(&ir.Region{Ops: []*ir.Op{op}}).Walk(func(op *ir.Op) bool {
		if op.Def.Effects != nil {
			for _, e := range op.Def.Effects(op) {
				found = found || e.Kind != ir.EffectRead && e.Kind != ir.EffectTrap
			}
		}
		return !found
	})
	return found
}

// The cost of an access in the innermost loop, in loads of adjacent elements: a
// row apart it takes a cache line of 64 bytes for each element of 4.
const (
	costFixed    = 0
	costAdjacent = 1
	costStrided  = 16
)

// pays compares the accesses of the fold with its own loop innermost and with
// the parallel one innermost.
func (f *fold) pays() bool {
	now, then := 0, 2*len(carryOf(f.inner).Inits)
	k, n := innermost(f.inner), rangeOf(f.outer).Name
	_, by := touched([]*ir.Op{f.inner})
	order, _ := touched([]*ir.Op{f.inner})
	withK, withN := f.moving(k), f.moving(n)
	for _, v := range order {
		for _, subs := range by[v].subs {
			now += cost(v, subs, k, withK)
			then += cost(v, subs, n, withN)
		}
	}
	return then < now
}

// moving are the values that change with iv, such as the number of a row that is
// read at iv. Carried values count as such for every loop.
func (f *fold) moving(iv string) map[*ir.Value]bool {
	out := map[*ir.Value]bool{}
	note := func(op *ir.Op) bool {
		moves := false
		op.Values(func(v *ir.Value) *ir.Value {
			moves = moves || out[v]
			return v
		})
		op.Exprs(func(e sym.Expr) sym.Expr {
			moves = moves || e.Uses(iv)
			return e
		})
		for _, p := range carryOf(op).Params {
			out[p] = true
		}
		for _, v := range op.Results {
			out[v] = out[v] || moves
		}
		return true
	}
	(&ir.Region{Ops: append(slices.Clone(f.before), f.inner)}).Walk(note)
	return out
}

// innermost is the index of the innermost loop of a perfect nest of folds.
func innermost(op *ir.Op) string {
	for _, in := range bodyOf(op).Ops {
		if rangeOf(in) != nil && len(in.Results) > 0 {
			return innermost(in)
		}
	}
	return rangeOf(op).Name
}

// cost is that of an access in a loop over iv, with which the values in moving
// change.
func cost(v *ir.Value, subs []sym.Expr, iv string, moving map[*ir.Value]bool) int {
	t := v.Type.(ir.Buf)
	for d, s := range subs {
		if slices.ContainsFunc(s.Refs(), func(r sym.Ref) bool { return moving[r.(*ir.Value)] }) {
			return costStrided
		}
		if !s.Uses(iv) {
			continue
		}
		coef, _, ok := s.Linear(iv)
		if one, isConst := coef.IsConst(); !ok || !isConst || one != 1 || d != len(subs)-1 || t.Strides != nil {
			return costStrided
		}
		return costAdjacent
	}
	return costFixed
}

// split gives the ops that stand for the parallel loop.
func (f *fold) split(facts *sym.Facts) []*ir.Op {
	r := rangeOf(f.outer)
	n := sym.Sub(r.Hi, r.Lo)
	if !facts.Prove(sym.Ge(n, sym.Const(0))) {
		n = sym.Max(n, sym.Const(0))
	}
	region := &ir.Region{}
	b := ir.NewBuilder(region)
	b.Loc = f.inner.Loc
	if f.home != nil {
		f.steps(b, f.home)
		return region.Ops
	}
	var acc []ir.Arg
	for _, v := range f.inner.Results {
		t := ir.Buf{Elem: ir.ElemOf(v.Type), Dims: []sym.Expr{n}}
		acc = append(acc, ir.ElemArg(b.Add(ir.NewOp("loop.alloc", b.Loc), []ir.Type{t}, v.Name).Results[0], f.place()))
	}
	f.each(b, func(e *ir.Builder, m *ir.Mapping) { f.put(e, acc, values(m, carryOf(f.inner).Inits)) })
	f.steps(b, acc)
	f.each(b, func(e *ir.Builder, m *ir.Mapping) {
		for i, v := range f.get(e, acc) {
			m.Values[f.inner.Results[i]] = v
		}
		for _, op := range f.after {
			e.Region.Ops = append(e.Region.Ops, ir.CloneOp(op, m))
		}
	})
	return region.Ops
}

// steps emits the fold's loop around a parallel one that takes one step of
// every element.
func (f *fold) steps(b *ir.Builder, acc []ir.Arg) {
	body := &ir.Region{}
	f.each(b.In(body), func(e *ir.Builder, m *ir.Mapping) {
		for i, v := range f.get(e, acc) {
			m.Values[carryOf(f.inner).Params[i]] = v
		}
		inner := bodyOf(f.inner).Ops
		for _, op := range inner[:len(inner)-1] {
			e.Region.Ops = append(e.Region.Ops, ir.CloneOp(op, m))
		}
		f.put(e, acc, values(m, bodyOf(f.inner).Yields()))
	})
	r := *rangeOf(f.inner)
	b.Add(ir.NewOp("loop.for", f.inner.Loc, &r, &ir.Block{Region: body}), nil)
}

// each emits the parallel loop, with copies of the ops before the fold and then
// what fill adds.
func (f *fold) each(b *ir.Builder, fill func(e *ir.Builder, m *ir.Mapping)) {
	body := &ir.Region{}
	m := &ir.Mapping{Values: map[*ir.Value]*ir.Value{}}
	for _, op := range f.before {
		body.Ops = append(body.Ops, ir.CloneOp(op, m))
	}
	fill(b.In(body), m)
	r := *rangeOf(f.outer)
	b.Add(ir.NewOp("loop.parallel", f.outer.Loc, &r, &ir.Block{Region: body}), nil)
}

func (f *fold) place() sym.Expr {
	r := rangeOf(f.outer)
	return sym.Sub(sym.Name(r.Name), r.Lo)
}

func (f *fold) get(b *ir.Builder, acc []ir.Arg) []*ir.Value {
	var vs []*ir.Value
	for _, a := range acc {
		op := ir.NewOp("load", b.Loc, &ir.Operands{Args: []ir.Arg{ir.ElemArg(a.Value, starts(a.View)...)}})
		vs = append(vs, b.Add(op, nil).Results[0])
	}
	return vs
}

func (f *fold) put(b *ir.Builder, acc []ir.Arg, vs []*ir.Value) {
	for i, a := range acc {
		b.Add(ir.NewOp("store", b.Loc, &ir.Operands{Args: []ir.Arg{ir.ValueArg(vs[i]), ir.ElemArg(a.Value, starts(a.View)...)}}), nil)
	}
}

func values(m *ir.Mapping, vs []*ir.Value) []*ir.Value {
	out := make([]*ir.Value, len(vs))
	for i, v := range vs {
		out[i] = m.Value(v)
	}
	return out
}
