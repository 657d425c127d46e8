// Helix measures matrix products on the shapes that Tenon promises speed for and
// prints tables beside OpenBLAS and oneDNN: `make bench-helix`. The ratio of a
// shape is to the best way of all peers, round by round; the worst shapes are
// listed and not hidden. Compile time, two threads, f64 loop nests and the regret
// of the choice have no table yet.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"

	"tenon/internal/bench"
	"tenon/internal/driver"
	"tenon/ir"
)

// The two programs: constant weights, and both operands dynamic.
const program = `
fn weights(a: f32[M, K], const b: f32[K, N]) -> f32[M, N] {
  let c[m, n] = sum[k] a[m, k] * b[k, n]
  return c
}
fn dynamic(a: f32[M, K], b: f32[K, N]) -> f32[M, N] {
  let c[m, n] = sum[k] a[m, k] * b[k, n]
  return c
}
`

// mostFlops caps a shape of the draws.
const mostFlops = 2_000_000_000

type section struct {
	name, title, entry string
	cold               bool
	geomean            float64 // asked of the geometric mean
	least              float64 // asked at the quantile part; 0 if nothing is
	part               float64
	shapes             func(seed uint64) ([]bench.Shape, error)
}

func list(specs ...string) func(uint64) ([]bench.Shape, error) {
	return func(seed uint64) ([]bench.Shape, error) { return bench.ParseShapes(specs, seed) }
}

func sections() []section {
	var warm []string
	for _, kn := range []string{"K=768,N=768", "K=768,N=3072", "K=3072,N=768", "K=768,N=2304", "K=1024,N=4096", "K=64,N=64", "K=512,N=200", "K=128,N=40"} {
		warm = append(warm, "M=1,2,3,4,5,7,8,12,16,24,31,32,48,64,77,96,128,197,256,511,"+kn)
	}
	return []section{
		{name: "warm", title: "Warm, constant weights", entry: "weights", geomean: 1.05, least: 0.95, shapes: list(warm...)},
		{name: "cold-few", title: "Cold weights, 8 to 12 rows", entry: "weights", cold: true, geomean: 1.35, shapes: list("M=8..12,K=768,N=768,3072", "M=8..12,K=3072,N=768")},
		{name: "cold-more", title: "Cold weights, 16 to 32 rows", entry: "weights", cold: true, geomean: 1.15, shapes: list("M=16..32:4,K=768,N=768,3072", "M=16..32:4,K=3072,N=768")},
		{name: "dynamic", title: "Both operands dynamic, log-uniform draws", entry: "dynamic", geomean: 1, least: 0.85, part: 0.05, shapes: draws},
		{name: "tau", title: "Every number of rows", entry: "weights", geomean: 1, shapes: list("M=1..512,K=768,N=768", "M=1..512,K=768,N=3072")},
	}
}

// ranges of M, N, K and how many shapes of 300 each has: those of MikPoly
// (ASPLOS 2024) in their proportions, the largest left out by the cap on work.
var ranges = []struct {
	spec string
	n    int
}{
	{"M=~1..256:#,N=~1..256:#,K=~1..256:#", 71}, {"M=~1..256:#,N=~1..256:#,K=~257..65536:#", 52}, {"M=~1..256:#,N=~257..1024:#,K=~1..65536:#", 55},
	{"M=~1..256:#,N=~1025..65536:#,K=~1..65536:#", 23}, {"M=~257..1024:#,N=~1..256:#,K=~1..65536:#", 15}, {"M=~257..1024:#,N=~257..65536:#,K=~1..65536:#", 21},
	{"M=~1025..8192:#,N=~1..256:#,K=~1..65536:#", 15}, {"M=~1025..8192:#,N=~257..8192:#,K=~1..65536:#", 32}, {"M=~8193..65536:#,N=~1..8192:#,K=~1..8192:#", 16},
}

// draws are the shapes of the ranges that the cap admits.
func draws(seed uint64) (all []bench.Shape, err error) {
	for i, r := range ranges {
		pool, err := bench.ParseShapes([]string{strings.ReplaceAll(r.spec, "#", "4000")}, seed+uint64(i))
		if err != nil {
			return nil, err
		}
		left := r.n
		for _, s := range pool {
			if left > 0 && 2*s["M"]*s["N"]*s["K"] <= mostFlops {
				all, left = append(all, s), left-1
			}
		}
	}
	return all, nil
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "bench-helix:", err)
		os.Exit(1)
	}
}

