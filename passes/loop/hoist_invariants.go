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
// It moves no loads, and nothing out of branches, where it might be costly and
// not needed.
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
		for _, f := range c.Module.Funcs() {
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
func invariants(c *pass.Context, loop *ir.Op) (out []*ir.Op) {
	varies := map[*ir.Value]bool{}
	for _, v := range carryOf(loop).Params {
		varies[v] = true
	}
	names := map[string]bool{}
	for _, n := range analysis.Bound(loop) {
		names[n] = true
	}
	body := bodyOf(loop)
	kept := make([]*ir.Op, 0, len(body.Ops))
	for _, op := range body.Ops {
		if op.Def.Traits.Has(ir.Pure) && !op.Def.Traits.Has(ir.Terminator) && len(op.Regions()) == 0 && !depends(op, varies, names) && c.Apply(op) {
			out = append(out, op)
			continue
		}
		for _, v := range op.Results {
			varies[v] = true
		}
		for _, n := range analysis.Bound(op) {
			names[n] = true
		}
		kept = append(kept, op)
	}
	body.Ops = kept
	return out
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
