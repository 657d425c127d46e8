package weights

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"codeberg.org/sbinet/npyio"

	"tenon/internal/num"
)

// npy puts a file together by hand: magic, version, length, dictionary, data.
func npy(major byte, dict string, data ...byte) []byte {
	out := append([]byte(npyMagic), major, 0)
	if major == 1 {
		out = binary.LittleEndian.AppendUint16(out, uint16(len(dict)))
	} else {
		out = binary.LittleEndian.AppendUint32(out, uint32(len(dict)))
	}
	return append(append(out, dict...), data...)
}

func dict(descr, fortran, shape string) string {
	return fmt.Sprintf("{'descr': %s, 'fortran_order': %s, 'shape': %s, }\n", descr, fortran, shape)
}

func TestNpyByHand(t *testing.T) {
	one := []byte{1, 2, 3, 4, 5, 6}
	for name, c := range map[string]struct {
		file  []byte
		cast  num.Elem
		elem  num.Elem
		shape []int64
		cells []float64
	}{
		"u8":            {npy(1, dict("'|u1'", "False", "(2, 3)"), one...), 0, num.U8, []int64{2, 3}, []float64{1, 2, 3, 4, 5, 6}},
		"fortran":       {npy(1, dict("'|u1'", "True", "(2, 3)"), one...), 0, num.U8, []int64{2, 3}, []float64{1, 3, 5, 2, 4, 6}},
		"version 2":     {npy(2, dict("'|i1'", "False", "(6,)"), one...), 0, num.I8, []int64{6}, []float64{1, 2, 3, 4, 5, 6}},
		"version 3":     {npy(3, dict("'|i1'", "False", "(1, 6)"), one...), 0, num.I8, []int64{1, 6}, []float64{1, 2, 3, 4, 5, 6}},
		"i2":            {npy(1, dict("'<i2'", "False", "(3,)"), 1, 0, 255, 255, 0, 128), 0, num.I16, []int64{3}, []float64{1, -1, -32768}},
		"big i2":        {npy(1, dict("'>i2'", "False", "(3,)"), 0, 1, 255, 255, 128, 0), 0, num.I16, []int64{3}, []float64{1, -1, -32768}},
		"big fortran":   {npy(1, dict("'>i2'", "True", "(2, 2)"), 0, 1, 0, 2, 0, 3, 0, 4), 0, num.I16, []int64{2, 2}, []float64{1, 3, 2, 4}},
		"native i4":     {npy(1, dict("'=i4'", "False", "()"), 7, 0, 0, 0), 0, num.I32, []int64{}, []float64{7}},
		"big f4":        {npy(1, dict("'>f4'", "False", "(1,)"), 0x3f, 0xc0, 0, 0), 0, num.F32, []int64{1}, []float64{1.5}},
		"f2":            {npy(1, dict("'<f2'", "False", "(2,)"), 0, 0x3e, 0xff, 0x7b), 0, num.F16, []int64{2}, []float64{1.5, 65504}},
		"f8":            {npy(1, dict("'<f8'", "False", "()"), 0, 0, 0, 0, 0, 0, 0xf0, 0x3f), 0, num.F64, []int64{}, []float64{1}},
		"bool 0 1 2":    {npy(1, dict("'|b1'", "False", "(3,)"), 0, 1, 2), 0, num.Bool, []int64{3}, []float64{0, 1, 1}},
		"python 2":      {npy(1, "{'shape': (6L,), 'fortran_order': False, 'descr': \"|u1\"}", one...), 0, num.U8, []int64{6}, []float64{1, 2, 3, 4, 5, 6}},
		"empty":         {npy(1, dict("'<f8'", "False", "(3, 0, 5)")), 0, num.F64, []int64{3, 0, 5}, nil},
		"more data":     {npy(1, dict("'|u1'", "False", "(2,)"), one...), 0, num.U8, []int64{2}, []float64{1, 2}},
		"u2 as i32":     {npy(1, dict("'<u2'", "False", "(1,)"), 255, 255), num.I32, num.I32, []int64{1}, []float64{65535}},
		"big u2 as i64": {npy(1, dict("'>u2'", "False", "(1,)"), 1, 0), num.I64, num.I64, []int64{1}, []float64{256}},
		"u4 as i64":     {npy(1, dict("'<u4'", "False", "(1,)"), 255, 255, 255, 255), num.I64, num.I64, []int64{1}, []float64{4294967295}},
		"u8 as f64":     {npy(1, dict("'<u8'", "False", "(1,)"), 0, 1, 0, 0, 0, 0, 0, 0), num.F64, num.F64, []int64{1}, []float64{256}},
		"i2 as f32":     {npy(1, dict("'<i2'", "True", "(1, 1)"), 254, 255), num.F32, num.F32, []int64{1, 1}, []float64{-2}},
		"f4 as i8":      {npy(1, dict("'<f4'", "False", "(1,)"), 0, 0, 0, 0x44), num.I8, num.I8, []int64{1}, []float64{127}},
	} {
		f, err := openBytes(name, c.file)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		a, err := f.get("", Slice{}, c.cast, num.Invalid)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := floats(a); a.Elem != c.elem || !slices.Equal(a.Shape, c.shape) || !slices.Equal(got, c.cells) {
			t.Errorf("%s: got %s %v %v, want %s %v %v", name, a.Elem, a.Shape, got, c.elem, c.shape, c.cells)
		}
	}
}

