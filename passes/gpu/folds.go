package gpu

import (
	"math"
	"slices"

	"tenon/internal/num"
	"tenon/ir"
	"tenon/ir/sym"
)

func carryOf(op *ir.Op) *ir.Carry {
	for _, c := range op.Clauses {
		if c, ok := c.(*ir.Carry); ok && c != nil {
			return c
		}
	}
	return &ir.Carry{}
}

// foldsOf are the ops that fold the carried values of a loop, if that is all
// that the loop does with them, by operators whose identity is known, and the
// folds may be regrouped; else nil.
func foldsOf(op *ir.Op) (folds []*ir.Op) {
	if op.Def.Name != "loop.for" || len(carryOf(op).Params) == 0 || len(carryOf(op).Params) != len(op.Results) {
		return nil
	}
	if r := rangeOf(op); r.Size != "" || !r.Step.Equal(sym.Const(1)) || len(accessesOf(op).writes) > 0 {
		return nil
	}
	regroup := false
	for _, c := range op.Clauses {
		if d, ok := c.(*ir.Directives); ok && d != nil {
			regroup = slices.Contains(d.List, "reassoc")
		}
	}
	yields := bodyOf(op).Yields()
	for i, p := range carryOf(op).Params {
		by := yields[i].Def
		if by == nil || !slices.Contains(bodyOf(op).Ops, by) || !foldable[by.Def.Name] {
			return nil
		}
		exact := !ir.ElemOf(p.Type).IsFloat() || by.Def.Name == "max" || by.Def.Name == "min"
		args := by.OperandValues("")
		if !exact && !regroup || len(args) != 2 || args[0] == args[1] || !slices.Contains(args, p) ||
			uses(op, p) != 1 || uses(op, yields[i]) != 1 {
			return nil
		}
		folds = append(folds, by)
	}
	return folds
}

var foldable = map[string]bool{"add": true, "mul": true, "max": true, "min": true, "and": true, "or": true}

// uses counts how often v is used inside op.
func uses(op *ir.Op, v *ir.Value) (n int) {
	bodyOf(op).Walk(func(in *ir.Op) bool {
		in.Values(func(u *ir.Value) *ir.Value {
			if u == v {
				n++
			}
			return u
		})
		return true
	})
	return n
}

// identity is what leaves any value as it is under an operator. Of a sum of
// floats that is -0.0: 0.0 + -0.0 is 0.0.
func identity(by string, e num.Elem) num.Cell {
	if e.IsFloat() {
		x := map[string]float64{"add": math.Copysign(0, -1), "mul": 1, "max": math.Inf(-1), "min": math.Inf(1)}[by]
		return num.FromFloat(x)
	}
	if e == num.Bool {
		return num.FromBool(by == "and" || by == "min" || by == "mul")
	}
	lo, hi := num.IntRange(e)
	return num.FromInt(num.Wrap(e, map[string]int64{"mul": 1, "max": lo, "min": hi, "and": -1}[by]))
}

// wantsBlock reports that op has work for all threads of a block: a parallel
// loop, or a fold along rows. n is the index of the innermost loop around it; a
// fold that has it in the last subscript of a load goes down columns, and the
// threads of neighbouring points read neighbours.
func wantsBlock(op *ir.Op, n string) (wants bool) {
	walk(op, func(in *ir.Op) {
		if isParallel(in) || foldsOf(in) != nil && alongRows(in, n) {
			wants = true
		}
	})
	return wants
}

func alongRows(fold *ir.Op, n string) bool {
	along, across := false, false
	walk(fold, func(in *ir.Op) {
		if in.Def.Name != "load" {
			return
		}
		if w := in.Args("")[0].View; w != nil && len(w.Dims) > 0 {
			last := w.Dims[len(w.Dims)-1].Start
			along = along || last.Uses(rangeOf(fold).Name)
			across = across || last.Uses(n)
		}
	})
	return along && !across
}
