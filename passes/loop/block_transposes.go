// block-transposes goes through two parallel loops by square blocks where one
// access follows the rows of its buffer and another the columns.
//
// Before:
//
//	loop.parallel i = 0 to N { loop.parallel j = 0 to M { store(load(%x[j, i]), %y[i, j]) } }
//
// After:
//
//	loop.parallel i_b = 0 to N step 16 size i_n { loop.parallel j_b = 0 to M step 16 size j_n {
//	  loop.parallel i = i_b to i_b + i_n { loop.parallel j = j_b to j_b + j_n {
//	    store(load(%x[j, i]), %y[i, j]) } } } }
//
// Legal if the loops are parallel, nothing stands between them and the inner
// bounds are the same for every outer iteration.
//
// Profit: a walk along a column takes a cache line for each element. In a block
// as wide as a line all of the line is used before it leaves the cache.
package loop

import (
	"tenon/ir"
	"tenon/ir/sym"
	"tenon/passes/analysis"
	"tenon/passes/pass"
)

// BlockTransposes makes blocks of transposing loops.
var BlockTransposes = pass.Register(&pass.Pass{
	Name:    "block-transposes",
	Doc:     "go through rows read against rows written by square blocks",
	After:   []string{"fuse-loops", "contract-buffers"},
	Options: []pass.Option{{Name: "line", Default: "64", Doc: "bytes of a cache line"}},
	Counted: true,
	Run: func(c *pass.Context) error {
		for _, f := range c.Module.Funcs() {
			if f.Level != ir.LevelLoop {
				continue
			}
			c.At(f, nil)
			blockRegion(c, f.Body, analysis.Symbols(f))
		}
		return nil
	},
})

func blockRegion(c *pass.Context, r *ir.Region, taken map[string]bool) {
	for i, op := range r.Ops {
		if outer, inner := nest(op); inner != nil {
			if bytes := transposes(outer, inner); bytes > 0 && c.Apply(op) {
				r.Ops[i] = blocks(outer, inner, max(2, c.Int("line")/int64(bytes)), taken)
				continue
			}
		}
		for _, in := range op.Regions() {
			blockRegion(c, in, taken)
		}
	}
}

// nest is op and the loop right inside it, if both are parallel by steps of one
// and the bounds of the inner one stay the same.
func nest(op *ir.Op) (outer, inner *ir.Op) {
	if !plainParallel(op) || len(bodyOf(op).Ops) != 1 {
		return nil, nil
	}
	in := bodyOf(op).Ops[0]
	if !plainParallel(in) {
		return nil, nil
	}
	r := rangeOf(in)
	if r.Lo.Uses(rangeOf(op).Name) || r.Hi.Uses(rangeOf(op).Name) {
		return nil, nil
	}
	return op, in
}

func plainParallel(op *ir.Op) bool {
	if !isParallel(op) {
		return false
	}
	r := rangeOf(op)
	one, ok := r.Step.IsConst()
	return r.Size == "" && ok && one == 1
}

// transposes is the size of the widest element that is read or written down a
// column of the inner loop, 0 if there is none or none along a row.
func transposes(outer, inner *ir.Op) int {
	along, down := 0, 0
	i, j := rangeOf(outer).Name, rangeOf(inner).Name
	_, by := touched([]*ir.Op{inner})
	for buf, a := range by { // the answer does not depend on the order
		if a.opaque {
			return 0
		}
		bytes := ir.ElemOf(buf.Type).Bytes()
		for _, subs := range a.subs {
			if len(subs) < 2 {
				continue
			}
			switch last := subs[len(subs)-1]; {
			case adjacent(last, j) && !last.Uses(i):
				along = max(along, bytes)
			case adjacent(last, i) && !last.Uses(j) && usesAny(subs[:len(subs)-1], j):
				down = max(down, bytes)
			}
		}
	}
	if along == 0 {
		return 0
	}
	return down
}

// adjacent reports that e goes up by one with iv.
func adjacent(e sym.Expr, iv string) bool {
	coef, _, ok := e.Linear(iv)
	n, isConst := coef.IsConst()
	return ok && isConst && n == 1
}

func usesAny(es []sym.Expr, iv string) bool {
	for _, e := range es {
		if e.Uses(iv) {
			return true
		}
	}
	return false
}

// blocks wraps the two loops into two that go by blocks.
func blocks(outer, inner *ir.Op, edge int64, taken map[string]bool) *ir.Op {
	over := func(op *ir.Op) (*ir.Range, *ir.Range) {
		r := rangeOf(op)
		block := &ir.Range{Name: fresh(r.Name+"_b", taken), Size: fresh(r.Name+"_n", taken), Lo: r.Lo, Hi: r.Hi, Step: sym.Const(edge)}
		within := *r
		within.Lo = sym.Name(block.Name)
		within.Hi = sym.Add(sym.Name(block.Name), sym.Name(block.Size))
		return block, &within
	}
	outerBlock, outerIn := over(outer)
	innerBlock, innerIn := over(inner)
	around := func(r *ir.Range, loc ir.Loc, body *ir.Region) *ir.Op {
		return ir.NewOp("loop.parallel", loc, r, &ir.Block{Region: body})
	}
	one := func(op *ir.Op) *ir.Region { return &ir.Region{Ops: []*ir.Op{op}} }
	low := around(innerIn, inner.Loc, bodyOf(inner))
	low = around(outerIn, outer.Loc, one(low))
	low = around(innerBlock, inner.Loc, one(low))
	return around(outerBlock, outer.Loc, one(low))
}

func fresh(name string, taken map[string]bool) string {
	for taken[name] {
		name += "_"
	}
	taken[name] = true
	return name
}
