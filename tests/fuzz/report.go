package fuzz

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"tenon/ir"
	"tenon/passes/pass"
)

// Report counts what was done.
type Report struct {
	Categories map[string]*Counts
	Coverage
	Passes   map[string]int // how often a pass changed a program
	NoNative error          // why no code was compiled; nil: it was
}

// Counts are the numbers of one category.
type Counts struct {
	Programs  int // generated, parsed, verified, printed
	Runs      int // of the interpreter, a function at some sizes
	Faults    int // runs that the program or its data stopped
	Passes    int // passes that changed a program
	Dropped   int // runs whose fault a pass dropped with the op
	Native    int // runs of compiled code that agree
	Elements  int64
	Undecided int64          // elements of native results that no bound decides
	Refused   map[string]int // functions without a native form, by the op or type named
}

func newReport() *Report {
	return &Report{Categories: map[string]*Counts{}, Coverage: newCoverage(), Passes: map[string]int{}}
}

func (r *Report) of(category string) *Counts {
	c := r.Categories[category]
	if c == nil {
		c = &Counts{Refused: map[string]int{}}
		r.Categories[category] = c
	}
	return c
}

func (r *Report) count(p *Program, run *Run) {
	c := r.of(p.Category)
	c.Runs++
	if run.Fault != nil {
		c.Faults++
	}
}

// Print writes the counts by category.
func (r *Report) Print(w io.Writer) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "category\tprograms\truns\tfaults\tpasses\tnative\telements\tundecided\trefused\t")
	for _, cat := range Categories() {
		c := r.Categories[cat.Name]
		if c == nil {
			continue
		}
		refused := 0
		for _, n := range c.Refused {
			refused += n
		}
		fmt.Fprintf(t, "%s\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t\n", cat.Name, c.Programs, c.Runs, c.Faults, c.Passes, c.Native, c.Elements, c.Undecided, refused)
	}
	t.Flush()
	if r.NoNative != nil {
		fmt.Fprintf(w, "SKIPPED, no code was compiled: %v\n", r.NoNative)
	}
	for _, cat := range Categories() {
		if c := r.Categories[cat.Name]; c != nil && len(c.Refused) > 0 {
			var parts []string
			for _, k := range slices.Sorted(maps.Keys(c.Refused)) {
				parts = append(parts, fmt.Sprintf("%s %d", k, c.Refused[k]))
			}
			fmt.Fprintf(w, "%s, no native form: %s\n", cat.Name, strings.Join(parts, ", "))
		}
	}
	var idle []string
	for _, p := range pass.All() {
		if r.Passes[p.Name] == 0 {
			idle = append(idle, p.Name)
		}
	}
	unused(w, "passes", idle, len(pass.All()))
	unused(w, "ops", r.UnusedOps(), len(ir.AllOps()))
	unused(w, "kinds of types", r.UnusedTypes(), len(allTypeKinds()))
}

// unused says which of the things that programs are made of no program used.
func unused(w io.Writer, what string, names []string, of int) {
	if len(names) == 0 {
		fmt.Fprintf(w, "all %d %s were used\n", of, what)
		return
	}
	fmt.Fprintf(w, "%d of %d %s were used by no program: %s\n", len(names), of, what, strings.Join(names, ", "))
}

// kind is a message without the names in it: the key that refusals are counted
// under.
func kind(msg string) string {
	words := strings.Fields(msg)
	for i, w := range words {
		if strings.ContainsAny(w, "%@#[]<>{}0123456789") {
			words[i] = "_"
		}
	}
	return strings.Join(words, " ")
}
