package interp_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"tenon/internal/diag"
	"tenon/internal/num"
	"tenon/ir"
	"tenon/ir/interp"
)

func TestAttention(t *testing.T) {
	m := example(t, "sparse.tnir")
	r := rand.New(rand.NewPCG(3, 4))
	for _, st := range [][2]int64{{0, 0}, {0, 5}, {1, 1}, {2, 3}, {3, 3}, {5, 7}, {7, 13}} {
		S, T, D := st[0], st[1], int64(4)
		q, k, v := random(r, num.F32, 1, 2, S, D), random(r, num.F32, 1, 2, T, D), random(r, num.F32, 1, 2, T, D)
		want := over([]int64{1, 2, S, D}, func(i []int64) float64 {
			b, h, s, d := i[0], i[1], i[2], i[3]
			sum, acc := 0.0, 0.0
			for j := int64(0); j <= T+s-S; j++ {
				dot := 0.0
				for c := int64(0); c < D; c++ {
					dot += elem(q, b, h, s, c) * elem(k, b, h, j, c)
				}
				e := math.Exp(dot / 2)
				sum, acc = sum+e, acc+e*elem(v, b, h, j, d)
			}
			return acc / sum
		})
		agrees(t, fmt.Sprint("attention ", st), run(t, m, "attention", q, k, v)[0], want)
	}
	x := ir.NewArray(num.F32, 1, 1, 5, 2)
	y := ir.NewArray(num.F32, 1, 1, 3, 2)
	_, err := interp.New(m, interp.Options{}).Run("attention", []any{x, y, y})
	wantTrap(t, err, ir.TrapShape, "@attention needs S <= T, which these arguments break (S = 5 from dim 2 of %q; T = 3 from dim 2 of %k)")
}

func TestConvAndMaxpool(t *testing.T) {
	m := example(t, "sparse.tnir")
	r := rand.New(rand.NewPCG(3, 4))
	for _, n := range sizes {
		N, C, H, W, O := int64(2), int64(3), n, (n+3)/2, int64(2)
		x, w, b := random(r, num.F32, N, C, H, W), random(r, num.F32, O, C, 3, 3), random(r, num.F32, O)
		inside := func(i, j int64) bool { return 0 <= i && i < H && 0 <= j && j < W }
		conv := over([]int64{N, O, (H + 1) / 2, (W + 1) / 2}, func(i []int64) float64 {
			s := elem(b, i[1])
			over([]int64{C, 3, 3}, func(k []int64) float64 {
				if y, z := 2*i[2]+k[1]-1, 2*i[3]+k[2]-1; inside(y, z) {
					s += elem(x, i[0], k[0], y, z) * elem(w, i[1], k[0], k[1], k[2])
				}
				return 0
			})
			return s
		})
		pool := over([]int64{N, C, (H + 1) / 2, (W + 1) / 2}, func(i []int64) float64 {
			s := math.Inf(-1)
			over([]int64{3, 3}, func(k []int64) float64 {
				if y, z := 2*i[2]+k[0]-1, 2*i[3]+k[1]-1; inside(y, z) {
					s = max(s, elem(x, i[0], i[1], y, z))
				}
				return 0
			})
			return s
		})
		agrees(t, fmt.Sprint("conv ", n), run(t, m, "conv", x, w, b)[0], conv)
		agrees(t, fmt.Sprint("maxpool ", n), run(t, m, "maxpool", x)[0], pool)
	}
}

func TestGraphAttention(t *testing.T) {
	m := example(t, "sparse.tnir")
	r := rand.New(rand.NewPCG(5, 6))
	for _, n := range sizes {
		N, M, D, F := n, n/2+1, int64(3), int64(2)
		p := graph(r, N, M)
		q, k, x := random(r, num.F32, N, D), random(r, num.F32, M, D), random(r, num.F32, M, F)
		score := func(i, j int64) float64 {
			s := 0.0
			for d := int64(0); d < D; d++ {
				s += elem(q, i, d) * elem(k, j, d)
			}
			return math.Exp(s)
		}
		want := over([]int64{N, F}, func(i []int64) float64 {
			sum, acc := 0.0, 0.0
			for _, e := range row(p, i[0]) {
				s := score(i[0], p.Col[e])
				sum, acc = sum+s, acc+s*elem(x, p.Col[e], i[1])
			}
			if sum == 0 {
				return 0
			}
			return acc / sum
		})
		agrees(t, fmt.Sprint("graph attention ", n), run(t, m, "graph_attention", p, q, k, x)[0], want)
	}
}

