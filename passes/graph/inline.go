// inline puts the body of a called function in place of the call.
//
// Before:
//
//	func tensor @twice<N>(%x: f32[N]) -> (f32[N]) { .. %y = .. ; return(%y) }
//	func tensor @f<M>(%a: f32[M]) -> (f32[M]) {
//	  %b = tensor.call @twice(%a) : f32[M]
//	  return(%b)
//	}
//
// After, @twice being kept, since every function is exported:
//
//	func tensor @f<M>(%a: f32[M]) -> (f32[M]) {
//	  .. the body of @twice with M for N and %a for %x ..
//	  return(%y)
//	}
//
// The callee's dims are replaced by what the arguments' extents make of them,
// as at its entry; what its entry checks and the types do not already say
// becomes a tensor.check before the body. Names are made fresh where the caller
// has them.
//
// What the callee prepares from its const parameters (loop.prepare) is computed
// where the call was: the arguments may be other ones each time.
//
// Legal for every call, calls having no cycles. It leaves a loop.call alone
// that passes a part of a buffer or one buffer twice: the callee's checks of
// subscripts and of aliasing would be lost.
package graph

import (
	"fmt"
	"slices"

	"tenon/ir"
	"tenon/ir/ops/loop"
	"tenon/ir/sym"
	"tenon/passes/analysis"
	"tenon/passes/pass"
)

// Inline replaces calls by bodies.
var Inline = pass.Register(&pass.Pass{
	Name:    "inline",
	Doc:     "put the bodies of called functions in place of the calls",
	Counted: true,
	Run: func(c *pass.Context) error {
		done := map[*ir.Func]bool{}
		for _, f := range c.Funcs() {
			inlineInto(c, f, done)
		}
		return nil
	},
})

// inlineInto inlines the calls in f, those in its callees first.
func inlineInto(c *pass.Context, f *ir.Func, done map[*ir.Func]bool) {
	if done[f] {
		return
	}
	done[f] = true
	called := false
	f.Body.Walk(func(op *ir.Op) bool {
		if g := callee(c.Module, op); g != nil {
			called = true
			inlineInto(c, g, done)
		}
		return true
	})
	if !called {
		return
	}
	n := &inliner{c: c, f: f, once: onceNames(f)}
	c.At(f, nil)
	n.region(f.Body, slices.Concat(f.Dims, f.ExDims), analysis.AtEntry(f))
}

// callee is the function that op calls, nil if it calls none.
func callee(m *ir.Module, op *ir.Op) *ir.Func {
	if !op.Def.Traits.Has(ir.Call) {
		return nil
	}
	return ir.Lookup[*ir.Func](m, ir.CalleeName(op))
}

// onceNames are the symbols of f that are bound once in the whole function:
// header dims, existential dims and patterns. Axes and loop indices may be
// reused by siblings.
func onceNames(f *ir.Func) map[string]bool {
	names := map[string]bool{}
	for _, d := range slices.Concat(f.Dims, f.ExDims) {
		names[d] = true
	}
	pattern := func(t ir.Type) {
		if p, ok := t.(ir.Pattern); ok {
			names[p.ID] = true
		}
	}
	for _, p := range f.Params {
		pattern(p.Value.Type)
	}
	f.Body.Walk(func(op *ir.Op) bool {
		for _, v := range op.Results {
			pattern(v.Type)
		}
		for _, k := range op.Clauses {
			if x, ok := k.(*ir.Exists); ok {
				for _, d := range x.Dims {
					names[d.Name] = true
				}
			}
		}
		return true
	})
	return names
}

// inliner is the state of one caller. m maps results of inlined calls to what
// stands for them.
type inliner struct {
	c    *pass.Context
	f    *ir.Func
	once map[string]bool
	m    ir.Mapping
}

