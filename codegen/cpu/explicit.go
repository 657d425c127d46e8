package cpu

import (
	"slices"

	"tenon/ir"
)

// Explicit reports that the innermost loops of m work on vectors, short ones
// and what vectors leave over aside: nothing is left for LLVM's vectoriser. A
// module with micro-kernels counts as such a one: its time goes by in them, and
// LLVM's loop passes would take several times as long over them as all else.
func Explicit(m *ir.Module) bool {
	if len(m.Bodies()) > 0 {
		return true
	}
	explicit := true
	for _, f := range m.Funcs() {
		f.Body.Walk(func(op *ir.Op) bool {
			if r := loopRange(op); r != nil && innermost(op) && !short(op, r) && !onVectors(op) {
				explicit = false
			}
			return explicit
		})
	}
	return explicit
}

func loopRange(op *ir.Op) *ir.Range {
	for _, c := range op.Clauses {
		if r, ok := c.(*ir.Range); ok {
			return r
		}
	}
	return nil
}

func innermost(op *ir.Op) bool {
	inner := false
	bodyOf(op).Walk(func(op *ir.Op) bool {
		inner = inner || loopRange(op) != nil
		return !inner
	})
	return !inner
}

// short reports a loop of a few iterations.
func short(op *ir.Op, r *ir.Range) bool {
	d := ir.GetClause[*ir.Directives](op, "directives")
	if d != nil && slices.Contains(d.List, "rest") {
		return true
	}
	lo, fixedLo := r.Lo.IsConst()
	hi, fixedHi := r.Hi.IsConst()
	return fixedLo && fixedHi && hi-lo <= 4
}

func onVectors(op *ir.Op) bool {
	found := false
	bodyOf(op).Walk(func(op *ir.Op) bool {
		found = found || op.Def.Family() == "vec" || op.Def.Traits.Has(ir.Call) // of a micro-kernel
		return !found
	})
	return found
}
