package sym

import (
	"fmt"
	"math/rand"
	"testing"
)

// Near the ends of int64 rows are dropped, never wrapped: what is claimed of
// conditions with huge coefficients holds wherever they can be evaluated.
func TestClaimsWithHugeCoefficients(t *testing.T) {
	r := rand.New(rand.NewSource(5))
	big := []int64{1 << 61, -(1 << 61), 1 << 62, -(1 << 62), -(1 << 63), 1<<63 - 1, 3, -2, 1, 1<<61 + 1, 0, 5}
	random := func() int64 { return big[r.Intn(len(big))] }
	linear := func() Expr {
		e := Const(random())
		for k := 0; k < 2; k++ {
			e = Add(e, Mul(Const(random()), Name(testNames[r.Intn(3)])))
		}
		return e
	}
	proved := 0
	for n := 0; n < 10000; n++ {
		f := NewFacts()
		for m := r.Intn(4); m > 0; m-- {
			f.Add(Cond{linear(), linear(), allRels[r.Intn(6)]})
		}
		c := Cond{linear(), linear(), allRels[r.Intn(6)]}
		yes := f.Prove(c)
		lo, hi, okLo, okHi := f.Range(c.L)
		if yes {
			proved++
		}
		for k := 0; k < 30; k++ {
			m := map[string]int64{"N": int64(r.Intn(5) - 2), "K": int64(r.Intn(5) - 2), "i": int64(r.Intn(5) - 2)}
			env, holds := Names(m), true
			for _, q := range f.Conds() {
				h, err := q.Eval(env)
				holds = holds && h && err == nil
			}
			if h, err := c.Eval(env); holds && err == nil && !h && yes {
				t.Fatalf("%v does not imply %s: %v", f.Conds(), c, m)
			}
			if v, err := c.L.Eval(env); holds && err == nil && (okLo && v < lo || okHi && v > hi) {
				t.Fatalf("under %v, %s is %d at %v, range %d..%d", f.Conds(), c.L, v, m, lo, hi)
			}
		}
	}
	if proved < 100 {
		t.Errorf("only %d proved", proved)
	}
}

// Elimination is exponential; the budget is what makes it end on facts that
// tie everything to everything. Without it this test runs for hours.
func TestDenseFactsEnd(t *testing.T) {
	r := rand.New(rand.NewSource(6))
	name := func() Expr { return Name(fmt.Sprint("x", r.Intn(20))) }
	for n := 0; n < 4; n++ {
		f := NewFacts()
		for m := 0; m < 60; m++ {
			e := Add(Const(int64(r.Intn(9))), Mul(name(), name()), FloorDiv(name(), name()), Min(name(), name()))
			for k := 0; k < 4; k++ {
				e = Add(e, Mul(Const(int64(r.Intn(7)-3)), name()))
			}
			f.Add(Ge(e, Const(0)))
		}
		f.Prove(Eq(name(), Min(name(), name())))
		f.Simplify(Min(FloorDiv(name(), name()), Mod(name(), name())))
	}
}
