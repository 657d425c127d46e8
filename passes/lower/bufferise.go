// bufferise turns a func at tensor level into a proc at tile level.
//
// Before:
//
//	func tensor @f<N>(%x: f32[N]) -> (f32[N]) {
//	  %y = tensor.comp par(i < N) in(%a = %x[i]) { .. yield(%b) } : f32[N]
//	  return(%y)
//	}
//
// After:
//
//	proc tile @f<N>(in %x: buf<f32[N]>, out %result: buf<f32[N]>) {
//	  tensor.comp par(i < N) in(%a = %x[i]) out(%result[i]) { .. yield(%b) }
//	  return()
//	}
//
// A tensor becomes a buffer that is written once, by the op that made the value;
// what the func returns is written straight into its out parameters, named as
// the results are (`result` or `result0`, .. where they have no names). A
// carried tensor is a buffer that lives over the loop: an iteration makes the
// next value aside and copies it, or makes it in place where no point reads
// what another writes and nothing reads the old value later. Buffers are
// allocated outside the loops that use them. Facts, directives, `const` and
// locations stay; `contract` is added, for what a func allows and a proc does not.
//
// A result whose size is known only while running gets room for the most it can
// be; the sizes themselves are written to out parameters of rank 0 after the
// results, and the directives counts(..) and bounded(..) say so.
//
// Legal for every func whose calls are inlined. It refuses, as the user's
// fault, ops that have no form over buffers yet and results without a greatest
// size.
//
// It does not reuse memory between values whose lifetimes do not meet, and it
// leaves patterns, encoded tensors and comps over them as they are.
package lower

import (
	"fmt"
	"slices"

	"tenon/internal/diag"
	"tenon/internal/num"
	"tenon/ir"
	"tenon/ir/ops/tensor"
	"tenon/ir/sym"
	"tenon/passes/analysis"
	"tenon/passes/pass"
)

// Bufferise puts the values of funcs into buffers.
var Bufferise = pass.Register(&pass.Pass{
	Name:    "bufferise",
	Doc:     "turn funcs at tensor level into procs at tile level, values into buffers",
	After:   []string{"inline"},
	Counted: true,
	Run: func(c *pass.Context) error {
		var errs diag.List
		for i, it := range c.Module.Items {
			f, ok := it.(*ir.Func)
			if !ok || f.IsProc || f.Level != ir.LevelTensor || !c.Apply(nil) {
				continue
			}
			c.At(f, nil)
			b := newBufferiser(f)
			b.c = c
			b.function()
			errs = append(errs, b.errs...)
			c.Module.Items[i] = b.out
		}
		return errs.Err()
	},
})

// bufferiser is the state of one function. m.Values maps tensors to buffers
// and scalars to their copies.
type bufferiser struct {
	c       *pass.Context
	f, out  *ir.Func
	m       ir.Mapping
	places  map[*ir.Value]*ir.Value // where a value shall be made, once decided
	feeds   map[*ir.Value]*ir.Value // a loop's init, made where the loop's result goes
	uses    map[*ir.Value]int
	names   map[string]bool          // symbols of the function
	late    map[string]*sym.Expr     // dims found while running, and the most they can be
	extents map[*ir.Value][]sym.Expr // the part of a buffer that holds a value, where it is not all
	facts   *sym.Facts
	scopes  []*scope // enclosing regions, outermost first
	errs    diag.List
}

// scope is a region being built. A loop's region runs many times; bound are the
// names that its op binds.
type scope struct {
	*ir.Builder
	loop  bool
	bound []string
}

func newBufferiser(f *ir.Func) *bufferiser {
	b := &bufferiser{f: f, m: ir.Mapping{Values: map[*ir.Value]*ir.Value{}}, places: map[*ir.Value]*ir.Value{},
		late: lateDims(f), extents: map[*ir.Value][]sym.Expr{}, uses: ir.Uses(f), names: analysis.Symbols(f), facts: analysis.AtEntry(f)}
	b.feeds = findFeeds(f.Body, b.uses)
	return b
}

