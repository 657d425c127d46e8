package weights

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tenon/internal/diag"
	"tenon/internal/num"
)

func TestParseValue(t *testing.T) {
	for text, want := range map[string]Value{
		"x.npy":                           {File: "x.npy"},
		"a b/x.npy[1297:, :]":             {File: "a b/x.npy", Slice: Slice{text: "[1297:, :]"}},
		"f.npz:x":                         {File: "f.npz", Member: "x"},
		"f.npz:x[0] as f32":               {File: "f.npz", Member: "x", Slice: Slice{text: "[0]"}, As: num.F32},
		"m.safetensors:a.b:c as f32":      {File: "m.safetensors", Member: "a.b:c", As: num.F32},
		"s3:1/m.SafeTensors:w":            {File: "s3:1/m.SafeTensors", Member: "w"},
		"dir:x/y.npy":                     {File: "dir:x/y.npy"},
		"weights:w":                       {File: "weights", Member: "w"},
		"f.npz:x.npy":                     {File: "f.npz", Member: "x.npy"},
		"37":                              {Number: "37"},
		"-1.5e-3 as f64":                  {Number: "-1.5e-3", As: num.F64},
		"./37":                            {File: "./37"},
		"rand(2,3)":                       {Gen: "rand", Dims: []int64{2, 3}},
		"rand( 2, 3 ):7 as f16":           {Gen: "rand", Dims: []int64{2, 3}, Seed: 7, HasSeed: true, As: num.F16},
		"iota(6)[::-1]":                   {Gen: "iota", Dims: []int64{6}, Slice: Slice{text: "[::-1]"}},
		"zeros()":                         {Gen: "zeros"},
		"zeros(0)":                        {Gen: "zeros", Dims: []int64{0}},
		"foo(1).npy":                      {File: "foo(1).npy"},
		"rand(18446744073709551615)x.npy": {File: "rand(18446744073709551615)x.npy"},
	} {
		got, err := ParseValue(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got.File != want.File || got.Member != want.Member || got.As != want.As || got.Number != want.Number ||
			got.Gen != want.Gen || !slices.Equal(got.Dims, want.Dims) || got.Seed != want.Seed ||
			got.HasSeed != want.HasSeed || got.Slice.text != want.Slice.text {
			t.Errorf("%s: got %+v", text, got)
		}
	}
}

func TestParseValueFaults(t *testing.T) {
	for text, want := range map[string]string{
		"":                           "expected FILE",
		" as f32":                    "expected FILE",
		"x.npy as float32":           `"float32" is not a dtype`,
		"x.npy as ":                  `"" is not a dtype`,
		"x.npy[1:2:0]":               "step of 0",
		"x.npy]":                     "without its [",
		":w":                         "no file before the colon",
		"ones(2)":                    "ones(...) is not known",
		"rand(-1)":                   "is not a size",
		"rand(2,)":                   "is not a size",
		"rand(99999999999999999999)": "is not a size",
		"rand(2):x":                  "seed \"x\" is not a number",
		"rand(2):":                   "seed \"\" is not a number",
		"37[0]":                      "expected FILE",
	} {
		_, err := ParseValue(text)
		var usage *diag.Usage
		if !errors.As(err, &usage) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want a usage error with %q", text, err, want)
		}
	}
}

