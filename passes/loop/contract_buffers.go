// contract-buffers shrinks a buffer to what one iteration of a loop needs.
//
// Before:
//
//	%m = loop.alloc : buf<f32[M, N]>
//	loop.parallel i = 0 to M { .. store(%s, %m[i, j]) .. load(%m[i, j]) .. }
//
// After:
//
//	loop.parallel i = 0 to M { %m = loop.alloc : buf<f32[N]>; .. store(%s, %m[j]) .. load(%m[j]) .. }
//
// and a buffer of rank 0 that is written once, before what reads it, goes
// altogether: the value is used instead. Where both sides of a branch write it,
// the branch gives the value.
//
// Legal if the buffer is allocated beside the loop and touched in it alone, by
// loads and stores of which every one has just the loop's index at some dim: no
// iteration sees what another wrote. Bits do not change.
//
// Code generation keeps such a buffer for all iterations, so that the
// allocation inside costs nothing.
package loop

import (
	"fmt"
	"slices"

	"tenon/ir"
	"tenon/ir/sym"
	"tenon/passes/pass"
)

// ContractBuffers shrinks buffers to what one iteration needs.
var ContractBuffers = pass.Register(&pass.Pass{
	Name:    "contract-buffers",
	Doc:     "shrink a buffer to what one iteration of a loop needs",
	After:   []string{"fuse-loops"},
	Counted: true,
	Run: func(c *pass.Context) error {
		for _, f := range c.Funcs() {
			if f.Level == ir.LevelLoop {
				c.At(f, nil)
				contractRegion(c, f.Body)
			}
		}
		return nil
	},
})

// contractRegion moves allocations of r into the loops that use them, then
// looks into those.
func contractRegion(at *pass.Context, r *ir.Region) {
	contract(at, r)
	yieldStores(at, r)
	forward(at, r)
	for _, op := range r.Ops {
		for _, in := range op.Regions() {
			contractRegion(at, in)
		}
	}
}

// use is one op of a region that uses a buffer, and how.
type use struct {
	op *ir.Op
	*accesses
}

// usesIn lists, for each buffer, the ops of r that use it in or below them, in
// order. One walk finds them for all buffers, so that a pass over thousands of
// buffers stays linear.
func usesIn(r *ir.Region) map[*ir.Value][]use {
	all := map[*ir.Value][]use{}
	for i, op := range r.Ops {
		order, by := touched(r.Ops[i : i+1])
		for _, v := range order {
			all[v] = append(all[v], use{op, by[v]})
		}
	}
	return all
}

// contract moves each allocation of r that one loop alone uses into that loop,
// without the dim that the loop's index pins.
func contract(at *pass.Context, r *ir.Region) {
	uses := usesIn(r)
	into := map[*ir.Op][]*ir.Op{}             // allocations that move, by loop
	dropped := map[*ir.Op]map[*ir.Value]int{} // the dims they lose
	kept := make([]*ir.Op, 0, len(r.Ops))
	for _, op := range r.Ops {
		loop, d, why := home(op, uses)
		if why != "" {
			at.Decline(op.Loc, "the buffer %%%s keeps its size: %s", op.Results[0].Name, why)
		}
		if loop == nil || !at.Apply(op) {
			kept = append(kept, op)
			continue
		}
		at.Done(op.Loc, "the buffer %%%s loses dim %d, which every access has at the loop's own index: what an iteration needs of it stays in the cache",
			op.Results[0].Name, d)
		into[loop] = append(into[loop], op)
		if dropped[loop] == nil {
			dropped[loop] = map[*ir.Value]int{}
		}
		buf := op.Results[0]
		dropped[loop][buf] = d
		t := buf.Type.(ir.Buf)
		t.Dims = slices.Delete(slices.Clone(t.Dims), d, d+1)
		buf.Type = t
	}
	r.Ops = kept
	for loop, allocs := range into {
		drop(loop, dropped[loop])
		bodyOf(loop).Ops = slices.Concat(allocs, bodyOf(loop).Ops)
	}
}

