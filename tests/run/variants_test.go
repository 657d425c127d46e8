package run

import (
	"fmt"
	"slices"
	"testing"

	"tenon/ir"
)

// Every variant of every choice, forced in turn, gives what the program means; the
// counters say that it was the one that ran, or the last one where its guard
// fails.
func TestForcedVariants(t *testing.T) {
	for _, file := range []string{"contractions.txtar", "products.txtar"} {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			parts := readParts(t, file)
			m := program(t, parts)
			on := *Machines[0].At(2)
			on.Options.Watch = true
			p, err := BuildFor(m, &on)
			if err != nil {
				t.Skip("SKIPPED:", err)
			}
			defer p.Close()
			ran := map[string]bool{}
			for _, line := range lines(parts["sizes"]) {
				name, dims := sizesOf(t, line)
				forceEach(t, p, ir.Lookup[*ir.Func](m, name), dims, ran)
			}
			if len(ran) < 10 || !ran["loops"] {
				t.Errorf("only the variants %v ran", ran)
			}
		})
	}
}

// forceEach runs f with each variant of its choices; ran collects the names of
// those that did.
func forceEach(t *testing.T, p *Program, f *ir.Func, dims map[string]int64, ran map[string]bool) {
	args, ok := Draw(f, dims, Plain, 5)
	if !ok {
		t.Fatalf("%s: %v do not fit", f.Name, dims)
	}
	ref, fault := Reference(p.Source, f.Name, args)
	for _, c := range p.lib.(loaded).lib.Choices(f.Name) {
		for k, name := range c.Variants {
			what := fmt.Sprintf("%s %v, variant %s", f.Name, dims, name)
			c.Force(k)
			c.Reset()
			if _, err := p.Check(f.Name, args, ref, fault, 0); err != nil {
				t.Errorf("%s: %v", what, err)
			}
			last := len(c.Variants) - 1
			for i, n := range c.Counts() {
				if n > 0 && i != k && i != last {
					t.Errorf("%s: %s ran", what, c.Variants[i])
				}
				if n > 0 {
					ran[c.Variants[i]] = true
				}
			}
			if some := slices.Max(c.Counts()); some == 0 && !empty(dims) {
				t.Errorf("%s: nothing was counted", what)
			}
		}
		c.Force(-1)
	}
}

// empty reports sizes at which a proc may not reach its choices.
func empty(dims map[string]int64) bool {
	for _, n := range dims {
		if n == 0 {
			return true
		}
	}
	return false
}
