package driver

import (
	"context"
	"path/filepath"

	"tenon/frontend/weights"
	"tenon/internal/debug"
	"tenon/internal/diag"
	"tenon/internal/num"
	"tenon/ir"
	"tenon/ir/interp"
)

// Interpret runs the call in the interpreter. With shadow the results carry
// error bounds, for Compare.
func (c *Call) Interpret(ctx context.Context, ranks int, shadow bool) ([]any, error) {
	p := interp.New(c.Module, interp.Options{
		Context: ctx, Ranks: ranks, Shadow: shadow, Seed: debug.Flags.Seed, Data: c.readData,
	})
	if err := c.fits(); err != nil {
		return nil, err
	}
	args := make([]any, len(c.Args))
	for i := range c.Args {
		var err error
		if args[i], err = c.interpArg(i); err != nil {
			return nil, err
		}
	}
	rs, err := p.Run(c.Func.Name, args)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return rs, err
}

// fits refuses arrays whose cells, 8 bytes an element, exceed the memory.
func (c *Call) fits() error {
	for i, a := range c.Args {
		for _, x := range append([]*weights.Array{a.Array}, a.Parts...) {
			if x == nil {
				continue
			}
			if _, err := weights.ByteSize(num.F64, x.Shape); err != nil {
				return diag.Errorf(diag.Pos{}, "%s is too large for the interpreter, which takes 8 bytes an element: %v", c.Func.Params[i].Value.Name, err).
					WithFix("take a part of it, or run compiled code")
			}
		}
	}
	return nil
}

func (c *Call) interpArg(i int) (any, error) {
	a := c.Args[i]
	switch t := c.Func.Params[i].Value.Type.(type) {
	case ir.Scalar:
		return interp.Scalar{Elem: t.Elem, Cell: a.Cell}, nil
	case ir.Pattern:
		return a.Pattern.value, nil
	case ir.Tensor:
		if t.Enc == nil {
			return toArray(a.Array), nil
		}
		shape, err := c.shape(c.Func.Params[i].Value.Name, t.Dims)
		if err != nil {
			return nil, err
		}
		e := &ir.Encoded{Enc: t.Enc, Shape: shape}
		for _, p := range a.Parts {
			e.Parts = append(e.Parts, toArray(p))
		}
		return e, nil
	}
	return toArray(a.Array), nil
}

// readData reads a constant that the program keeps in a file beside it.
func (c *Call) readData(d *ir.Data) (*ir.Array, error) {
	file := d.File
	if !filepath.IsAbs(file) {
		file = filepath.Join(filepath.Dir(c.Func.Loc.First().File), file)
	}
	t := d.Type.(ir.Tensor)
	a, err := weights.Value{Text: file, File: file, Member: d.Key}.Load(weights.Want{Name: "@" + d.Name, Elem: t.Elem, Rank: len(t.Dims)})
	if err != nil {
		return nil, err
	}
	return toArray(a), nil
}

// toArray copies an array into the interpreter's form, a cell an element.
func toArray(a *weights.Array) *ir.Array {
	out := ir.NewArray(a.Elem, a.Shape...)
	copy(out.Mem.Cells, a.Cells())
	return out
}

// fromValue copies a result of the interpreter out.
func fromValue(v any) *weights.Array {
	switch v := v.(type) {
	case interp.Scalar:
		return weights.FromCells(v.Elem, []int64{}, []num.Cell{v.Cell})
	case *ir.Array:
		cells := make([]num.Cell, 0, v.Size())
		index := make([]int64, len(v.Shape))
		for range v.Size() {
			at, _ := v.Cell(index)
			cells = append(cells, v.Mem.Cells[at])
			for d := len(index) - 1; d >= 0; d-- {
				if index[d]++; index[d] < v.Shape[d] {
					break
				}
				index[d] = 0
			}
		}
		return weights.FromCells(v.Elem, append([]int64{}, v.Shape...), cells)
	}
	diag.Bugf("a result is a %T", v)
	return nil
}

// Arrays copies results of the interpreter out.
func Arrays(results []any) []*weights.Array {
	var as []*weights.Array
	for _, r := range results {
		as = append(as, fromValue(r))
	}
	return as
}
