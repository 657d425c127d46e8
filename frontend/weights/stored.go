package weights

import (
	"unsafe"

	"tenon/internal/num"
)

// A stored array is one as a file holds it: any byte order, any alignment,
// any type.
type stored struct {
	name string
	dt   dtype
	view
	data []byte
}

// array gives the array that programs see: in place where the bytes can be
// used as they are, else a copy in C order. cast is num.Invalid for none.
func (s stored) array(cast num.Elem) (*Array, error) {
	if cast == s.dt.elem {
		cast = num.Invalid
	}
	if cast == num.Invalid && s.usable() {
		return &Array{Elem: s.dt.elem, Shape: s.shape, Strides: s.strides, Data: s.data, Offset: s.offset, mapped: true}, nil
	}
	elem := s.dt.elem
	if cast != num.Invalid {
		elem = cast
	}
	if _, err := ByteSize(elem, s.shape); err != nil {
		return nil, err
	}
	raw := gather(s.view, s.data, s.dt.size)
	if s.dt.big {
		swapBytes(raw, s.dt.size)
	}
	if s.dt.elem == num.Bool {
		normalizeBools(raw)
	}
	if cast != num.Invalid {
		var err error
		if raw, err = castBytes(raw, s.dt, cast); err != nil {
			return nil, err
		}
	}
	return FromBytes(elem, s.shape, raw), nil
}

// usable reports whether the bytes can serve a program as they are.
func (s stored) usable() bool {
	if len(s.data) == 0 {
		return true
	}
	aligned := uintptr(unsafe.Pointer(&s.data[0]))%uintptr(s.dt.size) == 0
	return aligned && !s.dt.big && (s.dt.elem != num.Bool || boolsAreNormal(s.data))
}

// boolsAreNormal reports whether all bytes are 0 or 1. NumPy reads any other
// byte as true; compiled code may rely on 1.
func boolsAreNormal(data []byte) bool {
	or := byte(0)
	for _, b := range data {
		or |= b
	}
	return or <= 1
}

func normalizeBools(data []byte) {
	for i, b := range data {
		if b != 0 {
			data[i] = 1
		}
	}
}

// swapBytes reverses each element of size bytes.
func swapBytes(data []byte, size int64) {
	for i := int64(0); i < int64(len(data)); i += size {
		for lo, hi := i, i+size-1; lo < hi; lo, hi = lo+1, hi-1 {
			data[lo], data[hi] = data[hi], data[lo]
		}
	}
}
