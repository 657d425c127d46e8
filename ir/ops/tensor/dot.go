package tensor

import (
	"tenon/internal/num"
	"tenon/ir"
)

// dot is the loop of a sum of products of two elements in f32 or f64, which
// dense linear algebra spends its time in. It computes what the steps would, in
// the same order, on values kept in registers.
type dot struct {
	a, b   int // places of the factors among the reads
	acc    int
	narrow bool // round to f32
}

// asDot recognises such a region by what its ops do to the reads; nil if it is
// any other.
func (c *compRun) asDot(in *inner, r *fold) *dot {
	mon := c.By.Monoid
	if c.m.Shadowed() || !mon.Builtin || mon.Name != "sum" || r.some >= 0 || len(in.conds) > 0 || len(c.In) != 2 {
		return nil
	}
	e := mon.Elems()[0]
	if len(c.Body.Ops) != 2 || e != num.F32 && e != num.F64 {
		return nil
	}
	mul := c.Body.Ops[0]
	if mul.Def != ir.LookupOp("mul") || c.Yields()[0] != mul.Results[0] {
		return nil
	}
	at := func(v *ir.Value) int {
		for i, r := range c.In {
			if r.Res == v {
				return i
			}
		}
		return -1
	}
	d := &dot{at(mul.Operand(0)), at(mul.Operand(1)), r.acc[0], e == num.F32}
	if d.a < 0 || d.b < 0 {
		return nil
	}
	return d
}

// run folds n products; all reads are followed, in the order of the clause.
func (d *dot) run(f *ir.Frame, st *innerState, n int64) {
	a, b := &st.reads[d.a], &st.reads[d.b]
	sum := num.Float(f.S[d.acc])
	pa, pb := a.base, b.base
	for ; n > 0; n-- {
		x, y := num.Float(a.cells[pa]), num.Float(b.cells[pb])
		if d.narrow {
			sum = float64(float32(sum + float64(float32(x*y))))
		} else {
			p := float64(x * y)
			sum += p
		}
		pa += a.step
		pb += b.step
	}
	f.S[d.acc] = num.FromFloat(sum)
}
