package interp_test

import (
	"math/rand/v2"
	"testing"

	"tenon/internal/num"
	"tenon/ir/interp"
)

// The rate of a matmul's region: two reads, a multiply, an add. What the page on
// meaning asks for is 20 million evaluations a second without shadows and 3
// million with. "dot" has a loop of its own, "steps" and "max" are closures, and
// in "gather" no read can be followed. Measured on one core of a shared EPYC
// server, in million evaluations a second, without and with shadows:
//
//	dot 212, 23   steps 38, 18   max 48, 26   gather 22, 16
const benchText = `tenon ir 1
func tensor @dot<M, N, K>(%a: f32[M, K], %b: f32[K, N]) -> (f32[M, N]) {
  %c = tensor.comp par(m < M, n < N) red(k < K) in(%x = %a[m, k], %y = %b[k, n]) {
    yield(mul(%x, %y)) } by sum(f32) : f32[M, N]
  return(%c) }
func tensor @steps<M, N, K>(%a: f32[M, K], %b: f32[K, N]) -> (f32[M, N]) {
  %c = tensor.comp par(m < M, n < N) red(k < K) in(%x = %a[m, k], %y = %b[k, n]) {
    yield(neg(mul(%x, %y))) } by sum(f32) : f32[M, N]
  return(%c) }
func tensor @max<M, N, K>(%a: f32[M, K], %b: f32[K, N]) -> (f32[M, N]) {
  %c = tensor.comp par(m < M, n < N) red(k < K) in(%x = %a[m, k], %y = %b[k, n]) {
    yield(mul(%x, %y)) } by max(f32) : f32[M, N]
  return(%c) }
func tensor @gather<M, N, K>(%a: f32[M, K], %b: f32[K, N]) -> (f32[M, N]) {
  %c = tensor.comp par(m < M, n < N) red(k < K) if(k <= m + n) in(%x = %a[m, k], %y = %b[k mod 64, n] zero) {
    yield(mul(%x, %y)) } by sum(f32) : f32[M, N]
  return(%c) }
`

func BenchmarkRegion(b *testing.B) {
	m := parse(b, "bench.tnir", benchText)
	r := rand.New(rand.NewPCG(1, 1))
	const n = 96
	x, y := random(r, num.F32, n, n), random(r, num.F32, n, n)
	for _, fn := range []string{"dot", "steps", "max", "gather"} {
		for _, shadow := range []bool{false, true} {
			name := fn
			if shadow {
				name += "/shadow"
			}
			b.Run(name, func(b *testing.B) {
				p := interp.New(m, interp.Options{Shadow: shadow})
				for b.Loop() {
					if _, err := p.Run(fn, []any{x, y}); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(b.N)*n*n*n/b.Elapsed().Seconds()/1e6, "Meval/s")
			})
		}
	}
}
