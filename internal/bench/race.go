package bench

import (
	"fmt"
	goruntime "runtime"
	"slices"
	"time"
)

// contender is one side of a row. Its runs do the same over memory of their own:
// several where the operands are to be cold.
type contender struct {
	Name, Note string
	runs       []func() bool
	before     func() // at the start of a turn, outside the timing; may be nil
	expendable bool   // left out of the rounds if it takes several times as long as the best such

	next  int       // which run comes next
	n     int       // runs a round
	times []float64 // seconds a run, one a round
	used  []float64 // processors that it kept busy, in each turn
}

// hopeless is how many times as long as the best an expendable contender may take.
const hopeless = 3

// A row is unsteady where the quartiles of a contender lie further apart than this
// part of the median: other work was under way. It gets more rounds, as many again,
// while it has not taken too long.
const (
	unsteady = 0.1
	again    = 2
	tooLong  = 1500 * time.Millisecond
)

// race takes the contenders in turn, rounds times, each as often as fills about
// slice, and extra times as many again while the times are unsteady. It calls begin
// on the thread that it keeps.
func race(cs []*contender, rounds, extra int, slice time.Duration, threads int, begin func()) error {
	goruntime.LockOSThread()
	defer goruntime.UnlockOSThread()
	if begin != nil {
		begin()
	}
	least := make([]float64, len(cs))
	for i, c := range cs {
		for range 2 { // the first touches what it uses
			t, err := c.turn(1, threads)
			if err != nil {
				return err
			}
			if least[i] == 0 || t < least[i] {
				least[i] = t
			}
			if t > slice.Seconds() && c.expendable {
				break
			}
		}
		c.n = int(min(max(slice.Seconds()/max(least[i], 1e-9), 1), 1e7))
	}
	cs = remaining(cs, least)
	start := time.Now()
	for range 1 + extra {
		if err := inTurn(cs, rounds, threads); err != nil {
			return err
		}
		if steady(cs) || time.Since(start) > tooLong {
			break
		}
	}
	return nil
}

func inTurn(cs []*contender, rounds, threads int) error {
	for range rounds {
		for _, c := range cs {
			t, err := c.turn(c.n, threads)
			if err != nil {
				return err
			}
			c.times = append(c.times, t/float64(c.n))
		}
	}
	return nil
}

func steady(cs []*contender) bool {
	for _, c := range cs {
		if s := SpreadOf(c.times); s.Q3-s.Q1 > unsteady*s.Median {
			return false
		}
	}
	return true
}

// remaining leaves out the expendable ones that cannot be the best.
func remaining(cs []*contender, least []float64) []*contender {
	best := 0.0
	for i, c := range cs {
		if c.expendable && (best == 0 || least[i] < best) {
			best = least[i]
		}
	}
	var out []*contender
	for i, c := range cs {
		if c.expendable && least[i] > hopeless*best {
			c.times = []float64{least[i]}
			continue
		}
		out = append(out, c)
	}
	return out
}

// turn runs n times and gives the seconds of all.
func (c *contender) turn(n, threads int) (float64, error) {
	if c.before != nil {
		c.before()
	}
	start := look()
	for range n {
		if !c.runs[c.next]() {
			return 0, fmt.Errorf("%s failed while running", c.Name)
		}
		if c.next++; c.next == len(c.runs) {
			c.next = 0
		}
	}
	t, used := taken(start, look(), threads)
	c.used = append(c.used, used)
	return t, nil
}

// best is the least time of all rounds.
func (c *contender) best() float64 { return slices.Min(c.times) }
