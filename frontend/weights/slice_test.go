package weights

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"tenon/internal/num"
)

// pySlice lists the indices of range(n)[start:stop:step] as the Python
// reference describes them: walk from start by step while inside the bounds.
func pySlice(n int64, it sliceItem) []int64 {
	clamp := func(i, lo, hi int64) int64 {
		if i < 0 {
			i += n
		}
		return max(lo, min(i, hi))
	}
	out := []int64{}
	if it.step > 0 {
		start, stop := int64(0), n
		if it.hasStart {
			start = clamp(it.start, 0, n)
		}
		if it.hasStop {
			stop = clamp(it.stop, 0, n)
		}
		for i := start; i < stop; i += it.step {
			out = append(out, i)
		}
		return out
	}
	start, stop := n-1, int64(-1)
	if it.hasStart {
		start = clamp(it.start, -1, n-1)
	}
	if it.hasStop {
		stop = clamp(it.stop, -1, n-1)
	}
	for i := start; i > stop; i += it.step {
		out = append(out, i)
	}
	return out
}

func TestBoundsFollowPython(t *testing.T) {
	for n := int64(0); n <= 4; n++ {
		for start := int64(-7); start <= 7; start++ {
			for stop := int64(-7); stop <= 7; stop++ {
				for step := int64(-6); step <= 6; step++ {
					it := sliceItem{start: start, stop: stop, step: step, hasStart: start != 7, hasStop: stop != 7}
					if step == 0 {
						continue
					}
					want := pySlice(n, it)
					from, count, by := it.bounds(n)
					got := []int64{}
					for k := int64(0); k < count; k++ {
						got = append(got, from+k*by)
					}
					if !slices.Equal(got, want) {
						t.Fatalf("n=%d %+v: got %v, want %v", n, it, got, want)
					}
				}
			}
		}
	}
}

func TestSliceExamples(t *testing.T) {
	a := arange(t, 3, 4) // rows 0..3, 4..7, 8..11
	for _, c := range []struct {
		slice string
		shape []int64
		cells []int64
	}{
		{"[1:, :]", []int64{2, 4}, []int64{4, 5, 6, 7, 8, 9, 10, 11}},
		{"[:1]", []int64{1, 4}, []int64{0, 1, 2, 3}},
		{"[1]", []int64{4}, []int64{4, 5, 6, 7}},
		{"[-1, -1]", []int64{}, []int64{11}},
		{"[::-2, ::3]", []int64{2, 2}, []int64{8, 11, 0, 3}},
		{"[..., 1]", []int64{3}, []int64{1, 5, 9}},
		{"[0, ...]", []int64{4}, []int64{0, 1, 2, 3}},
		{"[2:1]", []int64{0, 4}, nil},
		{"[5:9, 0]", []int64{0}, nil},
		{"[-100:100, 3:-1:-1]", []int64{3, 0}, nil},
		{"[:, 3:0:-1]", []int64{3, 3}, []int64{3, 2, 1, 7, 6, 5, 11, 10, 9}},
		{fmt.Sprintf("[::%d, ::%d]", int64(math.MaxInt64), int64(math.MinInt64)), []int64{1, 1}, []int64{3}},
		{fmt.Sprintf("[%d:%d]", int64(math.MinInt64), int64(math.MaxInt64)), []int64{3, 4}, []int64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}},
	} {
		sl, err := ParseSlice(c.slice)
		if err != nil {
			t.Fatal(err)
		}
		b, err := a.Sub(sl)
		if err != nil {
			t.Fatalf("%s: %v", c.slice, err)
		}
		if got := b.ints(); !slices.Equal(b.Shape, c.shape) || !slices.Equal(got, c.cells) {
			t.Errorf("%s: got %v %v, want %v %v", c.slice, b.Shape, got, c.shape, c.cells)
		}
	}
}

func TestSliceFaults(t *testing.T) {
	for text, want := range map[string]string{
		"[]":                      "expected an integer",
		"[1:2:0]":                 "step of 0",
		"[1:2:3:4]":               "expected an integer",
		"[a]":                     "not a 64-bit integer",
		"[1.5]":                   "not a 64-bit integer",
		"[..., ...]":              "once",
		"[99999999999999999999:]": "not a 64-bit integer",
		"(1)":                     "expected [...]",
	} {
		if _, err := ParseSlice(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", text, err, want)
		}
	}
	a := arange(t, 3, 4)
	for text, want := range map[string]string{
		"[3]":       "index 3 is out of range for axis 0 of 3",
		"[0, -5]":   "index -5 is out of range for axis 1 of 4",
		"[0, 0, :]": "3 items, the array has rank 2",
	} {
		sl, err := ParseSlice(text)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := a.Sub(sl); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", text, err, want)
		}
	}
}

// Slices of slices, element by element against At on the original.
func TestSubAgreesWithAt(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		a := arange(t, r.Int64N(5), r.Int64N(4), 1+r.Int64N(4))
		items := []sliceItem{}
		parts := []string{}
		for k := range a.Shape {
			it := sliceItem{start: r.Int64N(11) - 5, stop: r.Int64N(11) - 5, step: r.Int64N(3) + 1, hasStart: r.IntN(2) == 0, hasStop: r.IntN(2) == 0}
			if r.IntN(2) == 0 {
				it.step = -it.step
			}
			text := ""
			if it.hasStart {
				text += fmt.Sprint(it.start)
			}
			text += ":"
			if it.hasStop {
				text += fmt.Sprint(it.stop)
			}
			parts = append(parts, fmt.Sprintf("%s:%d", text, it.step))
			items = append(items, it)
			_ = k
		}
		sl, err := ParseSlice("[" + strings.Join(parts, ",") + "]")
		if err != nil {
			t.Fatal(err)
		}
		b, err := a.Sub(sl)
		if err != nil {
			t.Fatal(err)
		}
		var want []int64
		for _, i := range pySlice(a.Shape[0], items[0]) {
			for _, j := range pySlice(a.Shape[1], items[1]) {
				for _, k := range pySlice(a.Shape[2], items[2]) {
					want = append(want, num.Int(a.At(i, j, k)))
				}
			}
		}
		if got := b.ints(); !slices.Equal(got, want) {
			t.Fatalf("%v%s: got %v, want %v", a.Shape, sl, got, want)
		}
	}
}

// arange is the i64 array 0, 1, 2... in C order.
func arange(t testing.TB, shape ...int64) *Array {
	t.Helper()
	a, err := Value{Gen: "iota", Dims: shape, As: num.I64}.Load(Any)
	if err != nil {
		t.Fatal(err)
	}
	return a
}
