package math_test

import (
	"fmt"
	"strings"
	"testing"

	"tenon/internal/num"
	"tenon/ir"
	_ "tenon/ir/ops"
	"tenon/passes/math"
	"tenon/passes/pass"
)

// apply is a procedure that maps one function over arrays.
func apply(t *testing.T, function string, e num.Elem) *ir.Module {
	t.Helper()
	args, params := "load(%x[i])", fmt.Sprintf("in %%x: buf<%v[N]>", e)
	if function == "pow" {
		args += ", load(%y[i])"
		params += fmt.Sprintf(", in %%y: buf<%v[N]>", e)
	}
	text := fmt.Sprintf("tenon ir 1\nproc loop @f<N>(%s, out %%r: buf<%v[N]>) {\n  loop.for i = 0 to N { store(%s(%s), %%r[i]) }\n  return() }\n",
		params, e, function, args)
	m, err := ir.Parse("f.tnir", text)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func lower(t *testing.T, m *ir.Module, g *pass.Manager) *ir.Module {
	t.Helper()
	if err := g.Run(m, pass.Of(math.LowerMath)); err != nil {
		t.Fatal(err)
	}
	return m
}

// Every formula verifies, agrees with the function it stands for on seeded
// inputs, is gone through after one run, and is read back from its text.
func TestRowsKeepTheMeaning(t *testing.T) {
	for _, r := range math.Rows {
		t.Run(fmt.Sprintf("%s-%v", r.Func, r.Elem), func(t *testing.T) {
			m := lower(t, apply(t, r.Func, r.Elem), &pass.Manager{VerifyEach: true, TempDir: t.TempDir()})
			text := ir.Print(m)
			if strings.Contains(text, " "+r.Func+"(") {
				t.Errorf("the function is still there:\n%s", text)
			}
			again, err := ir.Parse("again.tnir", text)
			if err != nil {
				t.Fatal(err)
			}
			if ir.Print(lower(t, again, &pass.Manager{})) != text {
				t.Error("a second run changes the module")
			}
		})
	}
}

// A target may fuse a product into the sum that takes it where a procedure
// allows `contract`. No formula has such a sum, so that its bits stay the same.
func TestNoProductIsPartOfASum(t *testing.T) {
	for _, r := range math.Rows {
		m := lower(t, apply(t, r.Func, r.Elem), &pass.Manager{})
		ir.Lookup[*ir.Func](m, "f").Body.Walk(func(op *ir.Op) bool {
			for _, v := range summands(op) {
				if product(v) {
					t.Errorf("%s of %v: %%%s takes a product: %s", r.Func, r.Elem, op.Results[0].Name, ir.Print(m))
				}
			}
			return true
		})
	}
}

// summands are what op adds; LLVM turns a product with 2 into a sum.
func summands(op *ir.Op) []*ir.Value {
	switch op.Def.Name {
	case "add", "sub":
		return op.OperandValues("")
	case "mul":
		for i := range 2 {
			if c := op.Operand(i).Def; c != nil && c.Def.Name == "const" && num.Float(ir.GetClause[*ir.Literal](c, "").Cell) == 2 {
				return []*ir.Value{op.Operand(1 - i)}
			}
		}
	}
	return nil
}

// product looks through changes of sign and choices.
func product(v *ir.Value) bool {
	if v.Def == nil || !ir.ElemOf(v.Type).IsFloat() {
		return false
	}
	switch v.Def.Def.Name {
	case "mul":
		return true
	case "neg":
		return product(v.Def.Operand(0))
	case "select":
		return product(v.Def.Operand(1)) || product(v.Def.Operand(2))
	}
	return false
}

// f16 and bf16 are computed in f32 and rounded once more.
func TestHalvesGoThroughF32(t *testing.T) {
	for _, e := range []num.Elem{num.F16, num.BF16} {
		text := ir.Print(lower(t, apply(t, "tanh", e), &pass.Manager{VerifyEach: true, TempDir: t.TempDir()}))
		if !strings.Contains(text, "= cast(%v) : f32") && !strings.Contains(text, ": f32") || strings.Contains(text, "tanh(") {
			t.Errorf("tanh of %v became\n%s", e, text)
		}
	}
}

// Funcs have no loops to vectorise yet; they are left for later.
func TestFuncsAreLeftAlone(t *testing.T) {
	m, err := ir.Parse("f.tnir", "tenon ir 1\nfunc tensor @f<N>(%x: f32[N]) -> (f32[N]) {\n  %y = tensor.comp par(i < N) in(%a = %x[i]) { yield(exp(%a)) } : f32[N]\n  return(%y) }\n")
	if err != nil {
		t.Fatal(err)
	}
	before := ir.Print(m)
	if after := ir.Print(lower(t, m, &pass.Manager{})); after != before {
		t.Errorf("a func became\n%s", after)
	}
}
