package cpu

import (
	"tenon/internal/num"
	"tenon/ir"
)

// pinned says that the float constants of vectors in r are to be kept from
// LLVM's rematerialisation. Of a loop with more of them than half the vector
// registers LLVM gives some up, and loads them in every iteration into registers
// of their own. Those count: what a core has of them limits how many iterations
// are under way. A pinned constant that has no register lies on the stack, and
// instructions read it from there without a register. (Zen 3: an exponential
// with a sum in 9 cycles for 8 elements, with five such loads 9.8.)
func (p *proc) pinned(r *ir.Region) bool {
	n := 0
	for _, op := range r.Ops {
		if constantLanes(op) {
			n++
		}
	}
	return 2*n > p.Module().Desc().VectorRegs
}

// constantLanes reports a vector of one f32 or f64, other than 0, which needs no
// load. Those of f16 and bf16 are integers in registers.
func constantLanes(op *ir.Op) bool {
	if op.Def.Name != "vec.splat" {
		return false
	}
	if e := ir.ElemOf(op.Results[0].Type); !e.IsFloat() || e.Bytes() == 2 {
		return false
	}
	a := op.Args("")[0]
	switch {
	case a.Lit != nil:
		return num.Float(a.Lit.Cell) != 0
	case a.Value != nil && a.Value.Def != nil && a.Value.Def.Def.Name == "const":
		return num.Float(ir.GetClause[*ir.Literal](a.Value.Def, "").Cell) != 0
	}
	return false
}