func TestGCN(t *testing.T) {
	m := example(t, "sparse.tnir")
	r := rand.New(rand.NewPCG(5, 6))
	for _, n := range sizes {
		N, F, O := n, int64(3), int64(2)
		p := graph(r, N, N)
		x, w, b := random(r, num.F32, N, F), random(r, num.F32, F, O), random(r, num.F32, O)
		deg := func(i int64) float64 { return float64(1 + len(row(p, i))) }
		h := func(i, o int64) float64 {
			s := 0.0
			for f := int64(0); f < F; f++ {
				s += elem(x, i, f) * elem(w, f, o)
			}
			return s
		}
		want := over([]int64{N, O}, func(i []int64) float64 {
			s := h(i[0], i[1])/deg(i[0]) + elem(b, i[1])
			for _, e := range row(p, i[0]) {
				j := p.Col[e]
				s += h(j, i[1]) / math.Sqrt(deg(i[0])*deg(j))
			}
			return max(s, 0)
		})
		agrees(t, fmt.Sprint("gcn ", n), run(t, m, "gcn", p, x, w, b)[0], want)
	}
}

func TestRGCN(t *testing.T) {
	m := example(t, "sparse.tnir")
	r := rand.New(rand.NewPCG(7, 8))
	for _, n := range sizes {
		N, M, F, O, R := n, n/2, int64(2), int64(3), int64(3)
		p, q := graph(r, N, N), graph(r, N, M)
		et := random(r, num.I32, p.NNZ())
		for i := range et.Mem.Cells {
			et.Mem.Cells[i] %= num.Cell(R)
		}
		x, w, xm, wm := random(r, num.F32, N, F), random(r, num.F32, R, F, O), random(r, num.F32, M, F), random(r, num.F32, F, O)
		y := over([]int64{N, O}, func(i []int64) float64 {
			s := 0.0
			for _, e := range row(p, i[0]) {
				for f := int64(0); f < F; f++ {
					s += elem(x, p.Col[e], f) * elem(w, int64(elem(et, e)), f, i[1])
				}
			}
			return s
		})
		u := over([]int64{N, O}, func(i []int64) float64 {
			s := 0.0
			for _, e := range row(q, i[0]) {
				for f := int64(0); f < F; f++ {
					s += elem(xm, q.Col[e], f) * elem(wm, f, i[1])
				}
			}
			return s
		})
		got := run(t, m, "rgcn", p, et, x, w, q, xm, wm)
		agrees(t, fmt.Sprint("rgcn y ", n), got[0], y)
		agrees(t, fmt.Sprint("rgcn z ", n), got[1], y)
		agrees(t, fmt.Sprint("rgcn u ", n), got[2], u)
	}
}

func TestEncodedLinear(t *testing.T) {
	m := example(t, "sparse.tnir")
	enc := ir.Lookup[*ir.Encoding](m, "vq8x2")
	r := rand.New(rand.NewPCG(7, 8))
	for _, n := range sizes {
		for _, k := range []int64{0, 8, 24} {
			M, N := n/2, n
			codes, books := random(r, num.U8, N, k/8, 2), random(r, num.F16, 2, 256, 8)
			x := random(r, num.F32, M, k)
			w := &ir.Encoded{Enc: enc, Shape: []int64{N, k}, Parts: []*ir.Array{codes, books}}
			want := over([]int64{M, N}, func(i []int64) float64 {
				s := 0.0
				for c := int64(0); c < k; c++ {
					v := elem(books, 0, int64(elem(codes, i[1], c/8, 0)), c%8) + elem(books, 1, int64(elem(codes, i[1], c/8, 1)), c%8)
					s += elem(x, i[0], c) * v
				}
				return s
			})
			agrees(t, fmt.Sprint("vq ", n, k), run(t, m, "vq_linear", w, x)[0], want)
		}
	}
	w := &ir.Encoded{Enc: enc, Shape: []int64{3, 9}, Parts: []*ir.Array{ir.NewArray(num.U8, 3, 1, 2), ir.NewArray(num.F16, 2, 256, 8)}}
	_, err := interp.New(m, interp.Options{}).Run("vq_linear", []any{w, ir.NewArray(num.F32, 1, 9)})
	wantTrap(t, err, ir.TrapShape, "")
}

