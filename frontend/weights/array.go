package weights

import (
	"encoding/binary"

	"tenon/internal/diag"
	"tenon/internal/num"
)

// An Array is a dense array in memory. The element at index i starts at byte
// (Offset + sum i[k]*Strides[k]) * Elem.Bytes() of Data, little-endian, and
// that place is aligned to the element's size. Strides count elements and may
// be negative or out of order (slices, Fortran order).
//
// Data may be a read-only memory mapping of a file: writing to it faults. Own
// gives a copy that may be written.
type Array struct {
	Elem    num.Elem
	Shape   []int64
	Strides []int64
	Data    []byte
	Offset  int64  // elements
	Source  string // where it came from, for messages

	mapped bool // Data belongs to a file
}

// New returns a zeroed array of the given type and shape in C order. It fails
// as ByteSize does.
func New(elem num.Elem, shape []int64) (*Array, error) {
	n, err := ByteSize(elem, shape)
	if err != nil {
		return nil, err
	}
	return FromBytes(elem, shape, make([]byte, n)), nil
}

// FromBytes wraps data, little-endian in C order, as an array. The length must
// fit the shape; anything else is a bug of the caller's.
func FromBytes(elem num.Elem, shape []int64, data []byte) *Array {
	n, err := byteSize(shape, int64(elem.Bytes()))
	if err != nil || n != int64(len(data)) {
		diag.Bugf("weights.FromBytes: %d bytes for shape %v of %s", len(data), shape, elem)
	}
	return &Array{Elem: elem, Shape: shape, Strides: cStrides(shape), Data: data}
}

// Rank is the number of axes.
func (a *Array) Rank() int { return len(a.Shape) }

// Len is the number of elements.
func (a *Array) Len() int64 { return lenOf(a.Shape) }

func lenOf(shape []int64) int64 {
	n := int64(1)
	for _, d := range shape {
		n *= d
	}
	return n
}

// cStrides are the strides of C order. A dim of 0 counts as 1, so that no
// stride is 0 and none overflows once byteSize has passed.
func cStrides(shape []int64) []int64 {
	strides := make([]int64, len(shape))
	n := int64(1)
	for k := len(shape) - 1; k >= 0; k-- {
		strides[k] = n
		n *= max(shape[k], 1)
	}
	return strides
}

// fStrides are the strides of Fortran order.
func fStrides(shape []int64) []int64 {
	strides := make([]int64, len(shape))
	n := int64(1)
	for k, d := range shape {
		strides[k] = n
		n *= max(d, 1)
	}
	return strides
}

// IsContiguous reports whether the elements lie in C order without gaps.
// Strides of axes with one element do not matter.
func (a *Array) IsContiguous() bool {
	n := int64(1)
	for k := len(a.Shape) - 1; k >= 0; k-- {
		if a.Shape[k] == 0 {
			return true
		}
		if a.Shape[k] != 1 && a.Strides[k] != n {
			return false
		}
		n *= a.Shape[k]
	}
	return true
}

// Contiguous returns the elements in C order: a part of Data where they
// already lie so, else a copy. The caller must not write to it.
func (a *Array) Contiguous() []byte {
	size := int64(a.Elem.Bytes())
	n := a.Len() * size
	if n == 0 {
		return nil
	}
	if a.IsContiguous() {
		from := a.Offset * size
		return a.Data[from : from+n : from+n]
	}
	return gather(a.view(), a.Data, size)
}

func (a *Array) view() view {
	return view{shape: a.Shape, strides: a.Strides, offset: a.Offset}
}

// gather copies the elements of v, of size bytes each, in C order.
func gather(v view, data []byte, size int64) []byte {
	out := make([]byte, 0, lenOf(v.shape)*size)
	v.eachRun(func(from, count, stride int64) {
		if stride == 1 {
			out = append(out, data[from*size:(from+count)*size]...)
			return
		}
		out = appendStrided(out, data, from, count, stride, size)
	})
	return out
}

// appendStrided copies count elements that lie stride apart. The four widths
// are spelled out because a copy call per element is five times slower.
func appendStrided(out, data []byte, from, count, stride, size int64) []byte {
	for ; count > 0; count-- {
		p := data[from*size:]
		switch size {
		case 1:
			out = append(out, p[0])
		case 2:
			out = append(out, p[0], p[1])
		case 4:
			out = binary.LittleEndian.AppendUint32(out, binary.LittleEndian.Uint32(p))
		default:
			out = binary.LittleEndian.AppendUint64(out, binary.LittleEndian.Uint64(p))
		}
		from += stride
	}
	return out
}

// Own returns a, or a contiguous copy of it that may be written where a is
// strided or belongs to a file.
func (a *Array) Own() *Array {
	if !a.mapped && a.IsContiguous() && a.Offset == 0 {
		return a
	}
	data := append([]byte(nil), a.Contiguous()...)
	out := FromBytes(a.Elem, a.Shape, data)
	out.Source = a.Source
	return out
}

// Ordered returns a if it is contiguous in C order, else a contiguous copy.
func (a *Array) Ordered() *Array {
	if a.IsContiguous() {
		return a
	}
	out := FromBytes(a.Elem, a.Shape, a.Contiguous())
	out.Source = a.Source
	return out
}

// Sub returns the part of a that sl selects; no byte is copied.
func (a *Array) Sub(sl Slice) (*Array, error) {
	v, err := sl.apply(a.view())
	if err != nil {
		return nil, diag.Errorf(diag.Pos{File: a.Source}, "%s", err)
	}
	out := *a
	out.Shape, out.Strides, out.Offset = v.shape, v.strides, v.offset
	return &out, nil
}

// A view is the layout of an array: element (i) is at offset + sum i*strides.
type view struct {
	shape   []int64
	strides []int64
	offset  int64
}

// eachRun calls f for each row along the last axis, in C order, with the place
// of its first element, the number of elements and their distance.
func (v view) eachRun(f func(from, count, stride int64)) {
	if lenOf(v.shape) == 0 {
		return
	}
	r := len(v.shape) - 1
	if r < 0 {
		f(v.offset, 1, 1)
		return
	}
	index := make([]int64, r)
	at := v.offset
	for {
		f(at, v.shape[r], v.strides[r])
		k := r - 1
		for ; k >= 0; k-- {
			index[k]++
			at += v.strides[k]
			if index[k] < v.shape[k] {
				break
			}
			at -= index[k] * v.strides[k]
			index[k] = 0
		}
		if k < 0 {
			return
		}
	}
}