func (b *bufferiser) function() {
	f := b.f
	b.out = &ir.Func{IsProc: true, Level: ir.LevelTile, Name: f.Name, Dims: f.Dims, ExDims: f.ExDims,
		Where: f.Where, Directives: allowed(f), Loc: f.Loc, Body: &ir.Region{}}
	for _, p := range f.Params {
		v := p.Value // one that is no buffer stays itself: sizes and facts may mention it
		if isTensor(v) {
			v = &ir.Value{Name: v.Name, Type: bufType(v.Type)}
			b.m.Values[p.Value] = v
		}
		b.out.Params = append(b.out.Params, &ir.Param{Mode: ir.ModeIn, Const: p.Const, Value: v})
	}
	outs, counts := b.outParams()
	b.returned(outs)
	b.enter(b.out.Body, false)
	b.region(f.Body)
	ret := f.Body.Last()
	for i, v := range ret.OperandValues("") {
		b.deliver(ret, v, outs[i])
	}
	b.here().Loc = ret.Loc
	for n, v := range counts {
		b.store(b.here().Idx(sym.Name(ResultDims(f)[n]), num.I64), v)
	}
	b.here().Return()
	b.leave()
}

// allowed are f's directives and `contract`: in a func a multiply and an add may
// become one fused operation, which a proc allows only where it says so.
func allowed(f *ir.Func) []string {
	if slices.Contains(f.Directives, "contract") {
		return f.Directives
	}
	return append(slices.Clone(f.Directives), "contract")
}

// outParams adds a parameter for each result, named as the result is, and one of
// rank 0 for each dim of the results that is bound in f.
func (b *bufferiser) outParams() (outs, counts []*ir.Value) {
	taken := map[string]bool{}
	for _, p := range b.out.Params {
		taken[p.Value.Name] = true
	}
	add := func(name string, t ir.Type) *ir.Value {
		for base, k := name, 2; taken[name]; k++ {
			name = fmt.Sprintf("%s_%d", base, k)
		}
		taken[name] = true
		v := &ir.Value{Name: name, Type: t}
		b.out.Params = append(b.out.Params, &ir.Param{Mode: ir.ModeOut, Value: v})
		return v
	}
	for i, name := range ResultNames(b.f) {
		outs = append(outs, add(name, resultBuf(b.f.Results[i].Type)))
	}
	var names []string
	named := map[string]sym.Expr{}
	for _, d := range ResultDims(b.f) {
		v := add(d, ir.Buf{Elem: num.I64})
		counts, names, named[d] = append(counts, v), append(names, v.Name), sym.Name(v.Name)
	}
	if len(names) > 0 {
		b.out.Directives = append(slices.Clone(b.out.Directives), ir.CountsDirective(names))
	}
	for i, v := range outs {
		b.bound(i, v, named)
	}
	return outs, counts
}

// bound gives the out parameter of result i the greatest size, and says which
// part of it is written.
func (b *bufferiser) bound(i int, v *ir.Value, counts map[string]sym.Expr) {
	t, ok := v.Type.(ir.Buf)
	if !ok {
		return
	}
	for d, x := range t.Dims {
		for _, n := range x.Names() {
			if _, late := b.late[n]; !late {
				continue
			}
			most, ok := greatest(t.Dims, b.late)
			if !ok {
				b.unbounded(i, n)
				return
			}
			if slices.ContainsFunc(x.Names(), func(m string) bool { _, late := b.late[m]; return !late }) {
				b.mixed(i, n, x)
				return
			}
			b.out.Directives = append(slices.Clone(b.out.Directives), ir.BoundDirective(v.Name, d, x.Subst(counts)))
			b.extents[v], v.Type = t.Dims, ir.Buf{Elem: t.Elem, Dims: most}
			break
		}
	}
}

// ResultDims are the dims of f's results that are bound in f, each once: a
// caller gets their values after the results.
func ResultDims(f *ir.Func) (dims []string) {
	for _, d := range f.ExDims {
		if slices.ContainsFunc(f.Results, func(r ir.Result) bool { return hasName(r.Type, d) }) {
			dims = append(dims, d)
		}
	}
	return dims
}

