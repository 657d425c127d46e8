package interp_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"testing"

	"tenon/internal/diag"
	"tenon/internal/num"
	"tenon/ir"
	"tenon/ir/interp"
	_ "tenon/ir/ops"
)

// The examples of the lower levels against plain loops.

var lowerSizes = []int64{0, 1, 2, 3, 5, 7, 13, 16, 33}

func lowerModule(t *testing.T) *ir.Module {
	t.Helper()
	text, err := os.ReadFile("../ops/testdata/lower.tnir")
	if err != nil {
		t.Fatal(err)
	}
	return parseText(t, "lower.tnir", string(text))
}

// parseOnly leaves the verifier out, for programs that it refuses.
func parseOnly(t *testing.T, name, text string) *ir.Module {
	t.Helper()
	m, err := ir.Parse(name, text)
	if err != nil {
		t.Fatalf("%s", diag.Render(err, diag.Sources{name: text}, false))
	}
	return m
}

func parseText(t *testing.T, name, text string) *ir.Module {
	t.Helper()
	m := parseOnly(t, name, text)
	if err := ir.Verify(m); err != nil {
		t.Fatalf("%s", diag.Render(err, diag.Sources{name: text}, false))
	}
	return m
}

// randomArray has elements that e holds exactly, between -2 and 2.
func randomArray(r *rand.Rand, e num.Elem, shape ...int64) *ir.Array {
	a := ir.NewArray(e, shape...)
	for i := range a.Mem.Cells {
		if e.IsFloat() {
			a.Mem.Cells[i] = num.FromFloat(float64(float32(r.Float64()*4 - 2)))
		} else {
			a.Mem.Cells[i] = num.FromInt(num.Wrap(e, r.Int64N(200)-100))
		}
	}
	return a
}

func cloneArray(a *ir.Array) *ir.Array {
	b := *a
	b.Mem = &ir.Memory{Cells: append([]num.Cell(nil), a.Mem.Cells...)}
	return &b
}

func at(a *ir.Array, idx ...int64) float64 {
	pos, ok := a.Cell(idx)
	if !ok {
		panic(fmt.Sprintf("%v outside %v", idx, a.Shape))
	}
	return num.Float(a.Mem.Cells[pos])
}

func put(a *ir.Array, v float64, idx ...int64) {
	pos, ok := a.Cell(idx)
	if !ok {
		panic(fmt.Sprintf("%v outside %v", idx, a.Shape))
	}
	a.Mem.Cells[pos] = num.FromFloat(v)
}

func index(n int64) interp.Scalar { return interp.Scalar{Elem: num.Index, Cell: num.FromInt(n)} }

// wantSame compares bit for bit.
func wantSame(t *testing.T, what string, got any, want *ir.Array) {
	t.Helper()
	g, ok := got.(*ir.Array)
	if !ok || fmt.Sprint(g.Shape) != fmt.Sprint(want.Shape) {
		t.Fatalf("%s: got %v, want shape %v", what, got, want.Shape)
	}
	n := want.Size()
	for i := int64(0); i < n; i++ {
		idx := unflatten(i, want.Shape)
		p, _ := g.Cell(idx)
		q, _ := want.Cell(idx)
		if !num.Same(want.Elem, g.Mem.Cells[p], want.Mem.Cells[q]) {
			t.Fatalf("%s: element %v is %s, want %s", what, idx,
				ir.FormatLiteral(want.Elem, g.Mem.Cells[p]), ir.FormatLiteral(want.Elem, want.Mem.Cells[q]))
		}
	}
}

func unflatten(i int64, shape []int64) []int64 {
	idx := make([]int64, len(shape))
	for d := len(shape) - 1; d >= 0; d-- {
		idx[d] = i % shape[d]
		i /= shape[d]
	}
	return idx
}

func mustRun(t *testing.T, what string, p *interp.Program, fn string, args ...any) []any {
	t.Helper()
	out, err := p.Run(fn, args)
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	return out
}

