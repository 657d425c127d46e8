package bench

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
)

// worst is how many of the worst shapes a report lists.
const worst = 5

// JSON writes the report for machines.
func (r *Report) JSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(r)
}

// Text writes the report as a table: medians with quartiles, and behind a bar what
// the least times of all rounds give.
func (r *Report) Text(out io.Writer) {
	state := "warm"
	if r.Cold {
		state = "cold operands"
	}
	fmt.Fprintf(out, "%s for %s, %d threads, %s; compiled in %.2f s to %d KB\n", r.Function, r.Machine, r.Threads, state, r.Compile, r.Bytes/1024)
	if r.Peer != "" {
		fmt.Fprintf(out, "against %s (%s)\n", r.Peer, r.ISA)
	}
	w := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	head := "shape\tus\tGFLOP/s\tof peak\tbest peer GFLOP/s\tratio\t| of peak\tratio\tpeer's way"
	if r.streamed() {
		head += "\tof stream"
	}
	if r.regretted() {
		head += "\tchosen\tbest\tregret"
	}
	fmt.Fprintln(w, head)
	for _, row := range r.Rows {
		fmt.Fprintf(w, "%s\t%s", row.Shape, row.cells())
		if r.streamed() {
			fmt.Fprintf(w, "\t%s", percent(row.StreamShare))
		}
		if x := row.Regret; x != nil {
			fmt.Fprintf(w, "\t%s\t%s\t%.1f%%", x.Chosen, x.Best, 100*x.Regret)
		}
		fmt.Fprintln(w)
	}
	w.Flush()
	r.sum(out)
}

func (r *Report) streamed() bool {
	return slices.ContainsFunc(r.Rows, func(row *Row) bool { return row.Stream > 0 })
}

func (r *Report) regretted() bool {
	return slices.ContainsFunc(r.Rows, func(row *Row) bool { return row.Regret != nil })
}

// sum writes the means and the worst rows.
func (r *Report) sum(out io.Writer) {
	if r.Geomean > 0 {
		fmt.Fprintf(out, "geomean of the ratios: %.3f; of those of least times: %.3f\n", r.Geomean, r.Best)
		for _, row := range r.Worst(worst) {
			fmt.Fprintf(out, "worst: %s: %.2fx (of least times %.2fx)\n", row.Shape, row.Ratio.Median, row.BestRatio)
		}
	}
	if r.regretted() {
		fmt.Fprintf(out, "geomean of the regret: %.1f%%\n", 100*r.Regret)
		rows := slices.DeleteFunc(slices.Clone(r.Rows), func(row *Row) bool { return row.Regret == nil })
		slices.SortStableFunc(rows, func(a, b *Row) int { return cmp.Compare(b.Regret.Regret, a.Regret.Regret) })
		for _, row := range rows[:min(worst, len(rows))] {
			fmt.Fprintf(out, "most: %s: %s takes %.1f%% longer than %s\n", row.Shape, row.Regret.Chosen, 100*row.Regret.Regret, row.Regret.Best)
		}
	}
	for _, line := range r.voids() {
		fmt.Fprintf(out, "VOID: %s\n", line)
	}
}

// voids are the ways that did not count, each with one of its reasons.
func (r *Report) voids() (lines []string) {
	rows, why := map[string]int{}, map[string]string{}
	var names []string
	for _, row := range r.Rows {
		for _, w := range row.Peers {
			if w.Void == "" {
				continue
			}
			if rows[w.Name]++; why[w.Name] == "" {
				names, why[w.Name] = append(names, w.Name), w.Void
			}
		}
	}
	for _, n := range names {
		lines = append(lines, fmt.Sprintf("%s takes no part in %d of %d rows: %s", n, rows[n], len(r.Rows), why[n]))
	}
	return lines
}

// Worst are the rows with the least ratios, of the shortest times, worst first.
func (r *Report) Worst(n int) []*Row {
	rows := slices.DeleteFunc(slices.Clone(r.Rows), func(row *Row) bool { return row.Ratio == nil })
	slices.SortStableFunc(rows, func(a, b *Row) int { return cmp.Compare(a.BestRatio, b.BestRatio) })
	return rows[:min(n, len(rows))]
}

func percent(x float64) string {
	if x == 0 {
		return "-"
	}
	return fmt.Sprintf("%.0f%%", 100*x)
}

func (row *Row) cells() string {
	if row.Skipped != "" {
		return row.Skipped + "\t\t\t\t\t|\t\t"
	}
	figure := func(s *Spread, format string) string {
		if s == nil {
			return "-"
		}
		return fmt.Sprintf(format+" ("+format+"-"+format+")", s.Median, s.Q1, s.Q3)
	}
	us := Spread{1e6 * row.Seconds.Q1, 1e6 * row.Seconds.Median, 1e6 * row.Seconds.Q3}
	share := 0.0
	if row.Share != nil {
		share = row.Share.Median
	}
	best, rate, ratio := row.bestWay(), "-", "-"
	if best.Name != "-" {
		rate = figure(&best.GFlops, "%.1f")
	}
	if row.Ratio != nil {
		ratio = fmt.Sprintf("%.2f", row.BestRatio)
	}
	return fmt.Sprintf("%s\t%s\t%s\t%s\t%s\t| %s\t%s\t%s %s", figure(&us, "%.2f"), figure(row.GFlops, "%.1f"), percent(share), rate,
		figure(row.Ratio, "%.2f"), percent(row.BestShare), ratio, best.Name, best.Note)
}

// bestWay is the fastest way that counts.
func (row *Row) bestWay() Way {
	best := Way{Name: "-"}
	for _, p := range row.Peers {
		if p.Void == "" && (best.Name == "-" || p.Least < best.Least) {
			best = p
		}
	}
	return best
}
