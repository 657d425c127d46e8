package tests

import (
	"strings"

	"tenon/ir"
	"tenon/passes/pass"
)

// These passes stand here as a researcher's would stand in a driver of their
// own: one value, registered, and nothing else edited. The scripts see them in
// `tenon passes` and run them; each does what a pass must not do.

// ownPass is the prefix of the names of passes of this package.
const ownPass = "own-"

var _ = pass.Register(&pass.Pass{
	Name:    ownPass + "wrong",
	Doc:     "change the meaning: subtract where the program adds",
	Counted: true,
	Run: func(c *pass.Context) error {
		for _, f := range c.Module.Funcs() {
			c.At(f, nil)
			eachOp(f.Body, func(op *ir.Op) {
				if op.Def.Name == "add" && c.Apply(op) {
					op.Def = ir.MustOp("sub")
				}
			})
		}
		return nil
	},
})

var _ = pass.Register(&pass.Pass{
	Name: ownPass + "crash",
	Doc:  "crash at the first op of the first function",
	Run: func(c *pass.Context) error {
		f := c.Module.Funcs()[0]
		c.At(f, f.Body.Ops[0])
		var none []int
		_ = none[len(f.Name)]
		return nil
	},
})

var _ = pass.Register(&pass.Pass{
	Name: ownPass + "invalid",
	Doc:  "leave a module that the verifier refuses",
	Run: func(c *pass.Context) error {
		f := c.Module.Funcs()[0]
		f.Body.Ops = f.Body.Ops[1:]
		return nil
	},
})

func eachOp(r *ir.Region, visit func(*ir.Op)) {
	for _, op := range r.Ops {
		visit(op)
		for _, in := range op.Regions() {
			eachOp(in, visit)
		}
	}
}

func isOwn(p *pass.Pass) bool { return strings.HasPrefix(p.Name, ownPass) }
