// tile-transposes goes through the blocks of block-transposes in registers: rows
// that lie across the lanes are loaded as vectors and turned by shuffles.
//
// Before, with blocks of 16 by 8:
//
//	loop.parallel j = j_b to j_b + j_n { loop.parallel i = i_b to i_b + i_n {
//	  store(load(%x[i, j]), %y[j, i]) } }
//
// After, with lanes along i, which is where rows are written:
//
//	loop.if i_n == 16, j_n == 8 {
//	  %r0 = vec.load(%x[i_b, j_b]) : vec<8 x f32> .. %r7 = vec.load(%x[i_b + 7, j_b]) : vec<8 x f32>
//	  %c0 .. %c7 = shuffles of %r0 .. %r7            // and the same for i_b + 8 on
//	  vec.store(%c0, %y[j_b, i_b]); .. vec.store(%c7, %y[j_b + 7, i_b])
//	} else { the loops as they were }
//
// Rows that are written across the lanes are turned before they are stored. What
// is the same for all lanes is a scalar of its row. A block of L by L takes L log2
// L shuffles in place of L*L loads.
//
// Legal for parallel loops without branches inside: loads across the lanes come
// before all stores of the block, and stores across them after all loads, so
// their buffers must not be touched the other way in the block. Every other access
// must be to neighbours along the lanes or the same for all.
package vec

import (
	"math/bits"
	"slices"

	"tenon/internal/num"
	"tenon/ir"
	"tenon/ir/sym"
	"tenon/passes/analysis"
	"tenon/passes/pass"
)

// TileTransposes makes blocks of vectors.
var TileTransposes = pass.Register(&pass.Pass{
	Name:    "tile-transposes",
	Doc:     "go through rows read against rows written in blocks of vectors",
	After:   []string{"block-transposes"},
	Options: []pass.Option{streamOption, {Name: "line", Default: "64", Doc: "bytes of a cache line"}},
	Counted: true,
	Run: func(c *pass.Context) error {
		for _, f := range c.Funcs() {
			if f.Level != ir.LevelLoop || !fits(f) {
				continue
			}
			c.At(f, nil)
			t := &tiler{c: c, sizes: map[string]int64{}, stream: streamingOf(f, c.Int("stream"))}
			t.region(f.Body, analysis.AtEntry(f))
			if t.applied {
				f.Level = ir.LevelVec
			}
		}
		return nil
	},
})

// tiler holds, for the loops around, how many iterations the names of part sizes
// stand for at most.
type tiler struct {
	c       *pass.Context
	sizes   map[string]int64
	stream  *streaming
	applied bool
}

func (t *tiler) region(r *ir.Region, facts *sym.Facts) {
	for i, op := range r.Ops {
		if rng := rangeOf(op); rng != nil && rng.Size != "" {
			if n, ok := rng.Step.IsConst(); ok {
				t.sizes[rng.Size] = n
			}
		}
		if outer, inner := t.nest(op); inner != nil {
			if b, why := t.analyse(outer, inner, facts); why != "" {
				t.c.Decline(op.Loc, "the block stays scalar: %s", why)
			} else if b != nil && t.c.Apply(op) {
				r.Ops[i] = b.emit(outer)
				t.applied = true
			}
			continue
		}
		for _, in := range op.Regions() {
			t.region(in, analysis.Inside(facts, op, in))
		}
	}
}

// nest is op and the loop right inside it if both go through a part of a loop
// around and hold no other loop.
func (t *tiler) nest(op *ir.Op) (outer, inner *ir.Op) {
	if t.edge(op) == 0 || len(bodyOf(op).Ops) != 1 {
		return nil, nil
	}
	in := bodyOf(op).Ops[0]
	if t.edge(in) == 0 || hasLoops(in) || t.edge(op)*t.edge(in) > mostElements {
		return nil, nil
	}
	return op, in
}

// mostElements bounds a block: it is written out, and no larger part of a loop
// around is meant to be one.
const mostElements = 64 * 32

// edge is how many iterations op has where the part of the loop around that it
// goes through is whole, 0 if it is no such loop.
func (t *tiler) edge(op *ir.Op) int64 {
	r := rangeOf(op)
	if r == nil || op.Def.Name != "loop.parallel" || r.Size != "" {
		return 0
	}
	one, ok := r.Step.IsConst()
	size, isName := sym.Sub(r.Hi, r.Lo).IsName()
	if !ok || one != 1 || !isName {
		return 0
	}
	return t.sizes[size]
}

