// split-streams lets a fold over rows read several rows that lie far apart.
//
// Before:
//
//	%s = loop.for i = 0 to M carry(%a = %z) {
//	  %t = loop.for j = 0 to N carry(%b = %a) directives("reassoc") { yield(add(%b, load(%x[i, j]))) } : f32
//	  yield(%t) } : f32
//
// After, with two streams:
//
//	%p, %q = loop.for i = 0 to M//2 carry(%a = %z, %c = %zero) {
//	  %t, %u = loop.for j = 0 to N carry(%b = %a, %d = %c) directives("reassoc") {
//	    yield(add(%b, load(%x[i, j])), add(%d, load(%x[i + M//2, j]))) } : f32, f32
//	  yield(%t, %u) } : f32, f32
//	%r = add(%p, %q)
//	%s = .. the loop as it was, from 2*(M//2) on, with %r to begin with
//
// One stream of reads does not keep memory busy: what fetches ahead of a core
// stops at each page, and one region of memory has few banks. (Zen 3, 64 MB of
// f32: 15 GB/s in order, 20 with two streams, 27 with four; two neighbouring rows
// at a time or prefetching by instructions gave nothing.)
//
// Legal where the fold may be regrouped and the loops do nothing else: sums,
// maxima and minima of values that are read. The inner range must be the same in
// every outer iteration. Elements in a cache lose nothing by it.
package loop

import (
	"slices"

	"tenon/internal/num"
	"tenon/ir"
	"tenon/ir/sym"
	"tenon/passes/analysis"
	"tenon/passes/pass"
)

// SplitStreams makes folds over rows read several rows at a time.
var SplitStreams = pass.Register(&pass.Pass{
	Name:         "split-streams",
	Doc:          "let a fold over rows read several rows that lie far apart",
	After:        []string{"lower-comps", "interchange-folds", "fuse-loops"},
	Options:      []pass.Option{{Name: "streams", Default: "4", Doc: "how many rows are read at a time"}},
	Counted:      true,
	Reassociates: true,
	Run: func(c *pass.Context) error {
		for _, f := range c.Funcs() {
			if f.Level == ir.LevelLoop {
				c.At(f, nil)
				splitIn(c, f.Body, analysis.AtEntry(f), c.Int("streams"))
			}
		}
		return nil
	},
})

func splitIn(c *pass.Context, r *ir.Region, facts *sym.Facts, streams int64) {
	for i := 0; i < len(r.Ops); i++ {
		op := r.Ops[i]
		if inner, folds := rowFold(op); inner != nil && streams > 1 && c.Apply(op) {
			ops := inStreams(op, inner, folds, facts, streams)
			r.Ops = slices.Replace(r.Ops, i, i+1, ops...)
			i += len(ops) - 1
			continue
		}
		for _, in := range op.Regions() {
			splitIn(c, in, analysis.Inside(facts, op, in), streams)
		}
	}
}

// rowFold is the inner loop of a fold over rows, and the ops that fold; nil if
// outer is something else.
func rowFold(outer *ir.Op) (inner *ir.Op, folds []*ir.Op) {
	if outer.Def.Name != "loop.for" || !byOnes(rangeOf(outer)) || len(bodyOf(outer).Ops) != 2 || hasDirective(outer, inStreamsAlready) {
		return nil, nil
	}
	inner, r := bodyOf(outer).Ops[0], rangeOf(outer)
	if inner.Def.Name != "loop.for" || !regroups(inner) || rangeOf(inner).Size != "" {
		return nil, nil
	}
	out, in := carryOf(outer), carryOf(inner)
	if len(out.Params) == 0 || !slices.Equal(in.Inits, out.Params) || !slices.Equal(bodyOf(outer).Yields(), inner.Results) {
		return nil, nil
	}
	ri := rangeOf(inner)
	for _, e := range []sym.Expr{ri.Lo, ri.Hi, ri.Step} {
		if e.Uses(r.Name) || len(e.Refs()) > 0 {
			return nil, nil
		}
	}
	if !readsOnly(bodyOf(inner), r.Name) || readsAny(bodyOf(inner), out.Params) {
		return nil, nil
	}
	for i, p := range in.Params {
		by := foldOf(bodyOf(inner), p, bodyOf(inner).Yields()[i])
		if by == nil {
			return nil, nil
		}
		folds = append(folds, by)
	}
	return inner, folds
}

func byOnes(r *ir.Range) bool {
	one, ok := r.Step.IsConst()
	return r.Size == "" && ok && one == 1
}

func regroups(op *ir.Op) bool { return hasDirective(op, "reassoc") }

// inStreamsAlready marks the loops that this pass makes, so that text that is
// written after it and read back is not split once more.
const inStreamsAlready = "streams"

func hasDirective(op *ir.Op, name string) bool {
	d := ir.GetClause[*ir.Directives](op, "directives")
	return d != nil && slices.Contains(d.List, name)
}

// readsOnly reports that r has no op but loads, of which one at least goes by
// index, and pure ones.
func readsOnly(r *ir.Region, index string) bool {
	moves := false
	for _, op := range r.Ops {
		if len(op.Regions()) > 0 || op.Def.Name != "load" && op.Def.Name != "yield" && !op.Def.Traits.Has(ir.Pure) {
			return false
		}
		op.Exprs(func(e sym.Expr) sym.Expr {
			moves = moves || op.Def.Name == "load" && e.Uses(index)
			return e
		})
	}
	return moves
}

