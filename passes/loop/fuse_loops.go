// fuse-loops merges neighbouring parallel loops over the same range.
//
// Before:
//
//	loop.parallel i = 0 to M { .. store(%s, %m[i]) }
//	loop.parallel k = 0 to M { .. load(%m[k]) .. store(%e, %y[k, j]) .. }
//
// After:
//
//	loop.parallel i = 0 to M { .. store(%s, %m[i]); .. load(%m[i]) .. store(%e, %y[i, j]) .. }
//
// Legal if what one loop writes and the other touches is touched at one
// iteration's own place only: some dim of the buffer has just the loop's index
// as subscript in every access of both. Then an iteration of the second needs
// nothing of another iteration of the first. Between the loops may stand
// allocations and scalar ops without effects, which go before both.
//
// Profit: the loops share a buffer, so that a row stays in the cache between
// them, and a buffer between them may shrink (contract-buffers).
//
// It fuses outer loops first, then what has become neighbours inside. It does
// not shift, peel or reverse loops, and leaves loops with directives alone.
package loop

import (
	"slices"

	"tenon/ir"
	"tenon/ir/sym"
	"tenon/passes/pass"
)

// FuseLoops merges neighbouring parallel loops.
var FuseLoops = pass.Register(&pass.Pass{
	Name:    "fuse-loops",
	Doc:     "merge neighbouring parallel loops over the same range",
	After:   []string{"lower-comps"},
	Counted: true,
	Run: func(c *pass.Context) error {
		for _, f := range c.Module.Funcs() {
			if f.Level == ir.LevelLoop {
				c.At(f, nil)
				for fuseRegion(c, f.Body) { // a loop that grew may share a buffer with the one before
				}
			}
		}
		return nil
	},
})

// fuseRegion reports whether it merged any loops in r or inside.
func fuseRegion(c *pass.Context, r *ir.Region) (merged bool) {
	for i := 0; i < len(r.Ops); i++ {
		if isParallel(r.Ops[i]) {
			merged = fuseFrom(c, r, i) || merged
		}
	}
	for _, op := range r.Ops {
		for _, in := range op.Regions() {
			merged = fuseRegion(c, in) || merged
		}
	}
	return merged
}

// isParallel reports a loop whose iterations may run in any order and that
// nobody has tied down.
func isParallel(op *ir.Op) bool {
	return op.Def.Traits.Has(ir.ParallelOK) && !op.Has("directives") && len(op.Results) == 0 && rangeOf(op) != nil
}

func rangeOf(op *ir.Op) *ir.Range {
	for _, c := range op.Clauses {
		if r, ok := c.(*ir.Range); ok {
			return r
		}
	}
	return nil
}

func bodyOf(op *ir.Op) *ir.Region { return op.Regions()[0] }

// fuseFrom merges into the loop at i the loops behind it, as far as they fit,
// and reports whether it merged any. What the merged loop touches is kept, not found again after each merge, and
// the region is rebuilt once: thousands of loops may become one.
func fuseFrom(c *pass.Context, r *ir.Region, i int) bool {
	into := r.Ops[i]
	_, uses := touched([]*ir.Op{into})
	var between, pending []*ir.Op // what goes before the merged loop; what does if another loop merges
	locs := []ir.Loc{into.Loc}
	merged := i // the last op that is merged
	for j := i + 1; j < len(r.Ops); j++ {
		op := r.Ops[j]
		if !isParallel(op) {
			if !passes(op) {
				break
			}
			pending = append(pending, op)
			continue
		}
		if why := apart(into, uses, op); why != "" {
			c.Decline(op.Loc, "not fused with the loop before it: %s", why)
			break
		}
		if !c.Apply(op) {
			break
		}
		_, more := touched(merge(into, op))
		for v, a := range more {
			uses.of(v).add(a)
		}
		between, pending, merged = append(between, pending...), nil, j
		locs = append(locs, op.Loc)
	}
	if merged == i {
		return false
	}
	into.Loc = ir.Fuse(locs...)
	r.Ops = slices.Concat(r.Ops[:i], between, []*ir.Op{into}, r.Ops[merged+1:])
	return true
}

// passes reports that op may go before the loops around it: it touches no
// memory.
func passes(op *ir.Op) bool {
	return op.Def.Traits.Has(ir.Pure) && len(op.Regions()) == 0 || op.Def.Traits.Has(ir.Allocates)
}

// apart says why two loops, the first with the given accesses, must stay two;
// "" if they may be one.
func apart(a *ir.Op, inA usage, b *ir.Op) string {
	ra, rb := rangeOf(a), rangeOf(b)
	if !ra.Lo.Equal(rb.Lo) || !ra.Hi.Equal(rb.Hi) || !ra.Step.Equal(rb.Step) || ra.Size != "" || rb.Size != "" {
		return "the ranges differ"
	}
	order, inB := touched([]*ir.Op{b})
	shared := false
	for _, v := range order {
		x, y := inA[v], inB[v]
		if x == nil {
			continue
		}
		shared = true
		if (x.writes || y.writes) && !pinnedBoth(x, ra.Name, y, rb.Name) {
			return "an iteration needs what others write to %" + v.Name
		}
	}
	if !shared {
		return "they share no buffer"
	}
	return ""
}

// merge appends the body of b to that of a, and returns what it added.
func merge(a, b *ir.Op) []*ir.Op {
	ra, rb := rangeOf(a), rangeOf(b)
	m := &ir.Mapping{Values: map[*ir.Value]*ir.Value{}, Syms: map[string]sym.Expr{rb.Name: sym.Name(ra.Name)}}
	if ra.Name != rb.Name {
		m.FreshSym = func(name string) string {
			if name == ra.Name {
				return rb.Name // free now: what was called so is the merged index
			}
			return name
		}
	}
	var added []*ir.Op
	for _, op := range bodyOf(b).Ops {
		added = append(added, ir.CloneOp(op, m))
	}
	bodyOf(a).Ops = append(bodyOf(a).Ops, added...)
	return added
}
