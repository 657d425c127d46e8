// hoist-invariants computes before a loop what is the same in every iteration.
//
// Before:
//
//	loop.parallel j = 0 to N { %r = rsqrt(%v); %a = load(%x[i, j]); store(mul(%a, %r), %y[i, j]) }
//
// After:
//
//	%r = rsqrt(%v)
//	loop.parallel j = 0 to N { %a = load(%x[i, j]); store(mul(%a, %r), %y[i, j]) }
//
// Legal for pure ops of which no operand and no index belongs to the loop: they
// have no effects and no errors, so that they may also run for a loop without
// iterations. Bits do not change. Of a nest the inner loops come first, so that
// an op leaves all loops that it does not depend on.
//
// It moves no loads, and nothing costly out of branches, where it might not be
// needed.
package loop

import (
	"tenon/ir"
	"tenon/ir/sym"
	"tenon/passes/analysis"
	"tenon/passes/pass"
)

// HoistInvariants moves invariant ops out of loops.
var HoistInvariants = pass.Register(&pass.Pass{
	Name:    "hoist-invariants",
	Doc:     "compute before a loop what is the same in every iteration",
	Counted: true,
	Run: func(c *pass.Context) error {
		for _, f := range c.Funcs() {
			if f.Level == ir.LevelLoop {
				c.At(f, nil)
				hoistRegion(c, f.Body)
			}
		}
		return nil
	},
})

func hoistRegion(c *pass.Context, r *ir.Region) {
	kept := make([]*ir.Op, 0, len(r.Ops))
	for _, op := range r.Ops {
		for _, in := range op.Regions() {
			hoistRegion(c, in)
		}
		if rangeOf(op) != nil && len(op.Regions()) == 1 {
			kept = append(kept, invariants(c, op)...)
		}
		kept = append(kept, op)
	}
	r.Ops = kept
}

// invariants takes out of the body of loop what does not depend on it.
func invariants(c *pass.Context, loop *ir.Op) []*ir.Op {
	h := &hoister{c: c, varies: map[*ir.Value]bool{}, names: map[string]bool{}}
	for _, v := range carryOf(loop).Params {
		h.varies[v] = true
	}
	h.bind(loop)
	h.from(bodyOf(loop), 0)
	return h.out
}

// hoister collects what leaves one loop. varies and names are what the loop
// makes anew in each iteration.
type hoister struct {
	c      *pass.Context
	varies map[*ir.Value]bool
	names  map[string]bool
	out    []*ir.Op
}

func (h *hoister) bind(op *ir.Op) {
	for _, n := range analysis.Bound(op) {
		h.names[n] = true
	}
}

// from takes ops out of r, also out of branches in it: those without any of the
// traits besides, since they may then run for nothing.
func (h *hoister) from(r *ir.Region, besides ir.Traits) {
	kept := make([]*ir.Op, 0, len(r.Ops))
	for _, op := range r.Ops {
		if op.Def.Traits.Has(ir.Pure) && op.Def.Traits&(ir.Terminator|besides) == 0 && len(op.Regions()) == 0 &&
			!depends(op, h.varies, h.names) && h.c.Apply(op) {
			h.out = append(h.out, op)
			continue
		}
		if op.Def.Name == "loop.if" {
			for _, arm := range op.Regions() {
				h.from(arm, ir.Costly)
			}
		}
		for _, v := range op.Results {
			h.varies[v] = true
		}
		h.bind(op)
		kept = append(kept, op)
	}
	r.Ops = kept
}

// depends reports that op uses one of the values or names.
func depends(op *ir.Op, values map[*ir.Value]bool, names map[string]bool) bool {
	found := false
	op.Values(func(v *ir.Value) *ir.Value {
		found = found || values[v]
		return v
	})
	op.Exprs(func(e sym.Expr) sym.Expr {
		for _, n := range e.Names() {
			found = found || names[n]
		}
		return e
	})
	return found
}
