package interp

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"

	"tenon/internal/diag"
	"tenon/ir"
)

// Extern implements ir.Machine. A drawn value depends on seed, name and sizes
// alone: a block size between 1 and twice its extent, or a positive cost.
func (s *stager) Extern(name string, args []int64) []float64 {
	if give := s.prog.opts.Externs[name]; give != nil {
		return give(args)
	}
	x := ir.Lookup[*ir.Extern](s.prog.module, name)
	if x == nil {
		diag.Bugf("there is no extern @%s", name)
	}
	h := fnv.New64a()
	fmt.Fprint(h, name, args)
	draw := rand.New(rand.NewPCG(s.prog.opts.Seed, h.Sum64()))
	if x.What != "sizes" {
		return []float64{1 + draw.Float64()*99}
	}
	out := make([]float64, len(args))
	for i, n := range args {
		out[i] = float64(1 + draw.Int64N(max(1, 2*min(n, 1<<40))))
	}
	return out
}

// GridShape implements ir.Machine. Without a given shape the ranks are spread
// over the axes as evenly as their factors allow, most on the first axis.
func (s *stager) GridShape(name string) []int64 {
	if g := s.prog.opts.Grids[name]; g != nil {
		return g
	}
	grid := ir.Lookup[*ir.Grid](s.prog.module, name)
	if grid == nil {
		diag.Bugf("there is no grid @%s", name)
	}
	return spread(int64(max(1, s.prog.opts.Ranks)), len(grid.Axes))
}

// spread factors n into axes factors, none more than it needs to be.
func spread(n int64, axes int) []int64 {
	shape := make([]int64, axes)
	for i := range shape {
		left := int64(axes - i)
		f := n
		for d := int64(1); d <= n; d++ {
			if n%d == 0 && power(d, left) >= n {
				f = d
				break
			}
		}
		shape[i] = f
		n /= f
	}
	return shape
}

func power(b, e int64) int64 {
	r := int64(1)
	for ; e > 0 && r < 1<<31; e-- {
		r *= b
	}
	return r
}
