package weights

import (
	"archive/zip"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"codeberg.org/sbinet/npyio/npz"
	"github.com/nlpodyssey/safetensors"

	"tenon/internal/num"
)

func TestNpzWriteThenRead(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	path := filepath.Join(t.TempDir(), "a.npz")
	for range 30 {
		var names []string
		var arrays []*Array
		for i, e := range num.Elems {
			if e != num.BF16 && e != num.Index {
				names = append(names, strings.Repeat("n/", i)+e.String())
				arrays = append(arrays, randomArray(r, e))
			}
		}
		if err := WriteNpz(path, names, arrays); err != nil {
			t.Fatal(err)
		}
		f, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(f.Names(), names) {
			t.Fatalf("names: %v", f.Names())
		}
		for i, n := range names {
			if b, err := f.Get(n); err != nil || !sameArrays(arrays[i], b) {
				t.Fatalf("%s: %v, wrote %v, read %v", n, err, arrays[i].Cells(), b.Cells())
			}
		}
		f.Close()
	}
	err := WriteNpz(path, []string{"a", "a"}, []*Array{arange(t, 1), arange(t, 1)})
	if err == nil || !strings.Contains(err.Error(), "named \"a\"") {
		t.Errorf("two of one name: %v", err)
	}
	z, err := npz.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	if len(z.Keys()) != 9 {
		t.Errorf("npyio sees %v", z.Keys())
	}
}

func TestNpzDeflatedAndNames(t *testing.T) {
	fort := npy(1, dict("'>i2'", "True", "(2, 2)"), 0, 1, 0, 2, 0, 3, 0, 4)
	big := npy(1, dict("'|u1'", "False", "(40000000,)"), make([]byte, 40000000)...)
	big[len(big)-1] = 9
	file := zipFile(t, entry{name: "a.npy", data: fort, method: zip.Deflate}, entry{name: "sub/"},
		entry{name: "sub/b.npy", data: big, method: zip.Deflate}, entry{name: "c", data: fort})
	f, err := openBytes("f.npz", file)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(f.Names(), []string{"a", "sub/b", "c"}) {
		t.Errorf("names: %v", f.Names())
	}
	for _, n := range []string{"a", "a.npy", "c"} {
		if a, err := f.Get(n); err != nil || !slices.Equal(a.ints(), []int64{1, 3, 2, 4}) {
			t.Errorf("%s: %v %v", n, a, err)
		}
	}
	b, err := f.Get("sub/b")
	if err != nil || b.Len() != 40000000 || num.Int(b.At(39999999)) != 9 || num.Int(b.At(39999998)) != 0 {
		t.Errorf("sub/b: %v", err)
	}
	if _, err := f.Get("d"); err == nil || !strings.Contains(err.Error(), "expected one of: a, sub/b, c") {
		t.Errorf("d: %v", err)
	}
	if _, err := f.Get(""); err == nil || !strings.Contains(err.Error(), "name one of them: a, sub/b, c") {
		t.Errorf("no name: %v", err)
	}
}

// A single member needs no name.
func TestOnlyMember(t *testing.T) {
	f, err := openBytes("f.npz", zipFile(t, entry{name: "a.npy", data: npy(1, dict("'|u1'", "False", "()"), 3)}))
	if err != nil {
		t.Fatal(err)
	}
	if a, err := f.Get(""); err != nil || a.Source != "f.npz:a" || a.ints()[0] != 3 {
		t.Errorf("%v %v", a, err)
	}
}

