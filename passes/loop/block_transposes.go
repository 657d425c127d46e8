// block-transposes goes through two parallel loops by blocks where one access
// follows the rows of its buffer and another the columns.
//
// Before:
//
//	loop.parallel j = 0 to N { loop.parallel i = 0 to M { store(load(%x[i, j]), %y[j, i]) } }
//
// After, with lines of 64 bytes and vectors of 32:
//
//	loop.parallel i_b:i_n = 0 to M step 16 { loop.parallel j_b:j_n = 0 to N step 8 {
//	  loop.parallel j = j_b to j_b + j_n { loop.parallel i = i_b to i_b + i_n {
//	    store(load(%x[i, j]), %y[j, i]) } } } }
//
// Legal if the loops are parallel, nothing stands between them and the inner
// bounds are the same for every outer iteration.
//
// Profit: a walk along a column takes a cache line for each element. A block is a
// line wide where rows are written, so that lines are written whole, and a vector
// high, so that vectors can be turned in registers (tile-transposes). Its written
// lines lie in as few places of one cache set as can be: rows a power of two apart
// share one, of 8 lines or so. Blocks go on along the rows that are read: as many
// streams as a line has elements, and of the pages that are written each is met
// again soon. (16384 x 1024 f32: 1.7 times as fast as square blocks that go on
// along the rows that are written.) Without vectors blocks are square.
package loop

import (
	"tenon/ir"
	"tenon/ir/sym"
	"tenon/passes/analysis"
	"tenon/passes/pass"
)

// BlockTransposes makes blocks of transposing loops.
var BlockTransposes = pass.Register(&pass.Pass{
	Name:  "block-transposes",
	Doc:   "go through rows read against rows written by blocks",
	After: []string{"fuse-loops", "contract-buffers"},
	Options: []pass.Option{
		{Name: "line", Default: "64", Doc: "bytes of a cache line"},
		{Name: "vector", Default: "32", Doc: "bytes of a vector register, 0: none"},
	},
	Counted: true,
	Run: func(c *pass.Context) error {
		for _, f := range c.Funcs() {
			if f.Level != ir.LevelLoop {
				continue
			}
			c.At(f, nil)
			b := &blocker{c: c, taken: analysis.Symbols(f), parts: map[string]bool{}}
			b.region(f.Body)
		}
		return nil
	},
})

// blockEdge is the most that a block has along either loop; larger parts are
// tiles of something else.
const blockEdge = 64

// blocker knows the names that are taken, and those of sizes of parts.
type blocker struct {
	c            *pass.Context
	taken, parts map[string]bool
}

func (b *blocker) region(r *ir.Region) {
	for i, op := range r.Ops {
		if rng := rangeOf(op); rng != nil && rng.Size != "" {
			n, ok := rng.Step.IsConst()
			b.parts[rng.Size] = ok && n <= blockEdge
		}
		if outer, inner := nest(op); inner != nil && !b.isPart(outer) && !b.isPart(inner) {
			if d := directionsOf(outer, inner); d.transpose() && b.c.Apply(op) {
				r.Ops[i] = d.blocks(outer, inner, b.c.Int("line"), b.c.Int("vector"), b.taken)
				continue
			}
		}
		for _, in := range op.Regions() {
			b.region(in)
		}
	}
}

// isPart reports that op goes through a part of a loop around, so that it is one
// of a block.
func (b *blocker) isPart(op *ir.Op) bool {
	r := rangeOf(op)
	size, ok := sym.Sub(r.Hi, r.Lo).IsName()
	return ok && b.parts[size]
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

// directions are the bytes of the widest elements that two loops touch along rows
// of the inner one and along rows of the outer one, in all and written; 0: none.
type directions struct {
	along, down               int
	writtenAlong, writtenDown int
}

// transpose reports accesses along both.
func (d *directions) transpose() bool { return d.along > 0 && d.down > 0 }

func directionsOf(outer, inner *ir.Op) *directions {
	d := &directions{}
	i, j := rangeOf(outer).Name, rangeOf(inner).Name
	_, by := touched([]*ir.Op{inner})
	for buf, a := range by { // the answer does not depend on the order
		if a.opaque {
			return &directions{}
		}
		bytes := ir.ElemOf(buf.Type).Bytes()
		for _, subs := range a.subs {
			if len(subs) < 2 {
				continue
			}
			switch last := subs[len(subs)-1]; {
			case adjacent(last, j) && !last.Uses(i):
				d.note(&d.along, &d.writtenAlong, bytes, a.writes)
			case adjacent(last, i) && !last.Uses(j) && usesAny(subs[:len(subs)-1], j):
				d.note(&d.down, &d.writtenDown, bytes, a.writes)
			}
		}
	}
	return d
}

func (d *directions) note(touched, written *int, bytes int, writes bool) {
	*touched = max(*touched, bytes)
	if writes {
		*written = max(*written, bytes)
	}
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

// mostRows is how many vectors are turned at once: twice as many do not fit the
// registers of most machines.
const mostRows = 16

// blocks wraps the two loops into two that go by blocks, a line wide along the
// rows that are written and a vector high.
func (d *directions) blocks(outer, inner *ir.Op, line, vector int64, taken map[string]bool) *ir.Op {
	over := func(op *ir.Op, edge int64) (*ir.Range, *ir.Range) {
		r := rangeOf(op)
		block := &ir.Range{Name: fresh(r.Name+"_b", taken), Size: fresh(r.Name+"_n", taken), Lo: r.Lo, Hi: r.Hi, Step: sym.Const(edge)}
		within := *r
		within.Lo = sym.Name(block.Name)
		within.Hi = sym.Add(sym.Name(block.Name), sym.Name(block.Size))
		return block, &within
	}
	wide, high := d.edges(line, vector)
	outerEdge, innerEdge := high, wide
	writesDown := d.writtenAlong == 0 && d.writtenDown > 0
	if writesDown {
		outerEdge, innerEdge = wide, high
	}
	outerBlock, outerIn := over(outer, outerEdge)
	innerBlock, innerIn := over(inner, innerEdge)
	around := func(r *ir.Range, loc ir.Loc, body *ir.Region) *ir.Op {
		return ir.NewOp("loop.parallel", loc, r, &ir.Block{Region: body})
	}
	one := func(op *ir.Op) *ir.Region { return &ir.Region{Ops: []*ir.Op{op}} }
	low := around(innerIn, inner.Loc, bodyOf(inner))
	low = around(outerIn, outer.Loc, one(low))
	if vector > 0 && !writesDown {
		return around(innerBlock, inner.Loc, one(around(outerBlock, outer.Loc, one(low))))
	}
	return around(outerBlock, outer.Loc, one(around(innerBlock, inner.Loc, one(low))))
}

// edges are how many elements a block has along the rows that are written and
// across them.
func (d *directions) edges(line, vector int64) (wide, high int64) {
	widest := int64(max(d.along, d.down))
	written := int64(max(d.writtenAlong, d.writtenDown))
	if d.writtenAlong > 0 {
		written = int64(d.writtenAlong)
	}
	if vector == 0 || written == 0 {
		edge := max(2, line/widest)
		return edge, edge
	}
	high = max(2, min(mostRows, vector/widest))
	return max(high, line/written), high
}

func fresh(name string, taken map[string]bool) string {
	for taken[name] {
		name += "_"
	}
	taken[name] = true
	return name
}
