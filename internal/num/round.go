package num

import "math"

// format describes a binary float type within float64.
type format struct {
	drop    uint    // low bits of a float64 fraction that the type lacks
	minNorm float64 // least normal
	tiny    float64 // least subnormal
	max     float64 // greatest finite
	magic   float64 // adding and subtracting it rounds a subnormal to a multiple of tiny
	u       float64 // unit roundoff, half an ulp of 1
	over    float64 // least magnitude that rounds to infinity
}

var formats = [...]format{
	F64:  {0, 0x1p-1022, 0x1p-1074, math.MaxFloat64, 0, 0x1p-53, math.Inf(1)},
	F32:  {29, 0x1p-126, 0x1p-149, math.MaxFloat32, 0x1.8p-97, 0x1p-24, 0x1.ffffffp127},
	F16:  {42, 0x1p-14, 0x1p-24, 65504, 0x1.8p28, 0x1p-11, 65520},
	BF16: {45, 0x1p-126, 0x1p-133, 0x1.fep127, 0x1.8p-81, 0x1p-8, 0x1.ffp127},
}

// Round rounds f to the precision and range of float type e: once, to nearest,
// ties to even, through subnormals, to infinity beyond the greatest finite
// value. A NaN stays one, with as much of its payload as e can hold.
func Round(e Elem, f float64) float64 {
	switch e {
	case F16, BF16:
		return formats[e].round(f)
	case F32:
		return float64(float32(f))
	}
	return f
}

// Rounder is Round staged for one type.
func Rounder(e Elem) func(float64) float64 {
	switch e {
	case F16:
		return roundF16
	case BF16:
		return roundBF16
	case F32:
		return func(f float64) float64 { return float64(float32(f)) }
	}
	return func(f float64) float64 { return f }
}

func roundF16(f float64) float64  { return formats[F16].round(f) }
func roundBF16(f float64) float64 { return formats[BF16].round(f) }

func (t *format) round(f float64) float64 {
	a := math.Abs(f)
	switch {
	case a < t.minNorm:
		return math.Copysign(float64(a+t.magic)-t.magic, f)
	case a >= t.over:
		return math.Copysign(math.Inf(1), f)
	case f != f:
		return Float(t.nan(FromFloat(f)) | 1<<51)
	}
	b := math.Float64bits(f)
	b += 1<<(t.drop-1) - 1 + b>>t.drop&1
	return math.Float64frombits(b &^ (1<<t.drop - 1))
}

// nan cuts the payload of the NaN c to the bits that the type holds, and keeps
// it a NaN where nothing is left.
func (t *format) nan(c Cell) Cell {
	c &^= 1<<t.drop - 1
	if c<<12 == 0 {
		c |= 1 << 51
	}
	return c
}

// addOdd is a + b rounded to odd: where the sum is not exact, of the two
// neighbours the one with an odd last bit. Rounding that result to nearest in
// any precision of at most 51 bits gives the correctly rounded sum.
func addOdd(a, b float64) float64 {
	s, err := twoSum(a, b)
	if err == 0 || err != err || math.IsInf(s, 0) {
		return s
	}
	bits := math.Float64bits(s)
	if bits&1 == 1 {
		return s
	}
	if (err > 0) == (s > 0) {
		return math.Float64frombits(bits + 1)
	}
	return math.Float64frombits(bits - 1)
}

// FMA is a*b + c in float type e, rounded once.
func FMA(e Elem, a, b, c float64) float64 {
	if e == F64 {
		return math.FMA(a, b, c)
	}
	return Round(e, addOdd(a*b, c)) // the product of two 24-bit floats is exact
}
