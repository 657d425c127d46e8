package interp_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"testing"

	"tenon/internal/num"
	"tenon/ir"
	"tenon/ir/interp"
)

// The examples of the lower levels that hold a comp in buffer form.

// wantWithin compares a reference with a result from a run with shadows.
func wantWithin(t *testing.T, what string, got any, ref *ir.Array) {
	t.Helper()
	if _, err := interp.Compare(ref, got); err != nil {
		t.Fatalf("%s: the reference loop and the interpreter differ: %v", what, err)
	}
}

func TestLinear(t *testing.T) {
	m := lowerModule(t)
	r := rand.New(rand.NewPCG(1, 1))
	for i, M := range lowerSizes {
		N, K := lowerSizes[(i*2+1)%len(lowerSizes)], lowerSizes[(i*4+3)%len(lowerSizes)]
		for _, s := range [][3]int64{{M, M, M}, {M, N, K}, {N, K, M}, {M, 33, 0}} {
			checkLinear(t, m, r, s[0], s[1], s[2])
		}
	}
}

func checkLinear(t *testing.T, m *ir.Module, r *rand.Rand, M, N, K int64) {
	A, B, bias := randomArray(r, num.F32, M, K), randomArray(r, num.F32, K, N), randomArray(r, num.F32, N)
	want := ir.NewArray(num.F32, M, N)
	for i := range M {
		for j := range N {
			s := float32(0)
			for k := range K {
				s += float32(at(A, i, k)) * float32(at(B, k, j))
			}
			put(want, float64(max(s+float32(at(bias, j)), 0)), i, j)
		}
	}
	for variant := -1; variant < 2; variant++ {
		opts := interp.Options{Shadow: true, Seed: uint64(M + 7*N + 31*K)}
		if variant >= 0 {
			opts.Variant = &variant
		}
		what := fmt.Sprintf("linear M=%d N=%d K=%d variant %d", M, N, K, variant)
		out := mustRun(t, what, interp.New(m, opts), "linear", cloneArray(A), cloneArray(B), cloneArray(bias), nil)
		wantWithin(t, what, out[0], want)
	}
}

func TestGemmRaised(t *testing.T) {
	m := lowerModule(t)
	r := rand.New(rand.NewPCG(5, 5))
	for i, M := range lowerSizes {
		N, K := lowerSizes[(i+3)%len(lowerSizes)], lowerSizes[(i+5)%len(lowerSizes)]
		A, B, C := randomArray(r, num.F64, M, K), randomArray(r, num.F64, K, N), randomArray(r, num.F64, M, N)
		got := cloneArray(C)
		for i := range M {
			for j := range N {
				s := 0.5 * at(C, i, j)
				for k := range K {
					s += float64(at(A, i, k) * at(B, k, j))
				}
				put(C, s, i, j)
			}
		}
		what := fmt.Sprintf("M=%d N=%d K=%d", M, N, K)
		mustRun(t, what, interp.New(m, interp.Options{Seed: uint64(i)}), "gemm_raised", A, B, got)
		wantSame(t, what, got, C)
	}
}

// The rows of the grid idle where there are more ranks than rows.
func TestJacobiOnRanks(t *testing.T) {
	m := lowerModule(t)
	r := rand.New(rand.NewPCG(6, 6))
	for _, ranks := range []int{1, 2, 3, 7} {
		for _, N := range lowerSizes {
			if N < 3 {
				continue
			}
			A, B, steps := randomArray(r, num.F64, N, N), randomArray(r, num.F64, N, N), N%3
			gotA, gotB := cloneArray(A), cloneArray(B)
			what := fmt.Sprintf("ranks=%d N=%d steps=%d", ranks, N, steps)
			p := interp.New(m, interp.Options{Ranks: ranks, Seed: uint64(N), Shadow: true})
			out := mustRun(t, what, p, "jacobi2d_rows", index(steps), gotA, gotB, nil)
			jacobi(A, B, steps)
			wantSame(t, what+" A", gotA, A)
			wantSame(t, what+" B", gotB, B)
			sum := ir.NewArray(num.F64)
			for _, c := range A.Mem.Cells {
				put(sum, at(sum)+num.Float(c))
			}
			wantWithin(t, what+" sum", out[2], sum)
		}
	}
}

