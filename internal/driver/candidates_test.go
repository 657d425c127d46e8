package driver

import (
	"testing"

	"tenon/ir"
	"tenon/targets"
)

// The tiles that a product is decomposed into follow from the numbers of a
// machine: another name changes nothing, fewer registers do.
func TestTilesFollowFromNumbers(t *testing.T) {
	text := func(d targets.Desc) string {
		m, err := Parse("mm.tn", "fn mm(a: f32[M, K], b: f32[K, N]) -> f32[M, N] { return sum[k] a[i, k] * b[k, j] for i, j }")
		if err != nil {
			t.Fatal(err)
		}
		low, err := Lower(m, &d, func(l Lowered) bool { return l.Level != ir.LevelTile })
		if err != nil {
			t.Fatal(err)
		}
		return ir.Print(low)
	}
	found, err := targets.Find("x86-64", "x86-64-v3")
	if err != nil {
		t.Fatal(err)
	}
	first, other, fewer := *found, *found, *found
	other.Name, other.Doc, other.Triple, other.CPU, other.Tune, other.Features = "nobody", "", "none", "nobody", "nobody", nil
	fewer.VectorRegs = 8
	t.Setenv("HOME", t.TempDir())
	t.Setenv("OPENBLAS_CORETYPE", "Haswell")
	switch {
	case text(first) != text(first):
		t.Error("one description gives two lists")
	case text(first) != text(other):
		t.Error("the list depends on more than numbers")
	case text(first) == text(fewer):
		t.Error("the list does not depend on the registers")
	}
}
