package weights

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tenon/internal/num"
)

func i32s(v ...int64) *Array {
	cells := make([]num.Cell, len(v))
	for i, n := range v {
		cells[i] = num.FromInt(n)
	}
	return FromCells(num.I32, []int64{int64(len(v))}, cells)
}

// csrFile writes the members given as name, array, name, array.
func csrFile(t *testing.T, parts ...any) string {
	t.Helper()
	var names []string
	var arrays []*Array
	for i := 0; i < len(parts); i += 2 {
		names = append(names, parts[i].(string))
		arrays = append(arrays, parts[i+1].(*Array))
	}
	path := filepath.Join(t.TempDir(), "g.npz")
	if err := WriteNpz(path, names, arrays); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestLoadCSR(t *testing.T) {
	wide, err := i32s(0, 2, 2, 3).As(num.I64)
	if err != nil {
		t.Fatal(err)
	}
	path := csrFile(t, "x_indptr", wide, "x_indices", i32s(1, 4, 0), "x_data", i32s(7, 8, 9), "x_shape", i32s(3, 5), "indptr", i32s(0))
	v, err := ParseValue(path + ":x_ as f32")
	if err != nil {
		t.Fatal(err)
	}
	c, err := v.LoadCSR(CSRWant{Name: "A", Elem: num.F32})
	if err != nil {
		t.Fatal(err)
	}
	if c.Indptr.Elem != num.I64 || c.Indices.Elem != num.I32 || !slices.Equal(c.Shape, []int64{3, 5}) ||
		!slices.Equal(c.Indices.ints(), []int64{1, 4, 0}) || !slices.Equal(floats(c.Data), []float64{7, 8, 9}) {
		t.Errorf("got %+v", c)
	}
	if c, err := v.LoadCSR(CSRWant{Pattern: true}); err != nil || c.Data != nil {
		t.Errorf("pattern: %+v %v", c, err)
	}
	v, _ = ParseValue(path + ":x_")
	if c, err := v.LoadCSR(CSRWant{}); err != nil || c.Data.Elem != num.I32 {
		t.Errorf("any: %+v %v", c, err)
	}
}

func TestLoadCSRFaults(t *testing.T) {
	ptr, ind, dat := i32s(0, 1, 2), i32s(0, 1), i32s(5, 6)
	good := []any{"indptr", ptr, "indices", ind}
	for name, c := range map[string]struct {
		parts []any
		text  string // after the path
		want  CSRWant
		msg   string
	}{
		"no data":        {good, "", CSRWant{Elem: num.F32}, "csr[N, N]"},
		"data type":      {append(good, "data", dat), "", CSRWant{Name: "A", Elem: num.F32}, "input A: member \"data\" is i32; expected f32; fix: add ` as f32`"},
		"data length":    {append(good, "data", i32s(1)), "", CSRWant{}, "data has shape [1]"},
		"prefix":         {[]any{"a_indptr", ptr, "a_indices", ind}, "", CSRWant{}, "name the prefix \"a_\""},
		"wrong prefix":   {good, ":b_", CSRWant{}, "no member \"b_indptr\""},
		"no indices":     {[]any{"indptr", ptr}, "", CSRWant{}, "no member \"indices\""},
		"slice":          {good, "[0]", CSRWant{}, "without a slice"},
		"index type":     {[]any{"indptr", ptr, "indices", arange16(t, 2)}, "", CSRWant{}, "indices is i16"},
		"index rank":     {[]any{"indptr", ptr, "indices", arange(t, 2, 1)}, "", CSRWant{}, "expected i32 or i64 of rank 1"},
		"empty indptr":   {[]any{"indptr", i32s(), "indices", i32s()}, "", CSRWant{}, "indptr is empty"},
		"indptr end":     {[]any{"indptr", i32s(0, 1, 3), "indices", ind}, "", CSRWant{}, "runs from 0 to 3"},
		"indptr start":   {[]any{"indptr", i32s(1, 1, 2), "indices", ind}, "", CSRWant{}, "runs from 1 to 2"},
		"shape rows":     {append(good, "shape", i32s(3, 3)), "", CSRWant{}, "indptr has 2 rows"},
		"negative shape": {append(good, "shape", i32s(2, -1)), "", CSRWant{}, "shape is [2, -1]"},
		"shape rank":     {append(good, "shape", i32s(2)), "", CSRWant{}, "two integers"},
	} {
		v, err := ParseValue(csrFile(t, c.parts...) + c.text)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := v.LoadCSR(c.want); err == nil || !strings.Contains(err.Error(), c.msg) {
			t.Errorf("%s: got %v, want %q", name, err, c.msg)
		}
	}
	v, _ := ParseValue("rand(3)")
	if _, err := v.LoadCSR(CSRWant{}); err == nil || !strings.Contains(err.Error(), "not a csr matrix") {
		t.Errorf("generated: %v", err)
	}
}

func arange16(t *testing.T, n int64) *Array {
	a, err := arange(t, n).As(num.I16)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// scipy's format member is honoured.
func TestScipyFormat(t *testing.T) {
	parts := func(format string) []byte {
		return zipFile(t,
			entry{name: "indices.npy", data: npy(1, dict("'<i4'", "False", "(1,)"), 0, 0, 0, 0)},
			entry{name: "indptr.npy", data: npy(1, dict("'<i4'", "False", "(2,)"), 0, 0, 0, 0, 1, 0, 0, 0)},
			entry{name: "format.npy", data: npy(1, dict("'|S3'", "False", "()"), []byte(format)...)},
			entry{name: "shape.npy", data: npy(1, dict("'<i8'", "False", "(2,)"), 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0)})
	}
	for format, msg := range map[string]string{"csr": "", "csc": `format "csc"; expected csr`, "coo": "tocsr"} {
		f, err := openBytes("m.npz", parts(format))
		if err != nil {
			t.Fatal(err)
		}
		_, err = f.csr(Value{}, CSRWant{})
		if msg == "" && err != nil || msg != "" && (err == nil || !strings.Contains(err.Error(), msg)) {
			t.Errorf("%s: got %v, want %q", format, err, msg)
		}
	}
}
