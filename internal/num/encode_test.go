package num

import (
	"bytes"
	"math/rand"
	"testing"
)

// The bulk forms are the single ones in a loop, at every length and any bytes.
func TestBulkIsSingle(t *testing.T) {
	r := rand.New(rand.NewSource(30))
	for _, e := range Elems {
		for n := range 20 {
			mem := make([]byte, n*e.Bytes())
			r.Read(mem)
			cells := make([]Cell, n)
			DecodeSlice(e, mem, cells)
			out, single := make([]byte, len(mem)), make([]byte, len(mem))
			EncodeSlice(e, cells, out)
			for i, c := range cells {
				at := i * e.Bytes()
				if got := Decode(e, mem[at:]); got != c {
					t.Fatalf("%s: %x decodes to %x and in bulk to %x", e, mem[at:at+e.Bytes()], got, c)
				}
				Encode(e, c, single[at:at+e.Bytes()])
			}
			if !bytes.Equal(out, single) || e != Bool && !bytes.Equal(out, mem) {
				t.Fatalf("%s: %x came back as %x and %x", e, mem, out, single)
			}
		}
	}
}

func TestMemoryForm(t *testing.T) {
	for _, c := range []struct {
		e    Elem
		cell Cell
		want []byte
	}{
		{F16, fl(1), []byte{0x00, 0x3c}}, {BF16, fl(1), []byte{0x80, 0x3f}}, {F16, fl(-0x1p-24), []byte{0x01, 0x80}}, {F16, fl(65504), []byte{0xff, 0x7b}},
		{BF16, fl(-2.5), []byte{0x20, 0xc0}}, {F32, fl(0.5), []byte{0, 0, 0, 0x3f}}, {I16, FromInt(-2), []byte{0xfe, 0xff}}, {Bool, 1, []byte{1}},
		{I64, FromInt(-1), bytes.Repeat([]byte{0xff}, 8)}, {BF16, fl(0x1p-133), []byte{0x01, 0}},
	} {
		got := make([]byte, c.e.Bytes())
		if Encode(c.e, c.cell, got); !bytes.Equal(got, c.want) {
			t.Errorf("%s %x: % x, want % x", c.e, c.cell, got, c.want)
		}
	}
	if Decode(Bool, []byte{2}) != 1 {
		t.Error("a bool byte of 2 is true")
	}
}
