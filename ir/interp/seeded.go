package interp

import (
	"fmt"
	"math"
	"math/rand/v2"

	"tenon/internal/num"
	"tenon/ir"
	"tenon/ir/sym"
)

// Seeded draws arguments for f: small dims (0, 1 and primes among them) that
// meet f's facts, floats about 0, and integers that are mostly valid as
// subscripts. Patterns are multigraphs with empty rows and duplicate entries.
// `out` arguments are left nil. The draw depends on the seed, the dims and the
// parameters that are read alone, so that a function before and after a pass
// gets the same values.
//
// Every fourth seed strews infinities, NaNs, zeros of both signs and very large
// values among the floats. An error says that no dims were found.
func Seeded(m *ir.Module, f *ir.Func, seed int64) ([]any, error) {
	d := &draw{f: f, rng: rand.New(rand.NewPCG(uint64(seed), 0x736565646564)), special: seed%4 == 3}
	for try := 0; try < 2000; try++ {
		d.chooseDims(try)
		if !d.allowed() {
			continue
		}
		d.bound = d.smallest()
		args := make([]any, len(f.Params))
		ok := true
		for i, p := range f.Params { // patterns first: they give nnz#p its value
			if t, isPattern := p.Value.Type.(ir.Pattern); isPattern {
				args[i], ok = d.pattern(t)
				if !ok {
					break
				}
			}
		}
		for i, p := range f.Params {
			if args[i] == nil && ok && p.Mode != ir.ModeOut {
				args[i], ok = d.value(p.Value.Type)
			}
		}
		if ok {
			return args, nil
		}
	}
	return nil, fmt.Errorf("@%s: no dims below 17 meet its facts", f.Name)
}

// draw is the state of one drawing. bound is what integers stay below.
type draw struct {
	f       *ir.Func
	rng     *rand.Rand
	special bool
	dims    map[string]int64
	bound   int64
}

// sizes are the dims tried, small ones most often; later tries also take sizes
// that facts about divisibility and order ask for.
var sizes = []int64{3, 2, 5, 1, 4, 7, 0, 3, 2, 5, 8, 6, 16, 11, 13}

func (d *draw) chooseDims(try int) {
	n := 10
	if try > 4 {
		n = len(sizes)
	}
	d.dims = map[string]int64{}
	for _, name := range d.f.Dims {
		d.dims[name] = sizes[d.rng.IntN(n)]
	}
}

// allowed reports whether the declared facts hold, also those of encodings.
func (d *draw) allowed() bool {
	for _, w := range d.f.Where {
		if ok, err := w.Cond.Eval(sym.Names(d.dims)); err == nil && !ok {
			return false
		}
	}
	for _, p := range d.f.Params {
		t, ok := p.Value.Type.(ir.Tensor)
		if !ok || t.Enc == nil {
			continue
		}
		m := ir.EncodingDims(t)
		for _, w := range t.Enc.Where {
			if ok, err := m.Cond(w.Cond).Eval(sym.Names(d.dims)); err != nil || !ok {
				return false
			}
		}
	}
	return true
}

func (d *draw) smallest() int64 {
	least := int64(4)
	for _, name := range d.f.Dims {
		if n := d.dims[name]; n > 0 {
			least = min(least, n)
		}
	}
	return least
}

func (d *draw) value(t ir.Type) (any, bool) {
	switch t := t.(type) {
	case ir.Scalar:
		return Scalar{Elem: t.Elem, Cell: d.cell(t.Elem)}, true
	case ir.Tensor:
		if t.Enc != nil {
			return d.encoded(t)
		}
		return d.array(t.Elem, t.Dims, nil)
	case ir.Buf:
		return d.array(t.Elem, t.Dims, t.Strides)
	}
	return nil, false
}

func (d *draw) eval(es []sym.Expr) ([]int64, bool) {
	out := make([]int64, len(es))
	for i, e := range es {
		v, err := e.Eval(sym.Names(d.dims))
		if err != nil || v < 0 {
			return nil, false
		}
		out[i] = v
	}
	return out, true
}

