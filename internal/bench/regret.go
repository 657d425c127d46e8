package bench

import (
	"context"
	"fmt"

	"tenon/internal/diag"
	"tenon/internal/driver"
	"tenon/ir"
	"tenon/runtime"
)

// Regret is what the choice of a variant costs, beside an exhaustive search over
// all of them in the same rounds.
type Regret struct {
	Chosen   string    `json:"chosen"`
	Best     string    `json:"best"`
	Regret   float64   `json:"regret"` // 0.03: the chosen one takes 3% longer than the best
	Variants []Variant `json:"variants"`
}

// Variant is the least time of a variant; one that was far from the best was
// measured once.
type Variant struct {
	Name    string  `json:"name"`
	Seconds float64 `json:"least_seconds"`
}

// watch compiles f once more, with choices that can be forced.
func (s *session) watch(ctx context.Context, m *ir.Module, file string) error {
	if !s.o.Regret {
		return nil
	}
	o := s.o.Compile
	o.Watch = true
	lib, _, _, err := compile(ctx, driver.Only(m, s.f), file, o)
	if err != nil {
		return err
	}
	if n := len(lib.Choices(s.f.Name)); n != 1 {
		return diag.Usagef("--regret: %s has %d choices between variants; it takes a function with one", s.f.Name, n)
	}
	s.watched = lib
	return nil
}

// variants adds a contender for each variant, over the same arguments.
func (s *session) variants(x *field, sets [][]runtime.Arg) error {
	if x.chosen = -1; s.watched == nil {
		return nil
	}
	var runs []func() bool
	for _, args := range sets {
		run, err := s.ready(s.watched, args)
		if err != nil {
			return err
		}
		runs = append(runs, run)
	}
	c := s.watched.Choices(s.f.Name)[0]
	c.Force(-1)
	c.Reset()
	if !runs[0]() {
		return fmt.Errorf("%s fails", s.f.Name)
	}
	for i, n := range c.Counts() {
		if n > 0 {
			x.chosen = i
		}
	}
	for i, name := range c.Variants {
		x.variants = append(x.variants, &contender{Name: name, runs: runs, before: func() { c.Force(i) }, expendable: true})
	}
	return nil
}

// regretOf compares the chosen variant with the best; nil where none ran.
func regretOf(x *field) *Regret {
	if x.chosen < 0 {
		return nil
	}
	best := x.chosen
	r := &Regret{}
	for i, c := range x.variants {
		r.Variants = append(r.Variants, Variant{c.Name, c.best()})
		if c.best() < x.variants[best].best() {
			best = i
		}
	}
	r.Chosen, r.Best = x.variants[x.chosen].Name, x.variants[best].Name
	r.Regret = x.variants[x.chosen].best()/x.variants[best].best() - 1
	return r
}