func readsAny(r *ir.Region, vs []*ir.Value) bool {
	found := false
	for _, op := range r.Ops {
		op.Values(func(v *ir.Value) *ir.Value {
			found = found || slices.Contains(vs, v)
			return v
		})
	}
	return found
}

// foldOf is the sum, maximum or minimum that takes p to y; p has no other use.
func foldOf(r *ir.Region, p, y *ir.Value) *ir.Op {
	by := y.Def
	if by == nil || !slices.Contains(r.Ops, by) || !slices.Contains([]string{"add", "max", "min"}, by.Def.Name) {
		return nil
	}
	uses, yields := 0, 0
	for _, op := range r.Ops {
		op.Values(func(v *ir.Value) *ir.Value {
			if v == p {
				uses++
			}
			if v == y {
				yields++
			}
			return v
		})
	}
	if uses != 1 || yields != 1 || !slices.Contains(by.OperandValues(""), p) {
		return nil
	}
	return by
}

// inStreams is the fold in streams, their sum, and what is left of outer.
func inStreams(outer, inner *ir.Op, folds []*ir.Op, facts *sym.Facts, streams int64) []*ir.Op {
	top := &ir.Region{}
	b := ir.NewBuilder(top)
	b.Loc = outer.Loc
	marks := []string{inStreamsAlready}
	if d := ir.GetClause[*ir.Directives](outer, "directives"); d != nil {
		marks = append(slices.Clone(d.List), marks...)
	}
	ir.SetClause(outer, "directives", &ir.Directives{List: marks})
	r, carry := rangeOf(outer), carryOf(outer)
	rows := sym.Sub(r.Hi, r.Lo)
	if !facts.Prove(sym.Ge(rows, sym.Const(0))) {
		rows = sym.Max(rows, sym.Const(0))
	}
	each := sym.FloorDiv(rows, sym.Const(streams))
	var inits []*ir.Value
	for s := range streams {
		for i, v := range carry.Inits {
			if e := ir.ElemOf(v.Type); s > 0 && folds[i].Def.Name == "add" {
				v = b.Const(e, num.Cast(num.F64, e, num.FromFloat(0)))
			}
			inits = append(inits, v)
		}
	}
	few := &ir.Range{Name: r.Name, Lo: r.Lo, Hi: sym.Add(r.Lo, each), Step: r.Step}
	ends := carrying(b, outer, few, inits, func(b *ir.Builder, row []*ir.Value) []*ir.Value {
		return carrying(b, inner, rangeOf(inner), row, func(b *ir.Builder, acc []*ir.Value) []*ir.Value {
			return bodies(b, inner, r.Name, each, acc)
		})
	})
	k := len(folds)
	for n := len(ends) / k; n > 1; n -= n / 2 {
		for i := range n / 2 * k {
			ends[i] = b.Scalar(folds[i%k].Def.Name, ends[i], ends[i+(n-n/2)*k])
		}
	}
	rest := *r
	rest.Lo = sym.Add(r.Lo, sym.Mul(sym.Const(streams), each))
	setClauses(outer, &rest, &ir.Carry{Inits: slices.Clone(ends[:k]), Params: carry.Params})
	return append(top.Ops, outer)
}

// bodies copies the body of inner for each stream, which stand each rows apart.
func bodies(b *ir.Builder, inner *ir.Op, index string, each sym.Expr, acc []*ir.Value) []*ir.Value {
	params := carryOf(inner).Params
	var next []*ir.Value
	for s := 0; s*len(params) < len(acc); s++ {
		m := &ir.Mapping{Values: map[*ir.Value]*ir.Value{}, Syms: map[string]sym.Expr{
			index: sym.Add(sym.Name(index), sym.Mul(sym.Const(int64(s)), each))}}
		for i, p := range params {
			m.Values[p] = acc[s*len(params)+i]
		}
		for _, op := range bodyOf(inner).Ops {
			if op.Def.Name != "yield" {
				b.Region.Ops = append(b.Region.Ops, ir.CloneOp(op, m))
			}
		}
		for _, y := range bodyOf(inner).Yields() {
			next = append(next, m.Value(y))
		}
	}
	return next
}

// carrying adds a loop like op over r that carries inits, and gives its results.
func carrying(b *ir.Builder, op *ir.Op, r *ir.Range, inits []*ir.Value, body func(b *ir.Builder, acc []*ir.Value) []*ir.Value) []*ir.Value {
	in := &ir.Region{}
	carry := &ir.Carry{Inits: inits}
	for _, v := range inits {
		carry.Params = append(carry.Params, &ir.Value{Name: "acc", Type: v.Type})
	}
	next := body(b.In(in), carry.Params)
	b.In(in).Yield(next...)
	loop := &ir.Op{Def: op.Def, Loc: op.Loc, Clauses: slices.Clone(op.Clauses)}
	setClauses(loop, r, carry)
	for i, c := range loop.Clauses {
		if _, ok := c.(*ir.Block); ok {
			loop.Clauses[i] = &ir.Block{Region: in}
		}
	}
	return slices.Clone(b.Add(loop, ir.TypesOf(carry.Params), "acc").Results)
}

func setClauses(op *ir.Op, r *ir.Range, carry *ir.Carry) {
	for i, c := range op.Clauses {
		switch c.(type) {
		case *ir.Range:
			op.Clauses[i] = r
		case *ir.Carry:
			op.Clauses[i] = carry
		}
	}
}
