package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"tenon/internal/bench"
	"tenon/internal/diag"
	"tenon/targets"
)

const profileHelp = `Measure this machine once, for better choices at run time.

Every register kernel is timed on sums of few and many products, with operands
in the first cache and streaming, and reading from each cache and from memory.
The times are kept for this user; programs compiled with --cpu native take them
from there, others with --profile FILE. It takes less than half a minute; other
programs should rest.`

func (a *app) profileCmd() *cobra.Command {
	var out string
	var asJSON bool
	c := &cobra.Command{
		Use:     "profile [-o FILE]",
		Short:   "Measure this machine's kernels and caches once",
		Long:    profileHelp,
		Example: "  tenon profile\n  tenon bench gemm.tn --shape M=7,N=768,K=768 --cpu native",
		Args:    cobra.NoArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return a.profile(c.Context(), out, asJSON) },
	}
	c.Flags().StringVarP(&out, "output", "o", "", "the `FILE` to write; - for the standard output; the user's own if left out")
	c.Flags().BoolVar(&asJSON, "json", false, "print the profile as JSON and keep it nowhere")
	return c
}

func (a *app) profile(ctx context.Context, out string, asJSON bool) error {
	if out == "" && !asJSON {
		path, err := targets.LocalProfile()
		if err != nil {
			return err
		}
		out = path
	}
	p, err := bench.Measure(ctx, a.bar())
	if err != nil {
		return err
	}
	if asJSON || out == "-" {
		_, err := a.out.Write(p.Encode())
		return err
	}
	a.printProfile(p)
	if err := os.MkdirAll(filepath.Dir(out), 0o755); err == nil {
		err = os.WriteFile(out, p.Encode(), 0o644)
	}
	if err != nil {
		return diag.Errorf(diag.Pos{File: out}, "the profile cannot be kept: %v", err).WithFix("name another file with -o, and compile with --profile FILE")
	}
	fmt.Fprintf(a.out, "kept in %s\n", out)
	return nil
}

// bar draws how far something is, where the standard error is a terminal.
func (a *app) bar() func(what string, done float64) {
	if !terminal(os.Stderr) {
		return func(string, float64) {}
	}
	const width = 30
	return func(what string, done float64) {
		full := int(done * width)
		fmt.Fprintf(a.err, "\r[%s%s] %3.0f%% %-40.40s", strings.Repeat("#", full), strings.Repeat(" ", width-full), 100*done, what)
		if done >= 1 {
			fmt.Fprintf(a.err, "\r%80s\r", "")
		}
	}
}

func (a *app) printProfile(p *targets.Profile) {
	fmt.Fprintf(a.out, "%s\n\nbytes a cycle: %.1f from own caches, %.1f from the last one, %.1f from memory\n\n", p.Machine, p.Near, p.Far, p.Memory)
	fmt.Fprintf(a.out, "%-36s %9s %9s %9s\n", "kernel", "enter", "step", "streaming")
	for _, t := range p.Tiles {
		fmt.Fprintf(a.out, "%-36s %9.1f %9.2f %9.2f\n", t.Kernel, t.Enter, t.Step, t.Stream)
	}
	fmt.Fprintln(a.out, "\ncycles; a tile of sums of k products takes enter + k step")
}

// terminal reports that f shows what is written over itself.
func terminal(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0 && os.Getenv("TERM") != "dumb"
}
