package interp_test

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tenon/internal/diag"
	"tenon/internal/num"
	"tenon/ir"
	"tenon/ir/interp"
	_ "tenon/ir/ops"
)

// parse reads a module and requires that it verifies.
func parse(t testing.TB, name, text string) *ir.Module {
	t.Helper()
	m, err := ir.Parse(name, text)
	if err == nil {
		err = ir.Verify(m)
	}
	if err != nil {
		t.Fatal(diag.Render(err, diag.Sources{name: text}, false))
	}
	return m
}

// example reads one of the text form's example files.
func example(t testing.TB, name string) *ir.Module {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("../ops/testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return parse(t, name, string(data))
}

// random is an array of small random values of type e: floats in -2..2, bools,
// integers in 0..7.
func random(r *rand.Rand, e num.Elem, shape ...int64) *ir.Array {
	a := ir.NewArray(e, shape...)
	for i := range a.Mem.Cells {
		switch {
		case e.IsFloat():
			a.Mem.Cells[i] = num.FromFloat(num.Round(e, r.Float64()*4-2))
		case e == num.Bool:
			a.Mem.Cells[i] = num.FromBool(r.IntN(2) == 0)
		default:
			a.Mem.Cells[i] = num.FromInt(r.Int64N(8))
		}
	}
	return a
}

// floats and intsOf make arrays from Go values.
func floats(e num.Elem, shape []int64, v ...float64) *ir.Array {
	a := ir.NewArray(e, shape...)
	for i, x := range v {
		a.Mem.Cells[i] = num.FromFloat(num.Round(e, x))
	}
	return a
}

func intsOf(e num.Elem, shape []int64, v ...int64) *ir.Array {
	a := ir.NewArray(e, shape...)
	for i, x := range v {
		a.Mem.Cells[i] = num.FromInt(x)
	}
	return a
}

// elem is element idx of a as a float64.
func elem(a *ir.Array, idx ...int64) float64 {
	pos, ok := a.Cell(idx)
	if !ok {
		panic("index")
	}
	if a.Elem.IsFloat() {
		return num.Float(a.Mem.Cells[pos])
	}
	return float64(num.Int(a.Mem.Cells[pos]))
}

// run runs fn with shadows and gives its results as arrays.
func run(t testing.TB, m *ir.Module, fn string, args ...any) []*ir.Array {
	t.Helper()
	out, err := interp.New(m, interp.Options{Shadow: true, Seed: 1}).Run(fn, args)
	if err != nil {
		t.Fatalf("@%s: %v", fn, err)
	}
	var as []*ir.Array
	for _, o := range out {
		as = append(as, o.(*ir.Array))
	}
	return as
}

// agrees holds a reference loop's values, in C order, against a result: the
// loop is one more implementation, computing in f64.
func agrees(t testing.TB, what string, got *ir.Array, want []float64) {
	t.Helper()
	ref := ir.NewArray(got.Elem, got.Shape...)
	if len(want) != len(ref.Mem.Cells) {
		t.Fatalf("%s: %d elements, want %d", what, len(ref.Mem.Cells), len(want))
	}
	for i, w := range want {
		if got.Elem.IsFloat() {
			ref.Mem.Cells[i] = num.FromFloat(num.Round(got.Elem, w))
		} else {
			ref.Mem.Cells[i] = num.FromInt(int64(w))
		}
	}
	r, err := interp.Compare(ref, got)
	if err != nil {
		t.Errorf("%s: %v", what, err)
	}
	if r.Undecided*4 > r.Elements {
		t.Errorf("%s: %d of %d elements are undecided", what, r.Undecided, r.Elements)
	}
}

var sizes = []int64{0, 1, 2, 3, 5, 7, 13}

// over gives f's values at every index of shape in C order.
func over(shape []int64, f func(i []int64) float64) []float64 {
	var out []float64
	idx := make([]int64, len(shape))
	for d := 0; d >= 0; {
		if d < len(shape) {
			if idx[d] < shape[d] {
				d++
				if d < len(shape) {
					idx[d] = 0
				}
				continue
			}
		} else {
			out = append(out, f(idx))
		}
		if d--; d >= 0 {
			idx[d]++
		}
	}
	return out
}

// graph is a random multigraph in csr: empty rows, duplicates, any order.
func graph(r *rand.Rand, rows, cols int64) *ir.PatternValue {
	p := &ir.PatternValue{Rows: rows, Cols: cols, Ptr: []int64{0}}
	for i := int64(0); i < rows; i++ {
		for range r.IntN(4) * min(1, int(cols)) {
			c := r.Int64N(cols)
			p.Col = append(p.Col, c)
			if r.IntN(4) == 0 {
				p.Col = append(p.Col, c)
			}
		}
		p.Ptr = append(p.Ptr, p.NNZ())
	}
	return p
}

// row lists the entries of row i.
func row(p *ir.PatternValue, i int64) []int64 {
	var es []int64
	for e := p.Ptr[i]; e < p.Ptr[i+1]; e++ {
		es = append(es, e)
	}
	return es
}

// wantTrap wants a fault of that code whose text has the parts.
func wantTrap(t *testing.T, err error, code ir.TrapCode, parts ...string) {
	t.Helper()
	wantFault(t, err, parts...)
	var f *interp.Fault
	if errors.As(err, &f) && f.Code != code {
		t.Errorf("the fault's code is %d, want %d: %v", f.Code, code, err)
	}
}

func replace(s, old, with string) string { return strings.ReplaceAll(s, old, with) }

// stored makes random index arrays of a format, and the place of each entry in
// the order of the format's values.
func stored(r *rand.Rand, f ir.Format, rows, cols int64) (ptr, idx *ir.Array, places [][2]int64) {
	pe := f.Ptr
	if pe == num.Invalid {
		pe = f.Idx
	}
	vector := func(e num.Elem, v []int64) *ir.Array { return intsOf(e, []int64{int64(len(v))}, v...) }
	switch f.Kind {
	case "coo":
		var rs, cs []int64
		for range int(rows) * 2 {
			rs, cs = append(rs, r.Int64N(rows)), append(cs, r.Int64N(cols))
			places = append(places, [2]int64{rs[len(rs)-1], cs[len(cs)-1]})
		}
		return vector(pe, rs), vector(f.Idx, cs), places
	case "bsr":
		g := graph(r, rows/f.BlockRows, cols/f.BlockCols)
		for i := int64(0); i < g.Rows; i++ {
			for _, b := range row(g, i) {
				for k := int64(0); k < f.BlockRows*f.BlockCols; k++ {
					places = append(places, [2]int64{i*f.BlockRows + k/f.BlockCols, g.Col[b]*f.BlockCols + k%f.BlockCols})
				}
			}
		}
		return vector(pe, g.Ptr), vector(f.Idx, g.Col), places
	case "csc":
		g := graph(r, cols, rows)
		for j := int64(0); j < cols; j++ {
			for _, e := range row(g, j) {
				places = append(places, [2]int64{g.Col[e], j})
			}
		}
		return vector(pe, g.Ptr), vector(f.Idx, g.Col), places
	}
	g := graph(r, rows, cols)
	for i := int64(0); i < rows; i++ {
		for _, e := range row(g, i) {
			places = append(places, [2]int64{i, g.Col[e]})
		}
	}
	return vector(pe, g.Ptr), vector(f.Idx, g.Col), places
}
