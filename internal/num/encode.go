package num

import (
	"encoding/binary"
	"math"
)

// Bits is the memory form of c in type e, zero-extended.
func Bits(e Elem, c Cell) uint64 {
	switch e {
	case F32:
		return uint64(f32Bits(c))
	case F16:
		return uint64(f16Bits(c))
	case BF16:
		return uint64(bf16Bits(c))
	case I32:
		return c & 0xffffffff
	case I16:
		return c & 0xffff
	case I8, U8:
		return c & 0xff
	case Bool:
		return FromBool(c != 0)
	}
	return c
}

// FromBits is the Cell of the memory form b in type e; higher bits of b are
// ignored. A bool is true if any bit of its byte is set.
func FromBits(e Elem, b uint64) Cell {
	switch e {
	case F32:
		return f32Cell(uint32(b))
	case F16:
		return f16Cell(uint16(b))
	case BF16:
		return f32Cell(uint32(b) << 16)
	case I32:
		return FromInt(int64(int32(b)))
	case I16:
		return FromInt(int64(int16(b)))
	case I8:
		return FromInt(int64(int8(b)))
	case U8:
		return b & 0xff
	case Bool:
		return FromBool(b&0xff != 0)
	}
	return b
}

// Bitcast reads the bits of c, of type from, in type to.
func Bitcast(from, to Elem, c Cell) Cell { return FromBits(to, Bits(from, c)) }

// Encode writes c in the little-endian memory form of e to the first e.Bytes()
// bytes of dst.
func Encode(e Elem, c Cell, dst []byte) {
	b := Bits(e, c)
	switch e.Bytes() {
	case 8:
		binary.LittleEndian.PutUint64(dst, b)
	case 4:
		binary.LittleEndian.PutUint32(dst, uint32(b))
	case 2:
		binary.LittleEndian.PutUint16(dst, uint16(b))
	case 1:
		dst[0] = byte(b)
	}
}

// Decode reads the little-endian memory form of e from the start of src.
func Decode(e Elem, src []byte) Cell {
	switch e.Bytes() {
	case 8:
		return binary.LittleEndian.Uint64(src)
	case 4:
		return FromBits(e, uint64(binary.LittleEndian.Uint32(src)))
	case 2:
		return FromBits(e, uint64(binary.LittleEndian.Uint16(src)))
	}
	return FromBits(e, uint64(src[0]))
}

// f32Cell avoids the conversion instruction for NaNs, which would quiet them.
func f32Cell(b uint32) Cell {
	if b&0x7f800000 == 0x7f800000 {
		return uint64(b>>31)<<63 | 0x7ff<<52 | uint64(b&0x7fffff)<<29
	}
	return math.Float64bits(float64(math.Float32frombits(b)))
}

func f32Bits(c Cell) uint32 {
	f := math.Float64frombits(c)
	if f != f {
		c = formats[F32].nan(c)
		return uint32(c>>63)<<31 | 0xff<<23 | uint32(c>>29)&0x7fffff
	}
	return math.Float32bits(float32(f))
}

func bf16Bits(c Cell) uint16 {
	f := math.Float64frombits(c)
	if f != f {
		c = formats[BF16].nan(c)
		return uint16(c>>63)<<15 | 0xff<<7 | uint16(c>>45)&0x7f
	}
	return uint16(math.Float32bits(float32(f)) >> 16)
}

func f16Bits(c Cell) uint16 {
	sign := uint16(c>>63) << 15
	exp := int(c>>52) & 0x7ff
	frac := uint16(c>>42) & 0x3ff
	switch {
	case exp == 0x7ff:
		if c<<12 != 0 {
			frac = uint16(formats[F16].nan(c)>>42) & 0x3ff
		}
		return sign | 0x7c00 | frac
	case exp >= 1023-14:
		return sign | uint16(exp-(1023-15))<<10 | frac
	case exp >= 1023-24:
		return sign | (0x400|frac)>>(1023-14-exp)
	}
	return sign
}

func f16Cell(b uint16) Cell {
	sign, exp, frac := uint64(b>>15)<<63, uint64(b>>10&0x1f), uint64(b&0x3ff)
	switch exp {
	case 0x1f:
		return sign | 0x7ff<<52 | frac<<42
	case 0:
		return sign | math.Float64bits(float64(frac)*0x1p-24)
	}
	return sign | (exp+1023-15)<<52 | frac<<42
}
