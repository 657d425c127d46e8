package tile

import (
	"errors"
	"fmt"

	"tenon/internal/num"
	"tenon/ir"
	"tenon/ir/ops/access"
)

// Pack copies a matrix into panels.
var Pack = ir.Register(&ir.OpDef{
	Name: "tile.pack",
	Doc: "Copies a matrix into panels that a micro-kernel reads contiguously.\n" +
		"tile.pack(%B[k0:kk, n0:nn], %Bp) panel=32 [axis=1]\n" +
		"With axis=1 (the default) dst[p, l, j] = src[l, panel*p + j], with axis=0 dst[p, l, j] = src[panel*p + j, l],\n" +
		"for every panel that src reaches; where it ends inside a panel the rest is 0.",
	Clauses: []ir.ClauseSpec{
		{Kind: ir.KindOperands},
		{Kind: ir.KindAttr, KW: "panel"},
		{Kind: ir.KindAttr, KW: "axis", Optional: true},
	},
	Verify: access.Report(checkPack),
	Effects: func(op *ir.Op) []ir.Effect {
		args := op.Args("")
		return append(append(access.Reads(args[0].Value), access.Writes(args[1].Value)...), access.Trap)
	},
	Eval: evalPack,
})

// packAxis is the dim of the source that is cut into panels.
func packAxis(op *ir.Op) int {
	if a := ir.GetClause[*ir.Attr](op, "axis"); a != nil {
		return int(a.Int)
	}
	return 1
}

func checkPack(op *ir.Op) error {
	if err := access.Count(op, 2, "a source and a destination"); err != nil {
		return err
	}
	args := op.Args("")
	src, err := access.Buffer(args[0])
	if err != nil {
		return err
	}
	dst, err := access.Buffer(args[1])
	switch {
	case err != nil:
		return err
	case src.Elem != dst.Elem:
		return fmt.Errorf("%s elements are packed into %s ones; packing does not convert", src.Elem, dst.Elem)
	case len(access.ViewDims(args[0])) != 2 || len(access.ViewDims(args[1])) != 3:
		return errors.New("the source must have 2 dims, the destination 3: panel, depth, place in the panel")
	case ir.GetClause[*ir.Attr](op, "panel").Int <= 0:
		return errors.New("the panel's width must be positive")
	case packAxis(op) != 0 && packAxis(op) != 1:
		return errors.New("axis must be 0 or 1")
	}
	return nil
}

func evalPack(m ir.Machine, op *ir.Op) ir.Step {
	src, dst := access.View(m, op, op.Args("")[0]), access.View(m, op, op.Args("")[1])
	panel, axis := ir.GetClause[*ir.Attr](op, "panel").Int, packAxis(op)
	return func(f *ir.Frame) {
		from, to := src(f), dst(f)
		wide, deep := from.Shape[axis], from.Shape[1-axis]
		panels := (wide + panel - 1) / panel
		if to.Shape[0] < panels || to.Shape[1] < deep || to.Shape[2] < panel {
			m.Trap(op, ir.TrapIndex, "%d panels of %d x %d do not fit into a buffer of shape %v", panels, deep, panel, to.Shape)
		}
		access.Each([]int64{panels, deep, panel}, func(idx []int64) {
			at := [2]int64{idx[1], idx[1]}
			at[axis] = panel*idx[0] + idx[2]
			var c num.Cell // 0 of any type
			var s num.Shadow
			if at[axis] < wide {
				pos, _ := from.Cell(at[:])
				c, s = access.Read(f, op, from, pos)
			}
			pos, _ := to.Cell(idx)
			access.Write(f, op, to, pos, c, s)
		})
	}
}
