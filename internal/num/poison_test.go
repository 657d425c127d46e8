package num

import (
	"math"
	"testing"
)

// Poison keeps its bits in memory, and is a NaN that no operation gives, or an
// integer that is no subscript.
func TestPoison(t *testing.T) {
	for _, e := range []Elem{F64, F32, F16, BF16} {
		c := Poison(e)
		quiet := map[Elem]uint64{F64: 1 << 51, F32: 1 << 22, F16: 1 << 9, BF16: 1 << 6}[e]
		if b := Bits(e, c); !math.IsNaN(Float(c)) || FromBits(e, b) != c || b&quiet != 0 {
			t.Errorf("%s: %x, %x in memory, is no signalling NaN", e, c, b)
		}
		if Unary("sqrt", e)(c) == c || Binary("add", e)(c, FromFloat(0)) == c || Binary("mul", e)(c, FromFloat(1)) == c {
			t.Errorf("%s: arithmetic gives poison", e)
		}
	}
	for _, e := range []Elem{I64, I32, I16, I8, Index} {
		if c := Poison(e); Int(c) >= 0 || FromBits(e, Bits(e, c)) != c {
			t.Errorf("%s: %d", e, Int(c))
		}
	}
}
