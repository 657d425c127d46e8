package interp_test

import (
	"math"
	"testing"

	"tenon/internal/num"
	"tenon/ir"
	"tenon/ir/interp"
)

func TestPolicies(t *testing.T) {
	m := parse(t, "policy.tnir", `tenon ir 1
func tensor @zero<N>(%x: f32[N], %at: i64[5]) -> (f32[5]) {
  %y = tensor.comp par(i < 5) in(%g = %at[i], %v = %x[%g - 1] zero) { yield(%v) } : f32[5]
  return(%y) }
func tensor @clamp<N>(%x: f32[N], %at: i64[5]) -> (f32[5]) {
  %y = tensor.comp par(i < 5) in(%g = %at[i], %v = %x[%g - 1] clamp) { yield(%v) } : f32[5]
  return(%y) }
func tensor @error<N>(%x: f32[N], %at: i64[5]) -> (f32[5]) {
  %y = tensor.comp par(i < 5) in(%g = %at[i], %v = %x[%g - 1]) { yield(%v) } : f32[5]
  return(%y) }
func tensor @shift<N>(%x: f32[N]) -> (f32[N + 4], f32[N + 4]) {
  %y, %z = tensor.comp par(i < N + 4) in(%v = %x[i - 2] zero, %w = %x[N + 1 - i] zero) { yield(%v, %w) } : 2 * f32[N + 4]
  return(%y, %z) }
func tensor @edge<N>(%x: f32[N]) -> (f32[N + 4]) {
  %y = tensor.comp par(i < N + 4) in(%v = %x[i - 2] clamp) { yield(%v) } : f32[N + 4]
  return(%y) }`)
	x, at := floats(num.F32, []int64{3}, 1, 2, 3), intsOf(num.I64, []int64{5}, 0, 1, 3, 4, -7)
	wantFloats(t, "zero", run(t, m, "zero", x, at)[0], []int64{5}, 0, 1, 3, 0, 0)
	wantFloats(t, "clamp", run(t, m, "clamp", x, at)[0], []int64{5}, 1, 1, 3, 3, 1)
	_, err := interp.New(m, interp.Options{}).Run("error", []any{x, at})
	wantTrap(t, err, ir.TrapIndex, "policy.tnir:9:", "subscript 0 of %x is -1, outside its 3 elements")
	got := run(t, m, "shift", x)
	wantFloats(t, "shifted", got[0], []int64{7}, 0, 0, 1, 2, 3, 0, 0)
	wantFloats(t, "reversed", got[1], []int64{7}, 0, 0, 3, 2, 1, 0, 0)
	wantFloats(t, "edge", run(t, m, "edge", x)[0], []int64{7}, 1, 1, 1, 2, 3, 3, 3)
	_, err = interp.New(m, interp.Options{}).Run("edge", []any{ir.NewArray(num.F32, 0)})
	wantTrap(t, err, ir.TrapIndex, "dim 0 of %x is 0")
}

