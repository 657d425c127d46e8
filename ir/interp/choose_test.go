package interp_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"tenon/internal/num"
	"tenon/ir"
	"tenon/ir/interp"
)

// A loop at tensor level that carries a scalar and stacks tensors; choices in
// value form, whose first variant is only right up to M = 4.
func TestScanAndChosen(t *testing.T) {
	m := rowsModule(t)
	r := rand.New(rand.NewPCG(31, 31))
	for _, T := range lowerSizes {
		x, squares, doubled := randomArray(r, num.F32, T), ir.NewArray(num.F32, T), ir.NewArray(num.F32, T)
		for i := range T {
			put(squares, float64(float32(at(x, i)*at(x, i))), i)
			put(doubled, 2*at(x, i), i)
		}
		out := mustRun(t, fmt.Sprint("scan ", T), interp.New(m, interp.Options{Shadow: true}), "scan", cloneArray(x))
		wantSame(t, fmt.Sprint("scan ", T), out[0], squares)
		if n := num.Int(out[1].(interp.Scalar).Cell); n != T {
			t.Errorf("scan of %d counts %d", T, n)
		}
		for variant := -1; variant < 2; variant++ {
			opts := interp.Options{Shadow: true, Variant: &variant}
			out := mustRun(t, fmt.Sprint("chosen ", T), interp.New(m, opts), "chosen", cloneArray(x))
			wantSame(t, fmt.Sprint("chosen ", T), out[0], doubled)
		}
	}
}

// Accumulators of another type than the tile, and an epilogue that rounds.
func TestHalfTile(t *testing.T) {
	m := rowsModule(t)
	r := rand.New(rand.NewPCG(32, 32))
	for _, K := range lowerSizes {
		A, B, want := small(r, num.F16, int(2*K)), small(r, num.F16, int(2*K)), ir.NewArray(num.F16, 2, 2)
		A.Shape, A.Strides = []int64{2, K}, []int64{K, 1}
		B.Shape, B.Strides = []int64{K, 2}, []int64{2, 1}
		for i := range int64(2) {
			for j := range int64(2) {
				s := 0.0
				for k := range K {
					s += at(A, i, k) * at(B, k, j)
				}
				put(want, num.Round(num.F16, s), i, j)
			}
		}
		out := mustRun(t, fmt.Sprint("K=", K), interp.New(m, interp.Options{}), "half", A, B, nil)
		wantSame(t, fmt.Sprint("K=", K), out[0], want)
	}
}

const guarded = `tenon ir 1
proc tile @p<N>(in %k: i32, out %ran: buf<i64[1]>, out %A: buf<i64[N]>) {
  loop.for i = 0 to N { store(0: i64, %A[i]) }
  tile.choose dims(N) variant small where(guarded N <= 2) {
    loop.for i = 0 to N { store(add(load(%A[i]), 7: i64), %A[i]) }; store(1: i64, %ran[0])
  } variant even where(guarded N mod 2 == 0) {
    loop.for i = 0 to N { store(add(load(%A[N - i - 1]), 7: i64), %A[N - i - 1]) }; store(1: i64, %ran[0])
  } variant any {
    loop.for i = 0 to N { store(7: i64, %A[i]) }; store(1: i64, %ran[0])
  } pick { yield(%k) }
  return() }`

// Each variant starts from what stood before the choice; a pick or a forced
// variant whose guard fails, or that does not exist, gives the last one.
func TestChooseGuards(t *testing.T) {
	m := parseText(t, "g.tnir", guarded)
	for _, N := range lowerSizes {
		want := ir.NewArray(num.I64, N)
		for i := range want.Mem.Cells {
			want.Mem.Cells[i] = num.FromInt(7)
		}
		for k := int64(-1); k < 4; k++ {
			pick := interp.Scalar{Elem: num.I32, Cell: num.FromInt(k)}
			for forced := -1; forced < 4; forced++ {
				what := fmt.Sprintf("N=%d pick=%d forced=%d", N, k, forced)
				out := mustRun(t, what, interp.New(m, interp.Options{Variant: &forced}), "p", pick, nil, ir.NewArray(num.I64, N))
				wantSame(t, what, out[1], want)
			}
		}
	}
}

