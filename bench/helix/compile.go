package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"tenon/internal/driver"
)

// ten are ten different contractions of f32.
var ten = []string{
	`fn f0(a: f32[M, K], const b: f32[K, N]) -> f32[M, N] { return sum[k] a[i, k] * b[k, j] for i, j }`,
	`fn f1(a: f32[M, K], b: f32[K, N]) -> f32[M, N] { return sum[k] a[i, k] * b[k, j] for i, j }`,
	`fn f2(a: f32[K, M], b: f32[N, K]) -> f32[M, N] { return sum[k] a[k, i] * b[j, k] for i, j }`,
	`fn f3(x: f32[M, K], const w: f32[N, K], const bias: f32[N]) -> f32[M, N] { return relu((sum[k] x[i, k] * w[j, k]) + bias[j]) for i, j }`,
	`fn f4(q: f32[B, S, H, D], k: f32[B, T, H, D]) -> f32[B, H, S, T] { return (sum[d] q[b, i, h, d] * k[b, j, h, d]) * 0.125 for b, h, i, j }`,
	`fn f5(p: f32[B, H, S, T], v: f32[B, T, H, D]) -> f32[B, S, H, D] { return sum[j] p[b, h, i, j] * v[b, j, h, d] for b, i, h, d }`,
	`fn f6(x: f32[B, S, K], const w: f32[K, N]) -> f32[B, S, N] { return sum[k] x[b, s, k] * w[k, n] for b, s, n }`,
	`fn f7(a: f32[M, P, Q], b: f32[Q, P, N]) -> f32[M, N] { return sum[p, q] a[i, p, q] * b[q, p, j] for i, j }`,
	`fn f8(a: f32[M, K], b: f32[K, N], c: f32[M, N]) -> f32[M, N] { return c[i, j] - (sum[k] a[i, k] * b[k, j]) for i, j }`,
	`fn f9(x: f32[M, K], const w: f32[K, N], r: f32[M, N]) -> f32[M, N] { return (sum[k] x[i, k] * w[k, j]) + r[i, j] for i, j }`,
}

// compile: how long a program with ten contractions takes, and how large it is.
func (s *suite) compile() error {
	fmt.Fprint(s.out, "### Compiling ten contractions of f32\n\n")
	for _, cpu := range []string{"native", "x86-64-v4"} {
		times := 1 // where seconds are not judged
		if cpu == "native" {
			times = 3
		}
		seconds, all, err := built(ten, cpu, times)
		if err != nil {
			return err
		}
		_, one, err := built(ten[:1], cpu, 1)
		if err != nil {
			return err
		}
		further := float64(all-one) / float64(len(ten)-1) / 1024
		s.note("%s: %.2f s; the first takes %d KB, each further one %.1f KB", cpu, seconds, one/1024, further)
		if times > 1 {
			s.say(goal{what: "compile, " + cpu + ": seconds for ten contractions", got: seconds, want: 3, atMost: true})
		}
		s.say(goal{what: "compile, " + cpu + ": KB of the first contraction", got: float64(one) / 1024, want: 250, atMost: true})
		s.say(goal{what: "compile, " + cpu + ": KB of each further contraction", got: further, want: 20, atMost: true})
	}
	return nil
}

// built compiles functions from their source to a library, without a cache, so
// many times: the least seconds, and the bytes of the library.
func built(funcs []string, cpu string, times int) (seconds float64, bytes int, err error) {
	seconds = 1e9
	for range times {
		start := time.Now()
		m, err := driver.Parse("ten.tn", strings.Join(funcs, "\n"))
		if err != nil {
			return 0, 0, err
		}
		code, err := driver.Compile(m, "ten.tn", driver.Options{CPU: cpu, Opt: 2})
		if err != nil {
			return 0, 0, err
		}
		so, err := code.Library(context.Background())
		if err != nil {
			return 0, 0, err
		}
		seconds, bytes = min(seconds, time.Since(start).Seconds()), len(so)
	}
	return seconds, bytes, nil
}
