package golden

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"tenon/internal/num"
	"tenon/ir"
	"tenon/ir/interp"
)

func random(r *rand.Rand, e num.Elem, shape ...int64) *ir.Array {
	a := ir.NewArray(e, shape...)
	for i := range a.Mem.Cells {
		if e.IsFloat() {
			a.Mem.Cells[i] = num.FromFloat(num.Round(e, r.Float64()*4-2))
		} else {
			a.Mem.Cells[i] = num.FromInt(r.Int64N(4))
		}
	}
	return a
}

func ints(v ...int64) *ir.Array {
	a := ir.NewArray(num.I64, int64(len(v)))
	for i, x := range v {
		a.Mem.Cells[i] = num.FromInt(x)
	}
	return a
}

func get(a *ir.Array, idx ...int64) float64 {
	pos, ok := a.Cell(idx)
	if !ok {
		panic(fmt.Sprint("index ", idx, " of ", a.Shape))
	}
	return num.Float(a.Mem.Cells[pos])
}

// run gives fn's results from a run with shadows.
func run(t *testing.T, m *ir.Module, fn string, args ...any) []any {
	t.Helper()
	out, err := interp.New(m, interp.Options{Shadow: true, Seed: 5}).Run(fn, args)
	if err != nil {
		t.Fatalf("@%s: %v", fn, err)
	}
	return out
}

// wants holds the values of a reference loop, in C order, against a result.
func wants(t *testing.T, what string, got any, shape []int64, want []float64) {
	t.Helper()
	ref := ir.NewArray(got.(*ir.Array).Elem, shape...)
	if len(want) != len(ref.Mem.Cells) {
		t.Fatalf("%s: the loop gives %d elements for %v", what, len(want), shape)
	}
	for i, x := range want {
		ref.Mem.Cells[i] = num.FromFloat(num.Round(ref.Elem, x))
	}
	if _, err := interp.Compare(ref, got); err != nil {
		t.Errorf("%s: %v", what, err)
	}
}

// All four sizes of the batched product go through 0, 1 and a prime.
func TestMatmulSizes(t *testing.T) {
	m, r := input(t, "matmul"), rand.New(rand.NewPCG(1, 1))
	sizes := []int64{0, 1, 3}
	for _, B := range sizes {
		for _, M := range sizes {
			for _, N := range sizes {
				for _, K := range []int64{0, 1, 5} {
					a, b := random(r, num.F16, B, M, K), random(r, num.F16, B, K, N)
					var want []float64
					for i := range B * M * N {
						s := 0.0
						for k := range K {
							s += get(a, i/(M*N), i/N%M, k) * get(b, i/(M*N), k, i%N)
						}
						want = append(want, s)
					}
					wants(t, fmt.Sprint(B, M, N, K), run(t, m, "matmul", a, b)[0], []int64{B, M, N}, want)
				}
			}
		}
	}
}

// Rows and columns of softmax, each 0, 1 and primes.
func TestSoftmaxSizes(t *testing.T) {
	m, r := input(t, "softmax"), rand.New(rand.NewPCG(2, 2))
	for _, M := range []int64{0, 1, 5} {
		for _, N := range []int64{0, 1, 7} {
			x := random(r, num.F32, M, N)
			var y, l []float64
			for i := range M {
				top, sum := math.Inf(-1), 0.0
				for j := range N {
					top = max(top, get(x, i, j))
				}
				for j := range N {
					sum += math.Exp(get(x, i, j) - top)
				}
				for j := range N {
					y = append(y, math.Exp(get(x, i, j)-top)/sum)
				}
				l = append(l, sum)
			}
			out := run(t, m, "softmax", x)
			wants(t, fmt.Sprint("y ", M, N), out[0], []int64{M, N}, y)
			wants(t, fmt.Sprint("l ", M, N), out[1], []int64{M}, l)
			wants(t, fmt.Sprint("l by @online ", M, N), out[2], []int64{M}, l)
		}
	}
}

// A reshape whose sizes come from a tensor, with every use of 0 and -1, and a
// count of non-zeros, at sizes 0, 1 and primes.
func TestDynamicSizes(t *testing.T) {
	m, r := input(t, "dynamic"), rand.New(rand.NewPCG(3, 3))
	for _, M := range []int64{0, 1, 2, 5} {
		for _, N := range []int64{0, 1, 3, 7} {
			x, b := random(r, num.F32, M, N), random(r, num.F32, N)
			var kept []float64
			for i := range N {
				if r.IntN(2) == 0 {
					b.Mem.Cells[i] = num.FromFloat(0)
				} else {
					kept = append(kept, get(b, i))
				}
			}
			var flat []float64
			for _, c := range x.Mem.Cells {
				flat = append(flat, num.Float(c))
			}
			for _, c := range reshapes(M, N) {
				what := fmt.Sprint(c.to, " of ", M, " x ", N)
				out := run(t, m, "dynamic", x, ints(c.to...), b)
				wants(t, "reshape to "+what, out[0], c.shape, flat)
				wants(t, "nonzero "+what, out[1], []int64{int64(len(kept))}, kept)
			}
		}
	}
}

