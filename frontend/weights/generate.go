package weights

import (
	"fmt"
	"hash/fnv"

	"tenon/internal/diag"
	"tenon/internal/num"
)

// genWork is an array in the making.
type genWork struct {
	elem num.Elem
	seed uint64
	at   int64 // index of cells[0] in C order
	cell []num.Cell
}

// generate evaluates rand, zeros or iota.
//
// rand draws element i of the array, in C order, from the 64 bits
// splitmix64(seed, i): floats uniform in [0, 1) with as many bits as the type
// holds exactly, integers uniform in 0 to 9, bools even. The same seed gives
// the same array everywhere, and a larger array continues a smaller one.
// Without a seed it is the FNV-1a hash of the parameter's name, so that two
// parameters do not get equal data. iota counts 0, 1, 2... in C order; a count
// that the type cannot hold is an error. zeros and iota accept a seed and do
// not need it.
func (v Value) generate(want Want) (*Array, error) {
	elem := v.elemFor(want)
	if elem == num.Invalid {
		elem = num.F64
		if v.Gen == "iota" {
			elem = num.I64
		}
	}
	if _, err := ByteSize(elem, v.Dims); err != nil {
		return nil, v.fault(want, "%s: %s", v.Text, err).WithFix("use smaller sizes")
	}
	n := lenOf(v.Dims)
	if top := maxCount(elem); v.Gen == "iota" && n > 0 && n-1 > top {
		return nil, v.fault(want, "%s counts to %d, %s ends at %d", v.Text, n-1, elem, top).
			WithFix("add a wider type, such as ` as i64`, or a smaller size")
	}
	a, err := New(elem, append([]int64{}, v.Dims...))
	if err != nil || v.Gen == "zeros" {
		return a, err
	}
	w := &genWork{elem: elem, seed: v.Seed}
	if !v.HasSeed {
		h := fnv.New64a()
		fmt.Fprint(h, want.Name)
		w.seed = h.Sum64()
	}
	buf := make([]num.Cell, castChunk)
	size := int64(elem.Bytes())
	for ; w.at < n; w.at += castChunk {
		w.cell = buf[:min(castChunk, n-w.at)]
		generators[v.Gen](w)
		num.EncodeSlice(elem, w.cell, a.Data[w.at*size:(w.at+int64(len(w.cell)))*size])
	}
	return a, nil
}

// maxCount is the largest count that iota may reach. Floats round above their
// exact range, as a cast would; f16 overflows above 65504.
func maxCount(e num.Elem) int64 {
	switch {
	case e == num.Bool:
		return 1
	case e == num.F16:
		return 65504
	case e.IsFloat():
		return 1<<63 - 1
	}
	_, hi := num.IntRange(e)
	return hi
}

func genIota(w *genWork) {
	conv := num.Caster(num.I64, w.elem)
	for i := range w.cell {
		w.cell[i] = conv(num.FromInt(w.at + int64(i)))
	}
}

func genRand(w *genWork) {
	for i := range w.cell {
		r := splitmix64(w.seed, uint64(w.at)+uint64(i))
		switch {
		case w.elem == num.Bool:
			w.cell[i] = num.FromBool(r>>63 != 0)
		case w.elem.IsFloat():
			n := w.elem.Bits()
			w.cell[i] = num.FromFloat(float64(r>>(64-n)) / float64(uint64(1)<<n))
		default:
			w.cell[i] = num.FromInt(int64(r >> 32 * 10 >> 32))
		}
	}
}

// splitmix64 is output i of the generator of Steele, Lea and Flood (Fast
// splittable pseudorandom number generators, OOPSLA 2014) started at seed.
func splitmix64(seed, i uint64) uint64 {
	z := seed + (i+1)*0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// fault is an error about a value that is not a file.
func (v Value) fault(want Want, format string, args ...any) *diag.Error {
	return diag.Errorf(diag.Pos{File: v.File}, "%s%s", want.prefix(), fmt.Sprintf(format, args...))
}
