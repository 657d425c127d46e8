package interp_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"tenon/internal/num"
	"tenon/ir"
	"tenon/ir/interp"
)

// operandsOf are the interesting values of a type.
func operandsOf(e num.Elem) []num.Cell {
	var cells []num.Cell
	switch {
	case e.IsFloat():
		for _, f := range []float64{0, math.Copysign(0, -1), 1, -1, 0.5, -2.25, 3, 100, 1e-6, 65504, math.Inf(1), math.Inf(-1), math.NaN()} {
			cells = append(cells, num.FromFloat(num.Round(e, f)))
		}
	case e == num.Bool:
		cells = append(cells, 0, 1)
	default:
		lo, hi := num.IntRange(e)
		for _, v := range []int64{0, 1, 2, 3, 7, 110, 55, hi, lo, num.Wrap(e, -1), num.Wrap(e, -3), num.Wrap(e, 16777217)} {
			cells = append(cells, num.FromInt(num.Wrap(e, v)))
		}
	}
	return cells
}

// Every arithmetic op on every type that has it gives what package num says, on
// all pairs (triples) of interesting operands, with shadows and without.
func TestScalarOps(t *testing.T) {
	for _, d := range ir.AllOps() {
		params := strings.Count(strings.SplitN(d.Doc+"\n", "\n", 2)[1], "%")
		if d.Family() != "scalar" || !d.Traits.Has(ir.Elementwise) || params == 0 || d.Name == "cast" || d.Name == "bitcast" || d.Name == "select" || d.Name == "idx" {
			continue
		}
		for _, e := range num.Elems {
			want := numOp(d.Name, params, e)
			if want == nil {
				continue
			}
			checkScalarOp(t, d.Name, params, e, want)
		}
	}
}

// numOp is num's op of n operands, taking a list.
func numOp(name string, n int, e num.Elem) func(c []num.Cell) num.Cell {
	switch n {
	case 1:
		if f := num.Unary(name, e); f != nil {
			return func(c []num.Cell) num.Cell { return f(c[0]) }
		}
	case 2:
		if f := num.Binary(name, e); f != nil {
			return func(c []num.Cell) num.Cell { return f(c[0], c[1]) }
		}
	case 3:
		if f := num.Ternary(name, e); f != nil {
			return func(c []num.Cell) num.Cell { return f(c[0], c[1], c[2]) }
		}
	}
	return nil
}

func checkScalarOp(t *testing.T, name string, n int, e num.Elem, want func([]num.Cell) num.Cell) {
	t.Helper()
	result := e
	if d := ir.MustOp(name); d.Traits.Has(ir.Comparison) {
		result = num.Bool
	}
	names, reads, params := []string{"%a", "%b", "%c"}[:n], []string{}, []string{}
	for i, v := range names {
		params = append(params, fmt.Sprintf("%%x%d: %s[N]", i, e))
		reads = append(reads, fmt.Sprintf("%s = %%x%d[i]", v, i))
	}
	m := parse(t, name, fmt.Sprintf("tenon ir 1\nfunc tensor @f<N>(%s) -> (%s[N]) {\n  %%r = tensor.comp par(i < N) in(%s) { yield(%s(%s)) } : %s[N]\n  return(%%r) }",
		strings.Join(params, ", "), result, strings.Join(reads, ", "), name, strings.Join(names, ", "), result))
	tuples := [][]num.Cell{nil}
	for range n {
		var longer [][]num.Cell
		for _, p := range tuples {
			for _, c := range operandsOf(e) {
				longer = append(longer, append(append([]num.Cell(nil), p...), c))
			}
		}
		tuples = longer
	}
	args := make([]any, n)
	for i := range args {
		a := ir.NewArray(e, int64(len(tuples)))
		for k, p := range tuples {
			a.Mem.Cells[k] = p[i]
		}
		args[i] = a
	}
	for _, shadow := range []bool{false, true} {
		out, err := interp.New(m, interp.Options{Shadow: shadow}).Run("f", args)
		if err != nil {
			t.Fatal(err)
		}
		for k, p := range tuples {
			if got := out[0].(*ir.Array).Mem.Cells[k]; !num.Same(result, got, want(p)) {
				t.Errorf("%s on %s of %x is %x, want %x", name, e, p, got, want(p))
				return
			}
		}
	}
}

func TestCastsSelectAndIdx(t *testing.T) {
	m := parse(t, "cast.tnir", `tenon ir 1
func tensor @f<N>(%x: f32[N], %c: bool[N]) -> (i8[N], f16[N], f32[N], i32[N], bool[N]) {
  %a, %b, %d, %e, %g = tensor.comp par(i < N) in(%v = %x[i], %k = %c[i]) {
    yield(cast(%v): i8, cast(%v): f16, select(%k, %v, -1.0: f32), idx(3*i - N): i32, not(%k)) } : i8[N], f16[N], f32[N], i32[N], bool[N]
  return(%a, %b, %d, %e, %g) }`)
	x := floats(num.F32, []int64{4}, 300, -1.75, math.NaN(), 2049)
	got := run(t, m, "f", x, intsOf(num.Bool, []int64{4}, 1, 0, 1, 0))
	wantInts(t, "to i8", got[0], []int64{4}, 127, -1, 0, 127)
	wantFloats(t, "to f16", got[1], []int64{4}, 300, -1.75, math.NaN(), 2048)
	wantFloats(t, "select", got[2], []int64{4}, 300, -1, math.NaN(), -1)
	wantInts(t, "idx", got[3], []int64{4}, -4, -1, 2, 5)
	wantInts(t, "not", got[4], []int64{4}, 0, 1, 0, 1)
}