// Which variant's result is kept is seen where they agree only within bounds:
// 9 x as a product, and as a sum that rounds otherwise.
func TestChooseKeepsThePicked(t *testing.T) {
	m := parseText(t, "k.tnir", `tenon ir 1
proc tile @p(in %k: i32, in %x: f32, out %y: buf<f32[]>) {
  tile.choose dims(1) variant sum { %s = add(add(%x, %x), %x); %t = add(%s, add(%s, %s)); store(%t, %y[])
  } variant product { store(mul(9.0: f32, %x), %y[]) } pick { yield(%k) }
  return() }
func tensor @v(%x: f32) -> (f32, f32) {
  %a, %b = tile.choose dims(1) variant one { %s = add(add(%x, %x), %x); %t = add(%s, add(%s, %s)); yield(%x, %t) }
    variant two { yield(%x, mul(9.0: f32, %x)) } pick { yield(1: i32) } : f32, f32
  return(%b, %a) }`)
	x := float32(0.1)
	nine := func() []float32 { s := x + x + x; return []float32{s + (s + s), 9 * x} }
	for nine()[0] == nine()[1] && x < 1 {
		x += 0.01
	}
	want := nine()
	if want[0] == want[1] {
		t.Fatal("the test needs results that differ")
	}
	arg := interp.Scalar{Elem: num.F32, Cell: num.FromFloat(float64(x))}
	for _, shadow := range []bool{true, false} {
		for k, w := range want {
			pick := interp.Scalar{Elem: num.I32, Cell: num.FromInt(int64(k))}
			out := mustRun(t, "keeps", interp.New(m, interp.Options{Shadow: shadow}), "p", pick, arg, nil)
			if got := at(out[0].(*ir.Array)); got != float64(w) {
				t.Errorf("pick %d gives %v, want %v", k, got, w)
			}
			out = mustRun(t, "forced", interp.New(m, interp.Options{Shadow: shadow, Variant: &k}), "v", arg)
			if got := num.Float(out[0].(interp.Scalar).Cell); got != float64(w) {
				t.Errorf("variant %d in value form gives %v, want %v", k, got, w)
			}
		}
	}
}

// Floats outside their bounds disagree in a run with shadows.
func TestChooseFloats(t *testing.T) {
	m := parseText(t, "f.tnir", `tenon ir 1
func tensor @v<N>(%x: f32[N]) -> (f32[N]) {
  %r = tile.choose dims(N) variant one { yield(%x) }
    variant two { %y = tensor.comp par(i < N) in(%a = %x[i]) { yield(mul(1.001: f32, %a)) } : f32[N]; yield(%y) }
    pick { yield(0: i32) } : f32[N]
  return(%r) }`)
	x := randomArray(rand.New(rand.NewPCG(33, 33)), num.F32, 5)
	_, err := interp.New(m, interp.Options{Shadow: true}).Run("v", []any{x})
	wantFault(t, err, "f.tnir:3:", "variants two and one disagree on %r")
}

// Sizes that an extern gives are held to the bounds that the text states.
func TestSizesOutOfBounds(t *testing.T) {
	m := parseText(t, "s.tnir", `tenon ir 1
extern @blocks sizes
proc tile @p<N>(out %A: buf<f32[N]>) {
  tile.sizes from=@blocks (N) exists(b: 1 <= b and b <= 8)
  tile.for i:n = 0 to N step b { loop.for k = i to i + n { store(0.0: f32, %A[k]) } }
  return() }`)
	for _, b := range []float64{-1, 0, 1, 3, 8, 9} {
		give := map[string]func([]int64) []float64{"blocks": func([]int64) []float64 { return []float64{b} }}
		out, err := interp.New(m, interp.Options{Externs: give}).Run("p", []any{ir.NewArray(num.F32, 13)})
		if b < 1 || b > 8 {
			wantFault(t, err, "s.tnir:4:", fmt.Sprintf("b is %v", b))
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		wantSame(t, fmt.Sprint("b=", b), out[0], ir.NewArray(num.F32, 13))
	}
}
