// Tuning measures what is gained by knowing sizes beforehand, and what that costs:
// `make bench-tuning`. Ten contractions have a dynamic number of rows. Tenon
// compiles each once; its own tuner, and TorchInductor, TVM and Halide where they
// are installed, are given 1, 4 and 16 sizes. Told are the time to the first
// result and the speed at 200 sizes that were no samples.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"tenon/internal/bench"
	"tenon/internal/driver"
)

// contraction is a product with constant weights, its rows dynamic. turned ones
// have weights [N, K].
type contraction struct {
	k, n   int64
	turned bool
}

var contractions = []contraction{{768, 768, false}, {512, 200, true}, {768, 3072, true}, {3072, 768, false}, {64, 64, false},
	{1024, 1024, true}, {128, 40, false}, {768, 2304, true}, {256, 1000, false}, {1024, 4096, true}}

func (c contraction) String() string {
	return fmt.Sprintf("%dx%d%s", c.k, c.n, map[bool]string{true: " turned"}[c.turned])
}

func (c contraction) program() string {
	if c.turned {
		return "fn f(a: f32[M, K], const b: f32[N, K]) -> f32[M, N] { return sum[k] a[m, k] * b[n, k] for m, n }"
	}
	return "fn f(a: f32[M, K], const b: f32[K, N]) -> f32[M, N] { return sum[k] a[m, k] * b[k, n] for m, n }"
}

// samples are the sizes that tuners are given, so many.
var samples = map[int][]int64{1: {64}, 4: {1, 8, 64, 512}, 16: {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 256, 512}}

var counts = []int{1, 4, 16}

// unseen are sizes for contraction i, log-uniform in 1..512, that are no samples.
func unseen(i, n int, seed uint64) (sizes []int64) {
	for draw := seed; len(sizes) < n; draw++ {
		rng := rand.New(rand.NewPCG(draw, uint64(i)))
		shapes, _ := bench.ParseShapes([]string{"M=~1..512:64"}, rng.Uint64())
		for _, s := range shapes {
			m := s["M"]
			if len(sizes) < n && !slices.Contains(samples[16], m) && !slices.Contains(sizes, m) {
				sizes = append(sizes, m)
			}
		}
	}
	return sizes
}

// run is what the flags say.
type run struct {
	out    io.Writer
	seed   uint64
	rounds int
	sizes  int // unseen ones of a contraction
	budget time.Duration
	only   *regexp.Regexp
	env    string
}

func main() {
	r := &run{out: os.Stdout, env: bench.BenchEnv()}
	flag.Uint64Var(&r.seed, "seed", 1, "determines the unseen sizes")
	flag.IntVar(&r.rounds, "rounds", 5, "rounds of each size")
	flag.DurationVar(&r.budget, "budget", 90*time.Second, "tune a system, for one number of samples, for no further contraction after this time")
	quick := flag.Bool("quick", false, "fewer contractions and sizes, a budget of 20 s")
	only := flag.String("only", "", "the systems whose names match: inductor, halide, tvm")
	flag.Parse()
	list := contractions
	r.sizes = 200 / len(list)
	if *quick {
		list, r.sizes, r.budget = list[:2], 8, 20*time.Second
	}
	var err error
	if r.only, err = regexp.Compile(*only); err == nil {
		err = r.all(list)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench-tuning:", err)
		os.Exit(1)
	}
}

func (r *run) all(list []contraction) error {
	fmt.Fprintf(r.out, "### Tuning: %d contractions, %d unseen sizes of each, seed %d\n\n", len(list), r.sizes, r.seed)
	t := &table{}
	var ours []*own
	for i, c := range list {
		x, err := r.own(c, unseen(i, r.sizes, r.seed))
		if err != nil {
			return fmt.Errorf("%s: %w", c, err)
		}
		ours = append(ours, x)
	}
	t.tenon(ours)
	for _, s := range systems {
		if !r.only.MatchString(s.name) {
			continue
		}
		for _, n := range s.samples {
			t.add(r.other(s, n, list, ours))
		}
	}
	t.write(r.out)
	return nil
}

// own is what Tenon gives for a contraction.
type own struct {
	sizes   []int64                   // the unseen ones
	compile float64                   // seconds from the source to the first result
	tuning  map[int]float64           // further seconds for so many samples
	chosen  map[int64]float64         // seconds at a size, as compiled code chooses
	best    map[int64]float64         // of the best variant at that size
	tuned   map[int]map[int64]float64 // with the best variant of the nearest of so many samples
}

// own compiles, tunes and measures one contraction.
func (r *run) own(c contraction, sizes []int64) (*own, error) {
	m, err := driver.Parse("f.tn", c.program())
	if err != nil {
		return nil, err
	}
	f, err := driver.Entry(m, "")
	if err != nil {
		return nil, err
	}
	shape := func(m int64) bench.Shape { return bench.Shape{"M": m, "K": c.k, "N": c.n} }
	o := bench.Options{Threads: 1, Rounds: r.rounds, Slice: 3 * time.Millisecond, Regret: true, Compile: driver.Options{CPU: "native", Opt: 2}}
	for _, n := range append(slices.Clone(samples[16]), sizes...) {
		o.Shapes = append(o.Shapes, shape(n))
	}
	x := &own{sizes: sizes, tuning: map[int]float64{}, chosen: map[int64]float64{}, best: map[int64]float64{}, tuned: map[int]map[int64]float64{}}
	rows, took := map[int64]*bench.Row{}, map[int64]float64{}
	last := time.Time{}
	rep, err := bench.Run(context.Background(), m, f, "f.tn", o, func(row *bench.Row) {
		now := time.Now()
		if rows[row.Shape["M"]] = row; !last.IsZero() {
			took[row.Shape["M"]] = now.Sub(last).Seconds()
		}
		last = now
	})
	if err != nil {
		return nil, err
	}
	took[samples[16][0]] = took[samples[16][1]] // the first has no row before it
	for _, n := range counts {
		for _, s := range samples[n] {
			x.tuning[n] += took[s]
		}
		x.tuned[n] = map[int64]float64{}
	}
	x.compile = rep.Compile
	for _, size := range sizes {
		times := variants(rows[size])
		x.chosen[size], x.best[size] = times[rows[size].Regret.Chosen], times[rows[size].Regret.Best]
		for _, n := range counts {
			x.tuned[n][size] = times[rows[nearest(samples[n], size)].Regret.Best]
		}
	}
	return x, nil
}

func variants(row *bench.Row) map[string]float64 {
	times := map[string]float64{}
	for _, v := range row.Regret.Variants {
		times[v.Name] = v.Seconds
	}
	return times
}

// nearest is the sample whose ratio to m is closest to 1.
func nearest(list []int64, m int64) int64 {
	far := func(s int64) float64 { return max(float64(s)/float64(m), float64(m)/float64(s)) }
	return slices.MinFunc(list, func(a, b int64) int {
		switch {
		case far(a) < far(b):
			return -1
		case far(a) > far(b):
			return 1
		}
		return 0
	})
}

// title joins words that are there.
func title(words ...string) string {
	return strings.Join(slices.DeleteFunc(words, func(w string) bool { return w == "" }), ", ")
}
