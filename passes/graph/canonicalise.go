// canonicalise folds constants, applies the rows of ir/rewrite to scalar ops,
// and resolves branches whose conditions are constant.
//
// Before:
//
//	%z = const 0 : i64
//	%a = add(%i, %z)
//	%b = cast(%a) : i64
//	loop.if (0 < 3) { store(%b, %A[0]) }
//
// After (what is left unused is dce's):
//
//	%z = const 0 : i64
//	store(%i, %A[0])
//
// Legal always: each row is an identity of bits, and constants are evaluated by
// the arithmetic that the program means. It does not re-associate floats, fold
// x * 0, or take one division for another.
package graph

import (
	"tenon/ir"
	"tenon/ir/rewrite"
	"tenon/ir/sym"
	"tenon/passes/pass"
)

// Canonicalise folds constants and applies identities.
var Canonicalise = pass.Register(&pass.Pass{
	Name:    "canonicalise",
	Doc:     "fold constants and apply identities of scalar ops",
	Counted: true,
	Run: func(c *pass.Context) error {
		for _, f := range c.Funcs() {
			c.At(f, nil)
			canonicalise(c, f)
		}
		return nil
	},
})

// canonicalise reports whether it changed f.
func canonicalise(at *pass.Context, f *ir.Func) bool {
	c := &canonicaliser{at: at, d: rewrite.NewDriver()}
	c.region(f.Body)
	return c.changed || len(c.d.Counts) > 0
}

type canonicaliser struct {
	at      *pass.Context
	d       *rewrite.Driver
	changed bool
}

func (c *canonicaliser) region(r *ir.Region) {
	old := r.Ops
	r.Ops = make([]*ir.Op, 0, len(old))
	b := ir.NewBuilder(r)
	c.ops(b, old)
}

func (c *canonicaliser) ops(b *ir.Builder, ops []*ir.Op) {
	for _, op := range ops {
		op.Values(c.d.Value)
		b.Loc = op.Loc
		if c.at.May() && c.simplify(b, op) {
			continue
		}
		for _, in := range op.Regions() {
			c.region(in)
		}
		b.Region.Ops = append(b.Region.Ops, op)
	}
}

// simplify rewrites op and reports whether it is gone.
func (c *canonicaliser) simplify(b *ir.Builder, op *ir.Op) bool {
	if c.d.Op(b, op) {
		c.at.Did(op)
		return true
	}
	return op.Def.Name == "loop.if" && c.branch(b, op)
}

// branch resolves a loop.if, and drops conditions that hold; it reports whether
// the op is gone.
func (c *canonicaliser) branch(b *ir.Builder, op *ir.Op) bool {
	clause := ir.GetClause[*ir.Conds](op, "")
	var open []sym.Cond
	taken := ir.GetClause[*ir.Block](op, "")
	for _, k := range clause.List {
		holds, known := rewrite.Decide(k)
		if known && !holds {
			c.take(b, op, ir.GetClause[*ir.Block](op, "else"))
			return true
		}
		if !known {
			open = append(open, k)
		}
	}
	if len(open) == 0 {
		c.take(b, op, taken)
		return true
	}
	if len(open) < len(clause.List) {
		c.at.Did(op)
		c.changed, clause.List = true, open
	}
	return false
}

// take puts the ops of an arm (nil: nothing) in place of op.
func (c *canonicaliser) take(b *ir.Builder, op *ir.Op, arm *ir.Block) {
	c.at.Did(op)
	c.changed = true
	if arm == nil {
		return
	}
	ops := arm.Region.Ops
	if last := arm.Region.Last(); last != nil {
		ops = ops[:len(ops)-1]
	}
	c.ops(b, ops)
	for i, v := range arm.Region.Yields() {
		c.d.Replaced[op.Results[i]] = c.d.Value(v)
	}
}
