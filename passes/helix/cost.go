package helix

import (
	"tenon/internal/num"
	"tenon/ir"
	"tenon/ir/sym"
)

// pricer emits the cost model: cycles of one matrix product, as values that the
// choice compares. A figure without a source is one that was read off
// measurements on cores of today (2 multiply-adds of 32 bytes a cycle).
type pricer struct {
	b  *ir.Builder
	x  *contraction
	on machine
}

const (
	callCycles  = 40.0 // to enter a body, pick its tile and leave
	storeCycles = 2.0  // a vector of the result
	packCycles  = 1.0  // an element that is copied to a panel
	stripCycles = 0.1  // an element of rows of b that a strip reads again: from the second cache, sets in conflict
	rowCycles   = 0.08 // an element of rows of a that a strip of columns reads again
	loopCycles  = 0.5  // a product in loops without tiles
	loopStart   = 20.0
)

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

func (p *pricer) sum(v *ir.Value, more ...*ir.Value) *ir.Value {
	for _, w := range more {
		v = p.b.Scalar("add", v, w)
	}
	return v
}

func (p *pricer) max(a, b *ir.Value) *ir.Value {
	return p.b.Scalar("select", p.b.Scalar("lt", a, b), b, a)
}

// loops is the cost without tiles.
func (p *pricer) loops() *ir.Value {
	m, n, k := p.size(p.x.m.Extent), p.size(p.x.n.Extent), p.size(p.x.k.Extent)
	return p.sum(p.mul(m, n, k, p.number(loopCycles)), p.mul(m, k, p.number(loopStart)))
}

// strategy is the cost of a strategy: its tiles, what they read from farther
// away than the first cache, and copies.
func (p *pricer) strategy(s strategy) *ir.Value {
	x, key := p.x, s.key
	width, deep := sym.Const(int64(key.NV*key.Lanes)), sym.Const(p.on.depth(x.acc))
	m, n, k := p.size(x.m.Extent), p.size(x.n.Extent), p.size(x.k.Extent)
	tiles := ceil(x.m.Extent, sym.Const(int64(key.MR)))
	strips := p.size(ceil(x.n.Extent, width))
	blocks := p.size(ceil(x.k.Extent, deep))
	height := p.size(ceil(x.m.Extent, sym.Max(tiles, sym.Const(1))))
	rows := p.size(tiles)

	vectors := p.number(float64(key.NV))
	chains := p.max(p.mul(height, vectors), p.number(float64(p.on.Gemm.FMALatency*p.on.Gemm.FMAPerCycle)))
	step := p.max(p.mul(chains, p.number(1/float64(p.on.Gemm.FMAPerCycle))),
		p.mul(p.sum(height, vectors), p.number(1/float64(p.on.Gemm.LoadsPerCycle))))
	store := p.mul(height, vectors, p.number(storeCycles))
	cost := p.mul(strips, rows, p.sum(p.mul(k, step), p.mul(blocks, p.sum(store, p.number(callCycles)))))
	if s.pack {
		cost = p.sum(cost, p.mul(k, n, p.number(packCycles)))
	} else {
		cost = p.sum(cost, p.mul(k, n, rows, p.number(stripCycles)))
	}
	if s.packA {
		return p.sum(cost, p.mul(m, k, p.number(packCycles)))
	}
	return p.sum(cost, p.mul(m, k, strips, p.number(rowCycles)))
}

// ceil is e / by, rounded up.
func ceil(e, by sym.Expr) sym.Expr { return sym.FloorDiv(sym.Sub(sym.Add(e, by), sym.Const(1)), by) }
