// Helix measures matrix products on the shapes that Tenon promises speed for and
// prints tables beside OpenBLAS, oneDNN and MKL: `make bench-helix`. The ratio of
// a shape is to the best way of all peers; the worst shapes are listed and not
// hidden. At the end stand all goals, reached or not.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"time"

	"tenon/internal/bench"
	"tenon/internal/driver"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "bench-helix:", err)
		os.Exit(1)
	}
}

// suite is one run of the benchmark.
type suite struct {
	out    io.Writer
	seed   uint64
	rounds int
	quick  bool
	peers  []string // those that are here
	goals  []goal
}

// tables are the parts of the benchmark, in order.
var tables = []struct {
	name    string
	measure func(*suite) error
}{
	{"warm", (*suite).warm},
	{"cold", (*suite).cold},
	{"dynamic", (*suite).dynamic},
	{"tau", (*suite).tau},
	{"loops", (*suite).loops},
	{"types", (*suite).types},
	{"threads", (*suite).threads},
	{"choosing", (*suite).choosing},
	{"compile", (*suite).compile},
	{"newest", (*suite).newest},
}

func run() error {
	var names []string
	for _, t := range tables {
		names = append(names, t.name)
	}
	only := flag.String("only", "", "the tables whose names match: "+strings.Join(names, ", "))
	s := &suite{}
	flag.Uint64Var(&s.seed, "seed", 1, "determines the draws")
	flag.IntVar(&s.rounds, "rounds", 7, "rounds of each shape")
	flag.BoolVar(&s.quick, "quick", false, "a part of the shapes, in a quarter of the time")
	against := flag.String("against", "openblas,onednn,mkl", "the peers, or their paths")
	doc := flag.String("doc", "", "also put the tables into this file, between its lines <!-- bench --> and <!-- end of bench -->")
	flag.Parse()
	match, err := regexp.Compile(*only)
	if err != nil {
		return err
	}
	text := &strings.Builder{}
	s.out = io.MultiWriter(os.Stdout, text)
	if s.quick {
		s.rounds = min(s.rounds, 5)
	}
	s.findPeers(strings.Split(*against, ","))
	for _, t := range tables {
		if !match.MatchString(t.name) {
			continue
		}
		start := time.Now()
		if err := t.measure(s); err != nil {
			return fmt.Errorf("%s: %w", t.name, err)
		}
		fmt.Fprintf(s.out, "(%s took %.0f s)\n\n", t.name, time.Since(start).Seconds())
	}
	s.summary()
	if *doc != "" {
		return putInto(*doc, text.String())
	}
	return nil
}

// findPeers keeps the peers that load, and says loudly which do not.
func (s *suite) findPeers(names []string) {
	for _, n := range names {
		if err := bench.Loads(n); err != nil {
			fmt.Fprintf(s.out, "SKIPPED: no comparison with %s: %v\n\n", n, err)
			continue
		}
		s.peers = append(s.peers, n)
	}
}

// against is the list of peers for bench.Options.
func (s *suite) against() string { return strings.Join(s.peers, ",") }

// options are those that the tables have in common.
func (s *suite) options(shapes []bench.Shape) bench.Options {
	return bench.Options{Shapes: shapes, Against: s.against(), Threads: 1, Rounds: s.rounds, Slice: 3 * time.Millisecond,
		Compile: driver.Options{CPU: "native", Opt: 2}}
}

// measure runs a function of a program over the shapes of o and prints the table.
func (s *suite) measure(program, entry string, o bench.Options) (*bench.Report, error) {
	m, err := driver.Parse("products.tn", program)
	if err != nil {
		return nil, err
	}
	f, err := driver.Entry(m, entry)
	if err != nil {
		return nil, err
	}
	n, shown := 0, terminal()
	r, err := bench.Run(context.Background(), m, f, "products.tn", o, func(row *bench.Row) {
		if n++; shown {
			fmt.Fprintf(os.Stderr, "\r%s %d of %d ", entry, n, len(o.Shapes))
		}
	})
	if shown {
		fmt.Fprint(os.Stderr, "\r\033[K")
	}
	return r, err
}

// terminal reports that progress may be shown.
func terminal() bool {
	info, err := os.Stderr.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

func (s *suite) print(r *bench.Report) {
	fmt.Fprintln(s.out, "```")
	r.Text(s.out)
	fmt.Fprintln(s.out, "```")
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
