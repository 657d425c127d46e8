package main

import (
	"strings"
	"testing"

	"tenon/internal/bench"
	"tenon/internal/driver"
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

func row(m int64, least float64, peers ...bench.Way) *bench.Row {
	return &bench.Row{Shape: bench.Shape{"M": m, "K": 1, "N": 1}, Least: least, Peers: peers}
}

// A number of rows that takes twice as long as its neighbours is found.
func TestOverNeighbours(t *testing.T) {
	var rows []*bench.Row
	for m := int64(1); m <= 9; m++ {
		least := float64(m)
		if m == 5 {
			least *= 2
		}
		rows = append(rows, row(m, least))
	}
	if got := leastOf(overNeighbours(rows)); got != 0.5 {
		t.Errorf("the cliff of 0.5 was found as %v", got)
	}
}

// The best way of the peers that are named counts, and no void one.
func TestRatios(t *testing.T) {
	r := row(1, 1, bench.Way{Name: "OpenBLAS 1", Least: 3}, bench.Way{Name: "oneDNN 2 matmul", Least: 2}, bench.Way{Name: "MKL 3", Least: 0.5}, bench.Way{Name: "oneDNN 2 packed", Least: 0.1, Void: "two threads"})
	if c := ratios([]*bench.Row{r}, named...); len(c) != 1 || c[0].x != 2 {
		t.Errorf("%v", c)
	}
	if c := ratios([]*bench.Row{r}); len(c) != 1 || c[0].x != 0.5 {
		t.Errorf("%v", c)
	}
	if c := ratios([]*bench.Row{row(1, 1)}); c != nil {
		t.Errorf("%v without peers", c)
	}
}

// A goal that is missed says so, with the cases that miss it.
func TestGoals(t *testing.T) {
	text := &strings.Builder{}
	s := &suite{out: text}
	cases := []case_{{row(1, 1), 0.5}, {row(2, 1), 1.5}}
	s.say(goal{what: "a", got: leastOf(cases), want: 1, worst: short(cases, func(*bench.Row) float64 { return 1 }, "x")})
	s.say(goal{what: "b", got: 0.02, want: 0.03, atMost: true})
	got := text.String()
	if !strings.Contains(got, "a: 0.500, goal >= 1.00: NOT reached\n  - K=1 M=1 N=1: 0.50x, limit 1.00\n") || !strings.Contains(got, "b: 0.020, goal <= 0.03: reached") || strings.Contains(got, "M=2") {
		t.Error(got)
	}
}

// All programs of the tables are programs, and the loops are a product.
func TestPrograms(t *testing.T) {
	texts := []string{products, gemmLoops, strings.Join(ten, "\n")}
	for _, x := range typed {
		texts = append(texts, x.program)
	}
	for _, text := range texts {
		if _, err := driver.Parse("x.tn", text); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}
