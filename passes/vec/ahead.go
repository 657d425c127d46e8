package vec

import (
	"fmt"

	"tenon/ir"
	"tenon/ir/sym"
)

// A row that several loops read one after the other comes from memory in the
// first of them, which waits for it: what fetches ahead of a core stops at pages,
// and rows end at some. A later loop that computes much meanwhile leaves memory
// idle; it asks for the next row, a prefetch a vector. (Zen 3, 16384 rows of 1024
// f32, a maximum and then exponentials: 19.4 cycles for 8 elements, without it
// 27; in cache it costs nothing that could be measured.)

// aheadOf finds the loads in loops of r from which the next row of an argument
// is fetched, where r is the body of a loop over rows.
func aheadOf(r *ir.Region, row *ir.Range) map[*ir.Op]bool {
	if row == nil || row.Size != "" {
		return nil
	}
	if one, ok := row.Step.IsConst(); !ok || one != 1 {
		return nil
	}
	ahead, read := map[*ir.Op]bool{}, map[string]bool{}
	written := storesIn(r)
	for _, op := range r.Ops {
		in := rangeOf(op)
		if in == nil || hasLoops(op) {
			continue
		}
		for _, ld := range bodyOf(op).Ops {
			if ld.Def.Name != "load" {
				continue
			}
			a := ld.Args("")[0]
			if a.Value.Def != nil || written[a.Value] || !alongRow(subsOf(a), in.Name, row.Name) {
				continue
			}
			subs := subsOf(a)
			key := fmt.Sprintf("%s %v", a.Value.Name, subs[:len(subs)-1])
			if read[key] && len(bodyOf(op).Ops) > inFlight {
				ahead[ld], read[key] = true, false // once
				continue
			}
			read[key] = true
		}
	}
	return ahead
}

// storesIn are the buffers that ops of r store to.
func storesIn(r *ir.Region) map[*ir.Value]bool {
	written := map[*ir.Value]bool{}
	r.Walk(func(op *ir.Op) bool {
		if op.Def.Name == "store" {
			written[op.Args("")[1].Value] = true
		}
		return true
	})
	return written
}

// alongRow reports an element that goes along the last dim with index, in a row
// that row alone picks, by one dim of its own.
func alongRow(subs []sym.Expr, index, row string) bool {
	if len(subs) < 2 || !subs[len(subs)-1].Equal(sym.Name(index)) {
		return false
	}
	n := 0
	for _, s := range subs[:len(subs)-1] {
		if s.Equal(sym.Name(row)) {
			n++
		} else if s.Uses(row) || len(s.Refs()) > 0 {
			return false
		}
	}
	return n == 1
}

// prefetch asks for the element of the next row that lies where a does. Of rows
// that are too long to wait in a cache it asks for the one at hand, which costs
// as little: the test is part of the subscript.
func (e *emitter) prefetch(a ir.Arg) {
	const bytes = 128 << 10 // half of a second-level cache of 256K, the least there is
	most := int64(bytes / ir.ElemOf(a.Value.Type).Bytes())
	next := sym.Add(sym.Name(e.row.Name), sym.Min(sym.Const(1), sym.FloorDiv(sym.Const(most), sym.Add(e.trips, sym.Const(1)))))
	mapped := e.mapped(a, e.uniform)
	var subs []sym.Expr
	for _, s := range subsOf(mapped) {
		subs = append(subs, s.Subst(map[string]sym.Expr{e.row.Name: next}))
	}
	op := ir.NewOp("vec.prefetch", e.b.Loc, &ir.Operands{Args: []ir.Arg{ir.ElemArg(mapped.Value, subs...)}})
	e.b.Add(op, nil)
}
