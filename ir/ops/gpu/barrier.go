package gpu

import (
	"fmt"

	"tenon/ir"
)

// Barrier lets the threads of a block meet.
var Barrier = ir.Register(&ir.OpDef{
	Name: "gpu.barrier",
	Doc: "Waits until all threads of the block are here; what they wrote before is seen after.\ngpu.barrier\n" +
		"It stands in control flow that is the same for all threads of the block.",
	Traits:  ir.Barrier,
	Effects: func(*ir.Op) []ir.Effect { return []ir.Effect{{Kind: ir.EffectSync}} },
	Eval: func(m ir.Machine, op *ir.Op) ir.Step {
		key := fmt.Sprintf("%s %p", op.Def.Name, op)
		if p := op.Loc.First(); p.IsValid() {
			key = fmt.Sprintf("%s at %s", op.Def.Name, p)
		}
		return func(f *ir.Frame) {
			if f.T == nil || f.T.Sync == nil {
				m.Trap(op, ir.TrapShape, "a barrier stands outside a launch")
			}
			f.T.Sync.Barrier(key)
		}
	},
})