func run() error {
	only := flag.String("only", "", "the tables whose names match: warm, cold-few, cold-more, dynamic, tau")
	seed := flag.Uint64("seed", 1, "determines the draws")
	rounds := flag.Int("rounds", 7, "rounds of each shape")
	against := flag.String("against", "openblas,onednn", "the peers, or their paths")
	doc := flag.String("doc", "", "also put the tables into this file, between its lines <!-- bench --> and <!-- end of bench -->")
	flag.Parse()
	match, err := regexp.Compile(*only)
	if err != nil {
		return err
	}
	text := &strings.Builder{}
	out := io.MultiWriter(os.Stdout, text)
	for _, s := range sections() {
		if match.MatchString(s.name) {
			if err := s.measure(out, *seed, *rounds, *against); err != nil {
				return fmt.Errorf("%s: %w", s.name, err)
			}
		}
	}
	if *doc != "" {
		return putInto(*doc, text.String())
	}
	return nil
}

func (s section) measure(out io.Writer, seed uint64, rounds int, against string) error {
	m, err := driver.Parse("products.tn", program)
	if err != nil {
		return err
	}
	shapes, err := s.shapes(seed)
	if err != nil {
		return err
	}
	o := bench.Options{Shapes: shapes, Against: against, Threads: 1, Rounds: rounds, Slice: 5e6, Cold: s.cold, Compile: driver.Options{CPU: "native", Opt: 2}}
	fmt.Fprintf(out, "### %s: %d shapes, seed %d\n\n```\n", s.title, len(shapes), seed)
	r, err := bench.Run(context.Background(), m, ir.Lookup[*ir.Func](m, s.entry), "products.tn", o, func(*bench.Row) {})
	if err != nil {
		return err
	}
	r.Text(out)
	fmt.Fprintln(out, "```")
	s.goals(out, r)
	return nil
}

// goals says what was reached. tau's rule is that no size is a cliff: under 0.9
// of the median rate of its neighbours.
func (s section) goals(out io.Writer, r *bench.Report) {
	say := func(what string, got, goal float64) {
		reached := "reached"
		if !(got >= goal) {
			reached = "NOT reached"
		}
		fmt.Fprintf(out, "- %s: %.3f, goal %.2f: %s\n", what, got, goal, reached)
	}
	var ratios []float64
	for _, row := range r.Rows {
		if row.Ratio != nil {
			ratios = append(ratios, row.Ratio.Median)
		}
	}
	say("geomean", r.Geomean, s.geomean)
	if s.least > 0 {
		say(fmt.Sprintf("quantile %.2f of the ratios", s.part), bench.Quantile(ratios, s.part), s.least)
	}
	if s.name == "tau" {
		say("least rate over its neighbours' median", steepest(r.Rows), 0.9)
	}
	fmt.Fprintln(out)
}

// steepest is the least rate of a shape over the median of the four around it,
// among shapes that differ in M alone.
func steepest(rows []*bench.Row) float64 {
	byKN := map[[2]int64][]float64{}
	for _, r := range rows {
		if r.GFlops != nil {
			kn := [2]int64{r.Shape["K"], r.Shape["N"]}
			byKN[kn] = append(byKN[kn], r.GFlops.Median)
		}
	}
	least := 1e9
	for _, rates := range byKN {
		for i := 2; i+2 < len(rates); i++ {
			around := []float64{rates[i-2], rates[i-1], rates[i+1], rates[i+2]}
			least = min(least, rates[i]/bench.Quantile(around, 0.5))
		}
	}
	return least
}

// putInto replaces what stands between the marks of a document.
func putInto(path, text string) error {
	const begin, end = "<!-- bench -->", "<!-- end of bench -->"
	old, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	head, rest, ok := strings.Cut(string(old), begin)
	_, tail, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		return fmt.Errorf("%s has no lines %s and %s", path, begin, end)
	}
	return os.WriteFile(path, []byte(head+begin+"\n"+strings.TrimSpace(text)+"\n"+end+tail), 0o666)
}