func TestNumbers(t *testing.T) {
	for _, c := range []struct {
		text string
		elem num.Elem
		want num.Cell
		err  string
	}{
		{"37", num.Index, num.FromInt(37), ""},
		{"-128", num.I8, num.FromInt(-128), ""},
		{"128", num.I8, 0, "does not fit in i8 (-128 to 127)"},
		{"0x1f", num.I32, num.FromInt(31), ""},
		{"007", num.I32, num.FromInt(7), ""},
		{"-1", num.U8, 0, "does not fit in u8 (0 to 255)"},
		{"2.0", num.I64, 0, "is not an integer"},
		{"1e3", num.I64, 0, "is not an integer"},
		{"true", num.I64, 0, "is not an integer"},
		{"9223372036854775808", num.I64, 0, "does not fit in i64"},
		{"0.1", num.F32, num.FromFloat(float64(float32(0.1))), ""},
		{"0.1", num.F64, num.FromFloat(0.1), ""},
		{"1e39", num.F32, 0, "does not fit f32"},
		{"65520", num.F16, 0, "does not fit f16"},
		{"65504", num.F16, num.FromFloat(65504), ""},
		{"+.5", num.F32, num.FromFloat(0.5), ""},
		{"-.5e1", num.F64, num.FromFloat(-5), ""},
		{"5.", num.F64, num.FromFloat(5), ""},
		{"-0x10", num.F64, num.FromFloat(-16), ""},
		{"-0.0", num.F64, num.FromFloat(math.Copysign(0, -1)), ""},
		{"1.00390624999999999999999999999", num.BF16, num.FromFloat(1), ""}, // as f64 it is the tie
		{"1.00390625000000000000000000001", num.BF16, num.FromFloat(1.0078125), ""},
		{"+Inf", num.F32, num.FromFloat(math.Inf(1)), ""},
		{"-inf", num.F16, num.FromFloat(math.Inf(-1)), ""},
		{"3", num.BF16, num.FromFloat(3), ""},
		{"true", num.Bool, num.FromBool(true), ""},
		{"0", num.Bool, num.FromBool(false), ""},
		{"2", num.Bool, 0, "is not a bool"},
		{"false", num.F32, 0, "is a bool"},
	} {
		v, err := ParseValue(c.text)
		if err != nil {
			t.Fatal(err)
		}
		a, err := v.Load(Want{Name: "n", Elem: c.elem})
		switch {
		case c.err != "":
			if err == nil || !strings.Contains(err.Error(), c.err) || !strings.Contains(err.Error(), "input n: ") {
				t.Errorf("%s as %s: got %v, want %q", c.text, c.elem, err, c.err)
			}
		case err != nil || a.Rank() != 0 || a.Elem != c.elem || a.Cells()[0] != c.want:
			t.Errorf("%s as %s: got %v %v", c.text, c.elem, a, err)
		}
	}
	v, _ := ParseValue("nan")
	if a, err := v.Load(Any); err != nil || a.Elem != num.F64 || !math.IsNaN(num.Float(a.Cells()[0])) {
		t.Errorf("nan: %v %v", a, err)
	}
}

