package math_test

import (
	"fmt"
	std "math"
	"strings"
	"testing"

	"tenon/internal/num"
	"tenon/ir"
	"tenon/ir/interp"
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

// The exponential of what is not positive, on rows that hold its whole range: at
// most 2 ulp, or 2 of the least subnormal numbers, off.
func TestExpBelowAMaximum(t *testing.T) {
	m, err := ir.Parse("f.tnir", `tenon ir 1
proc loop @f<N>(in %x: buf<f32[N]>, out %y: buf<f32[N]>) {
  %z = const -inf : f32
  %s = loop.for k = 0 to N carry(%a = %z) { yield(max(%a, load(%x[k]))) } : f32
  loop.parallel k = 0 to N { store(exp(sub(load(%x[k]), %s)), %y[k]) }
  return() }
`)
	if err != nil {
		t.Fatal(err)
	}
	lower(t, m, &pass.Manager{})
	const n = 300000
	x := ir.NewArray(num.F32, n)
	for i := range x.Mem.Cells { // from 0 down to where all is 0, then further
		d := float32(i) * (110.0 / (n - 5))
		x.Mem.Cells[i] = num.FromFloat(float64(-d))
	}
	for i, v := range []float64{-1e30, std.Inf(-1), -std.MaxFloat32, -1e-40} {
		x.Mem.Cells[n-1-i] = num.FromFloat(v)
	}
	out, err := interp.New(m, interp.Options{}).Run("f", []any{x, nil})
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range out[0].(*ir.Array).Mem.Cells {
		want := std.Exp(num.Float(x.Mem.Cells[i]))
		ulp := std.Max(std.Ldexp(1, std.Ilogb(want)-23), std.SmallestNonzeroFloat32)
		if want == 0 {
			ulp = std.SmallestNonzeroFloat32
		}
		if off := std.Abs(num.Float(c) - want); !(off <= 2*ulp) {
			t.Fatalf("exp(%g) = %g, want %g", num.Float(x.Mem.Cells[i]), num.Float(c), want)
		}
	}
	x.Mem.Cells[7] = num.FromFloat(std.NaN())
	out, err = interp.New(m, interp.Options{}).Run("f", []any{x, nil})
	if v := num.Float(out[0].(*ir.Array).Mem.Cells[100]); err != nil || v == v {
		t.Errorf("with a NaN among them: %v, %v", v, err)
	}
}
