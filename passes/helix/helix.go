// helix turns contractions into loops over tiles and calls of micro-kernels.
//
// Before:
//
//	tensor.comp par(i < M, j < N) in(%c = %bias[j]) out(%C[i, j]) {
//	  %r = tensor.comp red(l < K) in(%x = %A[i, l], %y = %B[l, j]) { yield(mul(%x, %y)) } by sum(f32) : f32
//	  yield(add(%r, %c)) }
//
// After:
//
//	tile.choose dims(M, N, K) variant direct_6x16 where(guarded K >= 1) {
//	  tile.for l0:ll = 0 to K step 512 { tile.for j0:jj = 0 to N step 16 parallel { tile.for i0:ii = 0 to M step 6 {
//	    tile.call kernel=@gemm_f32_6x16_rows_rows (%C[i0:ii, j0:jj], ll) first(l0 == 0) last(l0 + ll == K)
//	      a(..) {..} b(..) {..} epilogue(%acc, i, j) { yield(add(%acc, load(%bias[j + j0]))) } } } }
//	} variant packed_6x16 .. variant loops { the comp } pick {..}
//
// A contraction is a sum of products of two elements of buffers. The last axis of
// the result runs over columns; the other operand has an axis of its own, the
// rows; what both have and the result too runs outside, as do further axes of
// either. Of the summed axes one is the depth of the micro-kernels, the others
// run outside and add.
//
// Legal where sums may be taken in any order. Which variant runs follows from the
// sizes alone, not from threads, addresses or the past; variants may differ in the
// last bits.
package helix

import (
	"slices"

	"tenon/internal/num"
	"tenon/ir"
	"tenon/ir/ops/tensor"
	"tenon/ir/sym"
	"tenon/microkernels/gemm"
	"tenon/passes/analysis"
	"tenon/passes/pass"
)

// Helix decomposes contractions.
var Helix = pass.Register(&pass.Pass{
	Name:         "helix",
	Doc:          "turn contractions into tiles and calls of micro-kernels",
	After:        []string{"bufferise"},
	Reassociates: true,
	Counted:      true,
	Options:      machineOptions,
	Run: func(c *pass.Context) error {
		h := &decomposer{c: c, machine: machineFrom(c)}
		if !h.machine.Gemm.FusedMul || h.machine.Gemm.VectorBytes == 0 || len(gemm.Shapes(h.machine.Gemm, num.F32)) == 0 {
			return nil
		}
		for _, f := range c.Funcs() {
			if !f.IsProc || f.Level != ir.LevelTile && f.Level != ir.LevelLoop {
				continue
			}
			c.At(f, nil)
			h.f, h.names, h.prepared = f, analysis.Symbols(f), nil
			if h.region(f.Body, analysis.AtEntry(f)) {
				f.Level = ir.LevelTile
				h.insertPrepared()
			}
		}
		h.kernels.addTo(c.Module, h.machine.Gemm)
		return nil
	},
})

// decomposer is the state of one run of the pass.
type decomposer struct {
	c       *pass.Context
	machine machine
	f       *ir.Func
	names   map[string]bool // symbols of f
	kernels kernels

	top      int      // the op of f's body that is at work
	prepared []placed // to be put into f's body
}

// placed are ops for the place in front of op number at of a body.
type placed struct {
	at  int
	ops []*ir.Op
}

func (h *decomposer) insertPrepared() {
	for _, p := range slices.Backward(h.prepared) {
		h.f.Body.Ops = slices.Insert(h.f.Body.Ops, p.at, p.ops...)
	}
}

// region decomposes the contractions among the ops of r; false where it has none.
func (h *decomposer) region(r *ir.Region, facts *sym.Facts) (found bool) {
	for i, op := range r.Ops {
		if r == h.f.Body {
			h.top = i
		}
		if tensor.IsComp(op) {
			if x, why := h.contraction(op, facts); why != "" {
				h.c.Decline(op.Loc, "no contraction: %s", why)
			} else if x != nil && h.c.Apply(op) {
				h.c.Done(op.Loc, "a contraction over %s: rows %s, columns %s", x.k.Name, x.m.Name, x.n.Name)
				r.Ops[i] = h.choose(x)
				found = true
			}
			continue
		}
		for _, in := range op.Regions() {
			found = h.region(in, analysis.Inside(facts, op, in)) || found
		}
		analysis.After(facts, op)
	}
	return found
}

// fresh is a symbol that f does not have yet.
func (h *decomposer) fresh(base string) string {
	name := base
	for n := 2; h.names[name]; n++ {
		name = numbered(base, n)
	}
	h.names[name] = true
	return name
}
