package helix

import (
	"tenon/internal/num"
	"tenon/ir"
	"tenon/ir/sym"
	"tenon/microkernels/gemm"
)

// pricer emits the cost model: cycles of one matrix product, as values that the
// choice compares.
//
// A register tile of h rows and v vectors takes for a step along the depth as
// long as the busiest of: the multiply-adds, the loads, one multiply-add after
// the other into the same register, the bytes of b from where they lie. A strip
// of columns comes from far away once for each block of rows, and then from the
// first cache if it fits, else from the second.
type pricer struct {
	b  *ir.Builder
	x  *contraction
	on machine
}

// Figures without a source were read off measurements on cores of today (Zen 3).
const (
	callCycles   = 25.0  // to enter a body, pick its tile and leave
	storeCycles  = 1.0   // a vector of the result
	dotCycles    = 35.0  // the same where the lanes are added up at the end
	laneCycles   = 1.5   // lanes that are added up
	packStart    = 150.0 // to begin a copy
	packCycles   = 0.8   // 4 bytes that are copied to a panel
	awayCycles   = 0.3   // 4 bytes more where the panels are too many for the second cache
	rowCycles    = 0.025 // 4 bytes of rows of a that a strip reads again, beyond those of a panel
	stripCycles  = 0.05  // 4 bytes of rows of b that a tile reads again
	pageCycles   = 0.1   // the same, more, where each row begins on a page of its own
	setCycles    = 0.2   // the same, more, where all rows lie in the same sets of the caches
	pageBytes    = 4096
	waitCycles   = 0.3 // what the scheduler loses where few chains of sums are under way
	loadShare    = 0.9 // of the loads that the ports could do
	loopCycles   = 0.5 // a product in loops without tiles
	loopStart    = 60.0
	acrossCycles = 4.0  // the same where a factor lies across
	turnCycles   = 10.0 // a column of b that is copied by columns, at least
)

// restCycles is what the last panel, which is not full, takes for each step along
// the depth.
var restCycles = map[form]float64{alongDepth: 30, alongWidth: 10, made: 10}

func (p *pricer) number(f float64) *ir.Value {
	return p.b.Const(num.F64, num.Cast(num.F64, num.F64, num.FromFloat(f)))
}

// size is an expression as a number.
func (p *pricer) size(e sym.Expr) *ir.Value { return p.b.Cast(p.b.Idx(e, num.I64), num.F64) }

func (p *pricer) mul(v *ir.Value, by ...*ir.Value) *ir.Value {
	for _, w := range by {
		v = p.b.Scalar("mul", v, w)
	}
	return v
}

// times is v, slower by a known factor.
func (p *pricer) times(v *ir.Value, factor float64) *ir.Value {
	if factor == 1 {
		return v
	}
	return p.mul(v, p.number(factor))
}

func (p *pricer) sum(v *ir.Value, more ...*ir.Value) *ir.Value {
	for _, w := range more {
		v = p.b.Scalar("add", v, w)
	}
	return v
}

func (p *pricer) sub(v, w *ir.Value) *ir.Value { return p.b.Scalar("sub", v, w) }

func (p *pricer) max(a, b *ir.Value) *ir.Value {
	return p.b.Scalar("select", p.b.Scalar("lt", a, b), b, a)
}

// loops is the cost without tiles: along the rows of b, along the depth of both
// factors, or element by element where one lies across.
func (p *pricer) loops() *ir.Value {
	m, n, k := p.size(p.x.m.Extent), p.size(p.x.n.Extent), p.size(p.x.k.Extent)
	switch {
	case p.x.formB != alongDepth:
		return p.sum(p.mul(m, n, k, p.number(loopCycles)), p.mul(m, k, p.number(loopStart)))
	case p.x.formA != alongWidth:
		return p.mul(m, n, p.sum(p.mul(k, p.number(loopCycles)), p.number(loopStart)))
	}
	return p.mul(m, n, p.sum(p.mul(k, p.number(acrossCycles)), p.number(loopStart)))
}

// strategy is the cost of a strategy: strips of columns, each of tiles, and
// copies.
func (p *pricer) strategy(s strategy) *ir.Value {
	if s.swap != nil {
		return p.swapCost(s)
	}
	x, key := p.x, s.key
	one, width := sym.Const(1), sym.Const(int64(key.Cols()))
	strips := ceil(x.n.Extent, width)
	last := ceil(sym.Sub(x.n.Extent, sym.Mul(sym.Sub(strips, one), width)), sym.Const(int64(key.Cols()/key.NV)))
	whole := p.mul(p.size(sym.Sub(strips, one)), p.strip(s, p.number(float64(key.NV))))
	cost := p.sum(whole, p.strip(s, p.size(last)))

	m, n, k := p.size(x.m.Extent), p.size(x.n.Extent), p.size(x.k.Extent)
	words := float64(x.acc.Bytes()) / 4
	switch {
	case s.ready != nil:
	case s.pack && s.key.B == gemm.Columns:
		cost = p.sum(cost, p.mul(k, p.max(p.mul(n, p.number(words*packCycles)), p.number(turnCycles))))
	case s.pack:
		rest := p.mul(k, p.number(restCycles[x.formB]))
		each := packCycles
		if s.packA {
			each += awayCycles
		}
		cost = p.sum(cost, p.mul(k, n, p.number(words*each)), rest, p.number(packStart))
	case s.key.B == gemm.Columns:
	default:
		again := p.size(sym.Sub(ceil(x.m.Extent, sym.Const(int64(key.MR))), one))
		cost = p.sum(cost, p.mul(k, n, again, p.number(words), p.rowAfterRow()))
	}
	if s.packA {
		return p.sum(cost, p.mul(m, k, p.number(words*packCycles)), p.number(packStart))
	}
	return p.sum(cost, p.mul(m, k, p.size(strips), p.number(words*rowCycles)))
}