func TestSafetensorsByHand(t *testing.T) {
	// The header's order is not that of the data, an empty tensor shares an
	// offset, padding follows the JSON, and b is misaligned for its type.
	file := st(`{"__metadata__":{"format":"pt","n":"{[1]}"},`+
		`"b":{"dtype":"F32","shape":[1],"data_offsets":[3,7]},`+
		`"e":{"data_offsets":[7,7],"shape":[2,0],"dtype":"I64"},`+
		`"a":{"dtype":"U8","shape":[3],"data_offsets":[0,3]},`+
		`"s":{"dtype":"BF16","shape":[],"data_offsets":[7,9]},`+
		`"u":{"dtype":"U32","shape":[1],"data_offsets":[9,13]}}   `,
		1, 2, 3, 0, 0, 0xc0, 0x3f, 0xc0, 0x3f, 255, 255, 255, 255)
	f, err := openBytes("m.safetensors", file)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(f.Names(), []string{"b", "e", "a", "s", "u"}) {
		t.Errorf("names: %v", f.Names())
	}
	for name, want := range map[string][]float64{"a": {1, 2, 3}, "b": {1.5}, "e": nil, "s": {1.5}} {
		if a, err := f.Get(name); err != nil || !slices.Equal(floats(a), want) {
			t.Errorf("%s: %v %v", name, a, err)
		}
	}
	if a, err := f.GetAs("u", num.F64); err != nil || floats(a)[0] != 4294967295 {
		t.Errorf("u: %v %v", a, err)
	}
	if a, _ := f.Get("s"); a.Elem != num.BF16 || a.Rank() != 0 {
		t.Errorf("s: %v", a)
	}
}

// Elements are aligned wherever the header happens to end, and copied only
// where they would not be.
func TestAlignment(t *testing.T) {
	copied := 0
	for pad := range 8 {
		file := st(`{"a":{"dtype":"F64","shape":[1],"data_offsets":[0,8]}}`+strings.Repeat(" ", pad), 0, 0, 0, 0, 0, 0, 0xf8, 0x3f)
		f, err := openBytes("m.safetensors", file)
		if err != nil {
			t.Fatal(err)
		}
		a, err := f.Get("a")
		if err != nil || floats(a)[0] != 1.5 {
			t.Fatalf("%v %v", a, err)
		}
		if uintptr(unsafe.Pointer(&a.Data[0]))%8 != 0 {
			t.Errorf("padding of %d: misaligned", pad)
		}
		if !a.mapped {
			copied++
		}
	}
	if copied != 7 {
		t.Errorf("%d of 8 arrays were copied, want 7", copied)
	}
}

// What the reference library writes is read, for each of its types that
// programs have.
func TestSafetensorsLibrary(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	types := map[num.Elem]safetensors.DType{num.F64: safetensors.F64, num.F32: safetensors.F32, num.F16: safetensors.F16,
		num.BF16: safetensors.BF16, num.I64: safetensors.I64, num.I32: safetensors.I32, num.I16: safetensors.I16,
		num.I8: safetensors.I8, num.U8: safetensors.U8, num.Bool: safetensors.BOOL}
	for range 30 {
		views, arrays := map[string]safetensors.TensorView{}, map[string]*Array{}
		for _, e := range num.Elems {
			dt, ok := types[e]
			if !ok {
				continue
			}
			a := randomArray(r, e)
			for a.Rank() == 0 {
				a = randomArray(r, e) // the library cannot write rank 0
			}
			shape := make([]uint64, a.Rank())
			for k, d := range a.Shape {
				shape[k] = uint64(d)
			}
			v, err := safetensors.NewTensorView(dt, shape, a.Contiguous())
			if err != nil {
				t.Fatal(err)
			}
			views["w."+e.String()], arrays["w."+e.String()] = v, a
		}
		data, err := safetensors.Serialize(views, map[string]string{"k": "v"})
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "m.safetensors")
		if err := os.WriteFile(path, data, 0o666); err != nil {
			t.Fatal(err)
		}
		f, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		for n, a := range arrays {
			if b, err := f.Get(n); err != nil || !sameArrays(a, b) {
				t.Fatalf("%s: %v, wrote %v, read %v", n, err, a.Cells(), b)
			}
		}
		f.Close()
	}
}
