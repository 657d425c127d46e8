package cli

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/spf13/cobra"

	"tenon/internal/bench"
	"tenon/internal/diag"
	"tenon/internal/driver"
)

// benchFlags are the flags of `tenon bench`.
type benchFlags struct {
	entry  string
	shapes []string
	seed   uint64
	json   bool
	forced []string
	o      bench.Options
}

const benchHelp = `Measure a function on a list of shapes, alone or beside a library.

--shape M=1..512,K=768 lists sizes: 7, 1..512, 1..512:16 (step 16), and
~1..512:20 (20 draws, log-uniform); M=1,2,7,K=768 has three shapes. Sizes of
different dims are combined, each with each; draws of several dims belong
together. The seed of draws is printed.

--against openblas, onednn, onednn-sycl, mkl or the path of such a library compares with it in
this process, in turn, where the function is a matrix product of two
parameters; a const second operand is packed by the library beforehand, outside
the timing. A way of the library that leaves half of this machine's vectors unused,
or runs on more threads than it is given, takes no part. The figures are medians,
with quartiles in brackets; behind a bar stands what the least times give.

--regret measures every variant of the function's choice in the same rounds, and
tells what the chosen one loses to the best.`

func (a *app) benchCmd() *cobra.Command {
	f := &benchFlags{}
	c := &cobra.Command{
		Use:     "bench FILE --shape NAME=SIZES,... [flags]",
		Short:   "Measure a function on many shapes, beside a library",
		Long:    benchHelp,
		Example: "  tenon bench examples/gemm/gemm.tn --shape M=1..512:16,K=768,N=768 --against onednn",
		Args:    files(false),
		RunE: func(c *cobra.Command, args []string) error {
			a.program = args[0]
			if !c.Flags().Changed("seed") {
				f.seed = rand.Uint64N(1 << 32)
			}
			if !c.Flags().Changed("cpu") {
				f.o.Compile.CPU = "native"
			}
			return a.bench(c.Context(), args[0], f)
		},
	}
	fl := c.Flags()
	fl.StringArrayVar(&f.shapes, "shape", nil, "the sizes of dims, `NAME=SIZES,...`; may be given several times")
	fl.StringVar(&f.o.Against, "against", "", "a library to compare with: openblas, onednn, onednn-sycl, mkl, or its `PATH`; several with commas")
	fl.StringVar(&f.entry, "entry", "", "the `FUNCTION` to run; the only one if left out")
	fl.IntVar(&f.o.Threads, "threads", 1, "use at most `N` threads, on both sides")
	fl.BoolVar(&f.o.Cold, "cold", false, "rotate through const operands (through all, if none is const) that together exceed the last cache")
	fl.BoolVar(&f.o.Regret, "regret", false, "measure every variant of the choice at run time, and what the chosen one loses")
	fl.BoolVar(&f.o.Stream, "stream", false, "measure reading as much memory as the const operands take")
	variantFlag(c, &f.forced)
	fl.IntVar(&f.o.Rounds, "rounds", 9, "measure every contender `N` times")
	fl.DurationVar(&f.o.Slice, "slice", 3*time.Millisecond, "the `TIME` of a contender in a round")
	fl.Uint64Var(&f.seed, "seed", 0, "the `NUMBER` that determines draws; another one each time if left out")
	fl.BoolVar(&f.json, "json", false, "print the figures as JSON")
	optimiseFlags(c, &f.o.Compile)
	return c
}

func (a *app) bench(ctx context.Context, file string, f *benchFlags) error {
	if f.o.Threads < 1 || f.o.Rounds < 1 || f.o.Slice <= 0 {
		return diag.Usagef("--threads, --rounds and --slice: expected 1 or more, and a time above 0")
	}
	if len(f.shapes) == 0 {
		return diag.Usagef("tenon bench: expected --shape NAME=SIZES,..., as in --shape M=1..512:16,K=768,N=768")
	}
	shapes, err := bench.ParseShapes(f.shapes, f.seed)
	if err != nil {
		return err
	}
	f.o.Shapes = shapes
	if f.o.Forced, err = driver.ParseForced(f.forced); err != nil {
		return err
	}
	m, err := driver.Load(file)
	if err != nil {
		return err
	}
	fn, err := driver.Entry(m, f.entry)
	if err != nil {
		return err
	}
	fmt.Fprintf(a.err, "%d shapes, seed %d\n", len(shapes), f.seed)
	r, err := bench.Run(ctx, m, fn, file, f.o, func(*bench.Row) {})
	if err != nil {
		return err
	}
	if f.json {
		return r.JSON(a.out)
	}
	r.Text(a.out)
	return nil
}
