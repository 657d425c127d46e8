package loop

import (
	"slices"

	"tenon/ir"
	"tenon/ir/sym"
)

// accesses are the elements of one buffer that a region touches. What legality
// asks for is summed up in pins: a buffer may have thousands of readers.
type accesses struct {
	subs   [][]sym.Expr // one list an element access
	pins   []string     // a dim each: the name that every access has as subscript, "" if none
	writes bool
	opaque bool // something touches the buffer otherwise: a view, a whole operand
}

// usage maps the buffers that some ops use to how they use them.
type usage map[*ir.Value]*accesses

// of is the entry for v, made if need be.
func (u usage) of(v *ir.Value) *accesses {
	if u[v] == nil {
		u[v] = &accesses{}
	}
	return u[v]
}

// footprint is what ops do to buffers, and what they need.
type footprint struct {
	order  []*ir.Value // the buffers, in order of appearance
	by     usage
	used   map[*ir.Value]bool // values that they use or make
	ops    int
	synced bool // they wait for others or bind dims: nothing moves across
}

func footprintOf(ops []*ir.Op) *footprint {
	f := &footprint{by: usage{}, used: map[*ir.Value]bool{}}
	f.add(ops)
	return f
}

func (f *footprint) add(ops []*ir.Op) {
	(&ir.Region{Ops: ops}).Walk(func(op *ir.Op) bool {
		f.ops++
		note(op, func(v *ir.Value) *accesses {
			if f.by[v] == nil {
				f.order = append(f.order, v)
			}
			return f.by.of(v)
		})
		op.Values(func(v *ir.Value) *ir.Value {
			f.used[v] = true
			return v
		})
		for _, v := range op.Results {
			f.used[v] = true
		}
		for _, c := range op.Clauses {
			_, binds := c.(*ir.Exists)
			f.synced = f.synced || binds
		}
		if op.Def.Effects != nil {
			for _, e := range op.Def.Effects(op) {
				f.synced = f.synced || e.Kind == ir.EffectSync
			}
		}
		return true
	})
}

// uses reports that the ops use one of vs.
func (f *footprint) uses(vs map[*ir.Value]bool) bool {
	for v := range vs { // no order enters the answer
		if f.used[v] {
			return true
		}
	}
	return false
}

// writes reports that the ops write any buffer.
func (f *footprint) writes() bool {
	return slices.ContainsFunc(f.order, func(v *ir.Value) bool { return f.by[v].writes })
}

// conflicts reports a buffer that both touch and one of them writes.
func (f *footprint) conflicts(g *footprint) bool {
	if len(f.order) > len(g.order) {
		f, g = g, f
	}
	return slices.ContainsFunc(f.order, func(v *ir.Value) bool {
		other := g.by[v]
		return other != nil && (f.by[v].writes || other.writes)
	})
}

// touched finds the buffers that ops use, in order of appearance, and how.
func touched(ops []*ir.Op) (order []*ir.Value, by usage) {
	f := footprintOf(ops)
	return f.order, f.by
}

// note adds op's own accesses.
func note(op *ir.Op, at func(*ir.Value) *accesses) {
	element := map[*ir.Value][]sym.Expr{}
	if op.Def.Name == "load" || op.Def.Name == "store" {
		for _, a := range op.Args("") {
			if a.View != nil {
				element[a.Value] = starts(a.View)
			}
		}
	}
	op.Values(func(v *ir.Value) *ir.Value {
		if _, isBuf := v.Type.(ir.Buf); !isBuf {
			return v
		}
		b := at(v)
		if subs, ok := element[v]; ok {
			b.element(subs)
		} else {
			b.opaque = true
		}
		return v
	})
	if op.Def.Effects == nil {
		return
	}
	for _, e := range op.Def.Effects(op) {
		if e.Kind == ir.EffectWrite && e.Value != nil {
			at(e.Value).writes = true
		}
	}
}

// element adds an access to one element.
func (a *accesses) element(subs []sym.Expr) {
	pins := make([]string, len(subs))
	for d, s := range subs {
		pins[d], _ = s.IsName()
	}
	a.add(&accesses{subs: [][]sym.Expr{subs}, pins: pins})
}

// add adds the accesses of b to those of a.
func (a *accesses) add(b *accesses) {
	if len(a.subs) == 0 {
		a.pins = slices.Clone(b.pins)
	}
	for d := range a.pins {
		if len(b.subs) > 0 && a.pins[d] != b.pins[d] {
			a.pins[d] = ""
		}
	}
	a.subs = append(a.subs, b.subs...)
	a.writes = a.writes || b.writes
	a.opaque = a.opaque || b.opaque
}

func starts(v *ir.View) []sym.Expr {
	if v == nil {
		return nil
	}
	subs := make([]sym.Expr, len(v.Dims))
	for i, d := range v.Dims {
		subs[i] = d.Start
	}
	return subs
}

// pinned is a dim at which every access has just the name iv as subscript, -1
// if there is none.
func (a *accesses) pinned(iv string) int {
	if a.opaque {
		return -1
	}
	return slices.Index(a.pins, iv)
}

// pinnedBoth reports a dim at which a has iv and b has jv in every access.
func pinnedBoth(a *accesses, iv string, b *accesses, jv string) bool {
	if a.opaque || b.opaque || len(a.subs) == 0 || len(b.subs) == 0 {
		return false
	}
	for d := range a.pins {
		if a.pins[d] == iv && b.pins[d] == jv {
			return true
		}
	}
	return false
}
