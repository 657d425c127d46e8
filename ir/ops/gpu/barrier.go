package gpu

import (
	"fmt"

	"tenon/ir"
	"tenon/ir/sym"
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

// checkUniform reports barriers under conditions or bounds that plainly differ
// from thread to thread: those that mention a thread's id. The rest is found
// when running.
func checkUniform(c *ir.Checker, launch *ir.Op) {
	ids := map[string]bool{}
	for _, a := range ir.GetClause[*ir.Axes](launch, "threads").List {
		ids[a.Name] = true
	}
	var visit func(r *ir.Region, under string)
	visit = func(r *ir.Region, under string) {
		for _, op := range r.Ops {
			if op.Def == Barrier && under != "" {
				c.Errorf(op, "the barrier is under `%s`, which differs from thread to thread, so not all threads reach it", under)
			}
			inner := under
			op.Exprs(func(e sym.Expr) sym.Expr {
				for _, n := range e.Names() {
					if ids[n] && len(op.Regions()) > 0 && inner == "" {
						inner = e.String()
					}
				}
				return e
			})
			for _, in := range op.Regions() {
				visit(in, inner)
			}
		}
	}
	visit(body(launch), "")
}
