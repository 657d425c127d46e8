package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tenon/frontend/weights"
	"tenon/internal/diag"
	"tenon/internal/driver"
	"tenon/ir"
	"tenon/targets"
)

// runFlags are the flags of `tenon run`.
type runFlags struct {
	entry    string
	in, out  []string
	threads  string
	threadN  int // what threads says; 0: as many as there are
	interp   bool
	repeat   int
	ranks    int
	verify   bool
	json     bool
	variants []string
	forced   []driver.Forced
	optimise driver.Options
}

const runHelp = `Run a function of a program on arrays.

A VALUE of --in is FILE[:MEMBER][slice][ as DTYPE], a number, or rand(2,3),
zeros(2,3), iota(6) with an optional :SEED. FILE is npy, npz or safetensors;
x.npy[1297:, :] is a part of it. A sparse parameter A takes A=FILE.npz, or
A.indptr=, A.indices=, A.data= one by one; a quantised one takes its parts
likewise. Sizes that the arrays determine may be left out.

--out FILE names the only result; several go by NAME=FILE or 0=FILE. Without
--out results are printed.`

func (a *app) runCmd() *cobra.Command {
	f := &runFlags{}
	c := &cobra.Command{
		Use:     "run FILE [flags]",
		Short:   "Run a function of a program on arrays",
		Long:    runHelp,
		Example: "  tenon run knn.tn --in train='x.npy[:1297,:]' --in labels='y.npy[:1297]' --in x='x.npy[1297:,:]' --out y.npy",
		Args:    files(false),
		RunE: func(c *cobra.Command, args []string) error {
			a.program = args[0]
			return a.run(c.Context(), args[0], f)
		},
	}
	fl := c.Flags()
	fl.StringVar(&f.entry, "entry", "", "the `FUNCTION` to run; the only one if left out")
	fl.StringArrayVar(&f.in, "in", nil, "an input, `NAME=VALUE`")
	fl.StringArrayVar(&f.out, "out", nil, "where a result goes, `[NAME=]FILE` (.npy or .npz)")
	fl.BoolVar(&f.interp, "interp", false, "run in the interpreter; needs no LLVM")
	fl.BoolVar(&f.verify, "verify", false, "run compiled code and interpreter, and compare")
	fl.IntVar(&f.repeat, "repeat", 1, "run `N` times and tell the median time")
	fl.StringVar(&f.threads, "threads", "", "use at most `N` threads, or none: compile without threads; as many as there are if left out")
	fl.IntVar(&f.ranks, "ranks", 0, "run a distributed program on `N` ranks, with --interp")
	fl.BoolVar(&f.json, "json", false, "print results and times as JSON")
	variantFlag(c, &f.variants)
	optimiseFlags(c, &f.optimise)
	return c
}

// variantFlag is --variant.
func variantFlag(c *cobra.Command, list *[]string) {
	c.Flags().StringArrayVar(list, "variant", nil, "force a variant: `FUNCTION[/N]=NAME`, of choice N or of all; tenon explain --shape lists them")
}

// optimiseFlags are the flags that say how to compile.
func optimiseFlags(c *cobra.Command, o *driver.Options) {
	c.Flags().StringVar(&o.Target, "target", "", "the `FAMILY` of machines to compile for, this machine's if left out; see tenon targets")
	c.Flags().StringVar(&o.CPU, "cpu", "", "the machine `NAME` of the family, or native; the family's baseline if left out")
	profileFlag(c, o)
	c.Flags().BoolVar(&o.Sanitize, "sanitize", false, "check every access while running; fill fresh arrays with signalling NaNs")
	c.Flags().IntVarP(&o.Opt, "optimise", "O", 2, "optimisation `LEVEL`, -O0 to -O3")
}

func profileFlag(c *cobra.Command, o *driver.Options) {
	c.Flags().StringVar(&o.Profile, "profile", "", "the measured times to compile for: "+strings.Join(append(targets.ShippedProfiles(), targets.AnalyticProfile), ", ")+
		", or a `FILE` of tenon profile; with --cpu native this machine's own, if kept")
}

