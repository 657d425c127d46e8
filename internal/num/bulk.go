package num

import "encoding/binary"

// DecodeSlice reads len(dst) elements of e in little-endian memory form.
func DecodeSlice(e Elem, src []byte, dst []Cell) {
	src = src[:len(dst)*e.Bytes()]
	switch e {
	case F64, I64, Index:
		decode8(src, dst)
	case F32:
		decode4(src, dst, f32Cell)
	case I32:
		decode4(src, dst, func(b uint32) Cell { return FromInt(int64(int32(b))) })
	case F16:
		decode2(src, dst, f16Cell)
	case BF16:
		decode2(src, dst, func(b uint16) Cell { return f32Cell(uint32(b) << 16) })
	case I16:
		decode2(src, dst, func(b uint16) Cell { return FromInt(int64(int16(b))) })
	case I8:
		decode1(src, dst, func(b byte) Cell { return FromInt(int64(int8(b))) })
	case U8:
		decode1(src, dst, func(b byte) Cell { return Cell(b) })
	case Bool:
		decode1(src, dst, func(b byte) Cell { return FromBool(b != 0) })
	}
}

// EncodeSlice writes src in the little-endian memory form of e to dst, which
// must hold len(src) elements.
func EncodeSlice(e Elem, src []Cell, dst []byte) {
	dst = dst[:len(src)*e.Bytes()]
	switch e {
	case F64, I64, Index:
		for i, c := range src {
			binary.LittleEndian.PutUint64(dst[i*8:], c)
		}
	case F32:
		encode4(src, dst, f32Bits)
	case I32:
		encode4(src, dst, func(c Cell) uint32 { return uint32(c) })
	case F16:
		encode2(src, dst, f16Bits)
	case BF16:
		encode2(src, dst, bf16Bits)
	case I16:
		encode2(src, dst, func(c Cell) uint16 { return uint16(c) })
	case I8, U8:
		for i, c := range src {
			dst[i] = byte(c)
		}
	case Bool:
		for i, c := range src {
			dst[i] = byte(FromBool(c != 0))
		}
	}
}

func decode8(src []byte, dst []Cell) {
	for i := range dst {
		dst[i] = binary.LittleEndian.Uint64(src[i*8:])
	}
}

func decode4(src []byte, dst []Cell, cell func(uint32) Cell) {
	for i := range dst {
		dst[i] = cell(binary.LittleEndian.Uint32(src[i*4:]))
	}
}

func decode2(src []byte, dst []Cell, cell func(uint16) Cell) {
	for i := range dst {
		dst[i] = cell(binary.LittleEndian.Uint16(src[i*2:]))
	}
}

func decode1(src []byte, dst []Cell, cell func(byte) Cell) {
	for i := range dst {
		dst[i] = cell(src[i])
	}
}

func encode4(src []Cell, dst []byte, bits func(Cell) uint32) {
	for i, c := range src {
		binary.LittleEndian.PutUint32(dst[i*4:], bits(c))
	}
}

func encode2(src []Cell, dst []byte, bits func(Cell) uint16) {
	for i, c := range src {
		binary.LittleEndian.PutUint16(dst[i*2:], bits(c))
	}
}
