package weights

import (
	"strings"

	"tenon/internal/num"
)

// textEdge is how many entries at either end of a long axis are shown, and
// textWhole how many elements an array may have to be shown whole.
const (
	textEdge  = 3
	textWhole = 1000
)

// Text shows the elements in nested brackets, one row a line, as NumPy prints
// arrays: the middle of long axes is left out of arrays of more than 1000
// elements. Each element is the shortest text that reads back as itself, any NaN is nan.
func (a *Array) Text() string {
	t := &textWriter{a: a, whole: true}
	n := int64(1)
	for _, d := range a.Shape {
		n *= max(d, 1) // an empty row is a pair of brackets
		t.whole = t.whole && n <= textWhole
	}
	t.axis(0, a.Offset)
	return t.b.String()
}

type textWriter struct {
	a     *Array
	whole bool
	b     strings.Builder
}

// axis writes what lies below axis k, from the element at on.
func (t *textWriter) axis(k int, at int64) {
	if k == t.a.Rank() {
		s := num.Format(t.a.Elem, num.Decode(t.a.Elem, t.a.Data[at*int64(t.a.Elem.Bytes()):]))
		if strings.HasPrefix(s, "nan") {
			s = "nan" // sign and payload differ between machines
		}
		t.b.WriteString(s)
		return
	}
	between := ", "
	if below := t.a.Rank() - k - 1; below > 0 {
		between = "," + strings.Repeat("\n", below) + strings.Repeat(" ", k+1)
	}
	t.b.WriteByte('[')
	n := t.a.Shape[k]
	for i := int64(0); i < n; i++ {
		if i > 0 {
			t.b.WriteString(between)
		}
		if !t.whole && i == textEdge && n > 2*textEdge {
			t.b.WriteString("...")
			i = n - textEdge - 1
			continue
		}
		t.axis(k+1, at+i*t.a.Strides[k])
	}
	t.b.WriteByte(']')
}
