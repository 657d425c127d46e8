package cli

import (
	"encoding/json"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"tenon/internal/diag"
	"tenon/internal/driver"
	"tenon/ir"
	_ "tenon/ir/ops" // the rows that `tenon ops` lists
	"tenon/passes/pass"
	"tenon/targets"
)

// list makes a command that prints a table, or the same as JSON.
func (a *app) list(use, short string, rows func(args []string) ([]row, error)) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{Use: use, Short: short, Args: cobra.NoArgs}
	if strings.Contains(use, "NAME") {
		c.Args = cobra.MaximumNArgs(1)
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	c.RunE = func(_ *cobra.Command, args []string) error {
		rs, err := rows(args)
		if err != nil {
			return err
		}
		if asJSON {
			all := []any{}
			for _, r := range rs {
				if r.value != nil {
					all = append(all, r.value)
				}
			}
			e := json.NewEncoder(a.out)
			e.SetIndent("", "  ")
			e.SetEscapeHTML(false)
			return e.Encode(all)
		}
		w := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
		for _, r := range rs {
			fmt.Fprintln(w, strings.Join(r.cells, "\t"))
		}
		return w.Flush()
	}
	return c
}

// row is a line of a list: its cells, and what --json prints of it (nil: nothing,
// another row's value tells it).
type row struct {
	cells []string
	value any
}

func (a *app) opsCmd() *cobra.Command {
	return a.list("ops [NAME]", "List the ops of the IR, or one with its text form", func(args []string) ([]row, error) {
		if len(args) == 1 {
			return oneOp(args[0])
		}
		var rows []row
		for _, d := range ir.AllOps() {
			line, form, _ := strings.Cut(d.Doc, "\n")
			rows = append(rows, row{[]string{d.Name, line}, opInfo{d.Name, d.Family(), line, strings.TrimSpace(form)}})
		}
		return rows, nil
	})
}

type opInfo struct {
	Name   string `json:"name"`
	Family string `json:"family"`
	Doc    string `json:"doc"`
	Form   string `json:"form"`
}

func oneOp(name string) ([]row, error) {
	d := ir.LookupOp(name)
	if d == nil {
		return nil, diag.Usagef("there is no op %s; tenon ops lists them", name)
	}
	line, form, _ := strings.Cut(d.Doc, "\n")
	form = strings.TrimSpace(form)
	text := d.Name + ": " + line
	if form != "" {
		text += "\n\n  " + strings.ReplaceAll(form, "\n", "\n  ")
	}
	return []row{{[]string{text}, opInfo{d.Name, d.Family(), line, form}}}, nil
}

func (a *app) passesCmd() *cobra.Command {
	return a.list("passes", "List the passes and their options", func([]string) ([]row, error) {
		var rows []row
		for _, p := range pass.All() {
			info := passInfo{Name: p.Name, Doc: p.Doc, After: p.After, Reassociates: p.Reassociates, Approximates: p.Approximates}
			rows = append(rows, row{cells: []string{p.Name, p.Doc}})
			at := len(rows) - 1
			for _, o := range p.Options {
				rows = append(rows, row{cells: []string{"  " + o.Name + "=" + o.Default, "  " + o.Doc}})
				info.Options = append(info.Options, optionInfo{o.Name, o.Default, o.Doc})
			}
			rows[at].value = info
		}
		return rows, nil
	})
}

type passInfo struct {
	Name         string       `json:"name"`
	Doc          string       `json:"doc"`
	After        []string     `json:"after,omitempty"`
	Reassociates bool         `json:"reassociates,omitempty"`
	Approximates bool         `json:"approximates,omitempty"`
	Options      []optionInfo `json:"options,omitempty"`
}

type optionInfo struct {
	Name    string `json:"name"`
	Default string `json:"default"`
	Doc     string `json:"doc"`
}

func (a *app) targetsCmd() *cobra.Command {
	return a.list("targets", "List the machines that --target and --cpu name", func([]string) ([]row, error) {
		rows := []row{}
		for _, d := range targets.All() {
			rows = append(rows, row{[]string{d.Family, d.Name, d.Doc}, d})
		}
		return rows, nil
	})
}

func (a *app) versionCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the versions of Tenon, of the IR's text and of the LLVM that it uses",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			fmt.Fprintln(a.out, versions())
			return nil
		},
	}
}

// versions is what `tenon version` and --version print.
func versions() string {
	return fmt.Sprintf("tenon %s (IR text %d, LLVM %s)", driver.Version, ir.Version, targets.LLVMVersion)
}
