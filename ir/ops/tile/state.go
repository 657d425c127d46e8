package tile

import (
	"tenon/internal/num"
	"tenon/ir"
)

// state is a copy of a memory, to go back to.
type state struct {
	mem    *ir.Memory
	cells  []num.Cell
	shadow []num.Shadow
	watch  func() // puts back what the watcher knows; may be nil
}

// snapshotter is a watcher whose knowledge belongs to the state of the memory.
type snapshotter interface {
	Snapshot(f *ir.Frame) func()
}

// save copies the memory of the arrays that variants may write.
func (c *choice) save(f *ir.Frame) []state {
	states := make([]state, len(c.written))
	for i, slot := range c.written {
		arr, ok := f.O[slot].(*ir.Array)
		if !ok {
			continue
		}
		s := state{mem: arr.Mem, cells: append([]num.Cell(nil), arr.Mem.Cells...)}
		if arr.Mem.Shadow != nil {
			s.shadow = append([]num.Shadow(nil), arr.Mem.Shadow...)
		}
		if w, ok := arr.Mem.Watch.(snapshotter); ok {
			s.watch = w.Snapshot(f)
		}
		states[i] = s
	}
	return states
}

func (c *choice) restore(states []state) {
	for _, s := range states {
		if s.mem == nil {
			continue
		}
		copy(s.mem.Cells, s.cells)
		copy(s.mem.Shadow, s.shadow)
		if s.watch != nil {
			s.watch()
		}
	}
}

// view is arr as it was.
func (s state) view(arr *ir.Array) *ir.Array {
	was := *arr
	was.Mem = &ir.Memory{Cells: s.cells, Shadow: s.shadow}
	return &was
}
