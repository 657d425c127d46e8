package tensor

import (
	"tenon/internal/num"
	"tenon/ir"
	"tenon/ir/sym"
)

// axisLoop is a staged axis of a domain.
type axisLoop struct {
	m       ir.Machine
	op      *ir.Op
	name    string
	slot    int // of the index, or of the column
	entry   int // of the entry; -1: a dense axis
	pattern int // object slot
	par     bool
	extent  func(*ir.Frame) int64
	row     func(*ir.Frame) int64
}

func stageAxis(m ir.Machine, op *ir.Op, a ir.Axis, par bool) *axisLoop {
	l := &axisLoop{m: m, op: op, name: a.Name, slot: m.Symbol(a.Name), entry: -1, par: par}
	if a.Pattern == nil {
		l.extent = m.Expr(a.Extent)
		return l
	}
	l.entry, l.pattern, l.row = m.Symbol(a.Entry), m.Object(a.Pattern), m.Expr(a.Row)
	return l
}

// span is the range of the axis's counter: the index of a dense axis, the place
// of an entry in row form (p is then its pattern).
func (l *axisLoop) span(f *ir.Frame) (lo, n int64, p *ir.PatternValue) {
	if l.entry < 0 {
		n = l.extent(f)
		if n < 0 && l.par {
			l.m.Trap(l.op, ir.TrapShape, "axis %s has the extent %d; a par extent is never negative", l.name, n)
		}
		return 0, n, nil
	}
	p = f.O[l.pattern].(*ir.PatternValue)
	row := l.row(f)
	if row < 0 || row >= p.Rows {
		l.m.Trap(l.op, ir.TrapIndex, "row %d of a pattern of %d rows is read", row, p.Rows)
	}
	return p.Ptr[row], p.Ptr[row+1] - p.Ptr[row], p
}

// set puts counter k into the axis's slots.
func (l *axisLoop) set(f *ir.Frame, p *ir.PatternValue, k int64) {
	if p == nil {
		f.S[l.slot] = num.FromInt(k)
		return
	}
	f.S[l.slot] = num.FromInt(p.Col[k])
	if p.Perm != nil {
		k = p.Perm[k]
	}
	f.S[l.entry] = num.FromInt(k)
}

// loop stages the loop around body.
func (l *axisLoop) loop(conds []func(*ir.Frame) bool, body ir.Step) ir.Step {
	return func(f *ir.Frame) {
		lo, n, p := l.span(f)
		if n <= 0 {
			l.m.Poll(l.op, 1) // many empty rows take their time, too
		}
		for k := lo; k < lo+n; k++ {
			l.set(f, p, k)
			if hold(f, conds) {
				body(f)
			}
		}
	}
}

func hold(f *ir.Frame, conds []func(*ir.Frame) bool) bool {
	for _, c := range conds {
		if !c(f) {
			return false
		}
	}
	return true
}

// condsAt sorts conditions by the axis after which they can be decided: place d
// of the result holds those that need axes[d-1] and none later.
func condsAt(m ir.Machine, conds []sym.Cond, axes []ir.Axis) [][]func(*ir.Frame) bool {
	at := make([][]func(*ir.Frame) bool, len(axes)+1)
	for _, c := range conds {
		d := len(axes)
		for d > 0 && !UsesAxes(c.L, axes[d-1:d]) && !UsesAxes(c.R, axes[d-1:d]) {
			d--
		}
		at[d] = append(at[d], m.Cond(c))
	}
	return at
}

// nest stages loops over axes around an innermost step, conds[d+1] being
// decided once axes[d] is set.
func nest(m ir.Machine, op *ir.Op, axes []ir.Axis, par bool, conds [][]func(*ir.Frame) bool, body ir.Step) ir.Step {
	for d := len(axes) - 1; d >= 0; d-- {
		body = stageAxis(m, op, axes[d], par).loop(conds[d+1], body)
	}
	return body
}

// unlessEmpty leaves a domain out of which one axis takes every point: the axes
// before it may be longer than anyone can wait for.
func unlessEmpty(m ir.Machine, axes []ir.Axis, body ir.Step) ir.Step {
	if len(axes) < 2 {
		return body
	}
	var extents []func(*ir.Frame) int64
	for _, a := range axes {
		if a.Pattern == nil && !UsesAxes(a.Extent, axes) {
			extents = append(extents, m.Expr(a.Extent))
		}
	}
	return func(f *ir.Frame) {
		for _, n := range extents {
			if n(f) == 0 {
				return
			}
		}
		body(f)
	}
}
