package main

import (
	"testing"

	"tenon/internal/bench"
)

func TestDraws(t *testing.T) {
	shapes, err := draws(1)
	if err != nil || len(shapes) != 300 {
		t.Fatalf("%d shapes, %v", len(shapes), err)
	}
	for _, s := range shapes {
		if 2*s["M"]*s["N"]*s["K"] > mostFlops {
			t.Errorf("%v exceeds the cap", s)
		}
	}
}

func TestSteepest(t *testing.T) {
	var rows []*bench.Row
	for m, rate := range []float64{10, 10, 10, 5, 10, 10, 10} {
		rows = append(rows, &bench.Row{Shape: bench.Shape{"M": int64(m), "K": 1, "N": 1}, GFlops: &bench.Spread{Median: rate}})
	}
	if got := steepest(rows); got != 0.5 {
		t.Errorf("the cliff of 0.5 was found as %v", got)
	}
}
