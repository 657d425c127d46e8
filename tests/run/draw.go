package run

import (
	"fmt"
	"math"
	"math/rand/v2"

	"tenon/internal/num"
	"tenon/ir"
	"tenon/ir/interp"
	"tenon/ir/sym"
)

// Values says what Draw draws.
type Values int

// Plain floats are about 0 and plain integers valid subscripts; Special ones
// hold infinities, NaNs and zeros of both signs, and integers of the whole range.
const (
	Plain Values = iota
	Special
)

// Draw makes arguments of fn at the given sizes. ok is false if its facts do not
// allow them.
func Draw(f *ir.Func, dims map[string]int64, v Values, seed uint64) (args []any, ok bool) {
	for _, w := range f.Where {
		if holds, err := w.Cond.Eval(sym.Names(dims)); err == nil && !holds {
			return nil, false
		}
	}
	d := &draw{rng: rand.New(rand.NewPCG(seed, 0x72756e)), values: v, bound: least(dims)}
	for _, p := range f.Params {
		switch {
		case p.Mode == ir.ModeOut:
			args = append(args, nil)
			continue
		case ir.ElemOf(p.Value.Type) == num.Invalid:
			return nil, false
		}
		e := ir.ElemOf(p.Value.Type)
		types, isArray := ir.DimsOf(p.Value.Type)
		if !isArray {
			args = append(args, interp.Scalar{Elem: e, Cell: d.cell(e)})
			continue
		}
		shape := []int64{}
		for _, x := range types {
			n, err := x.Eval(sym.Names(dims))
			if err != nil || n < 0 {
				return nil, false
			}
			shape = append(shape, n)
		}
		a := ir.NewArray(e, shape...)
		for i := range a.Mem.Cells {
			a.Mem.Cells[i] = d.cell(e)
		}
		args = append(args, a)
	}
	return args, true
}

// least is what drawn subscripts stay below: the least size that is not 0.
func least(dims map[string]int64) int64 {
	n := int64(5)
	for _, d := range dims {
		if d > 0 {
			n = min(n, d)
		}
	}
	return n
}

type draw struct {
	rng    *rand.Rand
	values Values
	bound  int64
}

var specials = []float64{math.Inf(1), math.Inf(-1), math.NaN(), math.Copysign(0, -1), 0, 1e30, -1e30, 1e-40, 3e-39}

func (d *draw) cell(e num.Elem) num.Cell {
	odd := d.values == Special && d.rng.IntN(3) == 0
	switch {
	case e == num.Bool:
		return num.FromBool(d.rng.IntN(2) == 1)
	case e.IsFloat() && odd:
		return num.FromFloat(num.Round(e, specials[d.rng.IntN(len(specials))]))
	case e.IsFloat():
		return num.FromFloat(num.Round(e, d.rng.NormFloat64()))
	case odd && e != num.Index:
		lo, hi := num.IntRange(e)
		edge := []int64{lo, hi, 0, num.Wrap(e, -1), 1, num.Wrap(e, int64(d.rng.Uint64()))}
		return num.FromInt(edge[d.rng.IntN(len(edge))])
	}
	return num.FromInt(d.rng.Int64N(d.bound))
}

// Sizes are assignments of dims to try where a test names none: all dims equal,
// and mixtures.
func Sizes(f *ir.Func) []map[string]int64 {
	var out []map[string]int64
	for _, n := range []int64{0, 1, 2, 7, 13, 24} {
		out = append(out, even(f, n))
	}
	mixed := []int64{3, 5, 1, 17, 2, 8}
	for shift := range 3 {
		m := map[string]int64{}
		for i, d := range f.Dims {
			m[d] = mixed[(i+shift*2)%len(mixed)]
		}
		out = append(out, m)
	}
	for i, d := range f.Dims { // one size 0, the others not
		m := even(f, 3)
		m[d] = 0
		if i < 4 {
			out = append(out, m)
		}
	}
	return out
}

func even(f *ir.Func, n int64) map[string]int64 {
	m := map[string]int64{}
	for _, d := range f.Dims {
		m[d] = n
	}
	return m
}

// Describe writes sizes in the order of f's dims.
func Describe(f *ir.Func, dims map[string]int64) string {
	s := f.Name
	for _, d := range f.Dims {
		s += fmt.Sprintf(" %s=%d", d, dims[d])
	}
	return s
}