// check refuses flags that contradict each other.
func (f *runFlags) check(c *driver.Options) error {
	if f.threads == "none" {
		c.NoOpenMP = true
	} else if n, err := strconv.ParseInt(f.threads, 10, 32); f.threads != "" {
		if err != nil || n < 1 {
			return diag.Usagef("--threads %s: expected 1 or more, or none", f.threads)
		}
		f.threadN = int(n)
	}
	switch {
	case c.Opt < 0 || c.Opt > 3:
		return diag.Usagef("-O%d: the levels are -O0 to -O3", c.Opt)
	case f.repeat < 1:
		return diag.Usagef("--repeat %d: expected 1 or more", f.repeat)
	case f.ranks < 0:
		return diag.Usagef("--ranks %d: expected 1 or more", f.ranks)
	case f.ranks > 1 && !f.interp:
		return diag.Usagef("--ranks %d: only the interpreter runs several ranks; add --interp", f.ranks)
	case len(f.variants) > 0 && f.interp:
		return diag.Usagef("--variant: the interpreter runs the program as it is written, before there are variants; leave --interp out")
	case f.verify && f.interp:
		return diag.Usagef("--verify compares compiled code with the interpreter; leave --interp out")
	}
	return nil
}

func (a *app) run(ctx context.Context, file string, f *runFlags) error {
	if err := f.check(&f.optimise); err != nil {
		return err
	}
	var err error
	if f.forced, err = driver.ParseForced(f.variants); err != nil {
		return err
	}
	f.optimise.Watch = f.json || len(f.forced) > 0
	m, err := driver.Load(file)
	if err != nil {
		return err
	}
	fn, err := driver.Entry(m, f.entry)
	if err != nil {
		return err
	}
	outs, err := driver.ParseOuts(fn, f.out)
	if err != nil {
		return err
	}
	call, err := driver.Bind(m, fn, f.in)
	if err != nil {
		return err
	}
	stats := driver.Stats{Repeat: f.repeat}
	arrays, err := a.execute(ctx, call, file, f, &stats)
	if err != nil {
		return err
	}
	return a.deliver(fn, arrays, outs, f, stats)
}

// execute runs the call as the flags say.
func (a *app) execute(ctx context.Context, call *driver.Call, file string, f *runFlags, stats *driver.Stats) ([]*weights.Array, error) {
	if f.interp {
		return repeated(stats, nil, func() ([]*weights.Array, error) {
			rs, err := call.Interpret(ctx, f.ranks, false)
			return driver.Arrays(rs), err
		})
	}
	store, err := a.store()
	if err != nil {
		return nil, err
	}
	loaded, err := driver.BuildCached(ctx, driver.Only(call.Module, call.Func), file, f.optimise, store)
	var tool *diag.MissingTool
	if errors.As(err, &tool) {
		return nil, fmt.Errorf("%w\nWithout it, tenon run --interp runs the program in the interpreter", tool)
	}
	if err != nil {
		return nil, err
	}
	defer loaded.Close()
	if err := loaded.Force(call.Func.Name, f.forced); err != nil {
		return nil, err
	}
	native, err := call.Native(loaded, f.threadN)
	if err != nil {
		return nil, err
	}
	defer native.Close()
	arrays, err := repeated(stats, native.Reset, func() ([]*weights.Array, error) {
		err := native.Run()
		return native.Results(), err
	})
	stats.Ran = loaded.Ran(call.Func.Name)
	if err != nil || !f.verify {
		return arrays, err
	}
	ref, err := call.Interpret(ctx, f.ranks, true)
	if err != nil {
		return nil, err
	}
	stats.Agree, err = call.Verify(arrays, ref)
	return arrays, err
}

// repeated runs and takes the median time, that of prepare left out.
func repeated(stats *driver.Stats, prepare func(), run func() ([]*weights.Array, error)) (arrays []*weights.Array, err error) {
	times := make([]time.Duration, stats.Repeat)
	for i := range times {
		if prepare != nil {
			prepare()
		}
		start := time.Now()
		if arrays, err = run(); err != nil {
			return nil, err
		}
		times[i] = time.Since(start)
	}
	slices.Sort(times)
	stats.MedianNS = times[len(times)/2].Nanoseconds()
	return arrays, nil
}

// deliver writes the results, or prints those that go to no file.
func (a *app) deliver(fn *ir.Func, arrays []*weights.Array, outs []driver.Out, f *runFlags, stats driver.Stats) error {
	names := driver.ResultNames(fn)
	results := make([]driver.Result, len(arrays))
	for i := range arrays {
		results[i] = driver.Result{Name: names[i], Array: arrays[i]}
	}
	if err := driver.WriteOuts(results, outs); err != nil {
		return err
	}
	if f.json {
		return driver.PrintJSON(a.out, results, stats)
	}
	if len(outs) == 0 {
		driver.PrintText(a.out, results)
	}
	if f.repeat > 1 {
		fmt.Fprintf(a.err, "median of %d runs: %v\n", f.repeat, time.Duration(stats.MedianNS))
	}
	if v := stats.Agree; v != nil {
		fmt.Fprintf(a.err, "verified: %d elements agree with the interpreter, %d undecided, largest error %.2g bounds (of 4)\n", v.Elements, v.Undecided, v.MaxError)
	}
	return nil
}