// A bitcast keeps the bits, the sign of a zero and a NaN's payload among them.
func TestBitcast(t *testing.T) {
	m := parse(t, "bits.tnir", `tenon ir 1
func tensor @f<N>(%x: f32[N], %h: f16[N]) -> (i32[N], f32[N], i16[N]) {
  %a, %b, %c = tensor.comp par(i < N) in(%v = %x[i], %w = %h[i]) {
    %k = bitcast(%v): i32; yield(%k, bitcast(add(%k, 1: i32)): f32, bitcast(%w): i16) } : i32[N], f32[N], i16[N]
  return(%a, %b, %c) }`)
	nan := float64(math.Float32frombits(0x7fc00000))
	x := floats(num.F32, []int64{5}, 1, math.Copysign(0, -1), math.Inf(1), nan, -0x1p-149)
	h := floats(num.F16, []int64{5}, 1, -2, 0x1p-24, 65504, math.Inf(-1))
	got := run(t, m, "f", x, h)
	wantInts(t, "to i32", got[0], []int64{5}, 0x3f800000, math.MinInt32, 0x7f800000, 0x7fc00000, math.MinInt32+1)
	wantFloats(t, "to f32", got[1], []int64{5}, 1+0x1p-23, -0x1p-149, math.NaN(), math.NaN(), -0x1p-148)
	wantInts(t, "to i16", got[2], []int64{5}, 0x3c00, -0x4000, 1, 0x7bff, -0x400)
}

// Integer division truncates under C's name and floors under Python's, and goes
// through no float.
func TestIntegerDivision(t *testing.T) {
	m := parse(t, "div.tnir", `tenon ir 1
func tensor @f<N>(%x: i64[N], %y: i64[N]) -> (i64[N], i64[N], i64[N], i64[N]) {
  %a, %b, %c, %d = tensor.comp par(i < N) in(%u = %x[i], %v = %y[i]) {
    yield(tdiv(%u, %v), trem(%u, %v), floordiv(%u, %v), mod(%u, %v)) } : 4 * i64[N]
  return(%a, %b, %c, %d) }`)
	n := []int64{8}
	x := intsOf(num.I64, n, 8, -8, 7, -7, 110, 16777217, 5, math.MinInt64)
	y := intsOf(num.I64, n, -3, 3, -2, 2, 55, 1, 0, -1)
	got := run(t, m, "f", x, y)
	wantInts(t, "tdiv", got[0], n, -2, -2, -3, -3, 2, 16777217, 0, math.MinInt64)
	wantInts(t, "trem", got[1], n, 2, -2, 1, -1, 0, 0, 0, 0)
	wantInts(t, "floordiv", got[2], n, -3, -3, -4, -4, 2, 16777217, 0, math.MinInt64)
	wantInts(t, "mod", got[3], n, -1, 1, -1, 1, 0, 0, 0, 0)
}

// A NaN at any place of any length makes max and min NaN; NaN*0 and inf*0 are
// NaN.
func TestNaN(t *testing.T) {
	m := parse(t, "nan.tnir", `tenon ir 1
func tensor @f<N>(%x: f32[N]) -> (f32[], f32[], f32[], i64[], f32[N]) {
  %a = tensor.comp red(i < N) in(%v = %x[i]) { yield(%v) } by max(f32) : f32[]
  %b = tensor.comp red(i < N) in(%v = %x[i]) { yield(%v) } by min(f32) : f32[]
  %c, %d = tensor.comp red(i < N) in(%v = %x[i]) { yield(%v, idx(i): i64) } by argmax(f32, i64) : f32[], i64[]
  %z = tensor.comp par(i < N) in(%v = %x[i]) { yield(mul(%v, 0.0: f32)) } : f32[N]
  return(%a, %b, %c, %d, %z) }`)
	for n := int64(1); n <= 17; n++ {
		for at := range n {
			x := ir.NewArray(num.F32, n)
			for i := range x.Mem.Cells {
				x.Mem.Cells[i] = num.FromFloat(float64(i) - 5)
			}
			x.Mem.Cells[at] = num.FromFloat(math.NaN())
			got := run(t, m, "f", x)
			for k := range 3 {
				wantFloats(t, fmt.Sprint("reduction ", k), got[k], nil, math.NaN())
			}
			wantInts(t, "argmax", got[3], nil, at)
		}
	}
	got := run(t, m, "f", floats(num.F32, []int64{2}, math.Inf(1), math.NaN()))
	wantFloats(t, "times 0", got[4], []int64{2}, math.NaN(), math.NaN())
	got = run(t, m, "f", ir.NewArray(num.F32, 0))
	wantFloats(t, "max of nothing", got[0], nil, math.Inf(-1))
	wantInts(t, "argmax of nothing", got[3], nil, math.MaxInt64)
}
