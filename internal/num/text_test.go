package num

import (
	"math"
	"math/rand"
	"testing"
)

// Every 16-bit pattern, and random wider ones, survive memory form, text and back.
func TestFloatTextRoundTrip(t *testing.T) {
	for _, e := range []Elem{F16, BF16} {
		for b := range uint64(1 << 16) {
			roundTrip(t, e, b)
		}
	}
	r := rand.New(rand.NewSource(1))
	for range 50000 {
		roundTrip(t, F32, uint64(r.Uint32()))
		roundTrip(t, F64, r.Uint64())
		roundTrip(t, F32, uint64(r.Uint32()|0x7f800000))
		roundTrip(t, F64, r.Uint64()|0x7ff0<<48)
	}
}

func roundTrip(t *testing.T, e Elem, bits uint64) {
	t.Helper()
	c := FromBits(e, bits)
	if got := Bits(e, c); got != bits {
		t.Fatalf("%s %#x decodes to %v and encodes as %#x", e, bits, Float(c), got)
	}
	s := FormatFloat(e, c)
	back, err := ParseFloat(e, s)
	if err != nil || back != c {
		t.Fatalf("%s %#x prints as %s, which parses as %#x, %v", e, bits, s, Bits(e, back), err)
	}
}

func TestFormatFloat(t *testing.T) {
	for _, c := range []struct {
		e    Elem
		f    float64
		want string
	}{
		{F32, 1e-5, "1e-05"}, {F32, 2, "2.0"}, {F32, 0.1, "0.1"}, {F64, 0.1, "0.1"},
		{F64, math.Copysign(0, -1), "-0.0"}, {F16, math.Inf(1), "inf"}, {BF16, math.Inf(-1), "-inf"},
		{F16, 65504, "65500.0"}, {F16, 0x1p-24, "6e-08"}, {BF16, 3e38, "3e+38"}, {F64, 1e21, "1e+21"},
		{F16, 0.1, "0.1"}, {BF16, 0.1, "0.1"}, {F32, math.NaN(), "nan"},
	} {
		if got := FormatFloat(c.e, FromFloat(Round(c.e, c.f))); got != c.want {
			t.Errorf("%s %v: %s, want %s", c.e, c.f, got, c.want)
		}
	}
	if got := FormatFloat(F32, FromBits(F32, 0x7fc00001)); got != "nan(0x7fc00001)" {
		t.Errorf("payload: %s", got)
	}
}
