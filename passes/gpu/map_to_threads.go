// map-to-threads turns the loops of a proc into launches of blocks of threads,
// loop level into gpu level.
//
// Before:
//
//	loop.parallel i = 0 to M {
//	  %s = loop.for j = 0 to N carry(%a = %z) directives("reassoc") { yield(add(%a, load(%x[i, j]))) } : f32
//	  store(%s, %y[i]) }
//
// After, with 4 threads a block:
//
//	gpu.launch blocks(i < M) threads(t < 4) {
//	  %p = loop.for j = t to N step 4 carry(%a = -0.0) { yield(add(%a, load(%x[i, j]))) } : f32
//	  %sh = gpu.shared : buf<f32[4], space(shared)>
//	  store(%p, %sh[t]); gpu.barrier
//	  loop.if (t < 2) { store(add(load(%sh[t]), load(%sh[t + 2])), %sh[t]) }; gpu.barrier
//	  loop.if (t < 1) { store(add(load(%sh[t]), load(%sh[t + 1])), %sh[t]) }; gpu.barrier
//	  %s = add(%z, load(%sh[0]))
//	  loop.if (t < 1) { store(%s, %y[i]) } }
//
// A nest of parallel loops whose body is straight, or folds down columns, gets a
// thread for each point, the innermost loop along the threads of a block. Where
// the body folds along rows or has parallel loops itself, each point gets a
// block: its threads share those loops, and what stands between them is done by
// all threads alike, stores by one. What stands outside parallel loops is a
// launch of one block; so is the whole proc where a number that one loop makes
// is read by another.
//
// Legal for parallel loops, whose iterations may run in any order, and for folds
// that may be regrouped, by an operator whose identity is known. Between two
// accesses of a block to the same buffer, one of which writes, stands a barrier.
//
// It leaves procs alone that need memory of their own, or have an op that
// launches may not hold.
package gpu

import (
	"fmt"

	"tenon/ir"
	"tenon/ir/sym"
	"tenon/passes/analysis"
	"tenon/passes/pass"
)

// MapToThreads makes launches of loops.
var MapToThreads = pass.Register(&pass.Pass{
	Name:         "map-to-threads",
	Doc:          "turn loops into launches of blocks of threads, loop level into gpu level",
	After:        []string{"lower-comps", "lower-math"},
	Options:      []pass.Option{{Name: "threads", Default: "256", Doc: "threads of a block, a power of two"}},
	Counted:      true,
	Reassociates: true,
	Run: func(c *pass.Context) error {
		threads := c.Int("threads")
		for _, f := range c.Funcs() {
			if f.Level != ir.LevelLoop || !f.IsProc {
				continue
			}
			c.At(f, nil)
			if why := unfit(f); why != "" {
				c.Decline(f.Loc, "the proc stays on loops: %s", why)
				continue
			}
			if c.Apply(nil) {
				newMapper(f, threads).run()
			}
		}
		return nil
	},
})

// unfit says what keeps f from the gpu level.
func unfit(f *ir.Func) (why string) {
	f.Body.Walk(func(op *ir.Op) bool {
		r := rangeOf(op)
		switch name := op.Def.Name; {
		case name == "loop.if" && onData(op) && hasLoops(op):
			why = "a branch on data has loops inside, which all threads of a block would have to enter"
		case op.Def.Traits.Has(ir.Pure), name == "load", name == "store", name == "loop.if", name == "yield", name == "return":
		case name == "loop.alloc":
			why = "it needs memory of its own"
		case name != "loop.for" && name != "loop.parallel":
			why = "it has the op " + name
		case name == "loop.parallel" && (r.Size != "" || !r.Step.Equal(sym.Const(1))):
			why = "a parallel loop goes by steps"
		}
		return why == ""
	})
	if why == "" && branches(f.Body) {
		why = "a branch on data stands outside its loops, and all threads of a block would have to decide it alike"
	}
	return why
}

// mapper is the state of one proc.
type mapper struct {
	f       *ir.Func
	threads int64
	taken   map[string]bool // names of dims and indices
	thread  string          // the index of the thread at hand
	out     *ir.Builder
}

func newMapper(f *ir.Func, threads int64) *mapper {
	return &mapper{f: f, threads: threads, taken: analysis.Symbols(f)}
}

// fresh is an index that nothing is called yet.
func (m *mapper) fresh(base string) string {
	name := base
	for n := 2; m.taken[name]; n++ {
		name = fmt.Sprintf("%s_%d", base, n)
	}
	m.taken[name] = true
	return name
}

func (m *mapper) run() {
	old := m.f.Body.Ops
	m.out = builder(m.f)
	m.f.Body = m.out.Region
	m.f.Level = ir.LevelGPU
	last := old[len(old)-1]
	old = old[:len(old)-1]
	if crosses(old) {
		m.serial(old)
	} else {
		m.sequence(old)
	}
	m.f.Body.Ops = append(m.f.Body.Ops, last)
}

// onData reports a branch whose conditions read values.
func onData(op *ir.Op) bool {
	for _, c := range ir.GetClause[*ir.Conds](op, "").List {
		if len(c.L.Refs())+len(c.R.Refs()) > 0 {
			return true
		}
	}
	return false
}

func hasLoops(op *ir.Op) bool {
	found := false
	for _, in := range op.Regions() {
		in.Walk(func(op *ir.Op) bool {
			found = found || rangeOf(op) != nil
			return !found
		})
	}
	return found
}

// branches reports a branch on data outside of parallel loops.
func branches(r *ir.Region) bool {
	for _, op := range r.Ops {
		if op.Def.Name == "loop.if" && onData(op) {
			return true
		}
		if op.Def.Name == "loop.parallel" {
			continue
		}
		for _, in := range op.Regions() {
			if branches(in) {
				return true
			}
		}
	}
	return false
}
