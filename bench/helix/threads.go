package main

import (
	"fmt"

	"tenon/internal/bench"
)

// What two threads give must be this part of what they give to multiply-adds in
// registers; where two processors are hardly more than one, nothing is judged.
const (
	threadShare = 0.9
	threadFloor = 1.3
)

// threads: one thread and two, on the wall, in turn; and the peak of each.
func (s *suite) threads() error {
	shapes, err := bench.ParseShapes([]string{"M=64,256,511,K=768,N=3072", "M=512,K=1024,N=4096"}, s.seed)
	if err != nil {
		return err
	}
	fmt.Fprint(s.out, "### Two threads\n\nHow much faster two threads are than one, on the wall, beside the same ratio of multiply-adds in registers.\n\n```\n")
	best := map[int][]*bench.Row{}
	for range 2 { // in turn, so that a busy minute touches both
		for threads := 1; threads <= 2; threads++ {
			o := s.options(shapes)
			o.Against, o.Threads, o.Wall = "", threads, true
			r, err := s.measure(products, "weights", o)
			if err != nil {
				return err
			}
			best[threads] = better(best[threads], r.Rows)
		}
	}
	var cases []case_
	for i, one := range best[1] {
		two := best[2][i]
		ratio, bound := one.Least/two.Least, two.Peak/one.Peak
		fmt.Fprintf(s.out, "%s: %.0f us, %.0f us: %.2f times; multiply-adds %.2f times: %.0f%%\n", one.Shape, 1e6*one.Least, 1e6*two.Least, ratio, bound, 100*ratio/bound)
		if bound >= threadFloor {
			cases = append(cases, case_{one, ratio / bound})
		}
	}
	fmt.Fprintln(s.out, "```")
	if len(cases) == 0 {
		s.note("SKIPPED: two processors give multiply-adds less than %.1f times what one gives", threadFloor)
		return nil
	}
	s.say(goal{what: "threads: least share of the resource ratio", got: leastOf(cases), want: threadShare,
		worst: short(cases, func(*bench.Row) float64 { return threadShare }, "")})
	return nil
}

// better takes the least time and the highest peak of each shape.
func better(a, b []*bench.Row) []*bench.Row {
	if a == nil {
		return b
	}
	for i := range a {
		a[i].Least, a[i].Peak = min(a[i].Least, b[i].Least), max(a[i].Peak, b[i].Peak)
	}
	return a
}
