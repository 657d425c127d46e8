package run

import (
	"strings"
	"sync"
	"testing"

	"tenon/internal/num"
	"tenon/ir/interp"
)

// Every op of the tensor level over dense tensors, and every way to read them:
// ELEM stands for the element type, ZERO for its 0. N is the length that varies,
// innermost where elements are moved as vectors.
const tensorOps = `
func tensor @joined<M, N>(%a: ELEM[M, N], %b: ELEM[M, 3]) -> (ELEM[M, N + 3], ELEM[M + M, N]) {
  %y = tensor.concat(%a, %b) axis=1 : ELEM[M, N + 3]
  %z = tensor.concat(%a, %a) axis=0 : ELEM[M + M, N]
  return(%y, %z) }
func tensor @shaped<M, N>(%a: ELEM[M, N]) -> (ELEM[M*N], ELEM[N, M], ELEM[M, 1, N]) {
  %y = tensor.reshape(%a) : ELEM[M*N]
  %z = tensor.reshape(%a) : ELEM[N, M]
  %w = tensor.reshape(%a) : ELEM[M, 1, N]
  return(%y, %z, %w) }
func tensor @moved<M, N>(%a: ELEM[M, N]) -> (ELEM[N, M], ELEM[M, N], ELEM[M, N], ELEM[M, N], ELEM[M, (N + 1)//2], ELEM[M, 2*N]) {
  %t = tensor.comp par(j < N, i < M) in(%x = %a[i, j]) { yield(%x) } : ELEM[N, M]
  %r = tensor.comp par(i < M, j < N) in(%x = %a[i, N - 1 - j]) { yield(%x) } : ELEM[M, N]
  %l = tensor.comp par(i < M, j < N) in(%x = %a[i, j - 1] zero) { yield(%x) } : ELEM[M, N]
  %c = tensor.comp par(i < M, j < N) in(%x = %a[i, j + 2] clamp) { yield(%x) } : ELEM[M, N]
  %s = tensor.comp par(i < M, j < (N + 1)//2) in(%x = %a[i, 2*j]) { yield(%x) } : ELEM[M, (N + 1)//2]
  %d = tensor.comp par(i < M, j < 2*N) in(%x = %a[i, j//2]) { yield(%x) } : ELEM[M, 2*N]
  return(%t, %r, %l, %c, %s, %d) }
func tensor @gathered<M, N>(%a: ELEM[M, N], %g: i32[N], %h: i64[N]) -> (ELEM[N], ELEM[M, N], ELEM[M, N]) {
  %e = tensor.comp par(j < N) in(%k = %h[j], %x = %a[0, %k]) { yield(%x) } : ELEM[N]
  %z = tensor.comp par(i < M, j < N) in(%k = %g[j], %x = %a[i, %k + 1] zero) { yield(%x) } : ELEM[M, N]
  %c = tensor.comp par(i < M, j < N) in(%k = %h[j], %x = %a[%k, j] clamp) { yield(%x) } : ELEM[M, N]
  return(%e, %z, %c) }
func tensor @scattered<M, N>(%a: ELEM[M, N], %g: i64[M]) -> (ELEM[M, N], ELEM[M, N]) {
  %y = tensor.scatter(%a) par(i < M, j < N) in(%k = %g[i], %x = %a[i, N - 1 - j]) out([%k, j]) { yield(%x) } : ELEM[M, N]
  %z = tensor.scatter(%a) par(i < M, j < N) in(%k = %g[i], %x = %a[i, j]) out([%k, j]) { yield(%x) } by max(ELEM) : ELEM[M, N]
  return(%y, %z) }
func tensor @sorted<M, N>(%a: ELEM[M, N]) -> (ELEM[M, N], i64[M, N], ELEM[M, N], i64[M, N]) {
  %v, %i = tensor.sort(%a) axis=1 : ELEM[M, N], i64[M, N]
  %w, %j = tensor.sort(%a) axis=0 descending : ELEM[M, N], i64[M, N]
  return(%v, %i, %w, %j) }
func tensor @most<M, N>(%a: ELEM[M, N]) -> (ELEM[1, N], i64[1, N], ELEM[1, N], i64[1, N]) where(declared 1 <= M) {
  %v, %i = tensor.topk(%a, 1) axis=0 : ELEM[1, N], i64[1, N]
  %w, %j = tensor.topk(%a, 1) axis=0 smallest : ELEM[1, N], i64[1, N]
  return(%v, %i, %w, %j) }
func tensor @places<M, N; c>(%a: ELEM[M, N]) -> (i64[2, c]) {
  %i = tensor.nonzero(%a) exists(c: 0 <= c and c <= M*N) : i64[2, c]
  return(%i) }
func tensor @distinct<N; u>(%a: ELEM[N]) -> (ELEM[u], i64[u], i64[N], i64[u]) {
  %v, %i, %p, %c = tensor.unique(%a) exists(u: 0 <= u and u <= N) : ELEM[u], i64[u], i64[N], i64[u]
  return(%v, %i, %p, %c) }
func tensor @carried<M, N>(%a: ELEM[M, N], %b: ELEM[N]) -> (ELEM[N], ELEM[M, N]) {
  %s, %y = loop.for i = 0 to M carry(%p = %b) {
    %q = tensor.comp par(j < N) in(%x = %p[j], %z = %a[i, j]) { yield(max(%x, %z)) } : ELEM[N]
    yield(%q) stack(%q) } : ELEM[N], ELEM[M, N]
  return(%s, %y) }
`

// A usual run takes a type of each width and class; moving elements does not
// depend on more.
func TestEveryTensorOpOnEveryType(t *testing.T) {
	var all interp.Report
	var mu sync.Mutex
	t.Cleanup(func() { judged(t, all) })
	elems := []num.Elem{num.F32, num.F16, num.I64, num.U8, num.Bool}
	if Whole() {
		elems = num.Elems
	}
	for _, e := range elems {
		t.Run(e.String(), func(t *testing.T) {
			t.Parallel()
			text := strings.ReplaceAll(tensorOps, "ELEM", e.String())
			if e == num.Bool {
				text = strings.NewReplacer("max(bool)", "any(bool)", "max(%x, %z)", "or(%x, %z)").Replace(text)
			}
			m, err := parse("ops.tnir", "tenon ir 1"+text)
			if err != nil {
				t.Fatal(err)
			}
			programs := builds(t, m)
			for _, f := range m.Funcs() {
				r := agrees(t, m, f, besides(e), programs)
				mu.Lock()
				all.Add(r)
				mu.Unlock()
			}
		})
	}
}

// besides are the lengths of a type, each beside another small size.
func besides(e num.Elem) (sizes []map[string]int64) {
	for i, n := range lengths(e) {
		sizes = append(sizes, map[string]int64{"N": n, "M": int64(1 + i%3)})
	}
	return append(sizes, map[string]int64{"N": 5, "M": 0})
}
