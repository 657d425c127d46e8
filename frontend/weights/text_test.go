package weights

import (
	"testing"

	"tenon/internal/num"
)

func TestText(t *testing.T) {
	sub := func(a *Array, s string) *Array {
		sl, err := ParseSlice(s)
		if err != nil {
			t.Fatal(err)
		}
		b, err := a.Sub(sl)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	half := FromCells(num.F32, []int64{2}, []num.Cell{num.FromFloat(0.1), num.FromFloat(-2)})
	tenth, _ := half.As(num.F16)
	for want, a := range map[string]*Array{
		"[[0, 1],\n [2, 3]]":       arange(t, 2, 2),
		"[[3, 2],\n [1, 0]]":       sub(arange(t, 2, 2), "[::-1, ::-1]"),
		"[[[0, 1]],\n\n [[2, 3]]]": arange(t, 2, 1, 2),
		"7":                        sub(arange(t, 9), "[7]"),
		"[]":                       arange(t, 0, 4),
		"[[],\n [],\n [],\n ...,\n [],\n [],\n []]": arange(t, 5000, 0),
		"[[],\n []]":                       arange(t, 2, 0),
		"[0, 1, 2, ..., 1998, 1999, 2000]": arange(t, 2001),
		"[0.1, -2.0]":                      tenth,
		"[[0, 1, 2],\n [3, 4, 5]]":         arange(t, 2, 3),
		"[[0, 1, 2, ..., 1497, 1498, 1499],\n [1500, 1501, 1502, ..., 2997, 2998, 2999]]": arange(t, 2, 1500),
	} {
		if got := a.Text(); got != want {
			t.Errorf("%v: got %s, want %s", a.Shape, got, want)
		}
	}
}
