package main

import (
	"fmt"
	"slices"
	"strings"

	"tenon/internal/bench"
)

// products are the programs of most tables: constant weights, and both operands
// dynamic in the four orders.
const products = `
fn weights(a: f32[M, K], const b: f32[K, N]) -> f32[M, N] { return sum[k] a[m, k] * b[k, n] for m, n }
fn nn(a: f32[M, K], b: f32[K, N]) -> f32[M, N] { return sum[k] a[m, k] * b[k, n] for m, n }
fn nt(a: f32[M, K], b: f32[N, K]) -> f32[M, N] { return sum[k] a[m, k] * b[n, k] for m, n }
fn tn(a: f32[K, M], b: f32[K, N]) -> f32[M, N] { return sum[k] a[k, m] * b[k, n] for m, n }
fn tt(a: f32[K, M], b: f32[N, K]) -> f32[M, N] { return sum[k] a[k, m] * b[n, k] for m, n }
`

// warm: constant weights, over and over.
func (s *suite) warm() error {
	rows, weights := "M=1,2,3,4,5,7,8,12,16,24,31,32,48,64,77,96,128,197,256,511,", []string{"K=768,N=768", "K=768,N=3072", "K=3072,N=768", "K=768,N=2304", "K=1024,N=4096", "K=64,N=64", "K=512,N=200", "K=128,N=40"}
	if s.quick {
		rows, weights = "M=1,4,7,16,64,197,", []string{"K=768,N=768", "K=768,N=3072", "K=64,N=64", "K=128,N=40"}
	}
	var specs []string
	for _, kn := range weights {
		specs = append(specs, rows+kn)
	}
	shapes, err := bench.ParseShapes(specs, s.seed)
	if err != nil {
		return err
	}
	o := s.options(shapes)
	o.Regret, o.Stream = true, true
	fmt.Fprintf(s.out, "### Warm, constant weights: %d shapes\n\n", len(shapes))
	r, err := s.measure(products, "weights", o)
	if err != nil {
		return err
	}
	s.print(r)
	s.perPeer(r.Rows)
	both := ratios(r.Rows, named...)
	if len(both) > 0 {
		s.say(goal{what: "warm: geomean to the better of OpenBLAS and oneDNN", got: bench.Geomean(values(both)), want: 1.05})
		tail := func(row *bench.Row) bool { return row.Shape["N"]%16 > 0 && row.Shape["N"]%16 <= 8 }
		limit := func(row *bench.Row) float64 { return map[bool]float64{false: 0.95, true: 0.90}[tail(row)] }
		var margins []case_
		for _, c := range both {
			margins = append(margins, case_{c.row, c.x / limit(c.row)})
		}
		s.say(goal{what: "warm: least ratio over its limit (0.95, or 0.90 where 0 < N % 16 <= 8)", got: leastOf(margins), want: 1, worst: short(both, limit, "x")})
	}
	s.bounds(r.Rows)
	s.regret("warm", r.Rows, 0.03)
	return nil
}

// bounds: many rows are bounded by multiply-adds, few by reading the weights.
func (s *suite) bounds(rows []*bench.Row) {
	var small, large, few []case_
	for _, row := range rows {
		m, k, bytes := row.Shape["M"], row.Shape["K"], 4*row.Shape["K"]*row.Shape["N"]
		switch {
		case m <= 4:
			few = append(few, case_{row, max(row.StreamShare, row.BestShare)})
		case m < 16 || k < 768:
		case bytes <= 2_400_000:
			small = append(small, case_{row, row.BestShare})
		default:
			large = append(large, case_{row, row.BestShare})
		}
	}
	for _, part := range []struct {
		what  string
		cases []case_
		want  float64
	}{
		{"warm: least share of the peak, M >= 16, K >= 768, weights up to 2.4 MB", small, 0.90},
		{"warm: least share of the peak, M >= 16, K >= 768, larger weights", large, 0.85},
		{"warm: least share of the stream's rate, or of the peak where that is more, M <= 4", few, 0.90},
	} {
		if len(part.cases) > 0 {
			s.say(goal{what: part.what, got: leastOf(part.cases), want: part.want, worst: short(part.cases, func(*bench.Row) float64 { return part.want }, "")})
		}
	}
}

// cold: the weights of many layers in turn, which the last cache does not hold.
func (s *suite) cold() error {
	for _, t := range []struct {
		title, rows string
		want        float64
	}{{"8 to 12 rows", "M=8..12:2", 1.35}, {"16 to 32 rows", "M=16..32:8", 1.15}} {
		specs := []string{t.rows + ",K=768,N=768,3072", t.rows + ",K=3072,N=768"}
		if s.quick {
			specs = specs[:1]
		}
		shapes, err := bench.ParseShapes(specs, s.seed)
		if err != nil {
			return err
		}
		o := s.options(shapes)
		o.Cold, o.Stream = true, true
		fmt.Fprintf(s.out, "### Cold weights, %s\n\n", t.title)
		r, err := s.measure(products, "weights", o)
		if err != nil {
			return err
		}
		s.print(r)
		s.perPeer(r.Rows)
		if c := ratios(r.Rows, "oneDNN"); len(c) > 0 {
			s.say(goal{what: "cold, " + t.title + ": geomean to oneDNN", got: bench.Geomean(values(c)), want: t.want,
				worst: short(c, func(*bench.Row) float64 { return t.want }, "x")})
		}
	}
	return nil
}

// mostFlops caps a shape of the draws.
const mostFlops = 2_000_000_000

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

