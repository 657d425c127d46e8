package cli

import (
	"fmt"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"tenon/internal/driver"
)

// explainChoices prints what functions choose at the sizes of --shape.
func (a *app) explainChoices(file string, funcs []driver.Explained, choosing map[string]*driver.Choosing, only string) {
	first := true
	for _, f := range funcs {
		c := choosing[f.Func]
		if c == nil || only != "" && f.Func != only {
			continue
		}
		if !first {
			fmt.Fprintln(a.out)
		}
		first = false
		fmt.Fprintf(a.out, "%s, line %d of %s\n", f.Func, f.Line, filepath.Base(file))
		for _, x := range c.Choices {
			a.explainChoice(x)
		}
		for _, x := range c.Comps {
			if !x.MicroKernel {
				fmt.Fprintf(a.out, "  %s  reaches no micro-kernel: %s\n", x.At, strings.TrimPrefix(x.Reason, "no contraction: "))
			}
		}
		if len(c.Choices)+len(c.Comps) == 0 {
			fmt.Fprintln(a.out, "  nothing to choose")
		}
	}
}

func (a *app) explainChoice(x driver.Choice) {
	fmt.Fprintf(a.out, "  choice %d, %s, %s: ", x.Number, x.At, x.Dims)
	if x.Unknown != "" {
		fmt.Fprintln(a.out, x.Unknown)
	} else {
		fmt.Fprintf(a.out, "%s (%s)\n", x.Picked, x.Why)
	}
	w := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "    variant\tcycles\tcore\tsecond cache\tlast cache\tmemory\t")
	for _, v := range x.Variants {
		mark, cycles, guard := " ", "-\t-\t-\t-\t-", ""
		if v.Name == x.Picked {
			mark = "*"
		}
		if v.Cycles != nil {
			cycles = fmt.Sprintf("%.0f\t-\t-\t-\t-", *v.Cycles)
		}
		if l := v.Layers; l != nil {
			cycles = fmt.Sprintf("%.0f\t%.0f\t%+.0f\t%+.0f\t%+.0f", *v.Cycles, l.Core, l.Second, l.Last, l.Memory)
		}
		if v.Guard != "" {
			guard = "if " + v.Guard
		}
		if v.Fails {
			guard += ", which fails"
		}
		fmt.Fprintf(w, "  %s %s\t%s\t%s\n", mark, v.Name, cycles, guard)
	}
	w.Flush()
}
