package interp_test

import (
	"context"
	"math"
	"testing"

	"tenon/internal/num"
	"tenon/ir"
	"tenon/ir/interp"
)

const entryText = `tenon ir 1
func tensor @f<N, K>(%p: pattern<N, N, nnz#p, csr(i32, i32)>, %e: f32[nnz#p], %x: f32[N, 2*K], %s: i64) -> (f32[N])
    where(declared K mod 2 == 0) {
  %y = tensor.comp par(i < N) red(j:k in %p[i]) in(%v = %e[k]) { yield(%v) } by sum(f32) : f32[N]
  return(%y) }
func tensor @big<N>(%x: f32[N]) -> (f32[N*N*N]) {
  %y = tensor.comp par(i < N*N*N) { yield(1.0: f32) } : f32[N*N*N]
  return(%y) }
proc loop @copy<N>(in %a: buf<f32[N]>, out %b: buf<f32[N]>) {
  loop.for i = 1 to N { store(load(%a[i]), %b[i]) }
  return() }
`

// What does not fit is refused at entry, naming the parameter, what was expected
// and what came.
func TestEntryRefuses(t *testing.T) {
	m := parse(t, "entry.tnir", entryText)
	p := func() *ir.PatternValue {
		return &ir.PatternValue{Rows: 2, Cols: 2, Ptr: []int64{0, 1, 2}, Col: []int64{0, 1}}
	}
	e, x, s := ir.NewArray(num.F32, 2), ir.NewArray(num.F32, 2, 4), interp.Scalar{Elem: num.I64}
	broken := func(change func(*ir.PatternValue)) *ir.PatternValue { q := p(); change(q); return q }
	cases := []struct {
		name string
		args []any
		want string
	}{
		{"fits", []any{p(), e, x, s}, ""},
		{"too few", []any{p(), e}, "@f takes 4 arguments, 2 are given"},
		{"dtype", []any{p(), e, ir.NewArray(num.F64, 2, 4), s}, "argument %x of @f is f64[2, 4]; expected f32[N, 2*K]"},
		{"rank", []any{p(), e, ir.NewArray(num.F32, 8), s}, "argument %x of @f is f32[8]; expected f32[N, 2*K]"},
		{"missing", []any{p(), e, nil, s}, "argument %x of @f is missing"},
		{"scalar type", []any{p(), e, x, interp.Scalar{Elem: num.I32}}, "argument %s of @f is i32; expected i64"},
		{"no pattern", []any{e, e, x, s}, "argument %p of @f is f32[2]"},
		{"shape", []any{p(), e, ir.NewArray(num.F32, 3, 4), s}, "dim 0 of %x of @f is 3; expected N = 2 (N = 2 from the number of rows of %p)"},
		{"edge tensor", []any{p(), ir.NewArray(num.F32, 3), x, s}, "dim 0 of %e of @f is 3; expected nnz#p = 2"},
		{"odd", []any{p(), e, ir.NewArray(num.F32, 2, 5), s}, "dim 1 of %x of @f is 5; expected 2*K = 4"},
		{"fact", []any{p(), e, ir.NewArray(num.F32, 2, 6), s}, "@f needs K mod 2 == 0, which these arguments break (K = 3 from dim 1 of %x)"},
		{"not square", []any{broken(func(q *ir.PatternValue) { q.Cols = 5 }), e, x, s}, "the number of columns of %p of @f is 5; expected N = 2"},
		{"column", []any{broken(func(q *ir.PatternValue) { q.Col[1] = 2 }), e, x, s}, "pattern %p of @f: entry 1 has column 2; expected 0 to 1"},
		{"negative column", []any{broken(func(q *ir.PatternValue) { q.Col[0] = -1 }), e, x, s}, "entry 0 has column -1"},
		{"falling", []any{broken(func(q *ir.PatternValue) { q.Ptr[1] = 3 }), e, x, s}, "row pointers fall at row 1"},
		{"pointers", []any{broken(func(q *ir.PatternValue) { q.Ptr = q.Ptr[:2] }), e, x, s}, "2 row pointers; expected rows + 1 = 3"},
		{"count", []any{broken(func(q *ir.PatternValue) { q.Ptr[2] = 1 }), e, x, s}, "run from 0 to 1; expected 0 to 2"},
	}
	for _, c := range cases {
		_, err := interp.New(m, interp.Options{}).Run("f", c.args)
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%s: %v", c.name, err)
		case c.want != "":
			t.Run(c.name, func(t *testing.T) { wantTrap(t, err, ir.TrapShape, c.want) })
		}
	}
}

// Sizes whose product overflows or that memory cannot hold are refused before
// anything is allocated, long runs are stopped.
func TestLimits(t *testing.T) {
	m := parse(t, "entry.tnir", entryText)
	huge := &ir.Array{Elem: num.F32, Shape: []int64{1 << 31}, Strides: []int64{0}, Mem: &ir.Memory{Cells: make([]num.Cell, 1)}}
	_, err := interp.New(m, interp.Options{}).Run("big", []any{huge})
	wantTrap(t, err, ir.TrapOverflow, "entry.tnir:7:", "leaves the 64-bit integers")
	huge.Shape[0] = 1 << 20
	_, err = interp.New(m, interp.Options{}).Run("big", []any{huge})
	wantTrap(t, err, ir.TrapMemory, "entry.tnir:7:", "does not fit into memory")
	_, err = interp.New(m, interp.Options{MaxEvals: 100}).Run("big", []any{ir.NewArray(num.F32, 5)})
	wantTrap(t, err, ir.TrapMemory, "stopped after 100 evaluations")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err = interp.New(m, interp.Options{Context: ctx}).Run("big", []any{ir.NewArray(num.F32, 5)})
	wantTrap(t, err, ir.TrapMemory, "context canceled")
	if _, err := interp.New(m, interp.Options{}).Run("none", nil); err == nil {
		t.Error("a function that does not exist runs")
	}
}

// A buffer that is written must not overlap another; out buffers hold poison
// until they are written; a missing one is made.
func TestBuffersAtEntry(t *testing.T) {
	m := parse(t, "entry.tnir", entryText)
	a := floats(num.F32, []int64{4}, 1, 2, 3, 4)
	_, err := interp.New(m, interp.Options{}).Run("copy", []any{a, a})
	wantTrap(t, err, ir.TrapAlias, "%a and %b of @copy overlap")
	half := func(off int64) *ir.Array {
		return &ir.Array{Elem: num.F32, Shape: []int64{2}, Strides: []int64{1}, Off: off, Mem: a.Mem}
	}
	out, err := interp.New(m, interp.Options{}).Run("copy", []any{half(0), half(2)})
	if err != nil {
		t.Fatal(err)
	}
	b := out[0].(*ir.Array)
	if c := elem(b, 0); !math.IsNaN(c) {
		t.Errorf("an element that is never written reads as %v", c)
	}
	if elem(b, 1) != 2 {
		t.Errorf("b[1] is %v, want 2", elem(b, 1))
	}
	out, err = interp.New(m, interp.Options{}).Run("copy", []any{floats(num.F32, []int64{2}, 5, 6), nil})
	if err != nil || elem(out[0].(*ir.Array), 1) != 6 {
		t.Errorf("a buffer that is not given: %v, %v", out, err)
	}
}