func hasName(t ir.Type, name string) bool {
	dims, _ := ir.DimsOf(t)
	return slices.ContainsFunc(dims, func(e sym.Expr) bool { return slices.Contains(e.Names(), name) })
}

// ResultNames are the names of f's results as a caller sees them.
func ResultNames(f *ir.Func) []string {
	var names []string
	for i, r := range f.Results {
		switch {
		case r.Name != "":
			names = append(names, r.Name)
		case len(f.Results) == 1:
			names = append(names, "result")
		default:
			names = append(names, fmt.Sprintf("result%d", i))
		}
	}
	return names
}

// bufType is the type of what holds a value of type t: a buffer for a plain
// tensor; scalars, patterns and encoded tensors stay.
func bufType(t ir.Type) ir.Type {
	if x, ok := t.(ir.Tensor); ok && x.Enc == nil {
		return ir.Buf{Elem: x.Elem, Dims: x.Dims}
	}
	return t
}

// resultBuf is the buffer for a result, of rank 0 for a scalar.
func resultBuf(t ir.Type) ir.Type {
	if s, ok := t.(ir.Scalar); ok {
		return ir.Buf{Elem: s.Elem}
	}
	return bufType(t)
}

func isTensor(v *ir.Value) bool {
	t, ok := v.Type.(ir.Tensor)
	return ok && t.Enc == nil
}

// returned decides that values made at the top and returned are made in the out
// parameters; a value returned twice is copied for the second.
func (b *bufferiser) returned(outs []*ir.Value) {
	for i, v := range b.f.Body.Yields() {
		if b.places[v] == nil && isTensor(v) && slices.Contains(b.f.Body.Ops, v.Def) {
			b.places[v] = outs[i]
		}
	}
}

// deliver copies v to the out parameter unless it was made there.
func (b *bufferiser) deliver(ret *ir.Op, v, out *ir.Value) {
	b.here().Loc = ret.Loc
	switch {
	case isTensor(v):
		b.copy(b.m.Value(v), out, "it is returned and is not made at the top of the function for that result alone")
	case ir.ElemOf(v.Type) != 0:
		b.store(b.m.Value(v), out)
	default:
		b.errs = append(b.errs, diag.Errorf(ret.Loc.First(),
			"@%s returns %%%s, %s; such a result has no native code yet; run it with --interp", b.f.Name, v.Name, v.Type))
	}
}

// store puts a scalar into a buffer of rank 0.
func (b *bufferiser) store(v, out *ir.Value) {
	body := &ir.Region{}
	b.here().In(body).Yield(v)
	b.here().Add(tensor.New(b.here().Loc, tensor.Comp{Out: &ir.Outs{List: []ir.Out{{Buf: out}}}, Body: body}), nil)
}

// unbounded refuses a result of which nobody can say how much room it needs.
func (b *bufferiser) unbounded(i int, n string) {
	op := binder(b.f.Body, n)
	b.errs = append(b.errs, diag.Errorf(op.Loc.First(),
		"%s: result %s of @%s has the size %s, of which no greatest value is known before it runs; such a result has no native code; run it with --interp",
		op.Def.Name, ResultNames(b.f)[i], b.f.Name, n))
}

// mixed refuses a result whose size is made of one found while running and of
// others: what is written of it could not be told from counts alone.
func (b *bufferiser) mixed(i int, n string, size sym.Expr) {
	op := binder(b.f.Body, n)
	b.errs = append(b.errs, diag.Errorf(op.Loc.First(),
		"%s: result %s of @%s has the size %s, made of %s and of sizes known before; such a result has no native code yet; run it with --interp",
		op.Def.Name, ResultNames(b.f)[i], b.f.Name, size, n))
}

// binder is the op in r that binds the dim n.
func binder(r *ir.Region, n string) (found *ir.Op) {
	r.Walk(func(op *ir.Op) bool {
		for _, c := range op.Clauses {
			if x, ok := c.(*ir.Exists); ok {
				for _, d := range x.Dims {
					if d.Name == n {
						found = op
					}
				}
			}
		}
		return true
	})
	return found
}