// array draws an array; strides must leave the elements apart.
func (d *draw) array(e num.Elem, dims, strides []sym.Expr) (*ir.Array, bool) {
	shape, ok := d.eval(dims)
	size, fits := ir.SizeOf(shape)
	if !ok || !fits || size > 1<<20 {
		return nil, false
	}
	a := ir.NewArray(e, shape...)
	if strides != nil {
		st, ok := d.eval(strides)
		if !ok {
			return nil, false
		}
		span := int64(1)
		for i := len(st) - 1; i >= 0; i-- {
			if shape[i] > 1 && st[i] < span {
				return nil, false
			}
			span += st[i] * max(shape[i]-1, 0)
		}
		a.Strides, a.Mem.Cells = st, make([]num.Cell, span)
	}
	for i := range a.Mem.Cells {
		a.Mem.Cells[i] = d.cell(e)
	}
	return a, true
}

// specials are the floats that most programs get wrong.
var specials = []float64{math.Inf(1), math.Inf(-1), math.NaN(), math.Copysign(0, -1), 0, 1e30, -1e30, 1e-40}

func (d *draw) cell(e num.Elem) num.Cell {
	switch {
	case e == num.Bool:
		return num.FromBool(d.rng.IntN(2) == 1)
	case e.IsFloat():
		x := d.rng.NormFloat64()
		if d.special && d.rng.IntN(8) == 0 {
			x = specials[d.rng.IntN(len(specials))]
		}
		return num.FromFloat(num.Round(e, x))
	}
	return num.FromInt(d.rng.Int64N(d.bound))
}

// encoded draws the parts. Their own dims follow from the tensor's.
func (d *draw) encoded(t ir.Tensor) (any, bool) {
	shape, ok := d.eval(t.Dims)
	if !ok {
		return nil, false
	}
	x := &ir.Encoded{Enc: t.Enc, Shape: shape}
	m := ir.EncodingDims(t)
	for _, p := range t.Enc.Parts {
		pt := m.Type(p.Value.Type).(ir.Tensor)
		part, ok := d.array(pt.Elem, pt.Dims, nil)
		if !ok {
			return nil, false
		}
		x.Parts = append(x.Parts, part)
	}
	return x, true
}

// pattern draws a structure in t's format and binds nnz#p.
func (d *draw) pattern(t ir.Pattern) (any, bool) {
	n, ok := d.eval([]sym.Expr{t.Rows, t.Cols})
	if !ok {
		return nil, false
	}
	rows, cols := n[0], n[1]
	block := int64(1)
	switch t.Format.Kind {
	case "csc":
		rows, cols = cols, rows
	case "bsr":
		if rows%t.Format.BlockRows != 0 || cols%t.Format.BlockCols != 0 {
			return nil, false
		}
		rows, cols, block = rows/t.Format.BlockRows, cols/t.Format.BlockCols, t.Format.BlockRows*t.Format.BlockCols
	}
	ptr, row, col := []int64{0}, []int64{}, []int64{}
	for i := int64(0); i < rows; i++ {
		for k := d.rng.Int64N(4); k > 0 && cols > 0; k-- {
			row, col = append(row, i), append(col, d.rng.Int64N(cols))
		}
		ptr = append(ptr, int64(len(col)))
	}
	first, elem := ptr, t.Format.Ptr
	if t.Format.Kind == "coo" {
		first, elem = row, t.Format.Idx
	}
	p, err := NewPattern(t.Format, n[0], n[1], vector(elem, first), vector(t.Format.Idx, col))
	if err != nil {
		return nil, false
	}
	d.dims["nnz#"+t.ID] = int64(len(col)) * block
	return p, true
}

func vector(e num.Elem, v []int64) *ir.Array {
	a := ir.NewArray(e, int64(len(v)))
	for i, n := range v {
		a.Mem.Cells[i] = num.FromInt(n)
	}
	return a
}
