// dce removes ops whose results nobody uses.
//
// Before:
//
//	%a = tensor.comp par(i < N) in(%e = %x[i]) { yield(%e) } : f32[N]
//	%b = loop.alloc : buf<f32[4]>
//	store(%c, %b[0])
//	return(%x)
//
// After:
//
//	return(%x)
//
// An op goes if its results and the dims that it binds are unused and it writes
// nothing but buffers that go with it: a buffer that is allocated here and only
// stored to is unused. An error that only an unused value could raise (a
// subscript out of range) goes with it; a check that stands by itself stays.
//
// It does not remove stores that a later store overwrites.
package graph

import (
	"tenon/ir"
	"tenon/ir/sym"
	"tenon/passes/pass"
)

// DCE removes dead code.
var DCE = pass.Register(&pass.Pass{
	Name:    "dce",
	Doc:     "remove ops whose results are unused",
	Counted: true,
	Run: func(c *pass.Context) error {
		for _, f := range c.Funcs() {
			c.At(f, nil)
			dce(c, f)
		}
		return nil
	},
})

// dce reports whether it changed f. Removing an op may leave a buffer with
// stores alone, so it goes round until nothing is left to do.
func dce(at *pass.Context, f *ir.Func) bool {
	changed := false
	for again := true; again; changed = changed || again {
		s := &sweeper{at: at, f: f, uses: ir.Uses(f), dead: deadBuffers(f)}
		s.region(f.Body)
		again = s.removed
	}
	return changed
}

// sweeper is one backward walk over a function.
type sweeper struct {
	at      *pass.Context
	f       *ir.Func
	uses    map[*ir.Value]int
	dead    map[*ir.Value]bool // buffers that are stored to and never read
	removed bool
}

// deadBuffers are the buffers allocated in f of which every use is as the
// destination of a store.
func deadBuffers(f *ir.Func) map[*ir.Value]bool {
	uses, stores := ir.Uses(f), map[*ir.Value]int{}
	var allocs []*ir.Value
	f.Body.Walk(func(op *ir.Op) bool {
		switch {
		case op.Def.Traits.Has(ir.Allocates):
			allocs = append(allocs, op.Results...)
		case op.Def.Name == "store":
			stores[op.Args("")[1].Value]++
		}
		return true
	})
	dead := map[*ir.Value]bool{}
	for _, v := range allocs {
		if stores[v] > 0 && stores[v] == uses[v] {
			dead[v] = true
		}
	}
	return dead
}

func (s *sweeper) region(r *ir.Region) {
	kept := make([]*ir.Op, 0, len(r.Ops))
	for i := len(r.Ops) - 1; i >= 0; i-- {
		op := r.Ops[i]
		if s.unused(op) && s.at.Apply(op) {
			s.forget(op)
			s.removed = true
			continue
		}
		for _, in := range op.Regions() {
			s.region(in)
		}
		kept = append(kept, op)
	}
	for i, j := 0, len(kept)-1; i < j; i, j = i+1, j-1 {
		kept[i], kept[j] = kept[j], kept[i]
	}
	r.Ops = kept
}

func (s *sweeper) unused(op *ir.Op) bool {
	if op.Def.Name == "store" && s.dead[op.Args("")[1].Value] {
		return true
	}
	for _, v := range op.Results {
		if s.uses[v] > 0 || s.patternUsed(op, v) {
			return false
		}
	}
	return removable(op) && !s.bindsUsed(op)
}

// removable reports that op, regions included, only computes: what it does
// beside that is reading, allocating and raising errors about its own values.
func removable(op *ir.Op) bool {
	if op.Def.Traits&(ir.Terminator|ir.Call|ir.Collective|ir.Barrier) != 0 {
		return false
	}
	if op.Def.Effects != nil {
		fx := op.Def.Effects(op)
		for _, e := range fx {
			if e.Kind == ir.EffectWrite || e.Kind == ir.EffectSync {
				return false
			}
		}
		if len(op.Results) == 0 && len(fx) > 0 { // a check
			return false
		}
	}
	for _, r := range op.Regions() {
		for _, in := range r.Ops {
			if in.Def.Name != "yield" && !removable(in) {
				return false
			}
		}
	}
	return true
}

// forget takes back the uses that op makes.
func (s *sweeper) forget(op *ir.Op) {
	(&ir.Region{Ops: []*ir.Op{op}}).Walk(func(in *ir.Op) bool {
		in.Values(func(v *ir.Value) *ir.Value {
			s.uses[v]--
			return v
		})
		return true
	})
}

// bindsUsed reports that a dim which op binds is used elsewhere.
func (s *sweeper) bindsUsed(op *ir.Op) bool {
	for _, c := range op.Clauses {
		x, ok := c.(*ir.Exists)
		if !ok {
			continue
		}
		for _, d := range x.Dims {
			if s.mentions(d.Name, op) {
				return true
			}
		}
	}
	return false
}

// patternUsed reports that the edge dim of a pattern result is used elsewhere.
func (s *sweeper) patternUsed(op *ir.Op, v *ir.Value) bool {
	p, ok := v.Type.(ir.Pattern)
	return ok && s.mentions("nnz#"+p.ID, op)
}

// mentions reports that the function uses the symbol outside op.
func (s *sweeper) mentions(name string, op *ir.Op) bool {
	found := false
	look := func(e sym.Expr) sym.Expr {
		found = found || e.Uses(name)
		return e
	}
	for _, r := range s.f.Results {
		ir.MapType(r.Type, look)
	}
	for _, d := range s.f.ExDims {
		found = found || d == name
	}
	s.f.Body.Walk(func(in *ir.Op) bool {
		if in == op {
			return false
		}
		in.Exprs(look)
		for _, v := range in.Results {
			ir.MapType(v.Type, look)
		}
		return !found
	})
	return found
}
