package driver

import (
	"strings"
	"testing"

	"tenon/internal/diag"
)

func TestDidYouMean(t *testing.T) {
	known := []string{"labels", "train", "x", "w.codes"}
	for name, want := range map[string]string{
		"lables": "labels", "label": "labels", "trian": "train", "w.code": "w.codes", "tarin": "train",
		"y": "", "zebra": "", "": "", "completely_different": "",
	} {
		got := didYouMean(name, known)
		if want == "" && got != "" || want != "" && got != " (did you mean "+want+"?)" {
			t.Errorf("%q: got %q, expected %q", name, got, want)
		}
	}
}

func TestEditDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"abc", "", 3}, {"", "ab", 2}, {"kitten", "sitting", 3}, {"flaw", "lawn", 2}, {"same", "same", 0}} {
		if got := editDistance(c.a, c.b); got != c.want {
			t.Errorf("%q to %q: %d, expected %d", c.a, c.b, got, c.want)
		}
		if got := editDistance(c.b, c.a); got != c.want {
			t.Errorf("%q to %q: %d, expected %d", c.b, c.a, got, c.want)
		}
	}
}

// bind binds inputs to the only function of a program in the IR's text.
func bind(t *testing.T, program string, inputs ...string) (*Call, error) {
	t.Helper()
	m, err := Parse("p.tnir", "tenon ir 1\n"+program)
	if err != nil {
		t.Fatal(diag.Render(err, diag.Sources{"p.tnir": "tenon ir 1\n" + program}, false))
	}
	f, err := Entry(m, "")
	if err != nil {
		t.Fatal(err)
	}
	return Bind(m, f, inputs)
}

// Sizes follow from whatever extents determine them, in any order, and every
// extent is then held against them.
func TestSizes(t *testing.T) {
	const halves = `proc loop @f<N, M>(in %a: buf<f32[2*N + 1, M]>, in %b: buf<f32[N + M]>, out %c: buf<f32[M - N, 3]>) {
	loop.for i = 0 to M - N { loop.for j = 0 to 3 { store(1.0: f32, %c[i, j]) } }; return() }`
	for _, c := range []struct {
		inputs []string
		want   map[string]int64
		fault  string
	}{
		{[]string{"a=zeros(5,7)", "b=zeros(9)"}, map[string]int64{"N": 2, "M": 7}, ""},
		{[]string{"a=zeros(1,0)", "b=zeros(0)"}, map[string]int64{"N": 0, "M": 0}, ""},
		{[]string{"a=zeros(5,7)", "b=zeros(9)", "N=2"}, map[string]int64{"N": 2, "M": 7}, ""},
		{[]string{"a=zeros(5,7)", "b=zeros(9)", "N=3"}, nil, "dim 0 of a is 5; expected 2*N + 1 = 7, with N = 3 by --in N"},
		{[]string{"a=zeros(4,7)", "b=zeros(9)"}, nil, "dim 0 of a is 4; expected 2*N + 1 = 3, with N = 1 by dim 0 of a"},
		{[]string{"a=zeros(5,7)", "b=zeros(8)"}, nil, "dim 0 of b is 8; expected M + N = 9, with M = 7 by dim 1 of a, with N = 2 by dim 0 of a"},
		{[]string{"a=zeros(5,1)", "b=zeros(3)"}, nil, "dim 0 of c, M - N: it is -1"},
	} {
		call, err := bind(t, halves, c.inputs...)
		if c.fault != "" {
			if err == nil || !strings.Contains(err.Error(), c.fault) {
				t.Errorf("%v: got %v, expected %s", c.inputs, err, c.fault)
			}
			continue
		}
		if err != nil {
			t.Errorf("%v: %v", c.inputs, err)
			continue
		}
		for n, want := range c.want {
			if call.Sizes[n] != want {
				t.Errorf("%v: %s is %d, expected %d", c.inputs, n, call.Sizes[n], want)
			}
		}
	}
}