// Triangles, guards, empty, from(out), user and ordered monoids, out lists.
func TestCompForms(t *testing.T) {
	m := parse(t, "forms.tnir", `tenon ir 1
monoid @maxcount(%v: f32, %n: i64) assoc comm { identity { yield(-inf: f32, 0: i64) }
  combine(%v1, %n1, %v2, %n2) { %l = lt(%v1, %v2); %g = gt(%v1, %v2); %s = add(%n1, %n2)
    yield(max(%v1, %v2), select(%l, %n2, select(%g, %n1, %s))) } }
monoid @last(%v: f32) assoc { identity { yield(0.0: f32) } combine(%a, %b) { yield(%b) } }
func tensor @f<N>(%x: f32[N, N]) -> (f32[N], f32[N], f32[N], i64[N], f32[]) {
  %tri = tensor.comp par(i < N) red(j < i) in(%v = %x[i, j]) { yield(%v) } by sum(f32) ordered : f32[N]
  %odd = tensor.comp par(i < N) red(j < N) if(j < i, 2 <= i) in(%v = %x[i, j]) { yield(%v) } by prod(f32) empty(-5.0) : f32[N]
  %mx, %ct = tensor.comp par(i < N) red(j < N) in(%v = %x[i, j]) { yield(%v, 1: i64) } by @maxcount : f32[N], i64[N]
  %end = tensor.comp red(i < N, j < N) in(%v = %x[i, j]) { yield(%v) } by @last : f32[]
  return(%tri, %odd, %mx, %ct, %end) }
func tensor @outs<N, M>(%x: f32[N, M]) -> (f32[N], f32[M, N]) {
  %s, %t = tensor.comp par(i < N, j < M) red(k < M) in(%v = %x[i, k], %w = %x[i, j]) out([i], [j, i]) { yield(%v, mul(%v, %w)) } by @pair : f32[N], f32[M, N]
  return(%s, %t) }
monoid @pair(%a: f32, %b: f32) assoc comm { identity { yield(0.0: f32, 0.0: f32) }
  combine(%a1, %b1, %a2, %b2) { yield(add(%a1, %a2), add(%b1, %b2)) } }
func tensor @left<N, M, D>(%x: f32[N, M], %w: f32[N, D]) -> (f32[N], f32[N, D]) {
  %s, %t = tensor.comp par(i < N, d < D) red(k < M) in(%v = %x[i, k], %u = %w[i, d]) out([i], [i, d]) {
    yield(%v, mul(%v, %u)) } by @pair : f32[N], f32[N, D]
  return(%s, %t) }
proc loop @acc<N>(in %x: buf<f32[N, N]>, inout %y: buf<f32[N]>) {
  tensor.comp par(i < N) red(j < N) if(1 <= i) in(%v = %x[i, j]) out(%y[i]) { yield(%v) } by sum(f32) from(out)
  tensor.comp par(i < N) if(i == 0) out(%y[i]) { yield(-1.0: f32) }
  return() }`)
	x := floats(num.F32, []int64{3, 3}, 1, 2, 2, 4, 4, 4, 9, 8, 7)
	got := run(t, m, "f", x)
	n := []int64{3}
	wantFloats(t, "triangle", got[0], n, 0, 4, 17)
	wantFloats(t, "guarded", got[1], n, -5, -5, 72)
	wantFloats(t, "max", got[2], n, 2, 4, 9)
	wantInts(t, "count", got[3], n, 2, 3, 1)
	wantFloats(t, "last", got[4], nil, 7)
	got = run(t, m, "outs", floats(num.F32, []int64{2, 2}, 1, 2, 3, 4))
	wantFloats(t, "sums", got[0], []int64{2}, 3, 7)
	wantFloats(t, "products", got[1], []int64{2, 2}, 3, 21, 6, 28)
	got = run(t, m, "outs", ir.NewArray(num.F32, 2, 0)) // sums over nothing, though j has no point
	wantFloats(t, "sums of nothing", got[0], []int64{2}, 0, 0)
	got = run(t, m, "left", floats(num.F32, []int64{2, 2}, 1, 2, 3, 4), ir.NewArray(num.F32, 2, 0))
	wantFloats(t, "sums beside an empty axis", got[0], []int64{2}, 3, 7)
	for _, shadow := range []bool{false, true} {
		y := floats(num.F32, n, 5, 6, 7)
		if _, err := interp.New(m, interp.Options{Shadow: shadow}).Run("acc", []any{x, y}); err != nil {
			t.Fatal(err)
		}
		wantFloats(t, "from(out)", y, n, -1, 18, 31)
		if shadow && (y.Mem.Shadow[1].Hi != 18 || y.Mem.Shadow[2].Hi != 31) {
			t.Errorf("the shadow of from(out) is %v", y.Mem.Shadow)
		}
	}
}

// Duplicate entries are points of their own; rows without entries give the
// neutral element or what empty says, the argmax -1.
func TestMultigraph(t *testing.T) {
	m := parse(t, "graph.tnir", `tenon ir 1
func tensor @f<N>(%p: pattern<N, N, nnz#p, csr(i32, i32)>, %x: f32[N]) -> (f32[N], f32[N], f32[N], i64[N]) {
  %s, %n = tensor.comp par(i < N) red(j:k in %p[i]) in(%v = %x[j]) { yield(%v, 1.0: f32) } by @pair : f32[N], f32[N]
  %mean = tensor.comp par(i < N) in(%a = %s[i], %b = %n[i]) { yield(select(eq(%b, 0.0: f32), 0.0: f32, div(%a, %b))) } : f32[N]
  %m, %a = tensor.comp par(i < N) red(j:k in %p[i]) in(%v = %x[j]) { yield(%v, idx(j): i64) } by argmax(f32, i64) empty(0.0, -1) : f32[N], i64[N]
  return(%s, %mean, %m, %a) }
monoid @pair(%a: f32, %b: f32) assoc comm { identity { yield(0.0: f32, 0.0: f32) }
  combine(%a1, %b1, %a2, %b2) { yield(add(%a1, %a2), add(%b1, %b2)) } }`)
	// Row 0 empty, row 1 has column 2 twice, row 2 empty (the last).
	p := &ir.PatternValue{Rows: 3, Cols: 3, Ptr: []int64{0, 0, 2, 2}, Col: []int64{2, 2}}
	got := run(t, m, "f", p, floats(num.F32, []int64{3}, 7, 8, 1))
	n := []int64{3}
	wantFloats(t, "sum", got[0], n, 0, 2, 0)
	wantFloats(t, "mean", got[1], n, 0, 1, 0)
	wantFloats(t, "max", got[2], n, 0, 1, 0)
	wantInts(t, "argmax", got[3], n, -1, 2, -1)
	none := &ir.PatternValue{Rows: 3, Cols: 3, Ptr: []int64{0, 0, 0, 0}}
	got = run(t, m, "f", none, floats(num.F32, n, math.NaN(), 8, 1))
	wantFloats(t, "no edges", got[0], n, 0, 0, 0)
}
