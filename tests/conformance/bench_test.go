package conformance

import (
	"fmt"
	std "math"
	"math/rand/v2"
	"testing"
	"time"

	"tenon/internal/num"
)

// BenchmarkFormulas compares compiled loops with formulas and with the C
// library's calls: the best of many runs over 8192 elements, in nanoseconds an element.
func BenchmarkFormulas(b *testing.B) {
	for _, lowered := range []bool{true, false} {
		m, err := module(both, lowered, "")
		if err != nil {
			b.Fatal(err)
		}
		l, err := build(m)
		if err != nil {
			b.Skipf("SKIP: %v", err)
		}
		kind := map[bool]string{true: "formula", false: "call"}[lowered]
		for _, f := range functions {
			for _, e := range both {
				b.Run(fmt.Sprintf("%s/%v/%s", f.name, e, kind), func(b *testing.B) { benchmark(b, l, f, e) })
			}
		}
	}
}

func benchmark(b *testing.B, l *library, f function, e num.Elem) {
	const n = 1 << 13
	rng := rand.New(rand.NewPCG(1, 2))
	var args [][]byte
	for range f.args {
		a := make([]byte, n*e.Bytes())
		for i := range n {
			x := rng.NormFloat64() * 3
			if f.name == "log" || f.name == "rsqrt" || f.name == "pow" {
				x = std.Abs(x)
			}
			num.Encode(e, num.Cast(num.F64, e, num.FromFloat(x)), a[i*e.Bytes():])
		}
		args = append(args, a)
	}
	r := make([]byte, n*e.Bytes())
	best := time.Hour
	for b.Loop() {
		start := time.Now()
		if err := l.call(f, e, r, args...); err != nil {
			b.Fatal(err)
		}
		best = min(best, time.Since(start))
	}
	b.ReportMetric(float64(best.Nanoseconds())/n, "ns/element")
	b.ReportMetric(0, "ns/op")
}