// Parts that do not fit the tensor they make are found where it is read: the
// fault names the tensor and has the place of that op.
func TestPartsThatDoNotFit(t *testing.T) {
	m := parse(t, "parts.tnir", `tenon ir 1
encoding @halves<N, K> of f32 { part %a: i8[N, K]; part %b: f16[N]
  decode(n, k) { %w = tensor.comp in(%q = %a[n, k], %s = %b[n]) { yield(mul(cast(%q): f32, cast(%s): f32)) } : f32; yield(%w) } }
func tensor @f<N, M, K>(%a: i8[N, K], %b: f16[M]) -> (f32[N]) {
  %v = tensor.encoded(%a, %b) : f32[N, K] enc @halves
  %y = tensor.comp par(n < N) red(k < K) in(%x = %v[n, k]) { yield(%x) } by sum(f32) : f32[N] at "model.tn":7:3
  return(%y) }
`)
	a := intsOf(num.I8, []int64{2, 3}, 1, 2, 3, 4, 5, 6)
	got := run(t, m, "f", a, floats(num.F16, []int64{2}, 1, 0.5))[0]
	agrees(t, "parts that fit", got, []float64{6, 7.5})
	_, err := interp.New(m, interp.Options{}).Run("f", []any{a, ir.NewArray(num.F16, 3)})
	wantTrap(t, err, ir.TrapShape, "dim 0 of %b of @halves is 3", "N = 2", "%v")
	if pos := diag.Render(err, diag.Sources{}, false); !strings.Contains(pos, "model.tn:7:3") {
		t.Errorf("the fault has no place: %s", pos)
	}
}

func TestSequences(t *testing.T) {
	m := example(t, "sparse.tnir")
	r := rand.New(rand.NewPCG(9, 9))
	for _, T := range sizes {
		x := random(r, num.F32, T, 2)
		want := over([]int64{T, 2}, func(i []int64) float64 {
			s := 0.0
			for k := int64(0); k <= i[0]; k++ {
				s += elem(x, k, i[1])
			}
			return s
		})
		agrees(t, fmt.Sprint("cumsum ", T), run(t, m, "cumsum", x)[0], want)
		lstm(t, m, r, T)
	}
}

func lstm(t *testing.T, m *ir.Module, r *rand.Rand, T int64) {
	B, I, H := int64(2), int64(3), int64(2)
	x, w, u, bias := random(r, num.F32, T, B, I), random(r, num.F32, 4, H, I), random(r, num.F32, 4, H, H), random(r, num.F32, 4, H)
	h0, c0 := random(r, num.F32, B, H), random(r, num.F32, B, H)
	h, c := [2][2]float64{}, [2][2]float64{}
	over([]int64{B, H}, func(i []int64) float64 {
		h[i[0]][i[1]], c[i[0]][i[1]] = elem(h0, i...), elem(c0, i...)
		return 0
	})
	sigmoid := func(v float64) float64 { return 1 / (1 + math.Exp(-v)) }
	var hs []float64
	for k := int64(0); k < T; k++ {
		old := h
		gate := func(b, a, o int64) float64 {
			s := elem(bias, a, o)
			for i := int64(0); i < I; i++ {
				s += elem(x, k, b, i) * elem(w, a, o, i)
			}
			for i := int64(0); i < H; i++ {
				s += old[b][i] * elem(u, a, o, i)
			}
			return s
		}
		over([]int64{B, H}, func(i []int64) float64 {
			b, o := i[0], i[1]
			c[b][o] = sigmoid(gate(b, 2, o))*c[b][o] + sigmoid(gate(b, 0, o))*math.Tanh(gate(b, 3, o))
			h[b][o] = sigmoid(gate(b, 1, o)) * math.Tanh(c[b][o])
			hs = append(hs, h[b][o])
			return 0
		})
	}
	got := run(t, m, "lstm", x, w, u, bias, h0, c0)
	agrees(t, "lstm hs", got[0], hs)
	agrees(t, "lstm h", got[1], []float64{h[0][0], h[0][1], h[1][0], h[1][1]})
	agrees(t, "lstm c", got[2], []float64{c[0][0], c[0][1], c[1][0], c[1][1]})
}

func TestDynamic(t *testing.T) {
	m := example(t, "sparse.tnir")
	x := floats(num.F32, []int64{2, 3}, 1, 2, 3, 4, 5, 6)
	b := floats(num.F32, []int64{3}, 0, 7, math.NaN())
	for _, c := range []struct{ s, shape []int64 }{{[]int64{0, -1}, []int64{2, 3}}, {[]int64{-1, 2}, []int64{3, 2}}, {[]int64{6, 1}, []int64{6, 1}}} {
		got := run(t, m, "dynamic", x, intsOf(num.I64, []int64{2}, c.s...), b)
		wantSame(t, fmt.Sprint("reshape to ", c.s), got[0], floats(num.F32, c.shape, 1, 2, 3, 4, 5, 6))
		wantSame(t, "nonzero", got[1], floats(num.F32, []int64{2}, 7, math.NaN()))
	}
	_, err := interp.New(m, interp.Options{}).Run("dynamic", []any{x, intsOf(num.I64, []int64{2}, 4, 2), b})
	wantTrap(t, err, ir.TrapShape, "M*N == P*Q does not hold (M*N is 6, P*Q is 8)")
	_, err = interp.New(m, interp.Options{}).Run("dynamic", []any{x, intsOf(num.I64, []int64{2}, -3, -2), b})
	wantTrap(t, err, ir.TrapShape, "0 <= P does not hold")
}
