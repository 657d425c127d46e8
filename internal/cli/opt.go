package cli

import (
	"io"
	"slices"

	"github.com/spf13/cobra"

	"tenon/internal/diag"
	"tenon/internal/driver"
	"tenon/ir"
	"tenon/passes/pass"
)

const optHelp = `Run passes on a program and print the module that they leave.

--passes takes a list such as inline,canonicalise; a pass with options is
tile{i=32 j=8}. tenon passes lists them. --print-after writes the module to the
standard error after the named pass, or after all, where it changed something.
--verify-each holds every pass against the interpreter on drawn inputs; the
first that changes the meaning is named, with a file that reproduces it.

--bisect names the first pass that is wrong, and of a pass that counts its
applications the first application; without --passes it tries all that the
program goes through. --reproduce runs what such a file says.`

func (a *app) optCmd() *cobra.Command {
	var list string
	var locations, bisect, reproduce bool
	g := &pass.Manager{Out: a.err}
	c := &cobra.Command{
		Use:     "opt FILE --passes=LIST [flags]",
		Short:   "Run passes on a program and print the module that they leave",
		Long:    optHelp,
		Example: "  tenon opt knn.tn --passes=inline,cse,dce --verify-each",
		Args:    files(false),
		RunE: func(c *cobra.Command, args []string) error {
			a.program = args[0]
			if err := knownPasses(g.PrintAfter); err != nil {
				return err
			}
			switch {
			case reproduce && (bisect || list != ""):
				return diag.Usagef("--reproduce takes the passes from the file; leave --passes and --bisect out")
			case reproduce:
				return a.reproduce(args[0], g)
			case bisect:
				return a.bisect(args[0], list, g)
			}
			return a.opt(args[0], list, locations, g)
		},
	}
	c.Flags().StringVar(&list, "passes", "", "the passes to run, in order, as a `LIST`")
	c.Flags().StringSliceVar(&g.PrintAfter, "print-after", nil, "write the module after the pass `NAME`, or after all")
	c.Flags().BoolVar(&g.TimePasses, "time-passes", false, "write how long each pass took")
	c.Flags().BoolVar(&g.VerifyEach, "verify-each", false, "hold each pass against the interpreter")
	c.Flags().BoolVar(&bisect, "bisect", false, "find the first pass, and its first application, that is wrong")
	c.Flags().BoolVar(&reproduce, "reproduce", false, "run the passes that FILE, a reproducer, names")
	c.Flags().BoolVar(&locations, "locations", false, "print where each op comes from")
	return c
}

func knownPasses(names []string) error {
	for _, n := range names {
		if n != "all" && !slices.ContainsFunc(pass.All(), func(p *pass.Pass) bool { return p.Name == n }) {
			return diag.Usagef("--print-after=%s: there is no such pass; tenon passes lists them", n)
		}
	}
	return nil
}

func (a *app) opt(file, list string, locations bool, g *pass.Manager) error {
	passes, err := pass.Parse(list)
	if err != nil {
		return err
	}
	m, err := driver.Load(file)
	if err != nil {
		return err
	}
	if err := g.Run(m, passes); err != nil {
		return err
	}
	if g.TimePasses {
		g.WriteTimes(a.err)
	}
	var opts []ir.PrintOption
	if locations {
		opts = append(opts, ir.WithLocations())
	}
	_, err = io.WriteString(a.out, ir.Print(m, opts...))
	return err
}
