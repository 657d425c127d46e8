package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"strings"
	"time"
)

// bench is a run of the benchmark.
type bench struct {
	ctx    context.Context
	out    io.Writer
	dir    string // temporary
	k      *kernels
	peers  []*peer
	rounds int
	slice  time.Duration
	only   *regexp.Regexp

	loaded map[string]*program
	short  []string // what fell short, and why
	failed []string // what gave no figure
}

func main() {
	if err := runMain(); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func runMain() error {
	rounds := flag.Int("rounds", 9, "rounds of each row")
	slice := flag.Duration("slice", 30*time.Millisecond, "time of a contender in a round")
	only := flag.String("only", "", "run what matches this expression: sections (large, cached, threads, build, start, growth, interpreter) and programs")
	env := flag.String("env", os.Getenv("BENCH_ENV"), "folder with the peers' virtual environments, from `make bench-env`")
	doc := flag.String("doc", "", "also put the tables into this file, between its lines <!-- bench --> and <!-- end of bench -->")
	flag.Parse()
	match, err := regexp.Compile(*only)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "tenon-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	text := &strings.Builder{}
	b := &bench{ctx: ctx, out: io.MultiWriter(os.Stdout, text), dir: dir, rounds: *rounds, slice: *slice, only: match, loaded: map[string]*program{}}
	if err := b.all(*env); err != nil {
		return err
	}
	if *doc != "" {
		return putInto(*doc, text.String())
	}
	return nil
}

// all runs every section.
func (b *bench) all(env string) error {
	var err error
	if b.k, err = loadKernels(b.dir); err != nil {
		return err
	}
	b.startPeers(env)
	defer func() {
		for _, p := range b.peers {
			p.stop()
		}
	}()
	for _, f := range machineFacts(b.k) {
		fmt.Fprintf(b.out, "- %s\n", f)
	}
	for _, p := range b.peers {
		fmt.Fprintf(b.out, "- peer: %s, instruction set %s\n", p.name, p.isa)
	}
	fmt.Fprintln(b.out)
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // no collector beside what is timed
	for _, section := range []struct {
		name string
		run  func() error
	}{
		{"large", b.large}, {"cached", b.cached}, {"threads", b.threads}, {"build", b.builds}, {"start", b.starts},
		{"growth", b.growth}, {"interpreter", b.interpreter},
	} {
		if err := b.ctx.Err(); err != nil {
			return err
		}
		if err := section.run(); err != nil {
			return fmt.Errorf("%s: %w", section.name, err)
		}
	}
	b.conclude()
	return nil
}

// wants reports whether a section, or a program in it, is asked for.
func (b *bench) wants(section, program string) bool {
	return b.only.MatchString(section) || program != "" && b.only.MatchString(program)
}

// wanted leaves out the rows that are not asked for.
func (b *bench) wanted(section string, rows []row) []row {
	var out []row
	for _, r := range rows {
		if b.wants(section, r.program) {
			out = append(out, r)
		}
	}
	return out
}

func (b *bench) startPeers(env string) {
	start := func(p *peer, err error) {
		if err != nil {
			fmt.Fprintf(b.out, "LEFT OUT: %v (make bench-env installs it)\n", err)
			return
		}
		b.peers = append(b.peers, p)
	}
	if env == "" {
		fmt.Fprintln(b.out, "LEFT OUT: all peers: no folder of virtual environments; see make bench-env")
		return
	}
	for _, e := range []string{"onednn", "onednn-openmp"} {
		start(startOneDNN(b.dir, filepath.Join(env, e), b.k.last()))
	}
	start(startNumPy(b.dir, filepath.Join(env, "numpy"), b.k.last()))
}

// program compiles a program once.
func (b *bench) program(name string) (*program, error) {
	if p := b.loaded[name]; p != nil {
		return p, nil
	}
	p, err := load(b.ctx, b.dir, name)
	if err == nil {
		b.loaded[name] = p
	}
	return p, err
}

// fellShort notes what missed its goal.
func (b *bench) fellShort(what, why string) {
	b.short = append(b.short, what+": "+why)
}

func (b *bench) conclude() {
	fmt.Fprint(b.out, "### What fell short\n\n")
	for _, f := range b.failed {
		fmt.Fprintf(b.out, "- NO FIGURE: %s\n", f)
	}
	for _, s := range b.short {
		fmt.Fprintf(b.out, "- %s\n", s)
	}
	if len(b.short)+len(b.failed) == 0 {
		fmt.Fprintln(b.out, "Nothing: every figure reached its goal.")
	}
	fmt.Fprintln(b.out)
}

// The lines of a document between which the tables go.
const docBegin, docEnd = "<!-- bench -->", "<!-- end of bench -->"

func putInto(path, text string) error {
	old, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	head, rest, ok := strings.Cut(string(old), docBegin)
	_, tail, ok2 := strings.Cut(rest, docEnd)
	if !ok || !ok2 {
		return fmt.Errorf("%s has no lines %s and %s", path, docBegin, docEnd)
	}
	return os.WriteFile(path, []byte(head+docBegin+"\n"+strings.TrimSpace(text)+"\n"+docEnd+tail), 0o666)
}
