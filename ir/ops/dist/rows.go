package dist

import (
	"errors"
	"fmt"

	"tenon/ir"
	"tenon/ir/ops/access"
)

// Owned binds the range of a dim that this rank owns.
var Owned = ir.Register(&ir.OpDef{
	Name: "dist.owned",
	Doc: "Binds the indices of one dim that this rank owns.\n" +
		"dist.owned(%A) dim=0 exists(lo: 0 <= lo, hi: lo <= hi and hi <= N)\n" +
		"A block dim binds lo and hi: lo <= i < hi are owned; lo == hi on an idle rank. A cyclic(b) dim binds lo, hi\n" +
		"and step: i is owned if lo + k*step <= i < min(hi, lo + k*step + b) for some k >= 0.",
	Clauses: []ir.ClauseSpec{{Kind: ir.KindOperands}, {Kind: ir.KindAttr, KW: "dim"}, {Kind: ir.KindExists, KW: "exists"}},
	Verify:  checkOwned,
	Eval:    evalOwned,
})

func checkOwned(c *ir.Checker, op *ir.Op) {
	if err := access.Count(op, 1, "one buffer"); err != nil {
		c.Errorf(op, "%v", err)
		return
	}
	t, err := distributed(op.Args("")[0])
	var d int
	if err == nil {
		d, err = mappedDim(op, t)
	}
	if err != nil {
		c.Errorf(op, "%v", err)
		return
	}
	checkGrid(c, op, t.Dist)
	want := 2
	if t.Dist.Dims[d].Cyclic {
		want = 3
	}
	if n := len(ir.GetClause[*ir.Exists](op, "exists").Dims); n != want {
		c.Errorf(op, "%d names are bound; a block dim has lo and hi, a cyclic one lo, hi and step", n)
	}
}

// Halo refreshes the copies of neighbours' elements.
var Halo = ir.Register(&ir.OpDef{
	Name: "dist.halo",
	Doc: "Refreshes this rank's halo copies along one dim from the ranks that own the elements.\n" +
		"dist.halo(%A) dim=0\nA write by the owner makes the copies stale again.",
	Clauses: []ir.ClauseSpec{{Kind: ir.KindOperands}, {Kind: ir.KindAttr, KW: "dim"}},
	Traits:  ir.Collective,
	Verify: func(c *ir.Checker, op *ir.Op) {
		if err := checkHalo(op); err != nil {
			c.Errorf(op, "%v", err)
			return
		}
		checkGrid(c, op, op.Operand(0).Type.(ir.Buf).Dist)
	},
	// Halo copies are not the program's data: a buffer that is only read has
	// halos to refresh too.
	Effects: func(op *ir.Op) []ir.Effect { return append(access.Reads(op.Operand(0)), sync) },
	Eval:    evalHalo,
})

// sync is the effect of a collective.
var sync = ir.Effect{Kind: ir.EffectSync}

func checkHalo(op *ir.Op) error {
	if err := access.Count(op, 1, "one buffer"); err != nil {
		return err
	}
	t, err := distributed(op.Args("")[0])
	if err != nil {
		return err
	}
	d, err := mappedDim(op, t)
	if err == nil && t.Dist.Dims[d].HaloLow == 0 && t.Dist.Dims[d].HaloTop == 0 {
		err = fmt.Errorf("dim %d of %s has no halo to exchange", d, t)
	}
	return err
}

// Reduce combines the ranks' partial copies.
var Reduce = ir.Register(&ir.OpDef{
	Name: "dist.reduce",
	Doc: "Combines the copies of a partial buffer in rank order and gives every rank the elements that the layout of\n" +
		"the destination wants there.\ndist.reduce(%part, %sum)",
	Clauses: []ir.ClauseSpec{{Kind: ir.KindOperands}},
	Traits:  ir.Collective | ir.Reduces,
	Verify: checkPair(func(from ir.Buf) error {
		switch {
		case from.Dist.Partial == "":
			return errors.New("the source is not partial; use dist.convert")
		case combiner(from.Dist.Partial, from.Elem) == nil:
			return fmt.Errorf("there is no %s of %s elements", from.Dist.Partial, from.Elem)
		}
		return nil
	}),
	Effects: pairEffects,
	Eval:    evalReduce,
})

// Convert changes the layout.
var Convert = ir.Register(&ir.OpDef{
	Name: "dist.convert",
	Doc: "Copies a buffer to one with another layout on the same grid; halos are not filled.\n" +
		"dist.convert(%rows, %columns)",
	Clauses: []ir.ClauseSpec{{Kind: ir.KindOperands}},
	Traits:  ir.Collective,
	Verify: checkPair(func(from ir.Buf) error {
		if from.Dist.Partial != "" {
			return errors.New("the source is partial; use dist.reduce")
		}
		return nil
	}),
	Effects: pairEffects,
	Eval:    evalConvert,
})

func checkPair(source func(from ir.Buf) error) func(c *ir.Checker, op *ir.Op) {
	return func(c *ir.Checker, op *ir.Op) {
		from, to, err := pair(op)
		if err == nil {
			err = source(from)
		}
		if err != nil {
			c.Errorf(op, "%v", err)
			return
		}
		checkGrid(c, op, from.Dist)
		checkGrid(c, op, to.Dist)
	}
}

func pairEffects(op *ir.Op) []ir.Effect {
	args := op.Args("")
	return append(append(access.Reads(args[0].Value), access.Writes(args[1].Value)...), sync, access.Trap)
}

// Rank is this rank's place along an axis of a grid.
var Rank = ir.Register(&ir.OpDef{
	Name:          "dist.rank",
	Doc:           "Gives this rank's place along an axis of a grid, from 0.\n%r = dist.rank grid=@g axis=0",
	Clauses:       []ir.ClauseSpec{{Kind: ir.KindAttr, KW: "grid"}, {Kind: ir.KindAttr, KW: "axis"}},
	TypesInferred: true,
	Infer:         func(*ir.Op, []ir.Type) ([]ir.Type, error) { return []ir.Type{ir.IndexType}, nil },
	Verify:        checkRank,
	Eval: func(m ir.Machine, op *ir.Op) ir.Step {
		l := &Layout{Grid: m.GridShape(ir.GetClause[*ir.Attr](op, "grid").Str)}
		axis, dst := int(ir.GetClause[*ir.Attr](op, "axis").Int), m.Scalar(op.Results[0])
		return func(f *ir.Frame) { access.SetInt(f, dst, l.Coord(rankOf(f), axis)) }
	},
})

func checkRank(c *ir.Checker, op *ir.Op) {
	g := ir.Lookup[*ir.Grid](c.Module, ir.GetClause[*ir.Attr](op, "grid").Str)
	axis := ir.GetClause[*ir.Attr](op, "axis").Int
	switch {
	case g == nil:
		c.Errorf(op, "there is no grid @%s", ir.GetClause[*ir.Attr](op, "grid").Str)
	case axis < 0 || int(axis) >= len(g.Axes):
		c.Errorf(op, "grid @%s has %d axes, so there is no axis %d", g.Name, len(g.Axes), axis)
	}
}

// rankOf is the rank that runs a frame; 0 outside a grid.
func rankOf(f *ir.Frame) int {
	if f.T == nil {
		return 0
	}
	return f.T.Rank
}
