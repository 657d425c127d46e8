package fuzz

import (
	"context"
	"testing"

	"tenon/internal/reduce"
	"tenon/ir"
	"tenon/passes/pass"
)

// wrongs are passes with a fault each: what they do is right but for one op.
var wrongs = []struct{ name, op, becomes string }{
	{"max-to-min", "max", "min"},
	{"add-to-sub", "add", "sub"},
	{"neg-to-abs", "neg", "abs"},
}

// swapper makes op another one of the same form.
func swapper(name, op, becomes string) []pass.Instance {
	return pass.Of(&pass.Pass{Name: name, Doc: "test", Run: func(c *pass.Context) error {
		for _, f := range c.Module.Funcs() {
			f.Body.Walk(func(o *ir.Op) bool {
				if o.Def.Name == op {
					o.Def = ir.MustOp(becomes)
				}
				return true
			})
		}
		return nil
	}})
}

// Generated programs of 200 ops and more come down to under 10 that show the
// same fault.
func TestReduceGenerated(t *testing.T) {
	for _, category := range []string{"tensor", "loop"} {
		for _, w := range wrongs {
			passes := swapper(w.name, w.op, w.becomes)
			m := failing(t, category, passes)
			shows := func(m *ir.Module) (bool, error) { return pass.Fault(m, passes) != nil, nil }
			small, checks, err := reduce.Module(context.Background(), m, shows, func(*ir.Module, int) {})
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%s, %s: from %d ops to %d by %d checks", category, w.name, reduce.Ops(m), reduce.Ops(small), checks)
			if n := reduce.Ops(small); n >= 10 || pass.Fault(small, passes) == nil || ir.Verify(small) != nil {
				t.Errorf("%s, %s: %d ops are left:\n%s", category, w.name, n, ir.Print(small))
			}
		}
	}
}

// failing is a generated program of 200 ops or more that the passes get wrong.
func failing(t *testing.T, category string, passes []pass.Instance) *ir.Module {
	for seed := range uint64(300) {
		p := Generate(category, seed, 7)
		if bad := Parse(p); bad != nil {
			t.Fatal(bad)
		}
		if reduce.Ops(p.Module) >= 200 && pass.Fault(p.Module, passes) != nil {
			return p.Module
		}
	}
	t.Fatalf("%s: no program of 200 ops shows the fault of %s", category, pass.List(passes))
	return nil
}