// dynamic: both operands change from call to call. A shape has one of the four
// orders; neighbours have different ones.
func (s *suite) dynamic() error {
	shapes, err := draws(s.seed)
	if err != nil {
		return err
	}
	orders := []string{"nn", "nt", "tn", "tt"}
	parts := make([][]bench.Shape, len(orders))
	for i, x := range shapes {
		if !s.quick || i%6 == 0 { // 6 and 4 leave every second order out, hence the division
			k := i % 4
			if s.quick {
				k = i / 6 % 4
			}
			parts[k] = append(parts[k], x)
		}
	}
	fmt.Fprintf(s.out, "### Both operands dynamic: log-uniform draws, seed %d\n\n", s.seed)
	var rows []*bench.Row
	for k, entry := range orders {
		o := s.options(parts[k])
		o.Regret, o.Rounds = true, max(s.rounds-2, 3)
		r, err := s.measure(products, entry, o)
		if err != nil {
			return err
		}
		s.print(r)
		rows = append(rows, r.Rows...)
	}
	s.perPeer(rows)
	if both := ratios(rows, named...); len(both) > 0 {
		xs := values(both)
		s.say(goal{what: fmt.Sprintf("dynamic, %d shapes: geomean to the better of OpenBLAS and oneDNN", len(rows)), got: bench.Geomean(xs), want: 1})
		s.say(goal{what: "dynamic: 5th percentile of the ratios", got: bench.Quantile(xs, 0.05), want: 0.85,
			worst: short(both, func(*bench.Row) float64 { return 0.85 }, "x")})
	}
	s.regret("dynamic", rows, 0.05)
	return nil
}

// tau: every number of rows; none may be a cliff.
func (s *suite) tau() error {
	specs := []string{"M=1..512,K=768,N=768", "M=1..512,K=3072,N=768"}
	if s.quick {
		specs = []string{"M=1..96,K=768,N=768"}
	}
	shapes, err := bench.ParseShapes(specs, s.seed)
	if err != nil {
		return err
	}
	o := s.options(shapes)
	o.Against, o.Rounds = "", min(s.rounds, 5)
	fmt.Fprintf(s.out, "### Every number of rows: %d shapes, constant weights\n\n", len(shapes))
	r, err := s.measure(products, "weights", o)
	if err != nil {
		return err
	}
	s.note("share of the peak by rows: %s", sharesByRows(r.Rows))
	for range 3 { // a busy moment looks like a cliff, but is not there again
		if err := s.again(r.Rows, o); err != nil {
			return err
		}
	}
	cliffs := overNeighbours(r.Rows)
	s.say(goal{what: "tau: least rate over its neighbours' median", got: leastOf(cliffs), want: cliff,
		worst: short(cliffs, func(*bench.Row) float64 { return cliff }, " of the neighbours' median")})
	return nil
}

// cliff is the rate over the neighbours' median below which there is one.
const cliff = 0.9

// again measures what looks like a cliff once more, with its neighbours, and keeps
// the least times.
func (s *suite) again(rows []*bench.Row, o bench.Options) error {
	o.Shapes = nil
	suspects := slices.DeleteFunc(overNeighbours(rows), func(c case_) bool { return c.x >= cliff })
	var which []*bench.Row
	for _, r := range rows {
		near := func(c case_) bool {
			d := c.row.Shape["M"] - r.Shape["M"]
			return d*d <= 4 && c.row.Shape["K"] == r.Shape["K"]
		}
		if slices.ContainsFunc(suspects, near) {
			which, o.Shapes = append(which, r), append(o.Shapes, r.Shape)
		}
	}
	if len(which) == 0 {
		return nil
	}
	r, err := s.measure(products, "weights", o)
	if err != nil {
		return err
	}
	for i, row := range r.Rows {
		which[i].Least = min(which[i].Least, row.Least)
	}
	return nil
}

// sharesByRows are the means of the shares of the peak in ranges of M.
func sharesByRows(rows []*bench.Row) string {
	var parts []string
	for low := int64(1); low <= 512; low *= 2 {
		sum, n := 0.0, 0
		for _, r := range rows {
			if m := r.Shape["M"]; m >= low && m < 2*low {
				sum, n = sum+r.BestShare, n+1
			}
		}
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d.. %.0f%%", low, 100*sum/float64(n)))
		}
	}
	return strings.Join(parts, ", ")
}

// overNeighbours is each shape's rate over the median of the four around it,
// among shapes that differ in M alone. Rates are of least times.
func overNeighbours(rows []*bench.Row) (cases []case_) {
	rate := func(r *bench.Row) float64 { return float64(r.Shape["M"]) / r.Least }
	for i, r := range rows {
		if i < 2 || i+2 >= len(rows) || rows[i-2].Shape["K"] != rows[i+2].Shape["K"] || rows[i-2].Shape["N"] != rows[i+2].Shape["N"] {
			continue
		}
		around := []float64{rate(rows[i-2]), rate(rows[i-1]), rate(rows[i+1]), rate(rows[i+2])}
		cases = append(cases, case_{r, rate(r) / bench.Quantile(around, 0.5)})
	}
	return cases
}

// newest: the build of oneDNN with the highest version, which runs on SYCL. Its
// threads disturb what else runs in the process, so it has a table of its own.
func (s *suite) newest() error {
	if err := bench.Loads("onednn-sycl"); err != nil {
		s.note("SKIPPED: no comparison with the newest oneDNN: %v", err)
		return nil
	}
	shapes, err := bench.ParseShapes([]string{"M=1,8,32,128,511,K=768,N=768,3072"}, s.seed)
	if err != nil {
		return err
	}
	o := s.options(shapes)
	o.Against = "onednn-sycl"
	fmt.Fprint(s.out, "### The newest oneDNN, on SYCL\n\n")
	r, err := s.measure(products, "weights", o)
	if err != nil {
		return err
	}
	s.print(r)
	s.perPeer(r.Rows)
	return nil
}