type reshape struct{ to, shape []int64 }

// reshapes asks for shapes of M x N elements: 0 keeps a dim, -1 is what is left
// over, which is 0 where the other dim is 0.
func reshapes(M, N int64) []reshape {
	left := func(by int64) int64 {
		if by == 0 {
			return 0
		}
		return M * N / by
	}
	list := []reshape{{[]int64{0, 0}, []int64{M, N}}, {[]int64{0, -1}, []int64{M, left(M)}},
		{[]int64{-1, 0}, []int64{left(N), N}}, {[]int64{1, -1}, []int64{1, M * N}}}
	if M*N > 0 {
		list = append(list, reshape{[]int64{N, M}, []int64{N, M}}, reshape{[]int64{M * N, 1}, []int64{M * N, 1}})
	}
	return list
}

// Sizes that an example's facts exclude are refused at entry, with the fact and
// the sizes in the message.
func TestRefusedSizes(t *testing.T) {
	index := func(n int64) any { return interp.Scalar{Elem: num.Index, Cell: num.FromInt(n)} }
	array := func(e num.Elem, shape ...int64) any { return ir.NewArray(e, shape...) }
	attention := func(S, T, D int64) []any {
		return []any{array(num.F32, 1, 1, S, D), array(num.F32, 1, 1, T, D), array(num.F32, 1, 1, T, D)}
	}
	vq := input(t, "vq_linear")
	weight := func(K int64) any {
		return &ir.Encoded{Enc: ir.Lookup[*ir.Encoding](vq, "vq8x2"), Shape: []int64{3, K},
			Parts: []*ir.Array{ir.NewArray(num.U8, 3, K/8, 2), ir.NewArray(num.F16, 2, 256, 8)}}
	}
	type refusal struct {
		example, fn string
		args        []any
		want        []string
	}
	modules := map[string]*ir.Module{"vq_linear": vq}
	cases := []refusal{
		{"attention", "attention", attention(5, 3, 2), []string{"S <= T", "S = 5", "T = 3"}},
		{"attention", "attention", attention(1, 0, 2), []string{"S <= T"}},
		{"attention", "attention", attention(1, 1, 257), []string{"D <= 256", "D = 257"}},
		{"dynamic", "dynamic", []any{array(num.F32, 2, 3), ints(1, 2, 3), array(num.F32, 3)}, []string{"%s"}},
		{"dynamic", "dynamic", []any{array(num.F32, 2, 3), ints(2, 3), array(num.F32, 4)}, []string{"N", "3", "4"}},
		{"gcn", "gcn", []any{&ir.PatternValue{Rows: 2, Cols: 3, Ptr: []int64{0, 0, 0}}, array(num.F32, 2, 1), array(num.F32, 1, 1), array(num.F32, 1)},
			[]string{"N"}},
		{"knn", "knn", []any{array(num.F32, 0, 2), array(num.I64, 0), array(num.F32, 1, 2)}, []string{"argmin has nothing to reduce"}},
	}
	for _, K := range []int64{1, 7, 9, 12} {
		cases = append(cases, refusal{"vq_linear", "vq_linear", []any{weight(K), array(num.F32, 1, K)}, []string{"K mod 8 == 0", fmt.Sprint("K = ", K)}})
	}
	for N := range int64(3) {
		A, B := array(num.F64, N, N), array(num.F64, N, N)
		cases = append(cases, refusal{"jacobi2d", "jacobi2d", []any{index(1), A, B}, []string{"3 <= N", fmt.Sprint("N = ", N)}},
			refusal{"jacobi2d_rows", "jacobi2d_rows", []any{index(1), A, B, nil}, []string{"3 <= N", fmt.Sprint("N = ", N)}})
	}
	for _, c := range cases {
		if modules[c.example] == nil {
			modules[c.example] = input(t, c.example)
		}
		for _, ranks := range []int{1, 2, 3, 7} {
			_, err := interp.New(modules[c.example], interp.Options{Ranks: ranks}).Run(c.fn, c.args)
			if err == nil {
				t.Errorf("@%s%v was run", c.fn, c.want)
				continue
			}
			for _, w := range c.want {
				if !strings.Contains(err.Error(), w) {
					t.Errorf("@%s: the message lacks %q: %v", c.fn, w, err)
				}
			}
			if c.example != "jacobi2d_rows" {
				break
			}
		}
	}
}