// region inlines the calls of r, where the names visible are in scope and facts
// are known.
func (n *inliner) region(r *ir.Region, visible []string, facts *sym.Facts) {
	old := r.Ops
	r.Ops = make([]*ir.Op, 0, len(old))
	b := ir.NewBuilder(r)
	for _, op := range old {
		op.Values(n.m.Value)
		b.Loc = op.Loc
		n.c.At(n.f, op)
		if g := callee(n.c.Module, op); g != nil && n.call(b, op, g, visible, facts) {
			continue
		}
		r.Ops = append(r.Ops, op)
		for _, in := range op.Regions() {
			n.region(in, append(slices.Clone(visible), analysis.Bound(op)...), analysis.Inside(facts, op, in))
		}
		analysis.After(facts, op)
	}
}

// call puts g's body in place of op, unless that must be left.
func (n *inliner) call(b *ir.Builder, op *ir.Op, g *ir.Func, visible []string, facts *sym.Facts) bool {
	if why := mustStay(op, g); why != "" {
		n.c.Decline(op.Loc, "the call of @%s stays: %s", g.Name, why)
		return false
	}
	plan, err := ir.Entry(g)
	if err != nil || !n.c.Apply(op) { // an error the verifier has told already
		return false
	}
	args := arguments(b, op, g)
	m := &ir.Mapping{Values: map[*ir.Value]*ir.Value{}, Syms: bindings(plan, g, args), FreshSym: n.fresh(op, g, visible)}
	checks(b, plan, scalarsOf(g, args), m, facts)
	for i, p := range g.Params {
		if _, scalar := p.Value.Type.(ir.Scalar); scalar { // the sizes of others may mention it
			m.Values[p.Value] = args[i]
		}
	}
	for i, p := range g.Params {
		m.Values[p.Value] = n.fit(b, args[i], m.Type(p.Value.Type))
	}
	for _, in := range g.Body.Ops {
		switch {
		case in == g.Body.Last():
		case in.Def == loop.Prepare:
			b.Region.Ops = append(b.Region.Ops, ir.CloneRegion(in.Regions()[0], m).Ops...)
		default:
			b.Region.Ops = append(b.Region.Ops, ir.CloneOp(in, m))
		}
	}
	if n.m.Values == nil {
		n.m.Values = map[*ir.Value]*ir.Value{}
	}
	for i, v := range g.Body.Yields() {
		n.m.Values[op.Results[i]] = n.fit(b, m.Value(v), op.Results[i].Type)
	}
	return true
}

// mustStay says why a call cannot be inlined, "" if it can.
func mustStay(op *ir.Op, g *ir.Func) string {
	seen := map[*ir.Value]bool{}
	for i, a := range op.Args("") {
		if a.View != nil {
			return "it passes a part of %" + a.Value.Name
		}
		if a.Value == nil {
			continue
		}
		if _, isBuf := a.Value.Type.(ir.Buf); isBuf && seen[a.Value] {
			return fmt.Sprintf("it passes %%%s twice", a.Value.Name)
		}
		seen[a.Value] = true
		if t, ok := g.Params[i].Value.Type.(ir.Buf); ok && !plain(t) {
			return "its parameters have a layout of their own"
		}
	}
	return ""
}

// plain reports a buffer in C order, not distributed.
func plain(t ir.Buf) bool {
	off, isConst := t.Offset.IsConst()
	return t.Strides == nil && t.Space == "" && t.Dist == nil && isConst && off == 0
}

// arguments gives the arguments as values; index expressions and literals
// become ops.
func arguments(b *ir.Builder, op *ir.Op, g *ir.Func) []*ir.Value {
	var vs []*ir.Value
	for i, a := range op.Args("") {
		e := ir.ElemOf(g.Params[i].Value.Type)
		switch {
		case a.Value != nil:
			vs = append(vs, a.Value)
		case a.Lit != nil:
			vs = append(vs, b.Const(e, a.Lit.Cell))
		default:
			vs = append(vs, b.Idx(*a.Expr, e))
		}
	}
	return vs
}

