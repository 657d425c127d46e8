package weights

import (
	"encoding/binary"
	"fmt"
	"math"

	"tenon/internal/diag"
	"tenon/internal/num"
)

// castChunk is how many elements are converted at a time, so that a cast needs
// little memory beside its result.
const castChunk = 4096

// castBytes converts little-endian elements of a stored type to elem.
func castBytes(raw []byte, dt dtype, elem num.Elem) ([]byte, error) {
	from, decode := dt.elem, func(src []byte, dst []num.Cell) error {
		num.DecodeSlice(dt.elem, src, dst)
		return nil
	}
	if dt.unsigned {
		from, decode = num.I64, dt.decodeUnsigned
	}
	size := int(dt.size)
	out := make([]byte, len(raw)/size*elem.Bytes())
	cells := make([]num.Cell, castChunk)
	conv := num.Caster(from, elem)
	for done := 0; len(raw) > 0; {
		n := min(castChunk, len(raw)/size)
		if err := decode(raw[:n*size], cells[:n]); err != nil {
			return nil, err
		}
		for i, c := range cells[:n] {
			cells[i] = conv(c)
		}
		num.EncodeSlice(elem, cells[:n], out[done*elem.Bytes():(done+n)*elem.Bytes()])
		raw, done = raw[n*size:], done+n
	}
	return out, nil
}

// decodeUnsigned reads u16, u32 and u64 as i64 cells. A u64 value above the
// range of i64 has no cell and is refused.
func (d dtype) decodeUnsigned(src []byte, dst []num.Cell) error {
	for i := range dst {
		p := src[i*int(d.size):]
		switch d.size {
		case 2:
			dst[i] = num.FromInt(int64(binary.LittleEndian.Uint16(p)))
		case 4:
			dst[i] = num.FromInt(int64(binary.LittleEndian.Uint32(p)))
		default:
			v := binary.LittleEndian.Uint64(p)
			if v > math.MaxInt64 {
				return fmt.Errorf("the %s value %d does not fit in i64", d.name, v)
			}
			dst[i] = num.FromInt(int64(v))
		}
	}
	return nil
}

// As returns a converted to elem with the program's cast (float to int
// saturates, integers wrap); a itself where it has that type already.
func (a *Array) As(elem num.Elem) (*Array, error) {
	if a.Elem == elem {
		return a, nil
	}
	if _, err := ByteSize(elem, a.Shape); err != nil {
		return nil, err
	}
	raw, err := castBytes(a.Contiguous(), dtype{elem: a.Elem, size: int64(a.Elem.Bytes())}, elem)
	if err != nil {
		return nil, err
	}
	out := FromBytes(elem, a.Shape, raw)
	out.Source = a.Source
	return out, nil
}

// At returns one element. An index that is out of range is a bug of the
// caller's.
func (a *Array) At(index ...int64) num.Cell {
	if len(index) != len(a.Shape) {
		diag.Bugf("weights: %d indices for rank %d", len(index), len(a.Shape))
	}
	at := a.Offset
	for k, i := range index {
		if i < 0 || i >= a.Shape[k] {
			diag.Bugf("weights: index %v outside shape %v", index, a.Shape)
		}
		at += i * a.Strides[k]
	}
	return num.Decode(a.Elem, a.Data[at*int64(a.Elem.Bytes()):])
}

// Cells returns all elements in C order.
func (a *Array) Cells() []num.Cell {
	cells := make([]num.Cell, a.Len())
	num.DecodeSlice(a.Elem, a.Contiguous(), cells)
	return cells
}

// FromCells makes an array in C order.
func FromCells(elem num.Elem, shape []int64, cells []num.Cell) *Array {
	data := make([]byte, len(cells)*elem.Bytes())
	num.EncodeSlice(elem, cells, data)
	return FromBytes(elem, shape, data)
}

// ints returns the elements of an integer array.
func (a *Array) ints() []int64 {
	out := make([]int64, 0, a.Len())
	for _, c := range a.Cells() {
		out = append(out, num.Int(c))
	}
	return out
}

// sameBits reports types that differ in name only: index is a 64-bit integer.
func sameBits(a, b num.Elem) bool {
	plain := func(e num.Elem) num.Elem {
		if e == num.Index {
			return num.I64
		}
		return e
	}
	return plain(a) == plain(b)
}