// The body of the micro-kernel folds by fma in the order of l, so it is exact.
func TestKernelBody(t *testing.T) {
	m := lowerModule(t)
	r := rand.New(rand.NewPCG(2, 2))
	for _, K := range lowerSizes {
		LA, LC := K+r.Int64N(4), 32+r.Int64N(5)
		a := strided(randomArray(r, num.F32, 4*LA+1), 4, K, LA)
		b := randomArray(r, num.F32, K, 32)
		c := strided(ir.NewArray(num.F32, 4*LC), 4, 32, LC)
		want := ir.NewArray(num.F32, 4, 32)
		for i := range int64(4) {
			for j := range int64(32) {
				s := 0.0
				for l := range K {
					s = num.FMA(num.F32, at(a, i, l), at(b, l, j), s)
				}
				put(want, s, i, j)
			}
		}
		what := fmt.Sprintf("K=%d", K)
		out := mustRun(t, what, interp.New(m, interp.Options{}), "gemm_f32_4x32_body", a, b, c)
		wantSame(t, what, out[0], want)
	}
}

func strided(a *ir.Array, rows, cols, ld int64) *ir.Array {
	a.Shape, a.Strides = []int64{rows, cols}, []int64{ld, 1}
	return a
}

// jacobi does two sweeps a step in place of A, through B.
func jacobi(A, B *ir.Array, steps int64) {
	n := A.Shape[0]
	sweep := func(X, Y *ir.Array) {
		for i := int64(1); i < n-1; i++ {
			for j := int64(1); j < n-1; j++ {
				s := at(X, i, j) + at(X, i, j-1) + at(X, i, j+1) + at(X, i+1, j)
				put(Y, 0.2*(s+at(X, i-1, j)), i, j)
			}
		}
	}
	for range steps {
		sweep(A, B)
		sweep(B, A)
	}
}

func TestJacobi(t *testing.T) {
	m := lowerModule(t)
	r := rand.New(rand.NewPCG(3, 3))
	for _, N := range lowerSizes {
		A, B := randomArray(r, num.F64, N, N), randomArray(r, num.F64, N, N)
		steps := N % 4
		what := fmt.Sprintf("N=%d steps=%d", N, steps)
		gotA, gotB := cloneArray(A), cloneArray(B)
		_, err := interp.New(m, interp.Options{}).Run("jacobi2d", []any{index(steps), gotA, gotB})
		if N < 3 {
			wantFault(t, err, "3 <= N")
			continue
		}
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		jacobi(A, B, steps)
		wantSame(t, what+" A", gotA, A)
		wantSame(t, what+" B", gotB, B)
	}
}

func TestTrisolv(t *testing.T) {
	m := lowerModule(t)
	r := rand.New(rand.NewPCG(4, 4))
	for _, N := range lowerSizes {
		L, b, want := randomArray(r, num.F64, N, N), randomArray(r, num.F64, N), ir.NewArray(num.F64, N)
		for i := range N {
			put(L, 3+at(L, i, i), i, i)
			x := at(b, i)
			for j := range i {
				x -= float64(at(L, i, j) * at(want, j))
			}
			put(want, x/at(L, i, i), i)
		}
		out := mustRun(t, fmt.Sprint("N=", N), interp.New(m, interp.Options{}), "trisolv", L, b, nil)
		wantSame(t, fmt.Sprint("N=", N), out[0], want)
	}
}

func TestBlockSum(t *testing.T) {
	m := lowerModule(t)
	r := rand.New(rand.NewPCG(7, 7))
	for _, N := range []int64{0, 1, 255, 256, 257, 1000} {
		x := randomArray(r, num.F32, N)
		want := ir.NewArray(num.F32, (N+255)/256)
		for g := range want.Shape[0] {
			var s [256]float32
			for i := range s {
				if k := 256*g + int64(i); k < N {
					s[i] = float32(at(x, k))
				}
			}
			for w := 128; w > 0; w /= 2 {
				for i := range w {
					s[i] += s[i+w]
				}
			}
			put(want, float64(s[0]), g)
		}
		out := mustRun(t, fmt.Sprint("N=", N), interp.New(m, interp.Options{Seed: uint64(N)}), "block_sum", x, nil)
		wantSame(t, fmt.Sprint("N=", N), out[0], want)
	}
}