// The body of the micro-kernel computes what its meaning says, within bounds.
func TestBodyIsMeaning(t *testing.T) {
	text, err := os.ReadFile("../ops/testdata/lower.tnir")
	if err != nil {
		t.Fatal(err)
	}
	m := parseText(t, "lower.tnir", string(text)+`
proc tile @tile<K>(in %a: buf<f32[4, K]>, in %b: buf<f32[K, 32]>, out %c: buf<f32[4, 32]>) {
  tile.call kernel=@gemm_f32_4x32 (%c, K) a(i, l) { yield(load(%a[i, l])) } b(l, j) { yield(load(%b[l, j])) }
  return() }`)
	r := rand.New(rand.NewPCG(9, 9))
	for _, K := range lowerSizes {
		a, b := randomArray(r, num.F32, 4, K), randomArray(r, num.F32, K, 32)
		what := fmt.Sprint("K=", K)
		body := mustRun(t, what, interp.New(m, interp.Options{}), "gemm_f32_4x32_body", cloneArray(a), b, ir.NewArray(num.F32, 4, 32))
		meaning := mustRun(t, what, interp.New(m, interp.Options{Shadow: true}), "tile", a, cloneArray(b), nil)
		wantWithin(t, what, meaning[0], body[0].(*ir.Array))
	}
}

// A choice between distributed variants: each rank goes back to where it was,
// halos included, before the next one runs.
func TestChooseOnRanks(t *testing.T) {
	m := parseText(t, "c.tnir", `tenon ir 1
grid @g(P)
proc dist @p<N>(inout %A: buf<f64[N], dist(@g, block/0 halo(1, 1))>, out %B: buf<f64[N], dist(@g, block/0)>) {
  dist.owned(%A) dim=0 exists(lo: 0 <= lo, hi: lo <= hi and hi <= N)
  dist.halo(%A) dim=0
  tile.choose dims(N) variant near {
    loop.for i = lo to hi { store(add(load(%A[max(0, i - 1)]), load(%A[min(N - 1, i + 1)])), %B[i]) }
    loop.for i = lo to hi { store(load(%B[i]), %A[i]) }
  } variant far {
    dist.halo(%A) dim=0
    loop.for i = lo to hi { store(add(load(%A[max(0, i - 1)]), load(%A[min(N - 1, i + 1)])), %B[i]) }
    loop.for i = lo to hi { store(load(%B[i]), %A[i]) }
    dist.halo(%A) dim=0
  } pick { yield(0: i32) }
  dist.halo(%A) dim=0
  loop.for i = lo to hi { store(sub(load(%B[i]), load(%A[max(0, i - 1)])), %B[i]) }
  return() }`)
	r := rand.New(rand.NewPCG(10, 10))
	for _, ranks := range []int{1, 2, 3, 7} {
		for _, N := range lowerSizes {
			A := randomArray(r, num.F64, N)
			for variant := range 2 {
				alone, many := cloneArray(A), cloneArray(A)
				opts := interp.Options{Variant: &variant}
				one := mustRun(t, "alone", interp.New(m, opts), "p", alone, nil)
				opts.Ranks, opts.Seed = ranks, uint64(N)
				what := fmt.Sprintf("ranks=%d N=%d variant=%d", ranks, N, variant)
				all := mustRun(t, what, interp.New(m, opts), "p", many, nil)
				wantSame(t, what+" A", many, alone)
				wantSame(t, what+" B", all[0], one[0].(*ir.Array))
			}
		}
	}
}