// home is the loop that alloc may move into, and the dim that it loses there;
// nil where it stays, with the reason if it is a buffer that a loop uses.
func home(alloc *ir.Op, uses map[*ir.Value][]use) (loop *ir.Op, dim int, why string) {
	if !alloc.Def.Traits.Has(ir.Allocates) || len(alloc.Results) != 1 {
		return nil, 0, ""
	}
	buf := alloc.Results[0]
	t, ok := buf.Type.(ir.Buf)
	by := slices.DeleteFunc(slices.Clone(uses[buf]), func(u use) bool { return u.op == alloc })
	if !ok || len(by) == 0 || len(t.Dims) == 0 || t.Space != "" || t.Dist != nil {
		return nil, 0, ""
	}
	switch {
	case len(by) > 1:
		return nil, 0, fmt.Sprintf("%d ops of the region use it", len(by))
	case !isLoop(by[0].op):
		return nil, 0, "what uses it is no loop, or one that carries values"
	case t.Strides != nil:
		return nil, 0, "it has strides of its own"
	}
	index := rangeOf(by[0].op).Name
	d := by[0].pinned(index)
	if d < 0 || slices.ContainsFunc(t.Dims, func(x sym.Expr) bool { return slices.Contains(x.Names(), index) }) {
		return nil, 0, "no dim of it is the loop's own index in every access"
	}
	return by[0].op, d, ""
}

// isLoop reports a loop without carried values or results.
func isLoop(op *ir.Op) bool {
	return len(op.Results) == 0 && len(op.Regions()) == 1 && rangeOf(op) != nil && rangeOf(op).Size == ""
}

// drop removes a subscript from every access in op to each of the buffers.
func drop(op *ir.Op, dims map[*ir.Value]int) {
	r := &ir.Region{Ops: []*ir.Op{op}}
	r.Walk(func(op *ir.Op) bool {
		if op.Def.Name != "load" && op.Def.Name != "store" {
			return true
		}
		for _, a := range op.Args("") {
			if d, ok := dims[a.Value]; ok {
				a.View.Dims = slices.Delete(slices.Clone(a.View.Dims), d, d+1)
			}
		}
		return true
	})
}

// forward replaces each buffer of rank 0 by the value it holds, if one store in
// its own region comes before everything that reads it.
func forward(at *pass.Context, r *ir.Region) {
	uses := usesIn(r)
	stores := map[*ir.Op]bool{}        // that give such a buffer its value
	holds := map[*ir.Value]*ir.Value{} // the buffers, and their values once known
	for _, op := range r.Ops {
		if store := soleStore(op, uses); store != nil && at.Apply(op) {
			holds[op.Results[0]] = nil
			stores[store] = true
		}
	}
	if len(holds) == 0 {
		return
	}
	with := map[*ir.Value]*ir.Value{} // loaded values, and what stands for them
	var walk func(r *ir.Region)
	walk = func(r *ir.Region) {
		kept := make([]*ir.Op, 0, len(r.Ops))
		for _, op := range r.Ops {
			op.Values(func(x *ir.Value) *ir.Value {
				if y := with[x]; y != nil {
					return y
				}
				return x
			})
			switch {
			case stores[op]:
				holds[op.Operand(1)] = op.Operand(0)
				continue
			case op.Def.Name == "load" && holds[op.Operand(0)] != nil:
				with[op.Results[0]] = holds[op.Operand(0)]
				continue
			case op.Def.Traits.Has(ir.Allocates):
				if _, gone := holds[op.Results[0]]; gone {
					continue
				}
			}
			kept = append(kept, op)
			for _, in := range op.Regions() {
				walk(in)
			}
		}
		r.Ops = kept
	}
	walk(r)
}

// soleStore is the store that gives the buffer of alloc its only value, before
// anything reads it; nil if alloc is no allocation of rank 0 or there is none.
func soleStore(alloc *ir.Op, uses map[*ir.Value][]use) *ir.Op {
	if !alloc.Def.Traits.Has(ir.Allocates) || len(alloc.Results) != 1 {
		return nil
	}
	buf := alloc.Results[0]
	if t, ok := buf.Type.(ir.Buf); !ok || len(t.Dims) != 0 || t.Dist != nil {
		return nil
	}
	var store *ir.Op
	for _, u := range uses[buf] {
		switch {
		case u.op == alloc:
		case u.opaque:
			return nil
		case u.writes && store == nil && u.op.Def.Name == "store":
			store = u.op
		case u.writes || store == nil:
			return nil
		}
	}
	return store
}
