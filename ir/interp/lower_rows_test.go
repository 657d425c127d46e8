package interp_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"tenon/internal/num"
	"tenon/ir"
	"tenon/ir/interp"
)

// The rows that the examples leave out, against plain loops.

func rowsModule(t *testing.T) *ir.Module {
	t.Helper()
	text, err := os.ReadFile("../ops/testdata/rows_lower.tnir")
	if err != nil {
		t.Fatal(err)
	}
	return parseText(t, "rows_lower.tnir", string(text))
}

func scalarF64(v float64) interp.Scalar { return interp.Scalar{Elem: num.F64, Cell: num.FromFloat(v)} }

// A parallel loop over tiles, its last one short; a buffer with strides and an
// offset; a step of 2. Nothing else is touched.
func TestParallelTiles(t *testing.T) {
	m := rowsModule(t)
	r := rand.New(rand.NewPCG(21, 21))
	for _, M := range lowerSizes {
		for _, N := range []int64{0, 1, 2, 5} {
			if N > M {
				continue // rows lie M apart and would overlap
			}
			mem := randomArray(r, num.F64, N+M*M+1)
			A := &ir.Array{Elem: num.F64, Shape: []int64{M, N}, Strides: []int64{M, 1}, Off: N, Mem: mem.Mem}
			want := cloneArray(A)
			for i := range M {
				for j := int64(0); j < N; j += 2 {
					put(want, 3*at(A, i, j), i, j)
				}
			}
			what := fmt.Sprintf("M=%d N=%d", M, N)
			mustRun(t, what, interp.New(m, interp.Options{Seed: 5}), "scale", scalarF64(3), index(N), A)
			for i, c := range want.Mem.Cells {
				if A.Mem.Cells[i] != c {
					t.Fatalf("%s: cell %d differs", what, i)
				}
			}
		}
	}
}

// Copies of views, and a call with a view and literals.
func TestCopyAndCall(t *testing.T) {
	m := parseText(t, "calls.tnir", `tenon ir 1
proc loop @twice<M, N>(in %s: f64, in %n: index, inout %A: buf<f64[M, N]>) {
  loop.for i = 0 to M { loop.for j = 0 to %n { store(mul(%s, load(%A[i, j])), %A[i, j]) } }
  return() }
proc loop @p<M, N>(in %A: buf<f64[M, N]>, out %B: buf<f64[M, N]>, out %C: buf<f64[3, N]>) where(declared 3 <= M) {
  loop.copy(%A, %B); loop.copy(%A[M - 3:3, 0:N], %C); loop.copy(%A[0, 0:N], %C[1, 0:N])
  loop.call @twice(2.0, N, %B[1:M - 2, 0:N])
  %x, %y = loop.if (3 < M, M <= N) { %a = const 5.0: f64; yield(%a, 1: index) }
    else { %b = const 7.0: f64; yield(%b, 2: index) } : f64, index
  loop.if (1 <= N) { store(add(%x, cast(%y): f64), %C[2, 0]) }
  return() }`)
	r := rand.New(rand.NewPCG(22, 22))
	for _, M := range []int64{3, 5, 7} {
		for _, N := range []int64{0, 1, 6} {
			A := randomArray(r, num.F64, M, N)
			B, C := cloneArray(A), ir.NewArray(num.F64, 3, N)
			for j := range N {
				for i := int64(1); i < M-1; i++ {
					put(B, 2*at(A, i, j), i, j)
				}
				put(C, at(A, M-3, j), 0, j)
				put(C, at(A, 0, j), 1, j)
				put(C, at(A, M-1, j), 2, j)
			}
			if N > 0 {
				put(C, map[bool]float64{true: 6, false: 9}[3 < M && M <= N], 2, 0)
			}
			what := fmt.Sprintf("M=%d N=%d", M, N)
			out := mustRun(t, what, interp.New(m, interp.Options{}), "p", cloneArray(A), nil, nil)
			wantSame(t, what+" B", out[0], B)
			wantSame(t, what+" C", out[1], C)
		}
	}
}

// What is prepared from const parameters is there for the loops behind it: the
// product of x and w, column j times k + j.
func TestPrepare(t *testing.T) {
	m := rowsModule(t)
	r := rand.New(rand.NewPCG(24, 24))
	for _, N := range []int64{0, 1, 4, 7} {
		M, K := int64(3), int64(2)
		X, W, want := randomArray(r, num.F64, M, K), randomArray(r, num.F64, K, N), ir.NewArray(num.F32, M, N)
		for _, a := range []*ir.Array{X, W} {
			for i := range a.Mem.Cells { // halves: sums and products are exact
				a.Mem.Cells[i] = num.FromFloat(math.Round(2*num.Float(a.Mem.Cells[i])) / 2)
			}
			a.Elem = num.F32
		}
		for i := range M {
			for j := range N {
				put(want, (at(X, i, 0)*at(W, 0, j)+at(X, i, 1)*at(W, 1, j))*(1.5+float64(j)), i, j)
			}
		}
		k := interp.Scalar{Elem: num.F32, Cell: num.FromFloat(1.5)}
		what := fmt.Sprintf("N=%d", N)
		out := mustRun(t, what, interp.New(m, interp.Options{Seed: 3}), "prepared", X, W, k, nil)
		wantSame(t, what, out[0], want)
	}
}

