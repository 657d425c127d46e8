package bench

import "fmt"

// overPeak is how far above the measured peak a rate may be: clocks move.
const overPeak = 1.06

// void says why a way of a peer does not count: it leaves instructions of the
// machine unused, or runs on more processors than it is given. peak is in
// GFLOP/s for the threads of the row, 0 if it is unknown.
func (s *session) void(c *contender, isa string, gflops, peak float64) string {
	if why := below(c.Note, isa, s.vector); why != "" {
		return why
	}
	if peak > 0 && gflops > overPeak*peak {
		return fmt.Sprintf("%.0f GFLOP/s are more than the peak of %d threads, %.0f", gflops, s.o.Threads, peak)
	}
	if used := Quantile(c.used, 0.5); used > float64(s.o.Threads)+0.5 {
		return fmt.Sprintf("it keeps %.1f processors busy, %d were given", used, s.o.Threads)
	}
	return ""
}