func TestGenerators(t *testing.T) {
	load := func(text string, w Want) *Array {
		v, err := ParseValue(text)
		if err != nil {
			t.Fatal(err)
		}
		a, err := v.Load(w)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	for _, e := range num.Elems {
		w := Want{Elem: e, Rank: 2}
		a, b := load("rand(100,3):5", w), load("rand(100,3):5", w)
		if a.Elem != e || !slices.Equal(a.Data, b.Data) {
			t.Errorf("%s: rand is not repeatable", e)
		}
		distinct := map[num.Cell]bool{}
		for _, c := range a.Cells() {
			distinct[c] = true
			x := float64(num.Int(c))
			top := 9.0
			if e.IsFloat() {
				x, top = num.Float(c), 1
			}
			if x < 0 || x > top || e.IsFloat() && x == 1 {
				t.Fatalf("%s: rand gave %v", e, x)
			}
		}
		want := 10
		if e.IsFloat() {
			want = 100
		} else if e == num.Bool {
			want = 2
		}
		if len(distinct) < want {
			t.Errorf("%s: rand gave %d distinct values of 300, want %d", e, len(distinct), want)
		}
	}
	if a, b := load("rand(9)", Want{Name: "a", Rank: -1}), load("rand(9)", Want{Name: "b", Rank: -1}); slices.Equal(a.Data, b.Data) {
		t.Error("two parameters got the same random data")
	}
	if got := load("iota(2,3)[1, ::-1]", Any).ints(); !slices.Equal(got, []int64{5, 4, 3}) {
		t.Errorf("iota: %v", got)
	}
	if got := load("iota(3)", Want{Elem: num.F16, Rank: 1}).Cells(); num.Float(got[2]) != 2 {
		t.Errorf("iota f16: %v", got)
	}
	if a := load("zeros(2,0,5)", Want{Elem: num.F32, Rank: 3}); a.Len() != 0 {
		t.Errorf("zeros: %v", a)
	}
}

// The first outputs of the reference implementation of splitmix64 for seed
// 1234567 (as published with the generator).
func TestSplitmix64(t *testing.T) {
	for i, want := range []uint64{6457827717110365317, 3203168211198807973, 9817491932198370423} {
		if got := splitmix64(1234567, uint64(i)); got != want {
			t.Errorf("output %d: got %d, want %d", i, got, want)
		}
	}
}

func TestLoadFaults(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "x.npy")
	if err := WriteNpy(path, arange(t, 3, 4)); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "folder.npy"), 0o777); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		text string
		want Want
		msg  string
	}{
		{path, Want{Name: "x", Elem: num.F32, Rank: 2}, "fix: add ` as f32`"},
		{path + " as f64", Want{Name: "x", Elem: num.F32, Rank: 2}, "fix: write ` as f32`"},
		{path, Want{Name: "x", Elem: num.I64, Rank: 1}, "has rank 2 (shape [3, 4]); expected rank 1"},
		{path, Want{Name: "n", Elem: num.I64, Rank: 0}, "expected rank 0"},
		{path + ":w", Any, "has no member \"w\""},
		{path + "[7]", Any, "index 7 is out of range"},
		{dir + "/none.npy", Want{Name: "x", Rank: -1}, "input x: there is no such file"},
		{dir + "/folder.npy", Any, "this is a folder"},
		{"/dev/zero", Any, "not a regular file"},
		{"rand(4000000000,4000000000)", Any, "overflows"},
		{"rand(1000000000,1000000)", Any, "of memory that are free"},
		{"zeros(1000000000000000) as u8", Any, "of memory that are free"},
		{"iota(129)", Want{Elem: num.I8, Rank: 1}, "counts to 128, i8 ends at 127"},
		{"zeros(1" + strings.Repeat(",1", 64) + ")", Any, "rank 65 is above 64"},
		{"rand(3)[3]", Any, "index 3 is out of range"},
		{"rand(3) as f64", Want{Elem: num.F32, Rank: 1}, "fix: write ` as f32`"},
		{"5", Want{Elem: num.F32, Rank: 1}, "has rank 0"},
	} {
		v, err := ParseValue(c.text)
		if err != nil {
			t.Fatal(err)
		}
		_, err = v.Load(c.want)
		if err == nil || !strings.Contains(err.Error(), c.msg) {
			t.Errorf("%s: got %v, want %q", c.text, err, c.msg)
		}
		if diag.ExitCode(err) != diag.ExitUser {
			t.Errorf("%s: exit code %d", c.text, diag.ExitCode(err))
		}
	}
	v, _ := ParseValue(path + "[1:, 0] as f32")
	a, err := v.Load(Want{Elem: num.F32, Rank: 1})
	if err != nil || num.Float(a.At(1)) != 8 {
		t.Errorf("slice and cast: %v %v", a, err)
	}
	v, _ = ParseValue(path)
	if a, err := v.Load(Want{Elem: num.Index, Rank: 2}); err != nil || a.Elem != num.Index {
		t.Errorf("i64 for index: %v %v", a, err)
	}
}

func TestBindings(t *testing.T) {
	if n, v, err := SplitBinding("x=f.npz:a=b"); err != nil || n != "x" || v != "f.npz:a=b" {
		t.Error(n, v, err)
	}
	for _, bad := range []string{"x", "=1", "x="} {
		if _, _, err := SplitBinding(bad); diag.ExitCode(err) != diag.ExitUsage {
			t.Errorf("%s: %v", bad, err)
		}
	}
	for text, want := range map[string]Out{
		"y.npy":                {File: "y.npy"},
		"result=y.npy":         {Name: "result", File: "y.npy"},
		"0=a=b.npz":            {Name: "0", File: "a=b.npz"},
		"./a=b.npy":            {File: "./a=b.npy"},
		"y = out/y.npy as f32": {Name: "y", File: "out/y.npy", As: num.F32},
		"/dev/stdout":          {File: "/dev/stdout"},
	} {
		if got, err := ParseOut(text); err != nil || got != want {
			t.Errorf("%s: got %+v %v", text, got, err)
		}
	}
	for _, bad := range []string{"y=", "", "y.txt", "y", "y.npy as float"} {
		if _, err := ParseOut(bad); diag.ExitCode(err) != diag.ExitUsage {
			t.Errorf("%q: %v", bad, err)
		}
	}
}
