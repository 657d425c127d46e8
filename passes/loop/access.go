package loop

import (
	"tenon/ir"
	"tenon/ir/sym"
)

// accesses are the elements of one buffer that a region touches.
type accesses struct {
	subs   [][]sym.Expr // one list an element access
	writes bool
	opaque bool // something touches the buffer otherwise: a view, a whole operand
}

// touched lists the buffers that ops use, in order of appearance, with their
// accesses.
func touched(ops []*ir.Op) (order []*ir.Value, by map[*ir.Value]*accesses) {
	by = map[*ir.Value]*accesses{}
	at := func(v *ir.Value) *accesses {
		if by[v] == nil {
			by[v] = &accesses{}
			order = append(order, v)
		}
		return by[v]
	}
	r := &ir.Region{Ops: ops}
	r.Walk(func(op *ir.Op) bool {
		note(op, at)
		return true
	})
	return order, by
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
			b.subs = append(b.subs, subs)
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

func starts(v *ir.View) []sym.Expr {
	subs := make([]sym.Expr, len(v.Dims))
	for i, d := range v.Dims {
		subs[i] = d.Start
	}
	return subs
}

// pinned is a dim at which every access has just the name iv as subscript, -1
// if there is none.
func (a *accesses) pinned(iv string) int {
	if a.opaque || len(a.subs) == 0 {
		return -1
	}
	for d := range a.subs[0] {
		all := true
		for _, s := range a.subs {
			n, ok := s[d].IsName()
			all = all && ok && n == iv
		}
		if all {
			return d
		}
	}
	return -1
}

// pinnedBoth is a dim at which a has iv and b has jv in every access.
func pinnedBoth(a *accesses, iv string, b *accesses, jv string) bool {
	if a.opaque || b.opaque || len(a.subs) == 0 || len(b.subs) == 0 {
		return false
	}
	for d := range a.subs[0] {
		if at(a, d, iv) && at(b, d, jv) {
			return true
		}
	}
	return false
}

func at(a *accesses, d int, iv string) bool {
	for _, s := range a.subs {
		if n, ok := s[d].IsName(); !ok || n != iv {
			return false
		}
	}
	return true
}
