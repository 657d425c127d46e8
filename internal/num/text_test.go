package num

import (
	"math"
	"math/big"
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

// A decimal a hair beside the middle of two values rounds once: float64 cannot
// tell it from the middle.
func TestParseFloatRoundsOnce(t *testing.T) {
	r := rand.New(rand.NewSource(40))
	for _, e := range []Elem{F32, F16, BF16} {
		for range 3000 {
			bits := r.Uint64() & (1<<(8*e.Bytes()-1) - 1)
			lo, hi := Float(FromBits(e, bits)), Float(FromBits(e, bits+1))
			if !finite(lo) || !finite(hi) {
				continue
			}
			mid := lo + (hi-lo)/2
			s := new(big.Rat).SetFloat64(mid).FloatString(200) // exact: no value has a bit below 2^-150
			even := lo
			if bits&1 == 1 {
				even = hi
			}
			for text, want := range map[string]float64{s: even, s + "1": hi, "-" + s + "1": -hi, below(s): lo} {
				if c, err := ParseFloat(e, text); err != nil || Float(c) != want {
					t.Fatalf("%s: %s parses as %v, %v, want %v", e, text, Float(c), err, want)
				}
			}
		}
	}
}

// below is the positive decimal s less one unit of its last place.
func below(s string) string {
	d := []byte(s)
	for i := len(d) - 1; i >= 0; i-- {
		switch {
		case d[i] == '0':
			d[i] = '9'
		case d[i] != '.':
			d[i]--
			return string(d)
		}
	}
	return s
}

func TestParseFloatRefuses(t *testing.T) {
	for _, c := range []struct {
		e       Elem
		s, want string
	}{
		{F16, "65520", "65520 does not fit f16 (the greatest is 65504; infinity is written inf)"},
		{F32, "1e39", "1e39 does not fit f32 (the greatest is 3.4028e+38; infinity is written inf)"},
		{F32, "0x1p3", `"0x1p3" is not a number`}, {F32, "infinity", `"infinity" is not a number`}, {F32, "1_0", `"1_0" is not a number`},
		{F32, ".5", `".5" is not a number`}, {F32, "", `"" is not a number`},
		{F16, "nan(0x7c00)", `"nan(0x7c00)" does not hold the bits of an f16 NaN, such as nan(0x7e01)`},
		{F16, "nan(0x17e00)", `"nan(0x17e00)" does not hold the bits of an f16 NaN, such as nan(0x7e01)`},
		{F16, "nan(", `"nan(" does not hold the bits of an f16 NaN, such as nan(0x7e01)`}, {I8, "1.0", "i8 is not a float type"},
	} {
		if _, err := ParseFloat(c.e, c.s); err == nil || err.Error() != c.want {
			t.Errorf("%s %q: %v, want %s", c.e, c.s, err, c.want)
		}
	}
	if c, err := ParseFloat(F32, "7"); err != nil || Float(c) != 7 {
		t.Errorf("a decimal without a point: %v, %v", Float(c), err)
	}
}
