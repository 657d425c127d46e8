package main

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// Unseen sizes are no samples, all different, and the same for the same seed.
func TestUnseen(t *testing.T) {
	for i := range contractions {
		sizes := unseen(i, 20, 1)
		if len(sizes) != 20 || !slices.Equal(sizes, unseen(i, 20, 1)) {
			t.Fatalf("%v", sizes)
		}
		seen := map[int64]bool{}
		for _, m := range sizes {
			if m < 1 || m > 512 || slices.Contains(samples[16], m) || seen[m] {
				t.Errorf("%d among %v", m, sizes)
			}
			seen[m] = true
		}
	}
	if slices.Equal(unseen(0, 20, 1), unseen(0, 20, 2)) {
		t.Error("the seed does not matter")
	}
}

func TestNearest(t *testing.T) {
	for m, want := range map[int64]int64{1: 1, 2: 1, 3: 8, 22: 8, 23: 64, 500: 512, 10000: 512} {
		if got := nearest(samples[4], m); got != want {
			t.Errorf("%d: %d, want %d", m, got, want)
		}
	}
}

// A goal follows from the lines that it is about.
func TestGoals(t *testing.T) {
	table := &table{}
	table.add(&line{what: "slow tuner", samples: 16, first: []float64{300}, oursFirst: []float64{2}, ratios: []float64{1}})
	table.add(&line{what: "fast tuner", samples: 16, first: []float64{3}, oursFirst: []float64{2}, ratios: []float64{1}})
	table.add(&line{what: "dynamic", dynamic: true, ratios: []float64{1, 9}})
	table.add(&line{what: "absent", skipped: "not installed"})
	out := &strings.Builder{}
	table.write(out)
	for _, want := range []string{"slow tuner, over Tenon's: 150.00, goal >= 100.00: reached", "fast tuner, over Tenon's: 1.50, goal >= 100.00: NOT reached",
		"over dynamic: 3.00, goal >= 2.00: reached", "absent", "SKIPPED: not installed"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in\n%s", want, out)
		}
	}
}

// The systems' side: samples that make up a size, and the one that is nearest.
func TestPeer(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("SKIPPED, no Python:", err)
	}
	cmd := exec.Command(python, "-B", "-c", `
from peer import nearest, pieces, agree
assert pieces([1, 8, 64], 5) == [8] and pieces([1, 8, 64], 64) == [64] and pieces([64], 150) == [64, 64, 64], pieces([64], 150)
assert nearest([1, 8, 64], 3) == 8 and nearest([1, 8, 64], 2) == 1
agree([[11.0]], [[1.0, 2.0]], [[3.0], [4.0]], False)
agree([[11.0]], [[1.0, 2.0]], [[3.0, 4.0]], True)
try:
    agree([[12.0]], [[1.0, 2.0]], [[3.0], [4.0]], False)
except ValueError:
    pass
else:
    raise AssertionError("a wrong product was taken")
`)
	cmd.Dir = "systems"
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
