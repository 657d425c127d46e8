package fuzz

import (
	"hash/fnv"
	"maps"
	"math"
	"math/rand/v2"

	"tenon/internal/num"
	"tenon/ir"
	"tenon/ir/interp"
	"tenon/ir/sym"
)

// Arguments draws arguments of f at the given sizes. The same program, function
// and sizes always give the same ones; the arrays are fresh.
func Arguments(p *Program, f *ir.Func, info *FuncInfo, sizes map[string]int64) []any {
	h := fnv.New64a()
	h.Write([]byte(f.Name))
	r := rand.New(rand.NewPCG(p.Seed, h.Sum64()))
	d := drawer{Rand: r, sizes: maps.Clone(sizes)} // patterns add their sizes
	var args []any
	for _, prm := range f.Params {
		args = append(args, d.argument(prm, info.Roles[prm.Value.Name]))
	}
	return args
}

type drawer struct {
	*rand.Rand
	sizes map[string]int64
	role  Role
	style int // of the values of one argument
}

func (d *drawer) argument(p *ir.Param, role Role) any {
	d.role, d.style = role, d.IntN(8)
	switch t := p.Value.Type.(type) {
	case ir.Scalar:
		return interp.Scalar{Elem: t.Elem, Cell: d.cell(t.Elem)}
	case ir.Pattern:
		return d.pattern(t)
	case ir.Tensor:
		if t.Enc != nil {
			return d.encoded(t)
		}
		return d.array(t.Elem, d.shape(t.Dims))
	case ir.Buf:
		return d.array(t.Elem, d.shape(t.Dims))
	}
	return nil
}

func (d *drawer) shape(dims []sym.Expr) []int64 {
	shape := make([]int64, len(dims))
	for i, e := range dims {
		n, _ := e.Eval(sym.Names(d.sizes))
		shape[i] = max(0, n)
	}
	return shape
}

func (d *drawer) array(e num.Elem, shape []int64) *ir.Array {
	a := ir.NewArray(e, shape...)
	for i := range a.Mem.Cells {
		a.Mem.Cells[i] = d.cell(e)
	}
	return a
}

// cell is one value: within its role if it has one, else in the argument's
// style: mostly plain, in one argument of eight many extreme ones.
func (d *drawer) cell(e num.Elem) num.Cell {
	switch {
	case len(d.role.Values) > 0:
		return num.FromInt(num.Wrap(e, d.role.Values[d.IntN(len(d.role.Values))]))
	case !d.role.Bound.Equal(sym.Const(0)):
		return num.FromInt(num.Wrap(e, d.bounded()))
	case e == num.Bool:
		return num.FromBool(d.IntN(2) == 0)
	case e.IsFloat():
		return num.FromFloat(num.Round(e, d.float(e)))
	}
	return num.FromInt(d.integer(e))
}

func (d *drawer) bounded() int64 {
	n, err := d.role.Bound.Eval(sym.Names(d.sizes))
	if err != nil || n <= 0 || d.role.Stray && d.IntN(10) == 0 {
		return d.Int64N(5) - 2 + max(0, n)
	}
	return d.Int64N(n)
}

var extremes = []float64{math.NaN(), math.Inf(1), math.Inf(-1), math.Copysign(0, -1), 0, 5e-324, 1e-310, 1e-45, 1e-40,
	6e-8, 6.1e-5, 65504, 65520, 3.4e38, -3.4e38, 1.7e308, -1.7e308, 1 << 24, 1<<53 + 1, -1, 0.5}

func (d *drawer) float(e num.Elem) float64 {
	switch {
	case d.style == 0 && d.IntN(3) == 0:
		return extremes[d.IntN(len(extremes))]
	case d.style == 1:
		return float64(d.IntN(5) - 2) // ties and exact sums
	case d.style == 2:
		return math.Exp(d.NormFloat64() * 8)
	}
	return d.NormFloat64()
}

func (d *drawer) integer(e num.Elem) int64 {
	lo, hi := num.IntRange(e)
	switch {
	case d.style == 0 && d.IntN(3) == 0:
		return []int64{lo, hi, lo + 1, hi - 1, 0, max(lo, -1), 1, hi / 2}[d.IntN(8)]
	case d.style == 2:
		return num.Wrap(e, int64(d.Uint64()))
	}
	return max(lo, d.Int64N(13)-4)
}

// pattern draws a multigraph: rows of any length, empty ones and duplicates
// among them.
func (d *drawer) pattern(t ir.Pattern) *ir.PatternValue {
	n := d.shape([]sym.Expr{t.Rows, t.Cols})
	p := &ir.PatternValue{Rows: n[0], Cols: n[1], Ptr: []int64{0}}
	for range n[0] {
		if n[1] > 0 {
			for range max(0, d.IntN(6)-1) {
				p.Col = append(p.Col, d.Int64N(n[1]))
			}
		}
		p.Ptr = append(p.Ptr, int64(len(p.Col)))
	}
	if t.Format.Kind != "csr" { // entries are numbered in the order of the caller's layout
		for _, e := range d.Perm(len(p.Col)) {
			p.Perm = append(p.Perm, int64(e))
		}
	}
	d.sizes["nnz#"+t.ID] = int64(len(p.Col))
	return p
}

func (d *drawer) encoded(t ir.Tensor) *ir.Encoded {
	x := &ir.Encoded{Enc: t.Enc, Shape: d.shape(t.Dims)}
	m := ir.EncodingDims(t)
	for _, part := range t.Enc.Parts {
		pt := m.Type(part.Value.Type).(ir.Tensor)
		x.Parts = append(x.Parts, d.array(pt.Elem, d.shape(pt.Dims)))
	}
	return x
}
