package fuzz

import (
	"time"
)

// Options says what to run.
type Options struct {
	Seed       uint64   // of the first program; the next ones have the seeds after it
	Size       int      // 0: by turns 1 to 5
	Categories []string // empty: all, by turns
	Programs   int      // in each category; 0: no limit
	Time       time.Duration
	Temp       string          // folder of reproducers; "": the system's
	All        func(*Mismatch) // called for a mismatch, after which the run goes on; nil: the run ends
}

// checker carries a run's state.
type checker struct {
	report *Report
	temp   string // folder of reproducers
}

// Fuzz generates and checks programs until the time or number is used up, or
// two ways of running one disagree.
func Fuzz(o Options) (*Report, *Mismatch) {
	c := newChecker(o.Temp)
	cats := o.Categories
	if len(cats) == 0 {
		for _, cat := range Categories() {
			cats = append(cats, cat.Name)
		}
	}
	for end, i := time.Now().Add(o.Time), 0; o.Programs == 0 || i < o.Programs; i++ {
		for _, cat := range cats {
			if o.Time > 0 && time.Now().After(end) {
				return c.report, nil
			}
			size := o.Size
			if size == 0 {
				size = 1 + i%5
			}
			bad := c.check(Generate(cat, o.Seed+uint64(i), size))
			if bad != nil && o.All == nil {
				return c.report, bad
			} else if bad != nil {
				o.All(bad)
			}
		}
	}
	return c.report, nil
}

// check holds one program against everything.
func (c *checker) check(p *Program) *Mismatch {
	if p.Module == nil {
		if bad := Parse(p); bad != nil {
			return bad
		}
	}
	c.report.of(p.Category).Programs++
	c.report.uses(p.Module)
	if bad := RoundTrip(p, p.Module, p.Category); bad != nil {
		return bad
	}
	runs, bad := c.interpret(p)
	if bad != nil {
		return bad
	}
	_, bad = c.takeDown(p, runs)
	return bad
}

func newChecker(temp string) *checker { return &checker{report: newReport(), temp: temp} }
