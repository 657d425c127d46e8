package docs

import (
	"fmt"
	"strings"
	"testing"

	"tenon/ir"
)

// families are the op families in the order of the page, each with what it is.
var families = []struct{ name, what string }{
	{"scalar", "on scalars; `load`, `store` and the terminators"},
	{"tensor", "on values"},
	{"tile", "tiles, packing, micro-kernels, choices"},
	{"loop", "loops over buffers"},
	{"vec", "on vectors: lane by lane where nothing else is said"},
	{"dist", "on buffers that ranks share"},
	{"gpu", "launches, shared memory, barriers"},
}

// traitNames are the traits that a table shows.
var traitNames = []struct {
	trait ir.Traits
	name  string
}{
	{ir.Pure, "pure"}, {ir.Commutative, "commutative"}, {ir.Associative, "associative"}, {ir.Linear, "linear"},
	{ir.Idempotent, "idempotent"}, {ir.Reduces, "reduces"}, {ir.Comparison, "comparison"}, {ir.Terminator, "terminator"},
	{ir.Allocates, "allocates"}, {ir.Call, "call"}, {ir.Collective, "collective"}, {ir.Barrier, "barrier"},
}

func opTables(t *testing.T) string {
	var b strings.Builder
	shown := 0
	for _, f := range families {
		fmt.Fprintf(&b, "\n### %s\n\nThe family `%s`: %s.\n\n| text | meaning | traits |\n|---|---|---|\n", f.name, f.name, f.what)
		for _, d := range ir.AllOps() {
			if d.Family() != f.name {
				continue
			}
			shown++
			form, meaning := splitDoc(t, d)
			fmt.Fprintf(&b, "| `%s` | %s | %s |\n", cell(form), cell(meaning), traits(d))
		}
	}
	if all := len(ir.AllOps()); shown != all {
		t.Errorf("%d of %d ops have a family of the page", shown, all)
	}
	return b.String() + "\n"
}

func cell(s string) string { return strings.ReplaceAll(s, "|", `\|`) }

// splitDoc takes a row's doc apart: the lines that are its text form, and the
// prose around them.
func splitDoc(t *testing.T, d *ir.OpDef) (form, meaning string) {
	var forms, prose []string
	for i, line := range strings.Split(d.Doc, "\n") {
		if i > 0 && isForm(d.Name, line) {
			forms = append(forms, line)
		} else {
			prose = append(prose, line)
		}
	}
	if len(forms) == 0 || len(prose) == 0 {
		t.Errorf("the doc of %s lacks its text form or its meaning: %q", d.Name, d.Doc)
	}
	return strings.Join(forms, " "), strings.Join(prose, " ")
}

// isForm: the line is the op, perhaps with results in front.
func isForm(name, line string) bool {
	if _, after, ok := strings.Cut(line, "= "); ok && (line[0] == '%' || line[0] == '[') {
		line = after
	}
	if _, after, ok := strings.Cut(line, "=] "); ok && line[0] == '[' {
		line = after
	}
	rest, ok := strings.CutPrefix(line, name)
	return ok && (rest == "" || strings.ContainsAny(rest[:1], " ("))
}

func traits(d *ir.OpDef) string {
	var names []string
	for _, n := range traitNames {
		if d.Traits.Has(n.trait) {
			names = append(names, n.name)
		}
	}
	return strings.Join(names, ", ")
}

func levelTable() string {
	var b strings.Builder
	b.WriteString("\n| level | holds | data in | for |\n|---|---|---|---|\n")
	for _, l := range ir.Levels {
		var legal []string
		for _, f := range l.Families {
			if f == "scalar" {
				legal = append(legal, "scalar ops")
			} else {
				legal = append(legal, "`"+f+".*`")
			}
		}
		for _, o := range l.Ops {
			legal = append(legal, "`"+o+"`")
		}
		data := "values"
		if l.Buffers {
			data = "buffers"
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", l.Level, strings.Join(legal, ", "), data, l.Doc)
	}
	return b.String() + "\n"
}
