package interp_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"tenon/internal/num"
	"tenon/ir"
	"tenon/ir/interp"
)

// wantInts and wantFloats compare a result bit for bit.
func wantInts(t *testing.T, what string, got any, shape []int64, v ...int64) {
	t.Helper()
	wantSame(t, what, got, intsOf(got.(*ir.Array).Elem, shape, v...))
}

func wantFloats(t *testing.T, what string, got any, shape []int64, v ...float64) {
	t.Helper()
	wantSame(t, what, got, floats(got.(*ir.Array).Elem, shape, v...))
}

func TestOrderOps(t *testing.T) {
	m := parse(t, "order.tnir", `tenon ir 1
func tensor @f<M, N; u>(%x: f32[M, N], %v: i32[N]) -> (f32[M, N], i64[M, N], f32[M, 2], i64[M, 2], i32[u], i64[u], i64[N], i64[u]) {
  %s, %i = tensor.sort(%x) axis=1 : f32[M, N], i64[M, N]
  %t, %j = tensor.topk(%x, 2) axis=1 : f32[M, 2], i64[M, 2]
  %u, %first, %inv, %n = tensor.unique(%v) exists(u: 0 <= u and u <= N) : i32[u], i64[u], i64[N], i64[u]
  return(%s, %i, %t, %j, %u, %first, %inv, %n) }
func tensor @g<N>(%x: f32[N]) -> (f32[N], i64[N], f32[2], i64[2]) {
  %s, %i = tensor.sort(%x) axis=0 descending : f32[N], i64[N]
  %t, %j = tensor.topk(%x, 2) axis=0 smallest : f32[2], i64[2]
  return(%s, %i, %t, %j) }`)
	nan := math.NaN()
	x := floats(num.F32, []int64{2, 4}, 3, nan, 1, 3, 2, 2, -1, 7)
	got := run(t, m, "f", x, intsOf(num.I32, []int64{4}, 5, -1, 5, 0))
	wantFloats(t, "sort", got[0], []int64{2, 4}, 1, 3, 3, nan, -1, 2, 2, 7)
	wantInts(t, "argsort", got[1], []int64{2, 4}, 2, 0, 3, 1, 2, 0, 1, 3)
	wantFloats(t, "topk", got[2], []int64{2, 2}, nan, 3, 7, 2)
	wantInts(t, "topk indices", got[3], []int64{2, 2}, 1, 0, 3, 0)
	wantInts(t, "unique", got[4], []int64{3}, -1, 0, 5)
	wantInts(t, "first", got[5], []int64{3}, 1, 3, 0)
	wantInts(t, "inverse", got[6], []int64{4}, 2, 0, 2, 1)
	wantInts(t, "counts", got[7], []int64{3}, 1, 1, 2)
	got = run(t, m, "g", floats(num.F32, []int64{5}, 3, nan, 1, 3, 2))
	wantFloats(t, "falling", got[0], []int64{5}, nan, 3, 3, 2, 1)
	wantInts(t, "falling indices", got[1], []int64{5}, 1, 0, 3, 4, 2)
	wantFloats(t, "least", got[2], []int64{2}, 1, 2)
	wantInts(t, "least indices", got[3], []int64{2}, 2, 4)
	_, err := interp.New(m, interp.Options{}).Run("g", []any{floats(num.F32, []int64{1}, 3)})
	wantTrap(t, err, ir.TrapShape, "order.tnir:9:", "the first 2 of 1 elements")
}