// block is two loops to be done in registers. The embedded loop goes along the
// lanes; across is the range of the other.
type block struct {
	*loop
	across     *ir.Range
	wide, high int64
	turned     map[*ir.Op]bool // loads and stores across the lanes
}

// analyse chooses the lanes so that few accesses must be turned, stores least;
// nil if none must.
func (t *tiler) analyse(outer, inner *ir.Op, facts *sym.Facts) (*block, string) {
	a, whyNot := t.along(inner, outer, inner, facts)
	b, why := t.along(outer, inner, inner, facts)
	switch {
	case whyNot != "" && why != "":
		return nil, whyNot
	case whyNot != "" || why == "" && b.cost() < a.cost():
		a = b
	}
	if len(a.turned) == 0 {
		return nil, ""
	}
	return a, ""
}

// cost counts what must be turned; a store is turned late, so that its lines are
// written in parts.
func (b *block) cost() (n int) {
	for op := range b.turned { // a sum
		n++
		if op.Def.Name == "store" {
			n++
		}
	}
	return n
}

// along is the block with lanes along one loop of the two, or why it cannot be.
func (t *tiler) along(lanes, across, inner *ir.Op, facts *sym.Facts) (*block, string) {
	b := &block{across: rangeOf(across), wide: t.edge(lanes), high: t.edge(across), turned: map[*ir.Op]bool{}}
	b.loop = &loop{op: inner, r: rangeOf(lanes), facts: facts, varying: map[*ir.Value]bool{}, lanes: int(b.high)}
	if b.writesLines(t.c.Int("line")) {
		b.stream = t.stream
	}
	if b.high < 2 || bits.OnesCount64(uint64(b.high)) != 1 || b.wide%b.high != 0 {
		return nil, "its edges fill no vectors"
	}
	if slices.ContainsFunc(bodyOf(inner).Ops, func(op *ir.Op) bool { return len(op.Regions()) > 0 }) {
		return nil, "it has branches"
	}
	if why := b.spreadOver(bodyOf(inner)); why != "" {
		return nil, why
	}
	for _, op := range bodyOf(inner).Ops {
		for _, a := range accesses(op) {
			switch s := b.shapeOf(a); {
			case s == row || s == same && op.Def.Name == "load":
			case b.isAcross(a) && ir.ElemOf(a.Value.Type) == num.Bool:
				return nil, "vectors of bools are masks, which cannot be shuffled"
			case b.isAcross(a):
				b.turned[op] = true
			default:
				return nil, "an access is along neither of its loops"
			}
		}
	}
	return b, b.order()
}

// writesLines reports that what is stored along the lanes fills whole lines:
// around the caches, parts of lines cost as much as lines.
func (b *block) writesLines(line int64) bool {
	return !slices.ContainsFunc(bodyOf(b.op).Ops, func(op *ir.Op) bool {
		return op.Def.Name == "store" && b.wide*int64(ir.ElemOf(op.Args("")[1].Value.Type).Bytes())%line != 0
	})
}

// isAcross reports that a goes along a row with the loop across the lanes, and
// from row to row with the lanes.
func (b *block) isAcross(a ir.Arg) bool {
	x := &loop{op: b.op, r: b.across, varying: b.varying}
	subs := subsOf(a)
	return len(subs) > 1 && x.shapeOf(sameRow(a)) == row && !subs[len(subs)-1].Uses(b.r.Name)
}

// sameRow is a with its row left out: the subscripts but the last are 0.
func sameRow(a ir.Arg) ir.Arg {
	subs := subsOf(a)
	for d := range subs[:len(subs)-1] {
		subs[d] = sym.Const(0)
	}
	return ir.ElemArg(a.Value, subs...)
}

// order says why turned accesses cannot be done before and after all others.
func (b *block) order() string {
	for op := range b.turned { // any that is found is reason enough
		buf := accesses(op)[0].Value
		for _, other := range bodyOf(b.op).Ops {
			if as := accesses(other); len(as) > 0 && as[0].Value == buf && other.Def != op.Def {
				return "a buffer is both read and written"
			}
		}
	}
	return ""
}

