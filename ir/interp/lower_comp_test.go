package interp_test

import (
	"fmt"
	"math/rand/v2"
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
