package vec

import (
	"math/bits"
	"slices"

	"tenon/internal/num"
	"tenon/ir"
	"tenon/ir/sym"
)

// columns are accesses of one kind to neighbours in a row, where each lane has a
// row of its own: columns lo to hi of rows that differ in subscripts before the
// last. Each row is read or written whole, as a short vector, and a block of rows
// is turned in registers: for R rows and C columns R accesses and about R log2 C
// shuffles in place of R*C accesses.
type columns struct {
	first  ir.Arg // of those of the lowest column
	lo, hi int64
	ops    []*ir.Op
}

// findColumns groups the accesses of the loop that lie in columns.
func (l *loop) findColumns() {
	l.columns = map[*ir.Op]*columns{}
	var groups []*columns
	for _, op := range bodyOf(l.op).Ops {
		for _, a := range accesses(op) {
			if at, ok := l.columnOf(a); ok {
				groups = l.addColumn(groups, op, a, at)
			}
		}
	}
	for _, g := range groups {
		if l.fitsColumns(g) {
			for _, op := range g.ops {
				l.columns[op] = g
			}
		}
	}
}

// columnOf is the constant last subscript of an access whose row moves with the
// loop.
func (l *loop) columnOf(a ir.Arg) (at int64, ok bool) {
	subs := subsOf(a)
	if len(subs) < 2 || l.shapeOf(a) != spread {
		return 0, false
	}
	if s := a.Value.Type.(ir.Buf).Strides; s != nil {
		if one, ok := s[len(s)-1].IsConst(); !ok || one != 1 {
			return 0, false
		}
	}
	for _, s := range subs[:len(subs)-1] {
		if _, _, linear := l.linear(s); !linear && l.moves(s) {
			return 0, false
		}
	}
	return subs[len(subs)-1].IsConst()
}

// addColumn adds op to the group of its kind and rows, or makes one. A group spans
// fewer columns than there are lanes.
func (l *loop) addColumn(groups []*columns, op *ir.Op, a ir.Arg, at int64) []*columns {
	for _, g := range groups {
		lo, hi := min(g.lo, at), max(g.hi, at)
		if g.ops[0].Def != op.Def || !sameRows(g.first, a) || hi-lo >= int64(l.lanes) {
			continue
		}
		if at < g.lo {
			g.first = a
		}
		g.lo, g.hi, g.ops = lo, hi, append(g.ops, op)
		return groups
	}
	return append(groups, &columns{first: a, lo: at, hi: at, ops: []*ir.Op{op}})
}

func sameRows(a, b ir.Arg) bool {
	x, y := subsOf(a), subsOf(b)
	return a.Value == b.Value && slices.EqualFunc(x[:len(x)-1], y[:len(y)-1], sym.Expr.Equal)
}

// fitsColumns reports that g may be done at once: two columns or more, of a buffer
// that the loop reads or writes, not both; what is written is every column once.
func (l *loop) fitsColumns(g *columns) bool {
	width := g.hi - g.lo + 1
	if width < 2 || bits.OnesCount(uint(l.lanes)) != 1 || ir.ElemOf(g.first.Value.Type) == num.Bool {
		return false
	}
	mixed := false
	bodyOf(l.op).Walk(func(op *ir.Op) bool {
		for _, a := range accesses(op) {
			mixed = mixed || a.Value == g.first.Value && op.Def != g.ops[0].Def
		}
		return true
	})
	if mixed {
		return false
	}
	return g.ops[0].Def.Name == "load" || int64(len(g.ops)) == width && distinct(g)
}

// distinct reports that no two stores of g go to one column.
func distinct(g *columns) bool {
	seen := map[int64]bool{}
	for _, op := range g.ops {
		at, _ := lastSub(op).IsConst()
		if seen[at] {
			return false
		}
		seen[at] = true
	}
	return true
}

func lastSub(op *ir.Op) sym.Expr {
	subs := subsOf(accesses(op)[0])
	return subs[len(subs)-1]
}

// readColumn is the vector of a load in columns; the first load of a group reads
// them all.
func (e *emitter) readColumn(op *ir.Op, g *columns) *ir.Value {
	if e.turned[g] == nil {
		n := int(g.hi - g.lo + 1)
		rows := make([]*ir.Value, e.lanes)
		t := ir.Vec{Lanes: n, Elem: ir.ElemOf(g.first.Value.Type)}
		for i := range rows {
			load := ir.NewOp("vec.load", e.b.Loc, &ir.Operands{Args: []ir.Arg{e.laneArg(g.first, i)}})
			rows[i] = e.b.Add(load, []ir.Type{t}, op.Results[0].Name).Results[0]
		}
		e.turned[g] = turnRows(e.b, rows)
	}
	at, _ := lastSub(op).IsConst()
	return e.turned[g][at-g.lo]
}

// writeColumn notes the vector of a store in columns; the last of a group writes
// them all.
func (e *emitter) writeColumn(op *ir.Op, g *columns) {
	of := ir.ElemOf(g.first.Value.Type)
	if e.turned[g] == nil {
		e.turned[g] = make([]*ir.Value, g.hi-g.lo+1)
	}
	at, _ := lastSub(op).IsConst()
	e.turned[g][at-g.lo] = e.arg(op.Args("")[0], of)
	if op != g.ops[len(g.ops)-1] {
		return
	}
	for i, row := range turnColumns(e.b, e.turned[g]) {
		args := []ir.Arg{ir.ValueArg(row), e.laneArg(g.first, i)}
		e.b.Add(ir.NewOp("vec.store", e.b.Loc, &ir.Operands{Args: args}), nil)
	}
}

// turnRows turns rows of n lanes, a power of two of them and no fewer than n, into
// n vectors with a lane a row. Rows a square apart come together in one vector,
// so that turning its squares puts them in order.
func turnRows(b *ir.Builder, rows []*ir.Value) []*ir.Value {
	n := rows[0].Type.(ir.Vec).Lanes
	square := 1 << bits.Len(uint(n-1))
	for len(rows) > square {
		joined := make([]*ir.Value, len(rows)/2)
		for k := range joined {
			first := k/square*2*square + k%square
			joined[k] = shuffle(b, rows[first], rows[first+square], joinedLanes(rows[first].Type.(ir.Vec).Lanes, square))
		}
		rows = joined
	}
	if w := rows[0].Type.(ir.Vec).Lanes; w%square != 0 {
		for k, v := range rows {
			rows[k] = shuffle(b, v, v, padded(w, square))
		}
	}
	return transpose(b, rows)[:n]
}

// joinedLanes puts two vectors of w lanes one after the other, each filled up to
// whole squares by its last lane.
func joinedLanes(w, square int) []int {
	one := padded(w, square)
	both := slices.Clone(one)
	for _, i := range one {
		both = append(both, w+i)
	}
	return both
}

func padded(w, square int) []int {
	out := make([]int, (w+square-1)/square*square)
	for i := range out {
		out[i] = min(i, w-1)
	}
	return out
}

// turnColumns is the reverse of turnRows: a row a lane of the columns.
func turnColumns(b *ir.Builder, cols []*ir.Value) []*ir.Value {
	n, rows := len(cols), cols[0].Type.(ir.Vec).Lanes
	square := 1 << bits.Len(uint(n-1))
	for len(cols) < square {
		cols = append(cols, cols[n-1])
	}
	out := make([]*ir.Value, rows)
	for k, v := range transpose(b, cols) {
		for first := 0; first < rows; first += square {
			lanes := make([]int, n)
			for i := range lanes {
				lanes[i] = first + i
			}
			out[first+k] = shuffle(b, v, v, lanes)
		}
	}
	return out
}
