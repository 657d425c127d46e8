package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"tenon/internal/diag"
	"tenon/internal/driver"
)

const buildHelp = `Compile a program.

--emit says what is made; left out, the extension of OUT says it. A level of the
IR (tensor, tile, loop, vec) that the program passes through gives its text there,
which can be edited and built again.`

func (a *app) buildCmd() *cobra.Command {
	var out, kind, depfile, threads string
	var opts driver.Options
	c := &cobra.Command{
		Use:     "build FILE -o OUT [flags]",
		Short:   "Compile a program to a library, an object, or text of some level",
		Long:    buildHelp,
		Example: "  tenon build attention.tn -o attention.so\n  tenon build attention.tn --emit=header -o attention.h",
		Args:    files(false),
		RunE: func(c *cobra.Command, args []string) error {
			a.program = args[0]
			if threads != "" && threads != "none" {
				return diag.Usagef("--threads %s: a library takes the number of threads when it is called; expected none, to compile without threads", threads)
			}
			opts.NoOpenMP = threads == "none"
			return a.build(c.Context(), args[0], out, kind, depfile, opts)
		},
	}
	c.Flags().StringVarP(&out, "output", "o", "", "the `FILE` to write; - for the standard output, of text")
	c.Flags().StringVar(&kind, "emit", "", "what to make, a `KIND`: "+strings.Join(driver.KindNames(), ", ")+", or a level")
	c.Flags().StringVar(&depfile, "depfile", "", "write the files that OUT depends on, as a rule for make, to `FILE`")
	c.Flags().StringVar(&threads, "threads", "", "none: start no threads and need no OpenMP runtime (`none`)")
	optimiseFlags(c, &opts)
	return c
}

func (a *app) build(ctx context.Context, file, out, kind, depfile string, o driver.Options) error {
	if out == "" {
		return diag.Usagef("tenon build: name the file to write with -o")
	}
	if kind == "" {
		if kind = driver.KindOf(out); kind == "" {
			return diag.Usagef("tenon build: the name %s does not say what to make; add --emit=KIND (%s, or a level)", out, strings.Join(driver.KindNames(), ", "))
		}
	}
	for _, written := range []string{out, depfile} {
		if sameFile(file, written) {
			return diag.Usagef("tenon build: %s is the program itself, which would be lost; name another file", written)
		}
	}
	m, err := driver.Load(file)
	if err != nil {
		return err
	}
	data, err := driver.Emit(ctx, m, file, kind, o)
	if err != nil {
		return err
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if out == "-" {
		_, err := a.out.Write(data)
		return err
	}
	return driver.WriteFile(out, data, func() error {
		if depfile == "" {
			return nil
		}
		deps, err := driver.Dependencies(file)
		if err != nil {
			return err
		}
		return driver.WriteFile(depfile, []byte(makeRule(out, deps)), nil)
	})
}

// sameFile reports that two names are of one file that exists.
func sameFile(a, b string) bool {
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	return errX == nil && errY == nil && os.SameFile(x, y)
}

// makeRule is the rule of a depfile; a space, # or $ in a name is escaped.
func makeRule(out string, deps []string) string {
	escape := strings.NewReplacer(" ", `\ `, "#", `\#`, "$", "$$")
	var b strings.Builder
	fmt.Fprintf(&b, "%s:", escape.Replace(out))
	for _, d := range deps {
		io.WriteString(&b, " \\\n  "+escape.Replace(d))
	}
	return b.String() + "\n"
}