func TestScatterAndConcat(t *testing.T) {
	m := parse(t, "scatter.tnir", `tenon ir 1
func tensor @f<N, E, F>(%b: f32[N, F], %at: i64[E], %x: f32[E, F]) -> (f32[N, F], f32[N, F], f32[N, 2*F]) {
  %s = tensor.scatter(%b) par(e < E, f < F) in(%g = %at[e], %v = %x[e, f]) out([%g, f]) { yield(%v) } by sum(f32) : f32[N, F]
  %l = tensor.scatter(%b) par(e < E, f < F) in(%g = %at[e], %v = %x[e, f]) out([%g, f]) { yield(%v) } : f32[N, F]
  %c = tensor.concat(%s, %l) axis=1 : f32[N, 2*F]
  return(%s, %l, %c) }`)
	b := floats(num.F32, []int64{3, 1}, 10, 20, 30)
	x := floats(num.F32, []int64{4, 1}, 1, 2, 3, 4)
	got := run(t, m, "f", b, intsOf(num.I64, []int64{4}, 0, 2, 0, 2), x)
	wantFloats(t, "sums", got[0], []int64{3, 1}, 14, 20, 36)
	wantFloats(t, "last wins", got[1], []int64{3, 1}, 3, 20, 4)
	wantFloats(t, "concat", got[2], []int64{3, 2}, 14, 3, 20, 20, 36, 4)
	for _, bad := range []int64{-1, 3} {
		_, err := interp.New(m, interp.Options{}).Run("f", []any{b, intsOf(num.I64, []int64{4}, 0, 2, bad, 2), x})
		wantTrap(t, err, ir.TrapIndex, "scatter.tnir:3:", "outside its 3 elements")
	}
}

func TestCallsDataAndChecks(t *testing.T) {
	m := parse(t, "call.tnir", `tenon ir 1
data @w : f32[3] = [1.0, 2.5, -0.0]
func tensor @nz<N; c>(%x: f32[N]) -> (i64[1, c]) {
  %i = tensor.nonzero(%x) exists(c: 0 <= c and c <= N) : i64[1, c]
  return(%i) }
func tensor @f<N; k>(%x: f32[N]) -> (i64[k], f32[3]) {
  tensor.check(N mod 2 == 1)
  %i = tensor.call @nz(%x) exists(k: 0 <= k) : i64[1, k]
  %w = tensor.data @w : f32[3]
  %j = tensor.comp par(r < k) in(%v = %i[0, r]) { yield(add(%v, idx(k): i64)) } : i64[k]
  return(%j, %w) }`)
	got := run(t, m, "f", floats(num.F32, []int64{5}, 0, 1, 0, 2, 3))
	wantInts(t, "call", got[0], []int64{3}, 4, 6, 7)
	wantFloats(t, "data", got[1], []int64{3}, 1, 2.5, math.Copysign(0, -1))
	_, err := interp.New(m, interp.Options{}).Run("f", []any{ir.NewArray(num.F32, 4)})
	wantTrap(t, err, ir.TrapShape, "call.tnir:7:", "N mod 2 == 1 does not hold (N mod 2 is 0, 1 is 1)")
}

