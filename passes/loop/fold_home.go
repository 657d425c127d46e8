package loop

import (
	"slices"

	"tenon/ir"
	"tenon/ir/sym"
)

// findHome notes the elements that the fold is taken in: what it carries is
// loaded from them right before and stored to them right after, nothing else
// touches their buffers, and they lie side by side.
func (f *fold) findHome() {
	inits := carryOf(f.inner).Inits
	if len(f.after) != len(inits) {
		return
	}
	var home []ir.Arg
	loads := map[*ir.Op]bool{}
	for i, v := range inits {
		if v.Def == nil || v.Def.Def.Name != "load" || !slices.Contains(f.before, v.Def) || uses(f.outer, v) != 1 {
			return
		}
		at := v.Def.Args("")[0]
		if !f.storesTo(at, f.inner.Results[i]) || cost(at.Value, starts(at.View), rangeOf(f.outer).Name, nil) != costAdjacent {
			return
		}
		home = append(home, at)
		loads[v.Def] = true
	}
	others := slices.DeleteFunc(slices.Clone(f.before), func(op *ir.Op) bool { return loads[op] })
	_, by := touched(append(slices.Clone(others), f.inner))
	for i, a := range home {
		if by[a.Value] != nil || slices.ContainsFunc(home[:i], func(b ir.Arg) bool { return b.Value == a.Value }) || refsAny(starts(a.View)) {
			return
		}
	}
	f.home, f.before = home, others
}

// storesTo reports that v is stored to the element after the fold.
func (f *fold) storesTo(at ir.Arg, v *ir.Value) bool {
	return slices.ContainsFunc(f.after, func(op *ir.Op) bool {
		if op.Def.Name != "store" || op.Operand(0) != v {
			return false
		}
		to := op.Args("")[1]
		return to.Value == at.Value && slices.EqualFunc(starts(to.View), starts(at.View), sym.Expr.Equal)
	})
}

// refsAny reports a subscript that is computed from a value.
func refsAny(subs []sym.Expr) bool {
	return slices.ContainsFunc(subs, func(e sym.Expr) bool { return len(e.Refs()) > 0 })
}

// uses counts the mentions of v in op and what is inside.
func uses(op *ir.Op, v *ir.Value) (n int) {
	(&ir.Region{Ops: []*ir.Op{op}}).Walk(func(in *ir.Op) bool {
		in.Values(func(u *ir.Value) *ir.Value {
			if u == v {
				n++
			}
			return u
		})
		return true
	})
	return n
}
