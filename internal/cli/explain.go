package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"tenon/internal/diag"
	"tenon/internal/driver"
	"tenon/ir"
	"tenon/passes/pass"
)

const explainHelp = `Tell for each function of a program what the passes did and what they left
alone, and why.

A line has the pass, yes where it did something and no where it declined, the
place in the source, and the reason: what makes it legal and what is gained, or
which of the two is missing. The passes are those of a build for --target and
--cpu; nothing is compiled, and no LLVM is needed.

--shape M=7,K=768 tells instead what is chosen at run time at these sizes of dims:
for each choice the variants with the cycles that are predicted of them, which of
them runs, and why; and which comprehensions reach no micro-kernel. With --variant
it tells what runs when that variant is forced.

--memory tells instead where a function keeps what it computes: the workspace as
an expression over dims, in bytes where --shape gives them, each buffer with its
lifetime, and what is made in place.`

func (a *app) explainCmd() *cobra.Command {
	var opts driver.Options
	var asJSON, memory bool
	var fn string
	var shape, variants []string
	c := &cobra.Command{
		Use:     "explain FILE [flags]",
		Short:   "Tell what the passes did with a program, and why",
		Long:    explainHelp,
		Example: "  tenon explain attention.tn --cpu native",
		Args:    files(false),
		RunE: func(c *cobra.Command, args []string) error {
			a.program = args[0]
			m, err := driver.Load(args[0])
			if err != nil {
				return err
			}
			if memory {
				return a.explainMemory(m, fn, shape, opts, asJSON)
			}
			all, err := driver.Explain(m, opts)
			if err != nil {
				return err
			}
			choosing, err := a.choosing(m, shape, variants, fn, opts)
			if err != nil {
				return err
			}
			switch {
			case asJSON:
				return a.explainJSON(all, choosing, fn)
			case len(shape) > 0 || len(variants) > 0:
				a.explainChoices(args[0], all, choosing, fn)
				return nil
			}
			return a.explain(args[0], all, fn)
		},
	}
	c.Flags().StringVar(&opts.Target, "target", "", "the `FAMILY` of machines, this machine's if left out; see tenon targets")
	c.Flags().StringVar(&opts.CPU, "cpu", "", "the machine `NAME` of the family, or native; the family's baseline if left out")
	profileFlag(c, &opts)
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	c.Flags().BoolVar(&memory, "memory", false, "tell where buffers lie: workspace, lifetimes, what is made in place")
	c.Flags().StringVar(&fn, "fn", "", "the function `NAME` alone")
	variantFlag(c, &variants)
	c.Flags().StringSliceVar(&shape, "shape", nil, "sizes of dims, as `NAME=N,...`: tell what is chosen at run time, or how large memory is")
	return c
}

// choosing is what functions choose at the sizes given.
func (a *app) choosing(m *ir.Module, shape, variants []string, fn string, o driver.Options) (map[string]*driver.Choosing, error) {
	sizes, err := shapeSizes(shape)
	if err != nil {
		return nil, err
	}
	forced, err := driver.ParseForced(variants)
	if err != nil {
		return nil, err
	}
	if fn != "" && ir.Lookup[*ir.Func](m, fn) == nil {
		return nil, diag.Usagef("--fn %s: the program has no such function", fn)
	}
	return driver.Choices(m, sizes, forced, o)
}

func (a *app) explain(file string, all []driver.Explained, only string) error {
	first := true
	for _, f := range all {
		if only != "" && f.Func != only {
			continue
		}
		if !first {
			fmt.Fprintln(a.out)
		}
		first = false
		io.WriteString(a.out, f.Func)
		if f.Line > 0 {
			fmt.Fprintf(a.out, ", line %d of %s", f.Line, filepath.Base(file))
		}
		fmt.Fprintln(a.out)
		if len(f.Remarks) == 0 {
			fmt.Fprintln(a.out, "  nothing to tell")
		}
		w := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
		for _, r := range f.Remarks {
			fmt.Fprintf(w, "  %s\t%s\t%s\t%s\n", r.Pass, yesNo(r.Done), place(file, r), r.Reason)
		}
		if err := w.Flush(); err != nil {
			return err
		}
	}
	return nil
}

func yesNo(done bool) string {
	if done {
		return "yes"
	}
	return "no"
}

// place is where a remark is about: line and column, with the file where it is
// another than the program, such as the prelude's; - where it is not known.
func place(program string, r pass.Remark) string {
	at := r.Loc.First()
	switch {
	case !at.IsValid():
		return "-"
	case at.File == program:
		at = diag.Pos{Line: at.Line, Col: at.Col}
	}
	return at.String()
}

// remarkJSON is a remark as --json prints it.
type remarkJSON struct {
	Pass   string `json:"pass"`
	Done   bool   `json:"done"`
	File   string `json:"file,omitempty"`
	Line   int    `json:"line,omitempty"`
	Col    int    `json:"col,omitempty"`
	Reason string `json:"reason"`
}

func (a *app) explainJSON(all []driver.Explained, choosing map[string]*driver.Choosing, only string) error {
	type function struct {
		driver.Explained
		Remarks []remarkJSON `json:"remarks"`
		*driver.Choosing
	}
	out := []function{}
	for _, f := range all {
		if only != "" && f.Func != only {
			continue
		}
		g := function{Explained: f, Remarks: []remarkJSON{}, Choosing: choosing[f.Func]}
		for _, r := range f.Remarks {
			at := r.Loc.First()
			g.Remarks = append(g.Remarks, remarkJSON{r.Pass, r.Done, at.File, at.Line, at.Col, r.Reason})
		}
		out = append(out, g)
	}
	e := json.NewEncoder(a.out)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(out)
}
