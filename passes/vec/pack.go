package vec

import (
	"fmt"
	"strings"

	"tenon/ir"
	"tenon/ir/sym"
)

// Short rows: where a parallel loop holds loops of fewer iterations than a vector
// has lanes, all known, those are written out, so that the parallel loop is the
// innermost one and lanes go across rows. A fold then is a few ops for all rows
// instead of a vector that is mostly empty and a fold of its lanes. (See columns for
// how elements come to their lanes.) What was a scratch row is a value an element.

// mostOps bounds what is written out.
const mostOps = 512

// packed gives the ops that stand for op with lanes across its short rows, nil if
// it has none or they have no vectors.
func (v *vectoriser) packed(op *ir.Op, facts *sym.Facts) []*ir.Op {
	if rangeOf(op) == nil {
		return nil
	}
	inner := v.pack(op)
	if inner == nil {
		return nil
	}
	l, why := v.analyse(inner, facts)
	if why != "" {
		v.c.Decline(op.Loc, "lanes do not go across its short rows: %s", why)
		return nil
	}
	if !v.c.Apply(op) {
		return nil
	}
	return l.emit()
}

// pack is op with the loops inside written out, nil if it has others than short
// ones.
func (v *vectoriser) pack(op *ir.Op) *ir.Op {
	if op.Def.Name != "loop.parallel" || rangeOf(op).Size != "" || !hasLoops(op) || !v.short(bodyOf(op)) {
		return nil
	}
	w := &writeOut{m: &ir.Mapping{Values: map[*ir.Value]*ir.Value{}, Syms: map[string]sym.Expr{}},
		scratch: map[*ir.Value]map[string]*ir.Value{}, into: &ir.Region{}}
	if !w.region(bodyOf(op)) {
		return nil
	}
	return ir.NewOp(op.Def.Name, op.Loc, rangeOf(op), &ir.Block{Region: w.into})
}

// short reports that all loops in r have constant ranges of fewer iterations than
// a vector has lanes, and stand in no branch.
func (v *vectoriser) short(r *ir.Region) bool {
	widest := 1
	r.Walk(func(op *ir.Op) bool {
		for _, a := range accesses(op) {
			widest = max(widest, ir.ElemOf(a.Value.Type).Bytes())
		}
		return true
	})
	ok := true
	r.Walk(func(op *ir.Op) bool {
		if rng := rangeOf(op); rng != nil {
			n, known := tripsOf(rng)
			ok = ok && known && rng.Size == "" && n < int64(v.m.bytes/widest)
		} else if len(op.Regions()) > 0 {
			ok = ok && !hasLoops(op)
		}
		return ok
	})
	return ok
}

// tripsOf is how many iterations a loop with constant bounds has.
func tripsOf(r *ir.Range) (int64, bool) {
	lo, a := r.Lo.IsConst()
	hi, b := r.Hi.IsConst()
	step, c := r.Step.IsConst()
	if !a || !b || !c || step <= 0 {
		return 0, false
	}
	return max(0, (hi-lo+step-1)/step), true
}

// writeOut copies ops with loops written out.
type writeOut struct {
	m       *ir.Mapping
	into    *ir.Region
	scratch map[*ir.Value]map[string]*ir.Value // what the elements of local buffers hold
}

// region copies the ops of r but its terminator; false if it cannot.
func (w *writeOut) region(r *ir.Region) bool {
	for _, op := range r.Ops {
		ok := true
		switch {
		case op.Def.Name == "yield":
		case rangeOf(op) != nil:
			ok = w.loop(op)
		case op.Def.Name == "loop.alloc":
			w.scratch[op.Results[0]] = map[string]*ir.Value{}
		case w.local(op) != nil:
			ok = w.access(op)
		default:
			w.into.Ops = append(w.into.Ops, ir.CloneOp(op, w.m))
			ok = len(w.into.Ops) <= mostOps && !w.escapes(op)
		}
		if !ok {
			return false
		}
	}
	return true
}

// loop copies the body once an iteration.
func (w *writeOut) loop(op *ir.Op) bool {
	r, carry := rangeOf(op), carryOf(op)
	if len(op.Results) != len(carry.Params) {
		return false // it stacks
	}
	lo, _ := r.Lo.IsConst()
	step, _ := r.Step.IsConst()
	n, _ := tripsOf(r)
	now := make([]*ir.Value, len(carry.Inits))
	for i, v := range carry.Inits {
		now[i] = w.m.Value(v)
	}
	for k := range n {
		w.m.Syms[r.Name] = sym.Const(lo + k*step)
		for i, p := range carry.Params {
			w.m.Values[p] = now[i]
		}
		if !w.region(bodyOf(op)) {
			return false
		}
		if len(now) > 0 {
			for i, y := range bodyOf(op).Yields() {
				now[i] = w.m.Value(y)
			}
		}
	}
	for i, v := range op.Results {
		w.m.Values[v] = now[i]
	}
	return true
}

// local is the elements of the local buffer that op reads or writes, nil if it
// does neither.
func (w *writeOut) local(op *ir.Op) map[string]*ir.Value {
	as := accesses(op)
	if len(as) == 0 {
		return nil
	}
	return w.scratch[as[0].Value]
}

// access notes what is stored to a local buffer, and finds what is loaded; false
// where the element is not known.
func (w *writeOut) access(op *ir.Op) bool {
	var key strings.Builder
	for _, s := range subsOf(accesses(op)[0]) {
		n, ok := w.m.Expr(s).IsConst()
		if !ok {
			return false
		}
		fmt.Fprint(&key, n, " ")
	}
	held := w.local(op)
	if op.Def.Name == "store" {
		v := op.Args("")[0].Value
		if v == nil {
			return false
		}
		held[key.String()] = w.m.Value(v)
		return true
	}
	v := held[key.String()]
	w.m.Values[op.Results[0]] = v
	return v != nil
}

// escapes reports that op uses a local buffer in another way.
func (w *writeOut) escapes(op *ir.Op) bool {
	found := false
	(&ir.Region{Ops: []*ir.Op{op}}).Walk(func(in *ir.Op) bool {
		in.Values(func(v *ir.Value) *ir.Value {
			found = found || w.scratch[v] != nil
			return v
		})
		return true
	})
	return found
}