// A bool is 0 or 1 in memory, whatever true byte the file holds.
func TestBoolBytes(t *testing.T) {
	f, err := openBytes("b.npy", npy(1, dict("'|b1'", "False", "(4,)"), 0, 1, 2, 255))
	if err != nil {
		t.Fatal(err)
	}
	if a, err := f.Get(""); err != nil || !slices.Equal(a.Contiguous(), []byte{0, 1, 1, 1}) {
		t.Errorf("got %v %v", a, err)
	}
}

// floats are the elements as f64, which is exact for the values in the tests.
func floats(a *Array) []float64 {
	var out []float64
	for _, c := range a.Cells() {
		out = append(out, num.Float(num.Cast(a.Elem, num.F64, c)))
	}
	return out
}

func TestNpyRefusedTypes(t *testing.T) {
	for descr, want := range map[string]string{
		"'|O'":                               "unpickled",
		"'<c8'":                              "complex",
		"'<f16'":                             "extended float",
		"'|V2'":                              "bfloat16",
		"'<U5'":                              "strings",
		"'|S3'":                              "byte strings",
		"'<M8[ns]'":                          "dates",
		"''":                                 "no type at all",
		"'<q9'":                              "unknown type",
		"[('x', '<f4'), ('y', '<i4')]":       "several fields",
		"[('x', [('y', '<f4', (2,))])]":      "several fields",
		"'<u2'":                              "add ` as i32`",
		"'<u4'":                              "add ` as i64`",
		"'>u8'":                              "add ` as i64`",
		"'" + strings.Repeat("x", 500) + "'": "unknown type",
	} {
		f, err := openBytes("x.npy", npy(1, dict(descr, "False", "(1,)"), make([]byte, 64)...))
		if err == nil {
			_, err = f.Get("")
		}
		if err == nil || !strings.Contains(err.Error(), want) || len(err.Error()) > 400 {
			t.Errorf("%s: got %v, want %q", descr, err, want)
		}
	}
	f, _ := openBytes("x.npy", npy(1, dict("'<u8'", "False", "(1,)"), 0, 0, 0, 0, 0, 0, 0, 128))
	if _, err := f.GetAs("", num.F64); err == nil || !strings.Contains(err.Error(), "9223372036854775808 does not fit") {
		t.Errorf("u64 out of range: %v", err)
	}
	if _, err := f.get("", Slice{}, num.Invalid, num.F32); err == nil || !strings.Contains(err.Error(), "add ` as f32`") {
		t.Errorf("hint: %v", err)
	}
}