// emit gives the branch that stands for the loops.
func (b *block) emit(outer *ir.Op) *ir.Op {
	whole := &ir.Region{}
	builder := ir.NewBuilder(whole)
	builder.Loc = b.op.Loc
	b.fill(builder)
	inner := bodyOf(outer).Ops[0]
	ir.SetClause(inner, "directives", &ir.Directives{List: []string{"rest"}})
	size := func(r *ir.Range, n int64) sym.Cond { return sym.Eq(sym.Sub(r.Hi, r.Lo), sym.Const(n)) }
	branch := ir.NewOp("loop.if", outer.Loc, &ir.Conds{List: []sym.Cond{size(b.r, b.wide), size(b.across, b.high)}},
		&ir.Block{Region: whole})
	ir.SetClause(branch, "else", &ir.Block{Region: &ir.Region{Ops: []*ir.Op{outer}}})
	return branch
}

// fill emits the whole block: what lies across the lanes is read, then the body
// for each row, vector by vector, so that the lines of a row are written whole;
// last what is written across the lanes.
func (b *block) fill(builder *ir.Builder) {
	vectors := int(b.wide / b.high)
	read := make([]map[*ir.Op][]*ir.Value, vectors)
	written := make([]map[*ir.Op][]*ir.Value, vectors)
	for h := range read {
		read[h] = b.readAcross(builder, int64(h)*b.high)
		written[h] = map[*ir.Op][]*ir.Value{}
	}
	for k := range int(b.high) {
		for h := range read {
			e := b.emitter(builder, int64(h)*b.high, int64(k))
			for _, op := range bodyOf(b.op).Ops {
				e.b.Loc = op.Loc
				switch {
				case b.turned[op] && op.Def.Name == "load":
					e.inLanes[op.Results[0]] = read[h][op][k]
				case b.turned[op]:
					args := op.Args("")
					written[h][op] = append(written[h][op], e.arg(args[0], ir.ElemOf(args[1].Value.Type)))
				default:
					e.region(&ir.Region{Ops: []*ir.Op{op}})
				}
			}
		}
	}
	for h := range written {
		b.writeAcross(builder, int64(h)*b.high, written[h])
	}
}

// emitter stands at lane number lane and row number k of the block.
func (b *block) emitter(builder *ir.Builder, lane, k int64) *emitter {
	e := &emitter{loop: b.loop, b: builder, inLanes: map[*ir.Value]*ir.Value{}}
	e.uniform = &ir.Mapping{Values: map[*ir.Value]*ir.Value{}, Syms: map[string]sym.Expr{
		b.r.Name:      sym.Add(b.r.Lo, sym.Const(lane)),
		b.across.Name: sym.Add(b.across.Lo, sym.Const(k))}}
	return e
}

// readAcross loads, for each load across the lanes, a vector a lane, and turns
// them into a vector a row.
func (b *block) readAcross(builder *ir.Builder, lane int64) map[*ir.Op][]*ir.Value {
	out := map[*ir.Op][]*ir.Value{}
	for _, op := range bodyOf(b.op).Ops {
		if !b.turned[op] || op.Def.Name != "load" {
			continue
		}
		a := op.Args("")[0]
		builder.Loc = op.Loc
		var rows []*ir.Value
		for k := range b.high {
			e := b.emitter(builder, lane+k, 0)
			load := ir.NewOp("vec.load", op.Loc, &ir.Operands{Args: []ir.Arg{e.mapped(a, e.uniform)}})
			rows = append(rows, builder.Add(load, []ir.Type{b.typeOf(ir.ElemOf(a.Value.Type))}, op.Results[0].Name).Results[0])
		}
		out[op] = transpose(builder, rows)
	}
	return out
}

// writeAcross turns the vectors of each store, one a row, and stores one a lane.
func (b *block) writeAcross(builder *ir.Builder, lane int64, written map[*ir.Op][]*ir.Value) {
	for _, op := range bodyOf(b.op).Ops {
		if written[op] == nil {
			continue
		}
		builder.Loc = op.Loc
		for k, v := range transpose(builder, written[op]) {
			e := b.emitter(builder, lane+int64(k), 0)
			args := []ir.Arg{ir.ValueArg(v), e.mapped(op.Args("")[1], e.uniform)}
			builder.Add(ir.NewOp("vec.store", op.Loc, &ir.Operands{Args: args}), nil)
		}
	}
}
