package main

import (
	"fmt"
	"io"
	"text/tabwriter"

	"tenon/internal/bench"
)

// line is a way to get code, beside what Tenon's way gives for the same
// contractions.
type line struct {
	what      string
	samples   int
	dynamic   bool      // it compiles for every size
	first     []float64 // seconds to the first result, of each contraction
	oursFirst []float64
	ratios    []float64 // its time over Tenon's, at each unseen size
	tuner     bool      // Tenon's own
	skipped   string
}

type table struct{ lines []*line }

func (t *table) add(l *line) { t.lines = append(t.lines, l) }

// tenon adds the lines of Tenon itself: as compiled, and tuned.
func (t *table) tenon(ours []*own) {
	plain := &line{what: "Tenon, every size"}
	each := &line{what: "Tenon, tuned for each unseen size", tuner: true}
	for _, x := range ours {
		plain.first, plain.oursFirst = append(plain.first, x.compile), append(plain.oursFirst, x.compile)
		for _, m := range x.sizes {
			plain.ratios, each.ratios = append(plain.ratios, 1), append(each.ratios, x.best[m]/x.chosen[m])
		}
	}
	t.add(plain)
	for _, n := range counts {
		l := &line{what: fmt.Sprintf("Tenon --tune, %d samples", n), samples: n, tuner: true}
		for _, x := range ours {
			l.first, l.oursFirst = append(l.first, x.compile+x.tuning[n]), append(l.oursFirst, x.compile)
			for _, m := range x.sizes {
				l.ratios = append(l.ratios, x.tuned[n][m]/x.chosen[m])
			}
		}
		t.add(l)
	}
	t.add(each)
}

// What is promised.
const (
	compileGoal = 100  // times Tenon's time to the first result, for tuning with 16 samples
	speedGoal   = 2    // times the speed of compilers for every size
	tunedGoal   = 0.97 // of the speed of Tenon tuned for each size
)

func (t *table) write(out io.Writer) {
	fmt.Fprintln(out, "```")
	w := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "what\tcontractions\ts to the first result\ttimes Tenon\tTenon's speed over it, geomean\tleast\tmost")
	for _, l := range t.lines {
		if len(l.ratios) == 0 {
			fmt.Fprintf(w, "%s\tSKIPPED: %s\n", l.what, l.skipped)
			continue
		}
		first, more := "-", "-"
		if len(l.first) > 0 {
			first = fmt.Sprintf("%.2f", sum(l.first)/float64(len(l.first)))
			more = fmt.Sprintf("%.1f", sum(l.first)/sum(l.oursFirst))
		}
		fmt.Fprintf(w, "%s\t%d\t%s\t%s\t%.3f\t%.2f\t%.2f\n", l.what, len(l.first), first, more, bench.Geomean(l.ratios), bench.Quantile(l.ratios, 0), bench.Quantile(l.ratios, 1))
	}
	w.Flush()
	fmt.Fprintln(out, "```")
	for _, l := range t.lines {
		if l.skipped != "" && len(l.ratios) > 0 {
			fmt.Fprintf(out, "- %s stopped early: %s\n", l.what, l.skipped)
		}
	}
	t.goals(out)
}

func (t *table) goals(out io.Writer) {
	say := func(what string, got, want float64) {
		word := "reached"
		if !(got >= want) {
			word = "NOT reached"
		}
		fmt.Fprintf(out, "- %s: %.2f, goal >= %.2f: %s\n", what, got, want, word)
	}
	for _, l := range t.lines {
		if len(l.ratios) == 0 {
			continue
		}
		speed := bench.Geomean(l.ratios)
		switch {
		case l.tuner && l.samples == 0:
			say("Tenon's speed over itself tuned for each unseen size", speed, tunedGoal)
		case l.tuner:
		case l.samples == 16:
			say("time to the first result, "+l.what+", over Tenon's", sum(l.first)/sum(l.oursFirst), compileGoal)
		case l.dynamic:
			say("Tenon's speed over "+l.what, speed, speedGoal)
		}
	}
}

func sum(xs []float64) (s float64) {
	for _, x := range xs {
		s += x
	}
	return s
}
