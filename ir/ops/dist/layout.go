package dist

import (
	"tenon/ir"
)

// Layout is a distribution with all sizes known: who owns what.
type Layout struct {
	Shape   []int64
	Grid    []int64 // ranks along each grid axis
	Dims    []Map   // one a dim
	Partial string  // the monoid that combines the copies; "" if they are whole
}

// Map is the distribution of one dim. Axis < 0: every rank has all of it.
type Map struct {
	Axis             int
	Cyclic           bool
	Block            int64
	HaloLow, HaloTop int64
}

// Ranks is the number of ranks of the grid.
func (l *Layout) Ranks() int {
	n := int64(1)
	for _, p := range l.Grid {
		n *= p
	}
	return int(n)
}

// Mapped reports whether some dim is distributed.
func (l *Layout) Mapped() bool {
	for _, d := range l.Dims {
		if d.Axis >= 0 {
			return true
		}
	}
	return false
}

// Coord is the position of rank along a grid axis; ranks count in row-major
// order.
func (l *Layout) Coord(rank, axis int) int64 {
	r := int64(rank)
	for a := len(l.Grid) - 1; a > axis; a-- {
		r /= l.Grid[a]
	}
	return r % l.Grid[axis]
}

// BlockRange is the balanced share lo <= i < hi of position k among parts: the
// first extent mod parts shares have one more.
func BlockRange(extent, parts, k int64) (lo, hi int64) {
	size, more := extent/parts, extent%parts
	lo = k*size + min(k, more)
	hi = lo + size
	if k < more {
		hi++
	}
	return lo, hi
}

// position is the place along its grid axis that owns index i of dim d.
func (l *Layout) position(d int, i int64) int64 {
	m, extent := l.Dims[d], l.Shape[d]
	parts := l.Grid[m.Axis]
	if m.Cyclic {
		return i / m.Block % parts
	}
	size, more := extent/parts, extent%parts
	if big := more * (size + 1); i >= big {
		return more + (i-big)/size
	}
	return i / (size + 1)
}

// Owns reports whether rank owns element idx.
func (l *Layout) Owns(rank int, idx []int64) bool {
	for d := range l.Dims {
		if l.Dims[d].Axis >= 0 && !l.ownsIn(rank, d, idx[d]) {
			return false
		}
	}
	return true
}

func (l *Layout) ownsIn(rank, d int, i int64) bool {
	return l.position(d, i) == l.Coord(rank, l.Dims[d].Axis)
}

// reaches reports whether index i of dim d is owned by rank or lies in its halo.
func (l *Layout) reaches(rank, d int, i int64) bool {
	m := l.Dims[d]
	if m.Axis < 0 || l.ownsIn(rank, d, i) {
		return true
	}
	for s := int64(1); s <= m.HaloLow && i+s < l.Shape[d]; s++ {
		if l.ownsIn(rank, d, i+s) {
			return true
		}
	}
	for s := int64(1); s <= m.HaloTop && i-s >= 0; s++ {
		if l.ownsIn(rank, d, i-s) {
			return true
		}
	}
	return false
}

// Reaches reports whether element idx is owned by rank or lies in its halo.
func (l *Layout) Reaches(rank int, idx []int64) bool {
	for d := range l.Dims {
		if !l.reaches(rank, d, idx[d]) {
			return false
		}
	}
	return true
}

// Owner is the rank that owns idx and shares rank's place along the grid axes
// over which idx is not distributed.
func (l *Layout) Owner(rank int, idx []int64) int {
	place := make([]int64, len(l.Grid))
	for a := range place {
		place[a] = l.Coord(rank, a)
	}
	for d, m := range l.Dims {
		if m.Axis >= 0 {
			place[m.Axis] = l.position(d, idx[d])
		}
	}
	owner := int64(0)
	for a, p := range place {
		owner = owner*l.Grid[a] + p
	}
	return int(owner)
}

// layoutOf stages the layout of a buffer type.
func layoutOf(m ir.Machine, op *ir.Op, t ir.Buf) func(*ir.Frame) *Layout {
	dims := make([]func(*ir.Frame) int64, len(t.Dims))
	blocks := make([]func(*ir.Frame) int64, len(t.Dims))
	for i, d := range t.Dims {
		dims[i] = m.Expr(d)
		if i < len(t.Dist.Dims) && t.Dist.Dims[i].Cyclic {
			blocks[i] = m.Expr(t.Dist.Dims[i].Block)
		}
	}
	grid := m.GridShape(t.Dist.Grid)
	return func(f *ir.Frame) *Layout {
		l := &Layout{Grid: grid, Partial: t.Dist.Partial}
		for i := range dims {
			l.Shape = append(l.Shape, dims[i](f))
			l.Dims = append(l.Dims, mapOf(m, op, f, t.Dist, i, blocks[i]))
		}
		return l
	}
}

func mapOf(m ir.Machine, op *ir.Op, f *ir.Frame, d *ir.Dist, i int, block func(*ir.Frame) int64) Map {
	if i >= len(d.Dims) || d.Dims[i].Axis < 0 {
		return Map{Axis: -1}
	}
	dd := d.Dims[i]
	dm := Map{Axis: dd.Axis, Cyclic: dd.Cyclic, HaloLow: dd.HaloLow, HaloTop: dd.HaloTop}
	if block != nil {
		if dm.Block = block(f); dm.Block <= 0 {
			m.Trap(op, ir.TrapShape, "the block size of a cyclic dim is %d, but must be positive", dm.Block)
		}
	}
	return dm
}
