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
// altogether: the value is used instead.
//
// Legal if the buffer is allocated beside the loop and touched in it alone, by
// loads and stores of which every one has just the loop's index at some dim: no
// iteration sees what another wrote. Bits do not change.
//
// Code generation keeps such a buffer for all iterations, so that the
// allocation inside costs nothing.
package loop

import (
	"slices"

	"tenon/ir"
	"tenon/passes/pass"
)

// ContractBuffers shrinks buffers to what one iteration needs.
var ContractBuffers = pass.Register(&pass.Pass{
	Name:    "contract-buffers",
	Doc:     "shrink a buffer to what one iteration of a loop needs",
	After:   []string{"fuse-loops"},
	Counted: true,
	Run: func(c *pass.Context) error {
		for _, f := range c.Module.Funcs() {
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
	for i := len(r.Ops) - 1; i >= 0; i-- {
		if r.Ops[i].Def.Traits.Has(ir.Allocates) && len(r.Ops[i].Results) == 1 {
			contract(at, r, i)
		}
	}
	for i := 0; i < len(r.Ops); i++ {
		if r.Ops[i].Def.Traits.Has(ir.Allocates) && forward(at, r, i) {
			i--
		}
	}
	for _, op := range r.Ops {
		for _, in := range op.Regions() {
			contractRegion(at, in)
		}
	}
}

// contract moves the allocation at i into the one loop that uses it, without
// the dim that the loop's index pins.
func contract(at *pass.Context, r *ir.Region, i int) {
	alloc := r.Ops[i]
	buf := alloc.Results[0]
	t := buf.Type.(ir.Buf)
	loop := soleUser(r.Ops[i+1:], buf)
	if loop == nil || !isLoop(loop) || t.Strides != nil || t.Space != "" || t.Dist != nil {
		return
	}
	_, by := touched([]*ir.Op{loop})
	d := by[buf].pinned(rangeOf(loop).Name)
	if d < 0 {
		return
	}
	for _, x := range t.Dims {
		if slices.Contains(x.Names(), rangeOf(loop).Name) {
			return
		}
	}
	if !at.Apply(alloc) {
		return
	}
	drop(loop, buf, d)
	t.Dims = slices.Delete(slices.Clone(t.Dims), d, d+1)
	buf.Type = t
	r.Ops = slices.Delete(r.Ops, i, i+1)
	body := bodyOf(loop)
	body.Ops = slices.Insert(body.Ops, 0, alloc)
}

// isLoop reports a loop without carried values or results.
func isLoop(op *ir.Op) bool {
	return len(op.Results) == 0 && len(op.Regions()) == 1 && rangeOf(op) != nil && rangeOf(op).Size == ""
}

// soleUser is the one op that uses v, nil if there is none or several.
func soleUser(ops []*ir.Op, v *ir.Value) *ir.Op {
	var sole *ir.Op
	for _, op := range ops {
		if !uses(op, v) {
			continue
		}
		if sole != nil {
			return nil
		}
		sole = op
	}
	return sole
}

func uses(op *ir.Op, v *ir.Value) bool {
	found := false
	r := &ir.Region{Ops: []*ir.Op{op}}
	r.Walk(func(op *ir.Op) bool {
		op.Values(func(x *ir.Value) *ir.Value {
			found = found || x == v
			return x
		})
		return !found
	})
	return found
}

// drop removes subscript d from every access of buf in op.
func drop(op *ir.Op, buf *ir.Value, d int) {
	r := &ir.Region{Ops: []*ir.Op{op}}
	r.Walk(func(op *ir.Op) bool {
		if op.Def.Name != "load" && op.Def.Name != "store" {
			return true
		}
		for _, a := range op.Args("") {
			if a.Value == buf {
				a.View.Dims = slices.Delete(slices.Clone(a.View.Dims), d, d+1)
			}
		}
		return true
	})
}

// forward replaces a buffer of rank 0 by the value it holds, if one store in
// its own region comes before everything that reads it.
func forward(at *pass.Context, r *ir.Region, i int) bool {
	buf := r.Ops[i].Results[0]
	if t, ok := buf.Type.(ir.Buf); !ok || len(t.Dims) != 0 || t.Dist != nil {
		return false
	}
	store := -1
	for j := i + 1; j < len(r.Ops); j++ {
		_, by := touched(r.Ops[j : j+1])
		b := by[buf]
		switch {
		case b == nil:
		case b.opaque:
			return false
		case b.writes && store < 0 && r.Ops[j].Def.Name == "store":
			store = j
		case b.writes || store < 0:
			return false
		}
	}
	if store < 0 || !at.Apply(r.Ops[i]) {
		return false
	}
	v := r.Ops[store].Operand(0)
	substitute(r, buf, v)
	r.Ops = slices.Delete(r.Ops, store, store+1)
	r.Ops = slices.Delete(r.Ops, i, i+1)
	return true
}

// substitute replaces the loads of buf in r by v.
func substitute(r *ir.Region, buf, v *ir.Value) {
	with := map[*ir.Value]*ir.Value{}
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
			if op.Def.Name == "load" && op.Operand(0) == buf {
				with[op.Results[0]] = v
				continue
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
