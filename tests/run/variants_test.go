package run

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"tenon/internal/driver"
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

const explained = `
fn plain(a: f32[M, K], b: f32[K, N]) -> f32[M, N] { return sum[k] a[i, k] * b[k, j] for i, j }
fn batched(q: f64[B, M, K], k: f64[B, N, K]) -> f64[B, M, N] { return sum[d] q[b, i, d] * k[b, j, d] for b, i, j }
fn layer(x: f32[M, K], const w: f32[N, K], const bias: f32[N]) -> f32[M, N] { return relu((sum[k] x[i, k] * w[j, k]) + bias[j]) for i, j }
`

// What tenon explain says of sizes is what compiled code runs at them, for many
// sizes with one library.
func TestExplainedIsWhatRuns(t *testing.T) {
	m := program(t, map[string]string{"prog.tn": explained})
	on := *Machines[0].At(1)
	on.Options.Watch = true
	p, err := BuildFor(m, &on)
	if err != nil {
		t.Skip("SKIPPED:", err)
	}
	defer p.Close()
	rng := rand.New(rand.NewPCG(7, 7))
	seen := map[string]bool{}
	for range 25 {
		dims := map[string]int64{}
		for _, d := range []string{"M", "K", "N", "B"} {
			dims[d] = int64(math.Exp(rng.Float64() * math.Log(90)))
		}
		said, err := driver.Choices(m, dims, nil, on.Options)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"plain", "batched", "layer"} {
			f := ir.Lookup[*ir.Func](m, name)
			args, _ := Draw(f, dims, Plain, 5)
			shapes, err := ResultShapes(p.Low, name, args, nil)
			if err != nil {
				t.Fatal(err)
			}
			choices := p.lib.(loaded).lib.Choices(name)
			for _, c := range choices {
				c.Reset()
			}
			if _, status, err := p.Call(name, args, shapes, 0); err != nil || status.Code != 0 {
				t.Fatal(name, dims, status, err)
			}
			if len(choices) != len(said[name].Choices) {
				t.Fatalf("%s: %d choices, explain tells of %d", name, len(choices), len(said[name].Choices))
			}
			for i, c := range choices {
				picked := said[name].Choices[i].Picked
				seen[picked] = true
				if k := slices.Index(c.Variants, picked); k < 0 || c.Counts()[k] == 0 {
					t.Errorf("%s %v: explain says %s; of %v ran %v", name, dims, picked, c.Variants, c.Counts())
				}
			}
		}
	}
	if len(seen) < 3 {
		t.Errorf("only %v were picked: sizes hardly matter", seen)
	}
}
