package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"tenon/internal/bench"
)

// goal is a figure that is promised. worst are the cases that fall short of it.
type goal struct {
	what      string
	got, want float64
	atMost    bool // else at least
	worst     []string
}

func (g goal) reached() bool {
	if g.atMost {
		return g.got <= g.want
	}
	return g.got >= g.want
}

func (g goal) String() string {
	side, word := ">=", "reached"
	if g.atMost {
		side = "<="
	}
	if !g.reached() {
		word = "NOT reached"
	}
	return fmt.Sprintf("%s: %.3f, goal %s %.2f: %s", g.what, g.got, side, g.want, word)
}

// mostListed is how many of the cases that fall short are listed.
const mostListed = 12

// say prints a goal and keeps it for the summary.
func (s *suite) say(g goal) {
	s.goals = append(s.goals, g)
	fmt.Fprintln(s.out, "- "+g.String())
	for _, w := range g.worst[:min(len(g.worst), mostListed)] {
		fmt.Fprintln(s.out, "  - "+w)
	}
	if more := len(g.worst) - mostListed; more > 0 {
		fmt.Fprintf(s.out, "  - and %d more\n", more)
	}
}

func (s *suite) note(format string, args ...any) { fmt.Fprintf(s.out, "- "+format+"\n", args...) }

// summary lists all goals again.
func (s *suite) summary() {
	fmt.Fprintf(s.out, "### Goals\n\n")
	for _, g := range s.goals {
		fmt.Fprintln(s.out, "- "+g.String())
	}
	fmt.Fprintln(s.out)
}

// case_ is a figure of one row.
type case_ struct {
	row *bench.Row
	x   float64
}

// short lists the cases below their limit, worst first.
func short(cases []case_, limit func(*bench.Row) float64, what string) (lines []string) {
	cases = slices.DeleteFunc(slices.Clone(cases), func(c case_) bool { return c.x >= limit(c.row) })
	slices.SortStableFunc(cases, func(a, b case_) int { return cmp.Compare(a.x-limit(a.row), b.x-limit(b.row)) })
	for _, c := range cases {
		lines = append(lines, fmt.Sprintf("%s: %.2f%s, limit %.2f", place(c.row), c.x, what, limit(c.row)))
	}
	return lines
}

// place names a row.
func place(row *bench.Row) string { return strings.TrimSpace(row.Function + " " + row.Shape.String()) }

func values(cases []case_) (xs []float64) {
	for _, c := range cases {
		xs = append(xs, c.x)
	}
	return xs
}

// leastOf is the smallest value; 1e9 of nothing.
func leastOf(cases []case_) float64 {
	x := 1e9
	for _, c := range cases {
		x = min(x, c.x)
	}
	return x
}

// ratios are how often Tenon's least time goes into the best one of the peers
// whose names begin with one of the words; of all, if there are none.
func ratios(rows []*bench.Row, words ...string) (cases []case_) {
	for _, row := range rows {
		best := 0.0
		for _, w := range row.Peers {
			fits := len(words) == 0 || slices.ContainsFunc(words, func(p string) bool { return strings.HasPrefix(w.Name, p) })
			if fits && w.Void == "" && (best == 0 || w.Least < best) {
				best = w.Least
			}
		}
		if best > 0 {
			cases = append(cases, case_{row, best / row.Least})
		}
	}
	return cases
}

// named are the two peers that the goals name.
var named = []string{"OpenBLAS", "oneDNN"}

// perPeer notes the geometric mean of the ratios to each peer alone, and to all.
func (s *suite) perPeer(rows []*bench.Row) {
	var parts []string
	for _, p := range []string{"OpenBLAS", "oneDNN", "MKL"} {
		if c := ratios(rows, p); len(c) > 0 {
			parts = append(parts, fmt.Sprintf("%s %.2fx", p, bench.Geomean(values(c))))
		}
	}
	if len(parts) > 0 {
		s.note("geomean to each peer alone: %s; to the best of all, of least times: %.3fx", strings.Join(parts, ", "), bench.Geomean(values(ratios(rows))))
	}
}

// regret says what the choices lose.
func (s *suite) regret(title string, rows []*bench.Row, most float64) {
	var all []float64
	var worst []*bench.Row
	for _, row := range rows {
		if row.Regret != nil {
			all, worst = append(all, 1+row.Regret.Regret), append(worst, row)
		}
	}
	if len(all) == 0 {
		return
	}
	slices.SortStableFunc(worst, func(a, b *bench.Row) int { return cmp.Compare(b.Regret.Regret, a.Regret.Regret) })
	g := goal{what: title + ": regret of the choice, geomean", got: bench.Geomean(all) - 1, want: most, atMost: true}
	for _, row := range worst {
		if row.Regret.Regret > most {
			g.worst = append(g.worst, fmt.Sprintf("%s: %s takes %.1f%% longer than %s", place(row), row.Regret.Chosen, 100*row.Regret.Regret, row.Regret.Best))
		}
	}
	s.say(g)
}
