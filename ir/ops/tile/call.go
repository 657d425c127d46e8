package tile

import (
	"errors"
	"fmt"

	"tenon/internal/num"
	"tenon/ir"
	"tenon/ir/ops/access"
)

// Call runs a micro-kernel on one tile.
var Call = ir.Register(&ir.OpDef{
	Name: "tile.call",
	Doc: "Runs a micro-kernel on a tile of the result.\n" +
		"tile.call kernel=@k (%C[i0:ii, j0:jj], kk) [acc=ELEM] [first(..)] [last(..)] a(i, l) {..} b(l, j) {..} [epilogue(%acc, i, j) {..}]\n" +
		"The first operand is the tile, at most as large as the kernel's; the others are the kernel's further dims. a and\n" +
		"b yield the elements of the kernel's inputs by their number inside the tile. Where first holds (always, if left\n" +
		"out) accumulators start empty, else at the tile's values. Where last holds (always, if left out) the epilogue\n" +
		"gives what is stored from an accumulator and its place. acc is the accumulators' type, that of the tile by default.",
	Clauses: []ir.ClauseSpec{
		{Kind: ir.KindAttr, KW: "kernel"},
		{Kind: ir.KindOperands},
		{Kind: ir.KindAttr, KW: "acc", Optional: true},
		{Kind: ir.KindConds, KW: "first", Optional: true},
		{Kind: ir.KindConds, KW: "last", Optional: true},
		{Kind: ir.KindBlock, KW: "a"},
		{Kind: ir.KindBlock, KW: "b"},
		{Kind: ir.KindBlock, KW: "epilogue", Optional: true},
	},
	Traits: ir.Reduces,
	Bind:   bindCall,
	Verify: checkCall,
	Effects: func(op *ir.Op) []ir.Effect {
		return append(access.Updates(op.Args("")[0].Value), access.Trap)
	},
	Eval: evalCall,
})

// accElem is the type of the accumulators.
func accElem(op *ir.Op) num.Elem {
	if a := ir.GetClause[*ir.Attr](op, "acc"); a != nil {
		return num.ElemByName(a.Str)
	}
	if args := op.Args(""); len(args) > 0 && args[0].Value != nil {
		return ir.ElemOf(args[0].Value.Type)
	}
	return num.Invalid
}

// bindCall types the accumulator that the epilogue gets.
func bindCall(op *ir.Op, i int) error {
	b, ok := op.Clauses[i].(*ir.Block)
	if !ok || op.Def.Clauses[i].KW != "epilogue" || len(b.Params) == 0 || b.Params[0].Val == nil {
		return nil
	}
	e := accElem(op)
	if e == num.Invalid {
		return errors.New("the accumulators' type is unknown: the first operand must be a tile of a buffer, acc an element type")
	}
	b.Params[0].Val.Type = ir.Scalar{Elem: e}
	return nil
}

// kernelShape splits a kernel's parameters: inputs, then the one output.
func kernelShape(k *ir.Kernel) (ins []*ir.Param, out *ir.Param, err error) {
	for i, p := range k.Params {
		_, isBuf := p.Value.Type.(ir.Buf)
		switch {
		case !isBuf:
			return nil, nil, fmt.Errorf("parameter %%%s of kernel @%s is not a buffer", p.Value.Name, k.Name)
		case p.Mode == ir.ModeIn && out == nil:
			ins = append(ins, p)
		case p.Mode != ir.ModeIn && i == len(k.Params)-1:
			out = p
		default:
			return nil, nil, fmt.Errorf("kernel @%s must have its inputs first and one output last", k.Name)
		}
	}
	if len(ins) != 2 || out == nil {
		return nil, nil, fmt.Errorf("kernel @%s must have two inputs and one output", k.Name)
	}
	return ins, out, nil
}

// tileDims are the kernel's dims that are the dims of its output, in the
// output's order, and the others in the kernel's.
func tileDims(k *ir.Kernel, out *ir.Param) (tile, others []string, err error) {
	isTile := map[string]bool{}
	dims, _ := ir.DimsOf(out.Value.Type)
	for _, d := range dims {
		n, ok := d.IsName()
		if !ok {
			return nil, nil, fmt.Errorf("dim %s of the output of kernel @%s is not one of the kernel's dims", d, k.Name)
		}
		isTile[n] = true
		tile = append(tile, n)
	}
	for _, n := range k.Dims {
		if !isTile[n] {
			others = append(others, n)
		}
	}
	return tile, others, nil
}

func checkCall(c *ir.Checker, op *ir.Op) {
	name := ir.GetClause[*ir.Attr](op, "kernel").Str
	k := ir.Lookup[*ir.Kernel](c.Module, name)
	if k == nil {
		c.Errorf(op, "there is no kernel @%s", name)
		return
	}
	ins, out, err := kernelShape(k)
	if err == nil {
		err = checkTile(op, k, out)
	}
	if err == nil {
		err = checkProviders(op, ins, out)
	}
	if err != nil {
		c.Errorf(op, "%v", err)
	}
}

func checkTile(op *ir.Op, k *ir.Kernel, out *ir.Param) error {
	tile, others, err := tileDims(k, out)
	if err != nil {
		return err
	}
	args := op.Args("")
	if len(args) != 1+len(others) {
		return fmt.Errorf("%d operands given, want a tile of the result and %v", len(args), others)
	}
	if _, err := access.Buffer(args[0]); err != nil {
		return err
	}
	if n := len(access.ViewDims(args[0])); n != len(tile) {
		return fmt.Errorf("the tile has %d dims, the kernel's output %d", n, len(tile))
	}
	for i, a := range args[1:] {
		if !access.IsInt(a) {
			return fmt.Errorf("the operand for %s must be an integer", others[i])
		}
	}
	if e := ir.ElemOf(out.Value.Type); e != accElem(op) {
		return fmt.Errorf("the kernel accumulates in %s; write acc=%s", e, e)
	}
	return nil
}

func checkProviders(op *ir.Op, ins []*ir.Param, out *ir.Param) error {
	for i, kw := range []string{"a", "b"} {
		t := ins[i].Value.Type.(ir.Buf)
		b := ir.GetClause[*ir.Block](op, kw)
		if len(b.Params) != len(t.Dims) {
			return fmt.Errorf("region %s has %d parameters, but %%%s has %d dims", kw, len(b.Params), ins[i].Value.Name, len(t.Dims))
		}
		if err := yieldsOne(kw, b, t.Elem); err != nil {
			return err
		}
	}
	e := ir.GetClause[*ir.Block](op, "epilogue")
	if e == nil {
		return nil
	}
	dims, _ := ir.DimsOf(out.Value.Type)
	if len(e.Params) != 1+len(dims) || e.Params[0].Val == nil {
		return fmt.Errorf("the epilogue's parameters are an accumulator and %d element numbers", len(dims))
	}
	return yieldsOne("epilogue", e, ir.ElemOf(op.Args("")[0].Value.Type))
}

func yieldsOne(kw string, b *ir.Block, e num.Elem) error {
	ys := b.Region.Yields()
	if len(ys) != 1 || !ir.SameType(ys[0].Type, ir.Scalar{Elem: e}) {
		return fmt.Errorf("region %s must yield one %s", kw, e)
	}
	for i, p := range b.Params {
		if p.Val != nil && (kw != "epilogue" || i > 0) {
			return fmt.Errorf("parameter %d of region %s is an element number, so write a name without %%", i+1, kw)
		}
	}
	return nil
}
