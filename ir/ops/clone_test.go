package ops_test

import (
	"strings"
	"testing"

	"tenon/ir"
	"tenon/ir/sym"
)

// A copy shares nothing: breaking it leaves the original alone.
func TestCloneIsDeep(t *testing.T) {
	m, _ := parseFile(t, "testdata/sparse.tnir")
	before := ir.Print(m)
	c := ir.Clone(m)
	for _, f := range c.Funcs() {
		f.Body.Walk(func(op *ir.Op) bool {
			op.Values(func(v *ir.Value) *ir.Value { return &ir.Value{Name: "gone", Type: v.Type} })
			op.Exprs(func(sym.Expr) sym.Expr { return sym.Const(0) })
			for _, v := range op.Results {
				v.Name = "gone"
			}
			return true
		})
		f.Dims, f.Params[0].Value.Name = nil, "gone"
	}
	for _, it := range c.Items {
		if mon, ok := it.(*ir.Monoid); ok {
			mon.Params[0].Name, mon.Assoc = "gone", false
		}
	}
	if after := ir.Print(m); after != before {
		t.Errorf("the original changed:\n%s", after)
	}
}

// Replacing values and names on the way, with fresh names: what inlining needs.
func TestCloneRegionMaps(t *testing.T) {
	m := mustParse(t, sample)
	f := m.Items[0].(*ir.Func)
	x := &ir.Value{Name: "arg", Type: ir.Tensor{Elem: ir.ElemOf(f.Params[0].Value.Type), Dims: []sym.Expr{sym.Name("Q")}}}
	n := 0
	mp := &ir.Mapping{
		Values:     map[*ir.Value]*ir.Value{f.Params[0].Value: x},
		Syms:       map[string]sym.Expr{"N": sym.Name("Q"), "M": sym.Const(4)},
		FreshValue: func(name string) string { n++; return name + "_c" },
		FreshSym:   func(name string) string { return name + "_s" },
	}
	r := ir.CloneRegion(f.Body, mp)
	got := ir.PrintOp(r.Ops[0]) + "\n" + ir.PrintOp(r.Ops[1])
	want := `%u_c = tensor.comp par(i_s < Q) in(%a_c = %arg[i_s]) {
  %t1_c = neg(%a_c)
  yield(%t1_c)
} : f32[Q]
%y_c = tensor.comp par(i_s < Q) red(k_s < 4) in(%a_c = %u_c[i_s], %b_c = %z[k_s]) {
  %t2_c = mul(%a_c, %b_c)
  yield(%t2_c)
} by sum(f32) : f32[Q]`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if err := ir.Verify(m); err != nil {
		t.Errorf("the original no longer verifies: %v", err)
	}
}

func TestUses(t *testing.T) {
	m := mustParse(t, sample)
	f := m.Items[0].(*ir.Func)
	u, y := f.Body.Ops[0].Results[0], f.Body.Ops[1].Results[0]
	uses := ir.Uses(f)
	if uses[f.Params[0].Value] != 1 || uses[u] != 1 || uses[y] != 1 {
		t.Errorf("uses: x %d, u %d, y %d; want 1 each", uses[f.Params[0].Value], uses[u], uses[y])
	}
	ir.ReplaceUses(f.Body, u, f.Params[0].Value)
	uses = ir.Uses(f)
	if uses[f.Params[0].Value] != 2 || uses[u] != 0 {
		t.Errorf("after the replacement: x %d, u %d; want 2 and 0", uses[f.Params[0].Value], uses[u])
	}
	if err := ir.Verify(m); err != nil {
		t.Error(err)
	}
	if text := ir.Print(m); !strings.Contains(text, "in(%a = %x[i], %b = %z[k])") {
		t.Errorf("printed\n%s", text)
	}
}