// rowAfterRow is what 4 bytes of rows of b cost.
func (p *pricer) rowAfterRow() *ir.Value {
	bytes := sym.Mul(p.x.n.Extent, sym.Const(int64(p.x.acc.Bytes())))
	long := p.b.Scalar("lt", p.number(pageBytes-1), p.size(bytes))
	same := p.b.Scalar("lt", p.size(sym.Mod(bytes, sym.Const(pageBytes))), p.number(1))
	none := p.number(0)
	return p.sum(p.number(stripCycles), p.b.Scalar("select", long, p.number(pageCycles), none),
		p.b.Scalar("select", same, p.number(setCycles), none))
}

// strip is the cost of one strip of v vectors, or of v columns whose sums run
// along the depth.
func (p *pricer) strip(s strategy, v *ir.Value) *ir.Value {
	x := p.x
	tiles := p.size(ceil(x.m.Extent, sym.Const(int64(s.key.MR))))
	again := p.number(float64(p.on.Gemm.VectorBytes) / p.on.near)
	if p.on.depth(s.key)*int64(s.key.Cols()*x.acc.Bytes()) <= p.on.L1*3/4 {
		again = p.number(1 / float64(p.on.Gemm.LoadsPerCycle))
	}
	rows := p.size(x.m.Extent)
	var high *ir.Value
	if s.packA { // panels have a fixed height
		full := p.number(float64(s.key.MR))
		high = p.b.Scalar("select", p.b.Scalar("lt", rows, full), rows, full)
	} else {
		high = p.b.Scalar("ceil", p.b.Scalar("div", rows, p.max(tiles, p.number(1))))
	}
	more := p.sub(tiles, p.number(1))
	low := p.sub(rows, p.mul(more, high))
	passes := p.size(ceil(x.m.Extent, sym.Const(p.on.rows(s.key))))
	slow, enter := p.measured(s)
	busy := p.times(p.step(high, v), slow)
	step := p.sum(
		p.mul(passes, p.max(busy, p.mul(p.lines(s, v), p.fromAfar()))),
		p.mul(p.sub(more, passes), p.max(busy, p.mul(v, again))),
		p.max(p.times(p.step(low, v), slow), p.mul(v, again)))
	blocks := p.size(ceil(x.k.Extent, sym.Const(p.on.depth(s.key))))
	steps, call, store := x.k.Extent, callCycles, storeCycles
	if s.key.B == gemm.Columns {
		steps, call, store = ceil(x.k.Extent, sym.Const(int64(s.key.Lanes))), dotCycles, laneCycles
	}
	if enter > 0 {
		call, store = enter, 0
	}
	edges := p.sum(p.mul(tiles, p.number(call)), p.mul(rows, v, p.number(store)))
	return p.sum(p.mul(p.size(steps), step), p.mul(blocks, edges))
}

// step is the time of a step of a tile of h rows and v vectors in the first cache.
func (p *pricer) step(h, v *ir.Value) *ir.Value {
	on := p.on.Gemm
	sums := p.mul(h, v, p.number(1/float64(on.FMAPerCycle)))
	loads := p.mul(p.sum(h, v), p.number(1/(loadShare*float64(on.LoadsPerCycle))))
	return p.max(p.max(sums, loads), p.number(float64(on.FMALatency)+waitCycles))
}

// measured is by how much a kernel's step is slower than the model says, and what
// a tile takes beside its steps; 1 and 0 where nobody measured it.
func (p *pricer) measured(s strategy) (slow, enter float64) {
	t, ok := p.on.times[s.kernel(p.x).Name()]
	if !ok {
		return 1, 0
	}
	on := p.on.Gemm
	h, v := float64(s.key.MR), float64(s.key.NV)
	model := max(h*v/float64(on.FMAPerCycle), (h+v)/(loadShare*float64(on.LoadsPerCycle)), float64(on.FMALatency)+waitCycles)
	step := t.step
	if s.key.B == gemm.Columns {
		step *= float64(s.key.Lanes)
	}
	return step / model, t.enter
}

// lines is how many vectors of b could be fetched in the time of v of a strip:
// where rows of b go across, each begins where nothing was fetched ahead.
func (p *pricer) lines(s strategy, v *ir.Value) *ir.Value {
	if s.kernel(p.x).B != gemm.Rows || p.x.formB == made {
		return v
	}
	const begin = 192.0 // bytes that come in the time that a row takes to begin
	return p.sum(v, p.number(begin/float64(p.on.Gemm.VectorBytes)))
}

// fromAfar is the time of a vector of b from where all of b fits.
func (p *pricer) fromAfar() *ir.Value {
	vector := float64(p.on.Gemm.VectorBytes)
	_, e := p.x.elems()
	vector = vector * float64(e.Bytes()) / float64(p.x.acc.Bytes())
	bytes := p.mul(p.size(p.x.n.Extent), p.size(p.x.k.Extent), p.number(float64(e.Bytes())))
	within := func(cache int64) *ir.Value { return p.b.Scalar("lt", bytes, p.number(float64(cache))) }
	far := p.b.Scalar("select", within(p.on.L3), p.number(vector/p.on.far), p.number(vector/p.on.memory))
	return p.b.Scalar("select", within(p.on.L2*3/4), p.number(vector/p.on.near), far)
}

// ceil is e / by, rounded up.
func ceil(e, by sym.Expr) sym.Expr { return sym.FloorDiv(sym.Sub(sym.Add(e, by), sym.Const(1)), by) }
