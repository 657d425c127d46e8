package bench

import (
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

// Text writes the report as a table: medians with quartiles.
func (r *Report) Text(out io.Writer) {
	state := "warm"
	if r.Cold {
		state = "cold operands"
	}
	fmt.Fprintf(out, "%s for %s, %d threads, %s; compiled in %.2f s\n", r.Function, r.Machine, r.Threads, state, r.Compile)
	if r.Peer != "" {
		fmt.Fprintf(out, "against %s (%s)\n", r.Peer, r.ISA)
	}
	w := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "shape\tus\tGFLOP/s\tof peak\tbest peer GFLOP/s\tratio\tpeer's way")
	for _, row := range r.Rows {
		fmt.Fprintf(w, "%s\t%s\n", row.Shape, row.cells())
	}
	w.Flush()
	if r.Geomean > 0 {
		fmt.Fprintf(out, "geomean of the ratios: %.3f\n", r.Geomean)
		for _, row := range r.Worst(worst) {
			fmt.Fprintf(out, "worst: %s: %.2fx\n", row.Shape, row.Ratio.Median)
		}
	}
	if r.Void != "" {
		fmt.Fprintf(out, "VOID: %s where the machine has it: the ratios do not count\n", r.Void)
	}
}

// Worst are the rows with the least ratios, worst first.
func (r *Report) Worst(n int) []*Row {
	rows := slices.DeleteFunc(slices.Clone(r.Rows), func(row *Row) bool { return row.Ratio == nil })
	slices.SortStableFunc(rows, func(a, b *Row) int {
		switch {
		case a.Ratio.Median < b.Ratio.Median:
			return -1
		case a.Ratio.Median > b.Ratio.Median:
			return 1
		}
		return 0
	})
	return rows[:min(n, len(rows))]
}

func (row *Row) cells() string {
	if row.Skipped != "" {
		return row.Skipped + "\t\t\t\t\t"
	}
	figure := func(s *Spread, format string) string {
		if s == nil {
			return "-"
		}
		return fmt.Sprintf(format+" ("+format+"-"+format+")", s.Median, s.Q1, s.Q3)
	}
	us := Spread{1e6 * row.Seconds.Q1, 1e6 * row.Seconds.Median, 1e6 * row.Seconds.Q3}
	share := "-"
	if row.Share != nil {
		share = fmt.Sprintf("%.0f%%", 100*row.Share.Median)
	}
	best := Way{Name: "-"}
	for _, p := range row.Peers {
		if best.Name == "-" || p.Seconds.Median < best.Seconds.Median {
			best = p
		}
	}
	rate := "-"
	if row.Peers != nil {
		rate = figure(&best.GFlops, "%.1f")
	}
	return fmt.Sprintf("%s\t%s\t%s\t%s\t%s\t%s %s", figure(&us, "%.2f"), figure(row.GFlops, "%.1f"), share, rate, figure(row.Ratio, "%.2f"), best.Name, best.Note)
}
