package fuzz

import (
	"fmt"
	"slices"
	"strings"
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
	Note       func(string)    // told what compiled code is about to run
	All        func(*Mismatch) // called for a mismatch, after which the run goes on; nil: the run ends
}

// Check says whether the categories exist.
func (o Options) Check() error {
	var names []string
	for _, c := range Categories() {
		names = append(names, c.Name)
	}
	for _, c := range o.Categories {
		if !slices.Contains(names, c) {
			return fmt.Errorf("there is no category %q: choose from %s", c, strings.Join(names, ", "))
		}
	}
	return nil
}

// checker carries a run's state.
type checker struct {
	report *Report
	native *native // nil without LLVM
	temp   string  // folder of reproducers
	note   func(string)
}

// Fuzz generates and checks programs until the time or number is used up, or
// two ways of running one disagree.
func Fuzz(o Options) (*Report, *Mismatch) {
	c := newChecker(o.Temp)
	c.note = o.Note
	c.native, c.report.NoNative = findNative()
	cats := o.Categories
	if len(cats) == 0 {
		for _, cat := range Categories() {
			cats = append(cats, cat.Name)
		}
	}
	for end, i := time.Now().Add(o.Time), 0; o.Programs == 0 || i < o.Programs; i++ {
		for _, cat := range cats {
			if o.Time > 0 && time.Now().After(end) {
				return c.report, c.last(o)
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
	return c.report, c.last(o)
}

// last runs what waits to be compiled.
func (c *checker) last(o Options) *Mismatch {
	bad := c.flush()
	if bad != nil && o.All != nil {
		o.All(bad)
		return nil
	}
	return bad
}

// check holds one program against everything.
func (c *checker) check(p *Program) *Mismatch {
	if p.Module == nil {
		parse := Parse
		if p.Source {
			parse = ParseSource
		}
		if bad := parse(p); bad != nil {
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
	if bad := c.meanings(p, runs); bad != nil {
		return bad
	}
	low, bad := c.takeDown(p, runs)
	if bad != nil {
		return bad
	}
	return c.add(low)
}

// running notes which compiled function is about to run: should it bring the
// process down, the note is what is left.
func (c *checker) running(p *Program, stage, fn string) {
	if c.note != nil {
		c.note(fmt.Sprintf("%s, seed %d, size %d: %s @%s", p.Category, p.Seed, p.Size, stage, fn))
	}
}

func newChecker(temp string) *checker { return &checker{report: newReport(), temp: temp} }
