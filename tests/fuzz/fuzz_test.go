package fuzz

import (
	"testing"
)

// A fixed set of programs of every category, each run every way.
func TestPrograms(t *testing.T) {
	report, bad := Fuzz(Options{Seed: 1, Programs: 24, Temp: t.TempDir()})
	if bad != nil {
		t.Fatalf("%v\n%s", bad, bad.Program.Text)
	}
	for _, cat := range Categories() {
		c := report.Categories[cat.Name]
		if c == nil || c.Programs != 24 {
			t.Errorf("%s: %+v", cat.Name, c)
		}
	}
}

// A program follows from category, seed and size.
func TestSeedsRepeat(t *testing.T) {
	for _, cat := range Categories() {
		for seed := range uint64(5) {
			a, b := Generate(cat.Name, seed, 3), Generate(cat.Name, seed, 3)
			if a.Text != b.Text {
				t.Errorf("%s, seed %d: two programs", cat.Name, seed)
			}
		}
	}
}
