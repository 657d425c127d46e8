package main

import (
	"fmt"
	"time"
)

// contender is one side of a row: it runs n times and says how long it took.
type contender struct {
	name    string
	note    string // the implementation, for peers
	seconds func(n int) (float64, error)

	n     int       // calls a round
	times []float64 // seconds a call, one a round
}

// race runs the contenders in turn, rounds times, each as often as fills about
// slice. A contender that fails drops out with its error in note.
func race(cs []*contender, rounds int, slice time.Duration) ([]*contender, error) {
	var in []*contender
	for i, c := range cs {
		t, err := c.seconds(1) // touches what it uses
		if err == nil {
			t, err = c.seconds(1)
		}
		if err != nil {
			if i == 0 {
				return nil, fmt.Errorf("%s: %w", c.name, err)
			}
			continue
		}
		c.n = int(min(max(slice.Seconds()/max(t, 1e-9), 1), 1e6))
		in = append(in, c)
	}
	for range rounds {
		for _, c := range in {
			t, err := c.seconds(c.n)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", c.name, err)
			}
			c.times = append(c.times, t/float64(c.n))
		}
	}
	return in, nil
}

// find is the contender of a name, nil if it is not there.
func find(cs []*contender, name string) *contender {
	for _, c := range cs {
		if c.name == name {
			return c
		}
	}
	return nil
}

// faster is the round-by-round time of the fastest of the contenders of which
// pick is true, and the one with the least median; nil if there is none.
func faster(cs []*contender, pick func(*contender) bool) (times []float64, best *contender) {
	for _, c := range cs {
		if !pick(c) {
			continue
		}
		if times == nil {
			times = c.times
		} else {
			times = least(times, c.times)
		}
		if best == nil || spreadOf(c.times).median < spreadOf(best.times).median {
			best = c
		}
	}
	return times, best
}
