package interp_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"tenon/internal/num"
)

func TestMatmul(t *testing.T) {
	m := example(t, "dense.tnir")
	r := rand.New(rand.NewPCG(1, 2))
	for _, n := range sizes {
		for _, k := range sizes {
			B, M, N, K := int64(2), n, n/2+1, k
			a, b := random(r, num.F16, B, M, K), random(r, num.F16, B, K, N)
			var want []float64
			for i := int64(0); i < B; i++ {
				for x := int64(0); x < M; x++ {
					for y := int64(0); y < N; y++ {
						s := 0.0
						for z := int64(0); z < K; z++ {
							s += elem(a, i, x, z) * elem(b, i, z, y)
						}
						want = append(want, s)
					}
				}
			}
			got := run(t, m, "matmul", a, b)
			agrees(t, fmt.Sprint("matmul ", n, k), got[0], want)
		}
	}
}

func TestSoftmaxAndOnline(t *testing.T) {
	m := example(t, "dense.tnir")
	r := rand.New(rand.NewPCG(1, 2))
	for _, n := range sizes {
		x := random(r, num.F32, 3, n)
		var y, l []float64
		for i := int64(0); i < 3; i++ {
			mx, s := math.Inf(-1), 0.0
			for j := int64(0); j < n; j++ {
				mx = max(mx, elem(x, i, j))
			}
			for j := int64(0); j < n; j++ {
				s += math.Exp(elem(x, i, j) - mx)
			}
			for j := int64(0); j < n; j++ {
				y = append(y, math.Exp(elem(x, i, j)-mx)/s)
			}
			l = append(l, s)
		}
		got := run(t, m, "softmax", x)
		agrees(t, "softmax", got[0], y)
		agrees(t, "l", got[1], l)
		agrees(t, "l by @online", got[2], l)
	}
}
