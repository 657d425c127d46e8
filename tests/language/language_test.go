package language

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"tenon/frontend/tn"
	"tenon/internal/diag"
	"tenon/internal/num"
	"tenon/ir"
	"tenon/ir/interp"
	_ "tenon/ir/ops"
)

// value is an input or output as driver.py writes it; floats are the bits of f64.
type value struct {
	Shape  []int64
	Ints   []int64
	Floats []int64
	Ptr    []int64
	Col    []int64
	Parts  map[string]value
}

// example is one set of inputs of a program, and what it must give.
type example struct {
	Program string
	In      map[string]value
	Out     []value
	Refused string
}

func TestPrograms(t *testing.T) {
	python := numpy(t)
	dir := t.TempDir()
	unpack(t, dir)
	spellings := spellings(t, dir)
	refs := references(t, python, dir)
	for name := range refs {
		if len(spellings[name]) == 0 {
			t.Errorf("%s has a reference and no program", name)
		}
	}
	for name, files := range spellings {
		if len(refs[name]) == 0 {
			t.Errorf("%s has no reference", name)
		}
		for _, file := range files {
			t.Run(strings.TrimPrefix(file, dir+"/"), func(t *testing.T) { try(t, file, refs[name]) })
		}
	}
}

// numpy finds a Python with NumPy.
func numpy(t *testing.T) string {
	tried := []string{os.Getenv("TENON_PYTHON"), "../../.venv/bin/python", "/usr/bin/python3"}
	for _, p := range tried {
		if p != "" && exec.Command(p, "-c", "import numpy").Run() == nil {
			return p
		}
	}
	t.Skipf("SKIPPED: no Python with NumPy in %q; set TENON_PYTHON", tried)
	return ""
}

// unpack writes each archive to a folder of its name.
func unpack(t *testing.T, dir string) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no programs found", err)
	}
	for _, f := range files {
		a, err := txtar.ParseFile(f)
		if err != nil {
			t.Fatal(err)
		}
		sub := filepath.Join(dir, strings.TrimSuffix(filepath.Base(f), ".txtar"))
		if err := os.Mkdir(sub, 0o777); err != nil {
			t.Fatal(err)
		}
		for _, file := range a.Files {
			if err := os.WriteFile(filepath.Join(sub, file.Name), file.Data, 0o666); err != nil {
				t.Fatal(err)
			}
		}
	}
}

var spelling = regexp.MustCompile(`(-\d+)?\.tn$`)

// spellings are the program files by program; lib_*.tn are there to be imported.
func spellings(t *testing.T, dir string) map[string][]string {
	files, err := filepath.Glob(filepath.Join(dir, "*", "*.tn"))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]string{}
	for _, f := range files {
		if !strings.HasPrefix(filepath.Base(f), "lib_") {
			name := spelling.ReplaceAllString(strings.TrimPrefix(f, dir+"/"), "")
			out[name] = append(out[name], f)
		}
	}
	return out
}

func references(t *testing.T, python, dir string) map[string][]example {
	cmd := exec.Command(python, "driver.py", dir)
	cmd.Stderr = os.Stderr
	text, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]example{}
	for _, line := range bytes.Split(bytes.TrimSpace(text), []byte("\n")) {
		var ex example
		if err := json.Unmarshal(line, &ex); err != nil {
			t.Fatal(err)
		}
		out[ex.Program] = append(out[ex.Program], ex)
	}
	return out
}

// try holds one spelling against the reference.
func try(t *testing.T, file string, examples []example) {
	m, err := tn.Load(file)
	if err != nil {
		src, _ := os.ReadFile(file)
		t.Fatal(diag.Render(err, diag.Sources{file: string(src)}, false))
	}
	if err := ir.Verify(m); err != nil {
		t.Fatalf("%v\n%s", err, ir.Print(m))
	}
	for _, ex := range examples {
		ex.run(t, m, entry(t, m))
	}
}

func (ex *example) run(t *testing.T, m *ir.Module, f *ir.Func) {
	got, err := interp.New(m, interp.Options{Shadow: true}).Run(f.Name, ex.args(t, f))
	switch {
	case ex.Refused != "":
		if err == nil || !strings.Contains(err.Error(), ex.Refused) {
			t.Errorf("%s: the run gives %v, and it must be refused with %q", ex.sizes(), err, ex.Refused)
		}
		return
	case err != nil:
		t.Fatalf("%s: %v", ex.sizes(), err)
	case len(got) != len(ex.Out):
		t.Fatalf("%d results, and the reference gives %d", len(got), len(ex.Out))
	}
	for i, want := range ex.Out {
		if _, err := interp.Compare(want.array(elemOf(got[i])), got[i]); err != nil {
			t.Errorf("%s: result %d: (reference against interpreter) %v", ex.sizes(), i, err)
		}
	}
}

// entry is the function f of a program.
func entry(t *testing.T, m *ir.Module) *ir.Func {
	for _, it := range m.Items {
		if f, ok := it.(*ir.Func); ok && f.Name == "f" {
			return f
		}
	}
	t.Fatal("the program has no f")
	return nil
}

func elemOf(v any) num.Elem {
	switch v := v.(type) {
	case *ir.Array:
		return v.Elem
	case interp.Scalar:
		return v.Elem
	}
	return num.Invalid
}

func (ex *example) sizes() string {
	s := ""
	for name, v := range ex.In {
		s += fmt.Sprintf(" %s%v", name, v.Shape)
	}
	return "inputs" + s
}

func (ex *example) args(t *testing.T, f *ir.Func) []any {
	var out []any
	for _, p := range f.Params {
		v, ok := ex.In[p.Value.Name]
		if !ok && p.Mode == ir.ModeOut {
			out = append(out, nil)
			continue
		}
		if !ok {
			t.Fatalf("the cases give no %s", p.Value.Name)
		}
		out = append(out, v.arg(p.Value.Type))
	}
	return out
}

// arg is v as an argument of type t.
func (v value) arg(t ir.Type) any {
	switch t := t.(type) {
	case ir.Scalar:
		return interp.Scalar{Elem: t.Elem, Cell: v.array(t.Elem).Mem.Cells[0]}
	case ir.Pattern:
		return &ir.PatternValue{Rows: v.Shape[0], Cols: v.Shape[1], Ptr: v.Ptr, Col: v.Col}
	case ir.Tensor:
		if t.Enc != nil {
			return v.encoded(t.Enc)
		}
	}
	return v.array(ir.ElemOf(t))
}

func (v value) encoded(enc *ir.Encoding) any {
	e := &ir.Encoded{Enc: enc, Shape: v.Parts["shape"].Ints}
	for _, p := range enc.Parts {
		e.Parts = append(e.Parts, v.Parts[p.Value.Name].array(ir.ElemOf(p.Value.Type)))
	}
	return e
}

func (v value) array(e num.Elem) *ir.Array {
	a := ir.NewArray(e, v.Shape...)
	for i := range a.Mem.Cells {
		switch {
		case v.Floats != nil && e.IsFloat():
			a.Mem.Cells[i] = num.FromFloat(num.Round(e, math.Float64frombits(uint64(v.Floats[i]))))
		case v.Floats == nil && e.IsFloat():
			a.Mem.Cells[i] = num.FromFloat(num.Round(e, float64(v.Ints[i])))
		case v.Floats != nil:
			panic("the reference gives floats for " + e.String())
		default:
			a.Mem.Cells[i] = num.FromInt(v.Ints[i])
		}
	}
	return a
}