func TestPatternOps(t *testing.T) {
	m := parse(t, "pattern.tnir", `tenon ir 1
func tensor @f<N, M>(%p: pattern<N, M, nnz#p, csr(i64, i32)>, %e: f32[nnz#p], %x: f32[N]) -> (f32[M], f32[N], f32[N]) {
  %t, %at = tensor.pattern_transpose(%p) : pattern<M, N, nnz#t, csr(i64, i32)>, i64[nnz#t]
  %et = tensor.comp par(j < M, i:k in %t[j]) in(%a = %at[k], %v = %e[%a]) { yield(%v) } : f32[nnz#t]
  %y = tensor.comp par(j < M) red(i:k in %t[j]) in(%v = %et[k], %u = %x[i]) { yield(mul(%u, %v)) } by sum(f32) : f32[M]
  %c, %bt = tensor.pattern_convert(%p) : pattern<N, M, nnz#c, csc(i64, i32)>, i64[nnz#c]
  %ec = tensor.comp par(i < N, j:k in %c[i]) in(%a = %bt[k], %v = %e[%a]) { yield(%v) } : f32[nnz#c]
  %z = tensor.comp par(i < N) red(j:k in %c[i]) in(%v = %ec[k]) { yield(%v) } by sum(f32) : f32[N]
  %q, %into = tensor.coalesce(%p) : pattern<N, M, nnz#q, csr(i64, i32)>, i64[nnz#p]
  %o = tensor.comp par(i < N, j:k in %q[i]) { yield(0.0: f32) } : f32[nnz#q]
  %s = tensor.scatter(%o) par(i < N, j:k in %p[i]) in(%g = %into[k], %v = %e[k]) out([%g]) { yield(%v) } by sum(f32) : f32[nnz#q]
  %w = tensor.comp par(i < N) red(j:k in %q[i]) in(%v = %s[k]) { yield(%v) } by sum(f32) : f32[N]
  return(%y, %z, %w) }
func tensor @same<N, M>(%p: pattern<N, M, nnz#p, csr(i64, i32)>, %q: pattern<N, M, nnz#q, csr(i64, i32)>, %e: f32[nnz#q]) -> (f32[N]) {
  %f = tensor.same_pattern(%p, %q, %e) : f32[nnz#p]
  %y = tensor.comp par(i < N) red(j:k in %p[i]) in(%v = %f[k]) { yield(%v) } by sum(f32) : f32[N]
  return(%y) }`)
	r := rand.New(rand.NewPCG(11, 12))
	for _, n := range sizes {
		p := graph(r, n, n/2+2)
		e, x := random(r, num.F32, p.NNZ()), random(r, num.F32, n)
		rows, cols := make([]float64, n), make([]float64, n/2+2)
		for i := int64(0); i < n; i++ {
			for _, k := range row(p, i) {
				rows[i] += elem(e, k)
				cols[p.Col[k]] += elem(e, k) * elem(x, i)
			}
		}
		got := run(t, m, "f", p, e, x)
		agrees(t, "transposed", got[0], cols)
		agrees(t, "converted", got[1], rows)
		agrees(t, "coalesced", got[2], rows)
		agrees(t, "same pattern", run(t, m, "same", p, p, e)[0], rows)
	}
	p := &ir.PatternValue{Rows: 1, Cols: 2, Ptr: []int64{0, 1}, Col: []int64{0}}
	q := &ir.PatternValue{Rows: 1, Cols: 2, Ptr: []int64{0, 1}, Col: []int64{1}}
	_, err := interp.New(m, interp.Options{}).Run("same", []any{p, q, ir.NewArray(num.F32, 1)})
	wantTrap(t, err, ir.TrapShape, "%p and %q are different patterns")
}

// The formats of a pattern hold the same matrix: y = A x for each of them, with
// the values in the format's own order.
func TestPatternFormats(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 14))
	text := `tenon ir 1
func tensor @f<N, M>(%p: pattern<N, M, nnz#p, FORMAT>, %e: f32[nnz#p], %x: f32[M]) -> (f32[N], f32[nnz#p]) {
  %y = tensor.comp par(i < N) red(j:k in %p[i]) in(%v = %e[k], %u = %x[j]) { yield(mul(%u, %v)) } by sum(f32) : f32[N]
  %d = tensor.comp par(i < N, j:k in %p[i]) in(%v = %e[k]) { yield(add(%v, %v)) } : f32[nnz#p]
  return(%y, %d) }`
	for _, f := range []ir.Format{{Kind: "csr", Ptr: num.I32, Idx: num.I64}, {Kind: "csc", Ptr: num.I32, Idx: num.I32},
		{Kind: "coo", Idx: num.I64}, {Kind: "bsr", BlockRows: 2, BlockCols: 3, Ptr: num.I64, Idx: num.I64}} {
		m := parse(t, "format.tnir", replace(text, "FORMAT", f.String()))
		for _, n := range []int64{0, 1, 2, 5} {
			rows, cols := n*2, int64(6)
			ptr, idx, places := stored(r, f, rows, cols)
			p, err := interp.NewPattern(f, rows, cols, ptr, idx)
			if err != nil {
				t.Fatalf("%s: %v", f, err)
			}
			e, x := random(r, num.F32, int64(len(places))), random(r, num.F32, cols)
			want, double := make([]float64, rows), []float64{}
			for k, at := range places {
				want[at[0]] += elem(e, int64(k)) * elem(x, at[1])
				double = append(double, 2*elem(e, int64(k)))
			}
			got := run(t, m, "f", p, e, x)
			agrees(t, f.String(), got[0], want)
			agrees(t, f.String()+" entries", got[1], double)
		}
	}
}