// Panels along either axis, the last one filled up with zeros; a loop that runs
// once over nothing would write outside the empty buffer.
func TestPack(t *testing.T) {
	m := rowsModule(t)
	r := rand.New(rand.NewPCG(23, 23))
	for _, K := range lowerSizes {
		for _, N := range []int64{1, 3, 4, 9} {
			B := randomArray(r, num.F32, K, N)
			P, Q := ir.NewArray(num.F32, (N+3)/4, K, 4), ir.NewArray(num.F32, (K+7)/8, N, 8)
			for k := range K {
				for j := range N {
					put(P, at(B, k, j), j/4, k, j%4)
					put(Q, at(B, k, j), k/8, j, k%8)
				}
			}
			for i := int64(0); i < K; i += 3 {
				put(P, 0, 0, i, 0)
			}
			what := fmt.Sprintf("K=%d N=%d", K, N)
			out, err := interp.New(m, interp.Options{Seed: 3}).Run("pack", []any{B, nil, nil})
			if K == 0 {
				wantFault(t, err, "subscript 1 of %P is 0")
				continue
			}
			if err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			wantSame(t, what+" P", out[0], P)
			wantSame(t, what+" Q", out[1], Q)
		}
	}
}

// A grid of 2 x 2 ranks and others; block and cyclic dims cover every element
// once, and changing the layout keeps the elements.
func TestLayouts(t *testing.T) {
	m := parseText(t, "layouts.tnir", `tenon ir 1
grid @g(P, Q)
proc dist @p<M, N>(inout %A: buf<f64[M, N], dist(@g, block/0, cyclic(2)/1)>, out %B: buf<f64[M, N], dist(@g, *, block/0)>,
    out %C: buf<f64[M, N], dist(@g)>, out %n: buf<i64[], dist(@g)>) {
  dist.owned(%A) dim=0 exists(lo: 0 <= lo, hi: lo <= hi and hi <= M)
  dist.owned(%A) dim=1 exists(l: 0 <= l, h: 0 <= h, s: 1 <= s)
  %mine = loop.alloc : buf<i64[], dist(@g, partial(sum))>
  store(0: i64, %mine[])
  %one = const 1: i64
  %zero = const 0: i64
  %rows = loop.for i = lo to hi carry(%a = %zero) {
    %cols = loop.for j0 = l to h step s carry(%b = %a) {
      %c = loop.for j = j0 to min(h, j0 + 2) carry(%d = %b) {
        store(add(1.0: f64, load(%A[i, j])), %A[i, j])
        yield(add(%d, %one)) } : i64
      yield(%c) } : i64
    yield(%cols) } : i64
  store(%rows, %mine[])
  dist.convert(%A, %B)
  dist.convert(%B, %C)
  dist.reduce(%mine, %n)
  return() }`)
	r := rand.New(rand.NewPCG(24, 24))
	for _, grid := range [][]int64{{1, 1}, {2, 2}, {3, 1}, {1, 3}, {7, 2}} {
		for i, M := range lowerSizes {
			N := lowerSizes[(i*2+3)%len(lowerSizes)]
			A := randomArray(r, num.F64, M, N)
			want := cloneArray(A)
			for i := range want.Mem.Cells {
				want.Mem.Cells[i] = num.FromFloat(1 + num.Float(want.Mem.Cells[i]))
			}
			what := fmt.Sprintf("grid %v M=%d N=%d", grid, M, N)
			p := interp.New(m, interp.Options{Grids: map[string][]int64{"g": grid}, Seed: uint64(M)})
			out := mustRun(t, what, p, "p", A, nil, nil, nil)
			for k, name := range []string{"A", "B", "C"} {
				wantSame(t, what+" "+name, out[k], want)
			}
			n := ir.NewArray(num.I64)
			n.Mem.Cells[0] = num.FromInt(M * N)
			wantSame(t, what+" n", out[3], n)
		}
	}
}

func TestAsyncCopies(t *testing.T) {
	m := rowsModule(t)
	r := rand.New(rand.NewPCG(25, 25))
	for _, N := range []int64{0, 1, 31, 32, 33, 100} {
		x := randomArray(r, num.F32, N)
		for seed := range uint64(3) {
			out := mustRun(t, fmt.Sprint("N=", N), interp.New(m, interp.Options{Seed: seed, Shadow: true}), "staged", cloneArray(x), nil)
			wantSame(t, fmt.Sprint("N=", N), out[0], x)
		}
	}
}