// bindings are the callee's dims in terms of the caller's, and, for the checks,
// the sources of its entry plan.
func bindings(plan *ir.EntryPlan, g *ir.Func, args []*ir.Value) map[string]sym.Expr {
	by := map[string]sym.Expr{}
	for _, s := range plan.Sources {
		by[s.Name] = extent(s, args[s.Param].Type)
	}
	for _, d := range plan.Bindings {
		by[d.Dim] = d.Value.Subst(by)
	}
	return by
}

// extent is what source s is for an argument of type t.
func extent(s ir.EntrySource, t ir.Type) sym.Expr {
	switch t := t.(type) {
	case ir.Pattern:
		return [...]sym.Expr{t.Rows, t.Cols, sym.NNZ(t.ID)}[s.Dim]
	case ir.Tensor:
		if t.Enc != nil {
			part := ir.EncodingDims(t).Type(t.Enc.Parts[s.Part].Value.Type)
			dims, _ := ir.DimsOf(part)
			return dims[s.Dim]
		}
	}
	dims, _ := ir.DimsOf(t)
	return dims[s.Dim]
}

// fresh names what the callee binds: as the callee does, unless the caller has
// that name in scope. The callee's existential dims get the call's names.
func (n *inliner) fresh(op *ir.Op, g *ir.Func, visible []string) func(string) string {
	own, once := analysis.Symbols(g), onceNames(g)
	given := map[string]string{}
	for _, c := range op.Clauses {
		if x, ok := c.(*ir.Exists); ok {
			for i, d := range g.ExDims {
				given[d] = x.Dims[i].Name
			}
		}
	}
	return func(name string) string {
		if to, ok := given[name]; ok {
			return to
		}
		to := name
		for k := 2; n.once[to] || slices.Contains(visible, to) || to != name && own[to]; k++ {
			to = fmt.Sprintf("%s_%d", name, k)
		}
		if once[name] {
			n.once[to] = true
		}
		return to
	}
}

// scalarsOf is what g's scalar parameters are at the call: the index expression
// that made the argument, if one did.
func scalarsOf(g *ir.Func, args []*ir.Value) func(sym.Ref) (sym.Expr, bool) {
	return func(r sym.Ref) (sym.Expr, bool) {
		for i, p := range g.Params {
			if r != sym.Ref(p.Value) {
				continue
			}
			if d := args[i].Def; d != nil && d.Def.Name == "idx" {
				return *d.Args("")[0].Expr, true
			}
			return sym.Val(args[i]), true
		}
		return sym.Expr{}, false
	}
}

// checks emits what the callee's entry checks, as far as it does not hold by
// itself.
func checks(b *ir.Builder, plan *ir.EntryPlan, scalars func(sym.Ref) (sym.Expr, bool), m *ir.Mapping, known *sym.Facts) {
	var open []sym.Cond
	for _, k := range plan.Checks {
		c := m.Cond(k.Cond)
		c.L, c.R = c.L.SubstRef(scalars), c.R.SubstRef(scalars)
		if !c.L.Equal(c.R) && !known.Prove(c) {
			open = append(open, c)
			known.Add(c)
		}
	}
	if len(open) > 0 {
		b.Add(ir.NewOp("tensor.check", b.Loc, &ir.Conds{List: open}), nil)
	}
}

// fit gives v the type want, whose dims have the same values.
func (n *inliner) fit(b *ir.Builder, v *ir.Value, want ir.Type) *ir.Value {
	from, ok := v.Type.(ir.Tensor)
	if !ok || from.Enc != nil || ir.SameType(from, want) {
		return v
	}
	check := &ir.Conds{}
	for d, e := range want.(ir.Tensor).Dims {
		if !e.Equal(from.Dims[d]) {
			check.List = append(check.List, sym.Eq(from.Dims[d], e))
		}
	}
	return b.Add(ir.NewOp("tensor.reshape", b.Loc, &ir.Operands{Args: []ir.Arg{ir.ValueArg(v)}}, check), []ir.Type{want}, v.Name).Results[0]
}
