package num

import (
	"math"
	"slices"
	"testing"
)

// apply runs a binary int64 op over two lists.
func apply(name string, a, b []int64) []int64 {
	f := Binary(name, I64)
	out := make([]int64, len(a))
	for i := range a {
		out[i] = Int(f(FromInt(a[i]), FromInt(b[i])))
	}
	return out
}

func TestDivisionSigns(t *testing.T) {
	a, b := []int64{8, -8, 7, -7}, []int64{-3, 3, -2, 2}
	for name, want := range map[string][]int64{
		"tdiv": {-2, -2, -3, -3}, "trem": {2, -2, 1, -1},
		"floordiv": {-3, -3, -4, -4}, "mod": {-1, 1, -1, 1},
	} {
		if got := apply(name, a, b); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	a, b = []int64{110, 16777217, math.MinInt64, 5}, []int64{55, 1, -1, 0}
	if got := apply("tdiv", a, b); !slices.Equal(got, []int64{2, 16777217, math.MinInt64, 0}) {
		t.Errorf("tdiv: %v", got)
	}
	if got := apply("trem", a, b); !slices.Equal(got, []int64{0, 0, 0, 0}) {
		t.Errorf("trem: %v", got)
	}
}

// NaN wins at each position of every length, whatever the order of operands.
func TestMaxPropagatesNaN(t *testing.T) {
	for _, e := range []Elem{F64, F32, F16, BF16} {
		for _, name := range []string{"max", "min"} {
			f := Binary(name, e)
			for n := 1; n <= 17; n++ {
				for at := range n {
					acc := FromFloat(math.Inf(-1))
					for i := range n {
						x := math.Inf(1 - 2*(i&1))
						if i == at {
							x = math.NaN()
						}
						acc = f(acc, FromFloat(x))
					}
					if !math.IsNaN(Float(acc)) {
						t.Fatalf("%s %s: NaN at %d of %d gives %v", e, name, at, n, Float(acc))
					}
				}
			}
		}
	}
}

func TestFloatIdentitiesThatDoNotHold(t *testing.T) {
	nan, inf, zero := FromFloat(math.NaN()), FromFloat(math.Inf(1)), FromFloat(0)
	neg0 := FromFloat(math.Copysign(0, -1))
	for _, e := range []Elem{F64, F32, F16, BF16} {
		for _, x := range []Cell{nan, inf} {
			if r := Float(Binary("mul", e)(x, zero)); r == r {
				t.Errorf("%s: %v * 0 = %v", e, Float(x), r)
			}
		}
		for _, args := range [][2]Cell{{zero, neg0}, {neg0, zero}} {
			if Binary("max", e)(args[0], args[1]) != zero || Binary("min", e)(args[0], args[1]) != neg0 {
				t.Errorf("%s: max or min confuses the zeros", e)
			}
		}
		if Binary("add", e)(neg0, zero) != zero || Binary("add", e)(neg0, neg0) != neg0 {
			t.Errorf("%s: -0 + 0", e)
		}
	}
}

// softmax is the row maximum subtracted, exponentials, their sum, quotients.
func softmax(e Elem, xs []float64) (out []float64, sum float64) {
	sub, exp, add, div, top := Binary("sub", e), Unary("exp", e), Binary("add", e), Binary("div", e), Binary("max", e)
	m, total := FromFloat(math.Inf(-1)), FromFloat(0)
	for _, x := range xs {
		m = top(m, FromFloat(x))
	}
	var es []Cell
	for _, x := range xs {
		es = append(es, exp(sub(FromFloat(x), m)))
		total = add(total, es[len(es)-1])
	}
	for _, c := range es {
		out = append(out, Float(div(c, total)))
		sum += out[len(out)-1]
	}
	return out, sum
}

func TestSoftmaxOfExtremes(t *testing.T) {
	inf := math.Inf(-1)
	masked := make([]float64, 32)
	for i := range 16 {
		masked[i] = inf
	}
	for _, e := range []Elem{F64, F32} {
		if out, _ := softmax(e, []float64{1000, 1000}); out[0] != 0.5 || out[1] != 0.5 {
			t.Errorf("%s: softmax of [1000, 1000] is %v", e, out)
		}
		if out, _ := softmax(e, []float64{inf, inf}); out[0] == out[0] || out[1] == out[1] {
			t.Errorf("%s: softmax of an all -inf row is %v", e, out)
		}
		if out, sum := softmax(e, masked); sum != 1 || out[0] != 0 || out[31] != 1.0/16 {
			t.Errorf("%s: softmax of a half masked row is %v, sum %v", e, out, sum)
		}
	}
}
