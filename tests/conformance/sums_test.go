package conformance

import (
	"fmt"
	"testing"

	"tenon/internal/num"
	"tenon/ir"
	"tenon/ir/interp"
	"tenon/passes/graph"
	"tenon/passes/math"
	"tenon/passes/pass"
)

// 1 + tanh x and 1 + erf x, which have formulas of their own where `contract` is
// allowed, agree with the interpreter's sum of the function.
func TestSumsAgree(t *testing.T) {
	for _, f := range functions {
		if f.name != "tanh" && f.name != "erf" {
			continue
		}
		for _, e := range both {
			sum := parseSum(t, f, e)
			lowered := ir.Clone(sum)
			if err := (&pass.Manager{}).Run(lowered, pass.Of(math.LowerMath, graph.Simplify)); err != nil {
				t.Fatal(err)
			}
			l, err := build(lowered)
			if err != nil {
				t.Skipf("SKIP, compiled formulas are not tested: %v", err)
			}
			p := draw(f, e, 60000, 5)
			got := compute(t, l, f, p)
			want := interpreted(t, sum, f, p, interp.Options{Shadow: true})
			report, err := interp.Compare(array(e, got), want)
			if err != nil || report.TooManyUndecided() {
				t.Errorf("1 + %s of %v: %v, %d of %d undecided", f.name, e, err, report.Undecided, report.Elements)
			}
			t.Logf("1 + %s of %v: at most %.2f bounds", f.name, e, report.MaxError)
		}
	}
}

// parseSum is a procedure that maps 1 + f over an array.
func parseSum(t *testing.T, f function, e num.Elem) *ir.Module {
	t.Helper()
	m, err := ir.Parse("sum.tnir", fmt.Sprintf(`tenon ir 1
proc loop @%s<N>(in %%x: buf<%v[N]>, out %%r: buf<%v[N]>) directives("contract") {
  %%one = const 1.0 : %v
  loop.parallel i = 0 to N { store(add(%%one, %s(load(%%x[i]))), %%r[i]) }
  return() }
`, symbol(f, e), e, e, e, f.name))
	if err != nil {
		t.Fatal(err)
	}
	return m
}
