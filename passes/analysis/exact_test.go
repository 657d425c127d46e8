package analysis_test

import (
	"math/big"
	"testing"

	"tenon/ir"
	_ "tenon/ir/ops"
	"tenon/passes/analysis"
)

// Monoids of a weight and a mean: what is recognised is what they compute, not
// how they are written.
func TestWeightedMeanInAnyForm(t *testing.T) {
	for _, c := range []struct {
		what, body string
		want       bool
		weight     int
	}{
		{"moved by the share of the second", `(%n1, %u1, %n2, %u2) {
			%n = add(%n1, %n2); %d = select(eq(%n, 0.0: f32), 1.0: f32, %n)
			yield(%n, add(%u1, mul(sub(%u2, %u1), div(%n2, %d)))) }`, true, 0},
		{"weighted sums", `(%n1, %u1, %n2, %u2) {
			%n = add(%n2, %n1); %d = select(gt(%n, 0.0: f32), %n, 1.0: f32)
			yield(%n, div(add(mul(%u2, %n2), mul(%n1, %u1)), %d)) }`, true, 0},
		{"the mean first", `(%u1, %n1, %u2, %n2) {
			%n = add(%n1, %n2); %d = select(ne(%n, 0.0: f32), %n, 1.0: f32)
			yield(sub(%u1, mul(div(%n2, %d), sub(%u1, %u2))), %n) }`, true, 1},
		{"the share of the first", `(%n1, %u1, %n2, %u2) {
			%n = add(%n1, %n2); %d = select(eq(%n, 0.0: f32), 1.0: f32, %n)
			yield(%n, add(%u1, mul(sub(%u2, %u1), div(%n1, %d)))) }`, false, 0},
		{"two sums", `(%n1, %u1, %n2, %u2) { yield(add(%n1, %n2), add(%u1, %u2)) }`, false, 0},
		{"a mean of equals", `(%n1, %u1, %n2, %u2) {
			yield(add(%n1, %n2), mul(0.5: f32, add(%u1, %u2))) }`, false, 0},
		{"wrong where one is empty", `(%n1, %u1, %n2, %u2) {
			%n = add(%n1, %n2); %d = select(eq(%n, 0.0: f32), 1.0: f32, %n)
			%m = add(%u1, mul(sub(%u2, %u1), div(%n2, %d)))
			yield(%n, select(eq(%n2, 0.0: f32), 0.0: f32, %m)) }`, false, 0},
		{"no exact value", `(%n1, %u1, %n2, %u2) {
			%n = add(%n1, %n2); yield(%n, exp(%u1)) }`, false, 0},
	} {
		text := "tenon ir 1\nmonoid @m(%a: f32, %b: f32) assoc comm { identity { yield(0.0: f32, 0.0: f32) } combine" + c.body + " }\n"
		m, err := ir.Parse("m.tnir", text)
		if err != nil {
			t.Fatalf("%s: %v", c.what, err)
		}
		w, ok := analysis.AsWeightedMean(ir.Lookup[*ir.Monoid](m, "m"))
		if ok != c.want || ok && w.Weight != c.weight {
			t.Errorf("%s: %v %v", c.what, w, ok)
		}
	}
}

// Every op that Exact knows, against values worked out by hand.
func TestExact(t *testing.T) {
	text := `tenon ir 1
monoid @m(%a: f64) { identity { yield(0.0: f64) } combine(%x, %y) {
  %lo = min(%x, %y); %hi = max(%x, %y)
  %c = or(and(lt(%lo, %hi), not(gt(%lo, %hi))), xor(ge(%lo, %hi), le(%hi, %lo)))
  %d = select(%c, div(%lo, %hi), neg(%lo))
  yield(sub(%d, mul(%x, 0.25: f64))) } }`
	m, err := ir.Parse("m.tnir", text)
	if err != nil {
		t.Fatal(err)
	}
	f := ir.Lookup[*ir.Monoid](m, "m")
	for _, c := range [][3]*big.Rat{
		{big.NewRat(1, 3), big.NewRat(2, 1), big.NewRat(1, 12)}, // 1/6 - 1/12
		{big.NewRat(2, 1), big.NewRat(1, 3), big.NewRat(-1, 3)}, // 1/6 - 1/2
		{big.NewRat(2, 1), big.NewRat(2, 1), big.NewRat(-5, 2)}, // -2 - 1/2
	} {
		got, ok := analysis.Exact(f.Combine, f.CombineParams, c[:2])
		if !ok || got[0].Cmp(c[2]) != 0 {
			t.Errorf("%v, %v: %v %v, want %v", c[0], c[1], got, ok, c[2])
		}
	}
	if _, ok := analysis.Exact(f.Combine, f.CombineParams, []*big.Rat{big.NewRat(-1, 1), new(big.Rat)}); ok {
		t.Error("-1 / 0 has a value")
	}
}
