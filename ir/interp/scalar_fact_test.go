package interp_test

import (
	"testing"

	"tenon/internal/num"
	"tenon/ir/interp"
)

// Facts and dims may speak of scalar parameters: these are known before the
// facts are checked.
func TestFactsOnScalars(t *testing.T) {
	m := parse(t, "facts.tnir", `tenon ir 1
func tensor @f(%n: index, %x: f32[%n]) -> (f32[%n]) where(declared %n >= 2) {
  return(%x)
}
`)
	for n := int64(0); n < 5; n++ {
		for size := int64(0); size < 5; size++ {
			x := floats(num.F32, []int64{size}, make([]float64, size)...)
			_, err := interp.New(m, interp.Options{}).Run("f", []any{interp.Scalar{Elem: num.Index, Cell: num.FromInt(n)}, x})
			if fits := n >= 2 && n == size; fits != (err == nil) {
				t.Errorf("n = %d with %d elements: %v", n, size, err)
			}
		}
	}
}
