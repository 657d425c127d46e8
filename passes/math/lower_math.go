// lower-math replaces elementary functions by straight-line formulas.
//
// Before:
//
//	%e = exp(%x)
//
// After (f32; constants left out):
//
//	%t = fma(%x, 1.442695, 12583166.0)       the nearest integer n, plus 254
//	%n = neg(sub(%t, 12583166.0))
//	%r = fma(%n, 1.4e-6, fma(%n, 0.6931458, %x))
//	%p = fma(fma(.., %r, 1.0), %r, 1.0)      a polynomial in %r
//	%e = mul(mul(%p, 2^floor(n/2)), 2^ceil(n/2))
//
// The exponential of a difference to a maximum, which is not positive, is shorter.
//
// Legal where an error of 2 ulp is, which is what the functions promise; so
// results may change within the bounds of agreement. It leaves a function alone
// that has no formula for its type, such as the sine of f64.
//
// Where a target has no fused multiply-add the formulas are slower than calls:
// pipelines for such targets leave the pass out.
package math

import (
	"tenon/internal/num"
	"tenon/ir"
	"tenon/passes/analysis"
	"tenon/passes/pass"
)

// LowerMath replaces elementary functions by formulas.
var LowerMath = pass.Register(&pass.Pass{
	Name:         "lower-math",
	Doc:          "replace elementary functions by straight-line formulas that vectorise",
	Approximates: true,
	Counted:      true,
	Run: func(c *pass.Context) error {
		for _, f := range c.Funcs() {
			if !f.IsProc {
				continue
			}
			head := &ir.Region{}
			b := ir.NewBuilder(head)
			b.Loc = f.Loc
			l := &lowerer{c, map[*ir.Value]*ir.Value{}, findSums(f), belowZero(f), b, NewConstants(b)}
			c.At(f, nil)
			l.region(f.Body)
			l.sums.sweep(f.Body)
			f.Body.Ops = append(head.Ops, f.Body.Ops...)
		}
		return nil
	},
})

type lowerer struct {
	c      *pass.Context
	new    map[*ir.Value]*ir.Value // what stands for the results of ops that are gone
	sums   *sums
	below  map[*ir.Value]bool // arguments of exp that are not positive
	head   *ir.Builder        // of the constants, before all other ops
	consts *Constants
}

func (l *lowerer) value(v *ir.Value) *ir.Value {
	if n, ok := l.new[v]; ok {
		return n
	}
	return v
}

func (l *lowerer) region(r *ir.Region) {
	old := r.Ops
	r.Ops = make([]*ir.Op, 0, len(old))
	b := l.head.In(r)
	for _, op := range old {
		op.Values(l.value)
		for _, in := range op.Regions() {
			l.region(in)
		}
		if !l.replace(b, op) {
			r.Ops = append(r.Ops, op)
		}
	}
}

// functions are the names that some row has.
var functions = func() map[string]bool {
	m := map[string]bool{}
	for _, r := range Rows {
		m[r.Func] = true
	}
	return m
}()

// replace appends the formula for op, if there is one. A function of which a sum
// has a formula waits for it.
func (l *lowerer) replace(b *ir.Builder, op *ir.Op) bool {
	in, row := l.sums.of(op)
	if in == nil {
		in, row = op, l.row(op)
	}
	if row == nil || l.sums.awaited(op) || !l.c.Apply(op) {
		return false
	}
	b.Loc = op.Loc
	args := in.OperandValues("")
	for i, a := range args {
		args[i] = b.Cast(a, row.Elem)
	}
	l.new[op.Results[0]] = b.Cast(row.Build(b, l.consts, args...), ir.ElemOf(op.Results[0].Type))
	l.sums.done(op)
	return true
}

// belowZero finds arguments of exp that are not positive.
func belowZero(f *ir.Func) map[*ir.Value]bool {
	some := false
	f.Body.Walk(func(op *ir.Op) bool {
		some = some || op.Def.Name == "exp"
		return !some
	})
	if !some {
		return nil
	}
	return analysis.NotPositive(f)
}

// row is the formula for a function, nil if op is none or has none.
func (l *lowerer) row(op *ir.Op) *Row {
	if !functions[op.Def.Name] {
		return nil
	}
	e := ir.ElemOf(op.Results[0].Type)
	row := find(Rows, op.Def.Name, working(e))
	if op.Def.Name == "exp" && l.below[op.Operand(0)] {
		row = find(belowRows, op.Def.Name, working(e))
	}
	if row == nil {
		l.c.Decline(op.Loc, "%s of %s has no formula; it stays a call", op.Def.Name, e)
	}
	return row
}

// working is the type in which e is computed.
func working(e num.Elem) num.Elem {
	if e == num.F16 || e == num.BF16 {
		return num.F32
	}
	return e
}
