package loop

import (
	"errors"

	"tenon/ir"
	"tenon/ir/ops/access"
)

// The ops of this file are what lower-comps puts around a choice that is to be
// watched: a table beside the code says which variant to take instead of the
// picked one, and how often each has run.

// Pick is the number of the variant to run.
var Pick = ir.Register(&ir.OpDef{
	Name: "loop.pick",
	Doc: "The number of the variant to run: what is given, or what the caller of compiled code forces instead.\n" +
		"%n = loop.pick(%k) choice = 0 variants(\"a\", ..)\n" +
		"choice numbers the choices of a proc.",
	Clauses: []ir.ClauseSpec{{Kind: ir.KindOperands}, {Kind: ir.KindAttr, KW: "choice"}, {Kind: ir.KindDirectives, KW: "variants"}},
	Infer: func(op *ir.Op, _ []ir.Type) ([]ir.Type, error) {
		if err := access.Count(op, 1, "an integer"); err != nil {
			return nil, err
		}
		v := op.Args("")[0].Value
		if v == nil || !access.IsScalar(v) || !ir.ElemOf(v.Type).IsInt() {
			return nil, errors.New("picks by an integer value")
		}
		return []ir.Type{v.Type}, nil
	},
	TypesInferred: true,
	Verify:        checkChoice,
	Effects:       watched,
	Eval: func(m ir.Machine, op *ir.Op) ir.Step {
		return access.Move(m, op.Operand(0), op.Results[0])
	},
})

// Ran counts.
var Ran = ir.Register(&ir.OpDef{
	Name:    "loop.ran",
	Doc:     "Counts, in compiled code, that a variant of a choice runs.\nloop.ran choice = 0 variant = 2",
	Clauses: []ir.ClauseSpec{{Kind: ir.KindAttr, KW: "choice"}, {Kind: ir.KindAttr, KW: "variant"}},
	Verify:  checkChoice,
	Effects: watched,
	Eval:    func(ir.Machine, *ir.Op) ir.Step { return func(*ir.Frame) {} },
})

// watched: each time that the op is passed counts, so it stays where it is.
func watched(*ir.Op) []ir.Effect { return []ir.Effect{{Kind: ir.EffectSync}} }

func checkChoice(c *ir.Checker, op *ir.Op) {
	for _, clause := range op.Clauses {
		switch x := clause.(type) {
		case *ir.Attr:
			if x.Value != ir.AttrInt || x.Int < 0 {
				c.Errorf(op, "a choice and a variant have numbers, 0 or more")
			}
		case *ir.Directives:
			if len(x.List) == 0 {
				c.Errorf(op, "there is no variant")
			}
		}
	}
}

// Choice is the number of the choice that a loop.pick or loop.ran belongs to.
func Choice(op *ir.Op) int { return int(ir.GetClause[*ir.Attr](op, "choice").Int) }

// Variant is the number of the variant that a loop.ran counts.
func Variant(op *ir.Op) int { return int(ir.GetClause[*ir.Attr](op, "variant").Int) }

// Variants are the names of those that a loop.pick picks from.
func Variants(op *ir.Op) []string { return ir.GetClause[*ir.Directives](op, "variants").List }

// Picks lists the watched choices of f by number; nil stands for one that is gone.
func Picks(f *ir.Func) (list []*ir.Op) {
	f.Body.Walk(func(op *ir.Op) bool {
		if op.Def == Pick {
			for len(list) <= Choice(op) {
				list = append(list, nil)
			}
			list[Choice(op)] = op
		}
		return true
	})
	return list
}
