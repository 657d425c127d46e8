package run

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"tenon/frontend/tn"
	"tenon/internal/diag"
	"tenon/internal/num"
	"tenon/ir"
	"tenon/ir/interp"
	"tenon/runtime"
)

func TestCorpus(t *testing.T) {
	files, _ := filepath.Glob("*.txtar")
	if len(files) == 0 {
		t.Fatal("no corpus found")
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(file, ".txtar"), func(t *testing.T) {
			t.Parallel()
			parts := readParts(t, file)
			runFile(t, parts, usual(parts, chosen()))
		})
	}
}

// usual are the machines of a usual run: all, or of a file that is compiled long
// those that its part `usual` names.
func usual(parts map[string]string, all []*Machine) (on []*Machine) {
	names := strings.Fields(parts["usual"])
	if len(names) == 0 || Whole() {
		return all
	}
	for _, m := range all {
		if slices.Contains(names, m.Name) {
			on = append(on, m)
		}
	}
	return on
}

// readParts reads a file of the corpus: its parts by name.
func readParts(t *testing.T, file string) map[string]string {
	t.Helper()
	a, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if strings.TrimSpace(string(a.Comment)) == "" {
		t.Error("the file does not say why it exists")
	}
	parts := map[string]string{}
	for _, f := range a.Files {
		parts[f.Name] = string(f.Data)
	}
	return parts
}

func runFile(t *testing.T, parts map[string]string, on []*Machine) {
	m := program(t, parts)
	programs := buildsOn(t, m, on)
	named := map[string]bool{}
	for _, line := range lines(parts["calls"]) {
		c, err := ParseCall(m, programs[0].Low, line)
		if err != nil {
			t.Fatal(err)
		}
		named[c.Func] = true
		for i, p := range programs {
			for layout := Layout(i); layout < Layouts; layout += 2 {
				written(t, p, c, line, layout)
			}
		}
	}
	sizes := map[string][]map[string]int64{}
	for _, line := range lines(parts["sizes"]) {
		name, dims := sizesOf(t, line)
		sizes[name] = append(sizes[name], dims)
		named[name] = true
	}
	var total interp.Report
	for _, f := range m.Funcs() {
		switch {
		case sizes[f.Name] != nil:
			total.Add(agrees(t, m, f, sizes[f.Name], programs))
		case !named[f.Name]:
			total.Add(agrees(t, m, f, Sizes(f), programs))
		}
	}
	if total.Elements > 0 || len(sizes) > 0 {
		judged(t, total)
	}
}

func program(t *testing.T, parts map[string]string) *ir.Module {
	t.Helper()
	name := "prog.tnir"
	if _, ok := parts["prog.tn"]; ok {
		name = "prog.tn"
	}
	m, err := parse(name, parts[name])
	if err != nil {
		t.Fatal(diag.Render(err, diag.Sources{name: parts[name]}, false))
	}
	return m
}

// parse reads and verifies a program.
func parse(name, text string) (m *ir.Module, err error) {
	if strings.HasSuffix(name, ".tn") {
		m, err = tn.Parse(name, text)
	} else {
		m, err = ir.Parse(name, text)
	}
	if err != nil {
		return nil, err
	}
	return m, ir.Verify(m)
}

// lines are those of a section, without comments and empty ones.
func lines(text string) (out []string) {
	for _, l := range strings.Split(text, "\n") {
		l, _, _ = strings.Cut(l, "//")
		if l = strings.TrimSpace(l); l != "" {
			out = append(out, l)
		}
	}
	return out
}

func sizesOf(t *testing.T, line string) (name string, dims map[string]int64) {
	t.Helper()
	words := strings.Fields(line)
	dims = map[string]int64{}
	for _, w := range words[1:] {
		dim, size, _ := strings.Cut(w, "=")
		n, err := strconv.ParseInt(size, 10, 64)
		if err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		dims[dim] = n
	}
	return words[0], dims
}

// written runs a call with written inputs: it gives what is written behind it,
// and what the interpreter gives.
func written(t *testing.T, p *Program, c *Call, line string, layout Layout) {
	t.Helper()
	ref, fault := Reference(p.Source, c.Func, c.Args)
	shapes, err := ResultShapes(p.Low, c.Func, c.Args, ref)
	if err != nil {
		t.Errorf("%s: %v", line, err)
		return
	}
	if c.Error != "" {
		_, status, err := p.Call(c.Func, c.Args, shapes, layout)
		if err != nil || p.plain(status.Code).String() != c.Error || c.Arg != "" && argName(p, c.Func, status) != c.Arg {
			t.Errorf("%s: %s returns %v of argument %q, %v", line, p.Name, status.Code, argName(p, c.Func, status), err)
		}
		if fault == nil {
			t.Errorf("%s: the interpreter has no fault", line)
		}
		return
	}
	if _, err := p.Check(c.Func, c.Args, ref, fault, layout); err != nil {
		t.Errorf("%s: %v", line, err)
		return
	}
	if c.Want == nil {
		return
	}
	got, _, _ := p.Call(c.Func, c.Args, shapes, layout)
	for i, w := range c.Want {
		want, err := readLiteral(got[i].(*ir.Array).Elem, w)
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		sameBits(t, line+", "+p.Name, got[i].(*ir.Array), want)
	}
}

func argName(p *Program, fn string, s runtime.Status) string {
	params := ir.Lookup[*ir.Func](p.Low, fn).Params
	if s.Arg < 0 || int(s.Arg) >= len(params) {
		return ""
	}
	return params[s.Arg].Value.Name
}

// sameBits holds results against written ones: zeros have their sign, a NaN is
// any NaN.
func sameBits(t *testing.T, what string, got, want *ir.Array) {
	t.Helper()
	none := got.Size() == 0 && slices.Equal(want.Shape, []int64{0}) // `[]` is any shape without elements
	if !none && !slices.Equal(got.Shape, want.Shape) {
		t.Errorf("%s: the shape is %v, want %v", what, got.Shape, want.Shape)
		return
	}
	at := make([]int64, len(got.Shape))
	for i, w := range want.Mem.Cells {
		pos, _ := got.Cell(at)
		g := got.Mem.Cells[pos]
		for d := len(at) - 1; d >= 0; d-- {
			if at[d]++; at[d] < got.Shape[d] {
				break
			}
			at[d] = 0
		}
		nan := got.Elem.IsFloat() && num.Float(g) != num.Float(g) && num.Float(w) != num.Float(w)
		if !nan && g != w {
			t.Errorf("%s: element %d is %s, want %s", what, i, ir.FormatLiteral(got.Elem, g), ir.FormatLiteral(got.Elem, w))
		}
	}
}
