package main

import (
	"fmt"
	"slices"
	"text/tabwriter"

	"tenon/internal/bench"
	"tenon/targets"
)

// typed are products of other types, their rate beside that of f32, and the
// instructions without which nothing is promised.
var typed = []struct {
	name, program string
	want          float64 // times the rate of f32; 0: nothing is promised
	needs         []string
}{
	{"f32", `fn f(a: f32[M, K], const b: f32[K, N]) -> f32[M, N] { return sum[k] a[m, k] * b[k, n] for m, n }`, 0, nil},
	{"f64", `fn f(a: f64[M, K], const b: f64[K, N]) -> f64[M, N] { return sum[k] a[m, k] * b[k, n] for m, n }`, 0, nil},
	{"f16 to f32", `fn f(a: f16[M, K], const b: f16[K, N]) -> f32[M, N] { return sum[k] f32(a[m, k]) * f32(b[k, n]) for m, n }`, 0, nil},
	{"bf16 to f32", `fn f(a: bf16[M, K], const b: bf16[K, N]) -> f32[M, N] { return sum[k] f32(a[m, k]) * f32(b[k, n]) for m, n }`, 1.6, []string{"avx512bf16"}},
	{"i8 to i32", `fn f(a: i8[M, K], const b: i8[K, N]) -> i32[M, N] { return sum[k] i32(a[m, k]) * i32(b[k, n]) for m, n }`, 2.5, []string{"avx512vnni", "avxvnni"}},
	{"u8, i8 to i32", `fn f(a: u8[M, K], const b: i8[K, N]) -> i32[M, N] { return sum[k] i32(a[m, k]) * i32(b[k, n]) for m, n }`, 2.5, []string{"avx512vnni", "avxvnni"}},
}

// types: what narrower and wider elements give.
func (s *suite) types() error {
	shapes, err := bench.ParseShapes([]string{"M=32,256,K=768,N=768,3072"}, s.seed)
	if err != nil {
		return err
	}
	desc, err := targets.Native()
	if err != nil {
		return err
	}
	fmt.Fprint(s.out, "### Types: 10^9 operations a second, from least times\n\n```\n")
	w := tabwriter.NewWriter(s.out, 0, 4, 2, ' ', 0)
	fmt.Fprint(w, "type")
	for _, x := range shapes {
		fmt.Fprintf(w, "\t%s", x)
	}
	fmt.Fprintln(w, "\ttimes f32")
	var plain []float64
	var goals []goal
	var notes []string
	for _, t := range typed {
		rates, err := s.typeRates(t.program, shapes)
		if err != nil {
			return fmt.Errorf("%s: %w", t.name, err)
		}
		if plain == nil {
			plain = rates
		}
		fmt.Fprint(w, t.name)
		var times []float64
		for i, r := range rates {
			fmt.Fprintf(w, "\t%.1f", r)
			times = append(times, r/plain[i])
		}
		mean := bench.Geomean(times)
		fmt.Fprintf(w, "\t%.2f\n", mean)
		here := slices.ContainsFunc(t.needs, func(f string) bool { return slices.Contains(desc.Features, f) })
		switch {
		case t.want > 0 && here:
			goals = append(goals, goal{what: "types: " + t.name + ", times f32", got: mean, want: t.want})
		case t.want > 0:
			notes = append(notes, fmt.Sprintf("SKIPPED: %s is promised %.1f times f32 with %v, which this machine lacks", t.name, t.want, t.needs))
		}
	}
	w.Flush()
	fmt.Fprintln(s.out, "```")
	for _, g := range goals {
		s.say(g)
	}
	for _, n := range notes {
		s.note("%s", n)
	}
	return nil
}

func (s *suite) typeRates(program string, shapes []bench.Shape) (rates []float64, err error) {
	o := s.options(shapes)
	o.Against = ""
	r, err := s.measure(program, "f", o)
	if err != nil {
		return nil, err
	}
	for _, row := range r.Rows {
		rates = append(rates, 2e-9*float64(row.Shape["M"]*row.Shape["K"]*row.Shape["N"])/row.Least)
	}
	return rates, nil
}