// randomArray has random bits (no NaN: cells compare by value), a random shape
// and a random layout: any order of axes, some reversed, some with gaps.
func randomArray(r *rand.Rand, elem num.Elem) *Array {
	rank := r.IntN(5)
	shape, perm := make([]int64, rank), r.Perm(rank)
	for k := range shape {
		shape[k] = r.Int64N(5)
	}
	a := &Array{Elem: elem, Shape: shape, Strides: make([]int64, rank)}
	span := int64(1)
	for _, k := range perm {
		step := 1 + r.Int64N(2)
		a.Strides[k] = span * step
		if r.IntN(2) == 0 && shape[k] > 0 {
			a.Offset += a.Strides[k] * (shape[k] - 1)
			a.Strides[k] = -a.Strides[k]
		}
		span *= step * max(shape[k], 1)
	}
	cells := make([]num.Cell, span)
	for i := range cells {
		cells[i] = num.Cast(num.I64, elem, num.FromInt(r.Int64N(256)-128))
	}
	a.Data = make([]byte, span*int64(elem.Bytes()))
	num.EncodeSlice(elem, cells, a.Data)
	return a
}

func sameArrays(a, b *Array) bool {
	return a.Elem == b.Elem && slices.Equal(a.Shape, b.Shape) && slices.Equal(a.Cells(), b.Cells())
}

// walk lists the elements one by one through At, the definition of the layout.
func walk(a *Array) []num.Cell {
	out := []num.Cell{}
	index := make([]int64, a.Rank())
	var rec func(k int)
	rec = func(k int) {
		if k == a.Rank() {
			out = append(out, a.At(index...))
			return
		}
		for index[k] = 0; index[k] < a.Shape[k]; index[k]++ {
			rec(k + 1)
		}
	}
	rec(0)
	return out
}

func TestWriteThenRead(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	dir := t.TempDir()
	for i := range 400 {
		elem := num.Elems[i%len(num.Elems)]
		a := randomArray(r, elem)
		if !slices.Equal(a.Cells(), walk(a)) {
			t.Fatalf("Cells and At disagree: %+v", a)
		}
		path := filepath.Join(dir, "a.npy")
		err := WriteNpy(path, a)
		if elem == num.BF16 {
			if err == nil || !strings.Contains(err.Error(), "as f32") {
				t.Fatalf("bf16: %v", err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		f, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		b, err := f.Get("")
		if err != nil {
			t.Fatal(err)
		}
		if elem == num.Index {
			b.Elem = num.Index
		}
		if !sameArrays(a, b) {
			t.Fatalf("%s %v: wrote %v, read %v", elem, a.Shape, a.Cells(), b.Cells())
		}
		if !b.IsContiguous() || a.Len() > 0 && !b.mapped {
			t.Fatalf("%s %v: the file was copied", elem, a.Shape)
		}
		f.Close()
	}
}

// npyio reads what is written here.
func TestNpyioReadsOurs(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.npy")
	want := FromCells(num.F64, []int64{2, 3}, []num.Cell{num.FromFloat(1), num.FromFloat(-2.5), num.FromFloat(math.Inf(1)), 0, num.FromFloat(4), num.FromFloat(5)})
	if err := WriteNpy(path, want); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if len(data)%64 != 48 || data[len(data)-49] != '\n' {
		t.Errorf("the data do not begin on a multiple of 64: %d bytes", len(data))
	}
	var got []float64
	if err := npyio.Read(bytes.NewReader(data), &got); err != nil || !slices.Equal(got, floats(want)) {
		t.Errorf("npyio: %v %v", got, err)
	}
}

func TestOwnAndAs(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 100 {
		a := randomArray(r, num.I16)
		before := a.Cells()
		o := a.Own()
		if !sameArrays(a, o) || !o.IsContiguous() || o.mapped {
			t.Fatalf("Own of %+v: %+v", a, o)
		}
		f, err := a.As(num.F32)
		if err != nil || !slices.Equal(floats(f), floats(a)) {
			t.Fatalf("As: %v %v", f, err)
		}
		if !slices.Equal(a.Cells(), before) {
			t.Fatal("the original changed")
		}
	}
}
