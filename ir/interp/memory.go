package interp

import (
	"bufio"
	"fmt"
	"os"
	"slices"
	"strings"

	"tenon/internal/num"
	"tenon/ir"
)

// Array implements ir.Machine.
func (s *stager) Array(f *ir.Frame, e num.Elem, shape []int64) *ir.Array {
	return s.prog.array(s.op, e, shape)
}

// array makes a poisoned array; op is blamed where it is too large.
func (p *Program) array(op *ir.Op, e num.Elem, shape []int64) *ir.Array {
	n, ok := ir.SizeOf(shape)
	if !ok {
		if slices.ContainsFunc(shape, func(d int64) bool { return d < 0 }) {
			raise(op, ir.TrapShape, "an array of shape %v is asked for; a dim is never negative", shape)
		}
		raise(op, ir.TrapOverflow, "an array of shape %v has more elements than 64 bits count", shape)
	}
	cell := int64(8)
	if p.opts.Shadow {
		cell += 24
	}
	if n > (p.opts.MaxBytes-p.run.bytes)/cell {
		raise(op, ir.TrapMemory, "an array of shape %v does not fit into memory: the run may take %s", shape, size(p.opts.MaxBytes))
	}
	p.run.bytes += n * cell
	a := ir.NewArray(e, shape...)
	poisonArray(a)
	if p.opts.Shadow {
		a.Mem.Shadow = shadows(e, a.Mem.Cells)
	}
	if w := p.run.fresh; w != nil {
		w.watchMemory(a.Mem)
	}
	return a
}

// poisonArray poisons the elements of a, not what else its memory holds.
func poisonArray(a *ir.Array) {
	c := num.Poison(a.Elem)
	if slices.Equal(a.Strides, ir.CStrides(a.Shape)) {
		cells := a.Mem.Cells[a.Off : a.Off+a.Size()]
		for i := range cells {
			cells[i] = c
		}
		return
	}
	each(a.Shape, func(idx []int64) {
		pos, _ := a.Cell(idx)
		a.Mem.Cells[pos] = c
	})
}

// shadows are the shadows of cells that are what they should be.
func shadows(e num.Elem, cells []num.Cell) []num.Shadow {
	s := make([]num.Shadow, len(cells))
	for i, c := range cells {
		s[i] = num.Exact(e, c)
	}
	return s
}

func size(bytes int64) string {
	if bytes >= 1<<30 {
		return fmt.Sprintf("%.1f GiB", float64(bytes)/(1<<30))
	}
	return fmt.Sprintf("%d bytes", bytes)
}

// machineMemory is the machine's memory in bytes, 4 GiB where that is unknown.
func machineMemory() int64 {
	const unknown = 4 << 30
	file, err := os.Open("/proc/meminfo")
	if err != nil {
		return unknown
	}
	defer file.Close()
	for sc := bufio.NewScanner(file); sc.Scan(); {
		var kb int64
		if strings.HasPrefix(sc.Text(), "MemTotal:") {
			if _, err := fmt.Sscanf(sc.Text(), "MemTotal: %d kB", &kb); err == nil {
				return kb << 10
			}
		}
	}
	return unknown
}
