package dist

import (
	"fmt"

	"tenon/internal/num"
	"tenon/ir"
	"tenon/ir/ops/access"
)

// Array is one rank's copy of an argument of a proc at the dist level.
//
// How a run of such a proc goes: GridOf names the grid; for each buffer
// parameter LayoutOf gives the layout once the dims are bound, and Distribute
// the ranks' copies of the argument. Machine.Coroutines then runs the body once
// a rank, with f.T.Sync wrapped by Phases and the rank's copies in the slots of
// the parameters. At the end Collect puts what the ranks own back into the
// caller's array, for out and inout parameters.

// GridOf is the grid over which the parameters of fn are distributed; "" if
// none is.
func GridOf(fn *ir.Func) string {
	for _, p := range fn.Params {
		if t, ok := p.Value.Type.(ir.Buf); ok && t.Dist != nil {
			return t.Dist.Grid
		}
	}
	grid := ""
	fn.Body.Walk(func(op *ir.Op) bool {
		for _, r := range op.Results {
			if t, ok := r.Type.(ir.Buf); ok && t.Dist != nil && grid == "" {
				grid = t.Dist.Grid
			}
		}
		return grid == ""
	})
	return grid
}

// LayoutOf stages the layout of a parameter; one that is not distributed is
// replicated over the grid named.
func LayoutOf(m ir.Machine, p *ir.Param, grid string) func(*ir.Frame) *Layout {
	t := p.Value.Type.(ir.Buf)
	if t.Dist == nil {
		t.Dist = &ir.Dist{Grid: grid}
	}
	return layoutOf(m, nil, t)
}

// Distribute makes the ranks' copies of arr. A rank gets the elements that it
// owns; the rest of its copy, halos included, is poison. Out parameters are
// poison altogether. Copies of distributed buffers are watched.
func Distribute(m ir.Machine, f *ir.Frame, p *ir.Param, l *Layout, arr *ir.Array) []*ir.Array {
	var log *writeLog
	if l.Mapped() {
		log = newLog(l)
	}
	var copies []*ir.Array
	for rank := 0; rank < l.Ranks(); rank++ {
		mine := m.Array(f, arr.Elem, l.Shape)
		if p.Mode != ir.ModeOut {
			access.Each(l.Shape, func(idx []int64) {
				if l.Owns(rank, idx) {
					transfer(arr, mine, idx)
				}
			})
		}
		if log != nil {
			newPart(m, p.Value.Name, l, rank, mine, log)
		}
		copies = append(copies, mine)
	}
	return copies
}

// Collect puts the elements that the ranks own into arr. Where several ranks
// hold an element their copies must be equal, and none may be partial.
func Collect(p *ir.Param, l *Layout, copies []*ir.Array, arr *ir.Array) error {
	if l.Partial != "" {
		return fmt.Errorf("%%%s is still partial(%s) at the end", p.Value.Name, l.Partial)
	}
	var err error
	access.Each(l.Shape, func(idx []int64) {
		first := -1
		for rank := range copies {
			if !l.Owns(rank, idx) || err != nil {
				continue
			}
			if first < 0 {
				first = rank
				transfer(copies[rank], arr, idx)
			} else if !sameAt(copies[first], copies[rank], idx) {
				err = fmt.Errorf("ranks %d and %d disagree on element %v of %%%s, of which both hold a copy",
					first, rank, idx, p.Value.Name)
			}
		}
	})
	return err
}

func sameAt(a, b *ir.Array, idx []int64) bool {
	i, _ := a.Cell(idx)
	j, _ := b.Cell(idx)
	return num.Same(a.Elem, a.Mem.Cells[i], b.Mem.Cells[j])
}

// JoinAlloc stages what makes a rank's fresh array part of a distributed
// buffer. Ranks meet where a dim is mapped, to share what they know of writes.
func JoinAlloc(m ir.Machine, op *ir.Op, t ir.Buf) func(f *ir.Frame, arr *ir.Array) {
	layout := layoutOf(m, op, t)
	return func(f *ir.Frame, arr *ir.Array) {
		l := layout(f)
		if !l.Mapped() || f.T == nil || f.T.Sync == nil {
			return
		}
		var log *writeLog
		if f.T.Rank == 0 {
			log = newLog(l)
		}
		log = f.T.Sync.Exchange(key(op), log)[0].(*writeLog)
		newPart(m, op.Results[0].Name, l, f.T.Rank, arr, log)
	}
}
