package dist

import (
	"fmt"

	"tenon/internal/num"
	"tenon/ir"
	"tenon/ir/ops/access"
)

func evalOwned(m ir.Machine, op *ir.Op) ir.Step {
	t := op.Operand(0).Type.(ir.Buf)
	layout, d := layoutOf(m, op, t), int(ir.GetClause[*ir.Attr](op, "dim").Int)
	var slots []int
	for _, x := range ir.GetClause[*ir.Exists](op, "exists").Dims {
		slots = append(slots, m.Symbol(x.Name))
	}
	return func(f *ir.Frame) {
		l := layout(f)
		dm := l.Dims[d]
		parts, at := l.Grid[dm.Axis], l.Coord(rankOf(f), dm.Axis)
		if !dm.Cyclic {
			lo, hi := BlockRange(l.Shape[d], parts, at)
			access.SetInt(f, slots[0], lo)
			access.SetInt(f, slots[1], hi)
			return
		}
		access.SetInt(f, slots[0], min(at*dm.Block, l.Shape[d]))
		access.SetInt(f, slots[1], l.Shape[d])
		access.SetInt(f, slots[2], dm.Block*parts)
	}
}

// meeting is what a rank brings to a collective.
type meeting struct{ src, dst *ir.Array }

// meet lets all ranks hand in their arrays, runs body on them, and lets nobody
// go on before all are done with the others' memory.
func meet(f *ir.Frame, op *ir.Op, mine meeting, body func(all []meeting)) {
	if f.T == nil || f.T.Sync == nil {
		body([]meeting{mine})
		return
	}
	k := key(op)
	var all []meeting
	for _, x := range f.T.Sync.Exchange(k, mine) {
		all = append(all, x.(meeting))
	}
	body(all)
	f.T.Sync.Barrier(k + ", end")
}

// key names a collective in messages; two ranks are at the same one iff their
// keys are equal.
func key(op *ir.Op) string {
	if p := op.Loc.First(); p.IsValid() {
		return fmt.Sprintf("%s at %s", op.Def.Name, p)
	}
	return fmt.Sprintf("%s %p", op.Def.Name, op)
}

func evalHalo(m ir.Machine, op *ir.Op) ir.Step {
	v, d := op.Operand(0), int(ir.GetClause[*ir.Attr](op, "dim").Int)
	slot, layout := m.Object(v), layoutOf(m, op, v.Type.(ir.Buf))
	return func(f *ir.Frame) {
		arr, l, rank := f.O[slot].(*ir.Array), layout(f), rankOf(f)
		var filled []int64
		meet(f, op, meeting{src: arr}, func(all []meeting) {
			access.Each(l.Shape, func(idx []int64) {
				if l.ownsIn(rank, d, idx[d]) || !l.Reaches(rank, idx) {
					return
				}
				cell, _ := arr.Cell(idx)
				transfer(all[l.Owner(rank, idx)].src, arr, idx)
				filled = append(filled, cell)
			})
		})
		if p := partOf(arr); p != nil {
			for _, cell := range filled {
				p.fresh[cell] = phase(f)
			}
		}
	}
}

// transfer copies one element between ranks, past the watchers.
func transfer(src, dst *ir.Array, idx []int64) {
	from, _ := src.Cell(idx)
	to, _ := dst.Cell(idx)
	dst.Mem.Cells[to] = src.Mem.Cells[from]
	if dst.Mem.Shadow != nil && src.Mem.Shadow != nil {
		dst.Mem.Shadow[to] = src.Mem.Shadow[from]
	}
}

// scatter stages a collective that fills, on each rank, the elements of the
// destination that it owns; element says how from all ranks' sources.
func scatter(m ir.Machine, op *ir.Op, element func(f *ir.Frame, from *Layout, all []meeting, dst *ir.Array, idx []int64)) ir.Step {
	src, dst := op.Operand(0), op.Operand(1)
	from, to := layoutOf(m, op, src.Type.(ir.Buf)), layoutOf(m, op, dst.Type.(ir.Buf))
	s, d := m.Object(src), m.Object(dst)
	return func(f *ir.Frame) {
		lf, lt, rank := from(f), to(f), rankOf(f)
		for i := range lf.Shape {
			if lf.Shape[i] != lt.Shape[i] {
				m.Trap(op, ir.TrapShape, "the source has shape %v, the destination %v", lf.Shape, lt.Shape)
			}
		}
		out := f.O[d].(*ir.Array)
		var written []int64
		meet(f, op, meeting{f.O[s].(*ir.Array), out}, func(all []meeting) {
			access.Each(lt.Shape, func(idx []int64) {
				if lt.Owns(rank, idx) {
					element(f, lf, all, out, idx)
					cell, _ := out.Cell(idx)
					written = append(written, cell)
				}
			})
		})
		if p := partOf(out); p != nil {
			for _, cell := range written {
				p.noteWrite(cell, phase(f)-1) // before the collective's end
			}
		}
	}
}

func evalConvert(m ir.Machine, op *ir.Op) ir.Step {
	return scatter(m, op, func(f *ir.Frame, from *Layout, all []meeting, dst *ir.Array, idx []int64) {
		owner := from.Owner(rankOf(f), idx)
		if owner >= len(all) {
			owner = 0
		}
		transfer(all[owner].src, dst, idx)
	})
}

func evalReduce(m ir.Machine, op *ir.Op) ir.Step {
	t := op.Operand(0).Type.(ir.Buf)
	combine := combiner(t.Dist.Partial, t.Elem)
	return scatter(m, op, func(f *ir.Frame, _ *Layout, all []meeting, dst *ir.Array, idx []int64) {
		var c num.Cell
		var s num.Shadow
		for rank, a := range all {
			cell, _ := a.src.Cell(idx)
			x, xs := a.src.Mem.Cells[cell], num.Shadow{}
			if a.src.Mem.Shadow != nil {
				xs = a.src.Mem.Shadow[cell]
			}
			if rank == 0 {
				c, s = x, xs
			} else {
				c, s = combine(f, c, s, x, xs)
			}
		}
		cell, _ := dst.Cell(idx)
		dst.Mem.Cells[cell] = c
		if dst.Mem.Shadow != nil {
			dst.Mem.Shadow[cell] = s
		}
	})
}

// reducers maps the names that partial(..) may give to scalar ops.
var reducers = map[string]string{"sum": "add", "prod": "mul", "min": "min", "max": "max", "any": "or", "all": "and"}

// combiner combines two elements, with their shadows where there are any; nil
// if the elements have no such reduction.
func combiner(name string, e num.Elem) func(f *ir.Frame, a num.Cell, as num.Shadow, b num.Cell, bs num.Shadow) (num.Cell, num.Shadow) {
	op := reducers[name]
	if op == "" || num.Binary(op, e) == nil {
		return nil
	}
	return access.Binary(op, e)
}
