package vec_test

import (
	"fmt"
	"math"
	"testing"

	"tenon/internal/num"
	"tenon/ir"
	"tenon/ir/interp"
	_ "tenon/ir/ops"
	"tenon/passes/pass"
	"tenon/passes/vec"
)

// Folds over bits give what Go's max and min give, which keep NaN and put -0
// below +0, for every row of up to three elements of every kind, from the
// identity and from any element.
func TestExtremesOfEveryKind(t *testing.T) {
	negativeNaN := math.Float32frombits(0xffc00001)
	kinds := []float32{float32(math.NaN()), negativeNaN, float32(math.Inf(1)), float32(math.Inf(-1)), 0,
		float32(math.Copysign(0, -1)), 1.5, -1.5, math.SmallestNonzeroFloat32, -math.MaxFloat32}
	for _, by := range []struct {
		name, identity string
		of             func(a, b float32) float32
	}{{"max", "-inf", func(a, b float32) float32 { return max(a, b) }}, {"min", "inf", func(a, b float32) float32 { return min(a, b) }}} {
		for _, start := range []string{"%z", "%from"} {
			p := program(t, by.name, by.identity, start)
			for n := range 1111 { // up to three digits, 0 for none
				row, from := []float32{}, kinds[n%len(kinds)]
				for k := n; k > 0; k /= 10 {
					row = append(row, kinds[k%10])
				}
				want := from
				if start == "%z" {
					want = map[string]float32{"max": float32(math.Inf(-1)), "min": float32(math.Inf(1))}[by.name]
				}
				for _, x := range row {
					want = by.of(want, x)
				}
				got := fold(t, p, row, from)
				if math.Float32bits(got) != math.Float32bits(want) && !(got != got && want != want) {
					t.Fatalf("%s of %v from %s (%v) = %v, want %v", by.name, row, start, from, got, want)
				}
			}
		}
	}
}

// program is the fold of a row, from the identity or from an argument, on bits.
func program(t *testing.T, by, identity, start string) *interp.Program {
	t.Helper()
	m, err := ir.Parse("f.tnir", fmt.Sprintf(`tenon ir 1
proc loop @f<N>(in %%x: buf<f32[N]>, in %%from: f32, out %%y: buf<f32[]>) {
  %%z = const %s : f32
  %%s = loop.for k = 0 to N carry(%%a = %s) { yield(%s(%%a, load(%%x[k]))) } : f32
  store(%%s, %%y[])
  return() }
`, identity, start, by))
	if err != nil {
		t.Fatal(err)
	}
	before := ir.Print(m)
	if err := (&pass.Manager{VerifyEach: true, TempDir: t.TempDir()}).Run(m, pass.Of(vec.IntegerExtremes)); err != nil {
		t.Fatal(err)
	}
	if ir.Print(m) == before {
		t.Fatal("the pass leaves the fold")
	}
	return interp.New(m, interp.Options{})
}

func fold(t *testing.T, p *interp.Program, row []float32, from float32) float32 {
	t.Helper()
	x := ir.NewArray(num.F32, int64(len(row)))
	for i, v := range row {
		x.Mem.Cells[i] = num.FromFloat(float64(v))
	}
	out, err := p.Run("f", []any{x, interp.Scalar{Elem: num.F32, Cell: num.FromFloat(float64(from))}, nil})
	if err != nil {
		t.Fatal(err)
	}
	return float32(num.Float(out[0].(*ir.Array).Mem.Cells[0]))
}
