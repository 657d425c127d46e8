package loop

import "tenon/ir"

// The clauses of a loop, by kind; an op that is no loop has no range.

func rangeOf(op *ir.Op) *ir.Range {
	for _, c := range op.Clauses {
		if r, ok := c.(*ir.Range); ok {
			return r
		}
	}
	return nil
}

func carryOf(op *ir.Op) *ir.Carry {
	for _, c := range op.Clauses {
		if c, ok := c.(*ir.Carry); ok {
			return c
		}
	}
	return &ir.Carry{}
}

func bodyOf(op *ir.Op) *ir.Region { return op.Regions()[0] }
