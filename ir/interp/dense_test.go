package interp_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"tenon/internal/num"
	"tenon/ir"
	"tenon/ir/interp"
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

func TestNearestNeighbour(t *testing.T) {
	m := example(t, "dense.tnir")
	r := rand.New(rand.NewPCG(1, 2))
	for _, n := range sizes[1:] {
		for _, q := range sizes {
			train, labels, x := random(r, num.F32, n, 3), random(r, num.I64, n), random(r, num.F32, q, 3)
			want := over([]int64{q}, func(i []int64) float64 {
				best, label := math.Inf(1), 0.0
				for j := int64(0); j < n; j++ {
					d := 0.0
					for k := int64(0); k < 3; k++ {
						d += elem(train, j, k)*elem(train, j, k) - 2*elem(train, j, k)*elem(x, i[0], k)
					}
					if d < best {
						best, label = d, elem(labels, j)
					}
				}
				return label
			})
			agrees(t, fmt.Sprint("knn ", n, q), run(t, m, "knn", train, labels, x)[0], want)
		}
	}
	_, err := interp.New(m, interp.Options{}).Run("knn", []any{ir.NewArray(num.F32, 0, 3), ir.NewArray(num.I64, 0), ir.NewArray(num.F32, 2, 3)})
	wantTrap(t, err, ir.TrapShape, "argmin has nothing to reduce")
}

func TestLayernorm(t *testing.T) {
	m := example(t, "dense.tnir")
	r := rand.New(rand.NewPCG(1, 2))
	for _, d := range sizes {
		x, g, b := random(r, num.F32, 3, d), random(r, num.F32, d), random(r, num.F32, d)
		want := over([]int64{3, d}, func(i []int64) float64 {
			mean, dev := 0.0, 0.0
			for k := int64(0); k < d; k++ {
				mean += elem(x, i[0], k) / float64(d)
			}
			for k := int64(0); k < d; k++ {
				dev += math.Pow(elem(x, i[0], k)-mean, 2) / float64(d)
			}
			return (elem(x, i[0], i[1])-mean)/math.Sqrt(dev+float64(float32(1e-5)))*elem(g, i[1]) + elem(b, i[1])
		})
		agrees(t, fmt.Sprint("layernorm ", d), run(t, m, "layernorm", x, g, b)[0], want)
	}
}

// A constant row deviates by exactly 0, so its layernorm is exactly the bias.
func TestLayernormOfConstantRow(t *testing.T) {
	m := example(t, "dense.tnir")
	x := floats(num.F32, []int64{1, 7}, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1)
	g := floats(num.F32, []int64{7}, 3, 1, 4, 1, 5, 9, 2)
	b := floats(num.F32, []int64{7}, 1, 2, 3, 4, 5, 6, 7)
	want := floats(num.F32, []int64{1, 7}, 1, 2, 3, 4, 5, 6, 7)
	wantSame(t, "layernorm", run(t, m, "layernorm", x, g, b)[0], want)
}

// Softmax over infinities: a row of only -inf is NaN, a single -inf weighs 0,
// large scores do not overflow.
func TestSoftmaxOfInfinities(t *testing.T) {
	m := example(t, "dense.tnir")
	inf := math.Inf(1)
	x := floats(num.F32, []int64{3, 2}, -inf, -inf, 1000, 1000, -inf, 5)
	got := run(t, m, "softmax", x)
	for i, want := range []float64{math.NaN(), math.NaN(), .5, .5, 0, 1} {
		if g := num.Float(got[0].Mem.Cells[i]); g != want && !(g != g && want != want) {
			t.Errorf("softmax element %d is %v, want %v", i, g, want)
		}
	}
	for i, want := range []float64{math.NaN(), 2, 1} {
		if g := elem(got[2], int64(i)); g != want && !(g != g && want != want) {
			t.Errorf("online sum %d is %v, want %v", i, g, want)
		}
	}
}
