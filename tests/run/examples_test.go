package run

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"tenon"
	"tenon/frontend/tn"
	"tenon/internal/diag"
	"tenon/ir"
	"tenon/ir/interp"
)

func TestMain(m *testing.M) {
	code := m.Run()
	Shutdown()
	os.Exit(code)
}

// builds compiles m for all machines that are here: this one at -O0 and -O3,
// and others as far as they are asked for. It skips loudly without LLVM. At -O3
// loops are split for threads however small they are.
func builds(t *testing.T, m *ir.Module) []*Program {
	t.Helper()
	return buildsOn(t, m, chosen())
}

// buildsOn compiles m for some machines.
func buildsOn(t *testing.T, m *ir.Module, machines []*Machine) []*Program {
	t.Helper()
	compiled := map[tenon.Options]*Program{}
	var out []*Program
	for _, on := range machines {
		p, err := compiled[on.Options], error(nil)
		if p == nil {
			p, err = BuildFor(m, on)
		} else {
			p, err = p.On(on)
		}
		var missing *diag.MissingTool
		if errors.As(err, &missing) {
			t.Skipf("SKIP, compiled code is not tested: %v", err)
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(p.Close)
		if Whole() && compiled[on.Options] == nil {
			promised(t, on, p.so)
		}
		compiled[on.Options] = p
		out = append(out, p)
	}
	for _, on := range Machines {
		if Whole() && on.Absent() != "" {
			compiledOnly(t, m, on)
		}
	}
	return out
}

// compiledOnly is what a test does for a machine that is not here.
func compiledOnly(t *testing.T, m *ir.Module, on *Machine) {
	t.Helper()
	a, err := tenon.CompileModule(t.Context(), m, "prog.tn", on.Options)
	if err != nil {
		t.Fatal(err)
	}
	obj, err := a.Object(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	promised(t, on, obj)
}

// promised holds code against the description of its machine.
func promised(t *testing.T, on *Machine, code []byte) {
	t.Helper()
	d, err := on.Desc()
	if err != nil {
		t.Fatal(err)
	}
	if d.Name == "native" {
		return
	}
	for _, what := range exceeds(read(disassemble(t, code), d.Family), d) {
		t.Errorf("the code for %s uses %s, which its description does not promise", on.Name, what)
	}
}

// chosen are the machines of this run. A usual one takes this machine, and one
// of each kind of vectors that QEMU plays; the levels below this machine differ
// from it in what LLVM selects alone.
var chosen = sync.OnceValue(func() []*Machine {
	out := []*Machine{Machines[0].At(0), Machines[0].At(3)}
	for _, m := range Machines[1:] {
		switch {
		case m.Absent() != "":
		case Whole():
			out = append(out, m.At(0), m.At(3), m.At(3).Sanitized())
		case m.Name == "neon" || m.Name == "sve256":
			out = append(out, m.At(3))
		}
	}
	return out
})

// What is not tested is said, a line a machine.
func TestMachinesPresent(t *testing.T) {
	for _, m := range Machines {
		t.Run(m.Name, func(t *testing.T) {
			if why := m.Absent(); why != "" {
				t.Skipf("SKIP, compiled code is not run on %s: %s", m.Name, why)
			}
		})
	}
}

// agrees runs f on drawn inputs at some sizes and compares. It reports on the
// plain inputs.
func agrees(t *testing.T, m *ir.Module, f *ir.Func, sizes []map[string]int64, programs []*Program) (plain interp.Report) {
	t.Helper()
	calls := 0
	for i, dims := range sizes {
		for _, v := range []Values{Plain, Special} {
			args, ok := Draw(f, dims, v, uint64(i))
			if !ok {
				continue
			}
			ref, fault := Reference(m, f.Name, args)
			for k, p := range programs {
				layouts := []Layout{Layout(i + 3*k)}
				if v == Plain { // whatever the length, guard pages stand right before and right behind
					layouts = []Layout{AllBefore, AllBehind}
				}
				for _, l := range layouts {
					r, err := p.Check(f.Name, args, ref, fault, l)
					if err != nil {
						t.Errorf("%s, values %d, layout %d: %v", Describe(f, dims), v, l, err)
						continue
					}
					calls++
					if v == Plain {
						plain.Add(r)
					}
				}
			}
		}
	}
	if calls == 0 {
		t.Errorf("%s: no sizes meet its facts", f.Name)
	}
	return plain
}

// judged: nearly all elements were held against a bound.
func judged(t *testing.T, r interp.Report) {
	t.Helper()
	if r.TooManyUndecided() {
		t.Errorf("%d of %d elements cannot be judged", r.Undecided, r.Elements)
	}
	if r.Elements == 0 {
		t.Error("no plain inputs gave a result: nothing was held against the interpreter")
	}
	t.Logf("%d elements, %d not judged, greatest error %.2g of 4 bounds", r.Elements, r.Undecided, r.MaxError)
}

// dense reports whether all that f takes is dense.
func dense(m *ir.Module) bool {
	text := ir.Print(m)
	for _, word := range []string{"pattern<", " enc @", "tensor.nonzero"} {
		if strings.Contains(text, word) {
			return false
		}
	}
	return true
}

func TestExamples(t *testing.T) {
	files, _ := filepath.Glob("../../examples/*/*.tn")
	if len(files) < 8 {
		t.Fatalf("only %d examples found", len(files))
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			m, err := tn.Load(file)
			if err != nil {
				t.Fatal(err)
			}
			both(t, m)
		})
	}
}

// both runs all functions of a dense module in both ways; others must be
// refused as the user's fault, with the way out.
func both(t *testing.T, m *ir.Module) {
	t.Helper()
	if !dense(m) {
		_, err := Build(m, 0)
		if !IsUsers(err) || !strings.Contains(err.Error(), "--interp") {
			t.Errorf("a program without a native form: %v", err)
		}
		return
	}
	if len(m.Funcs()) == 0 {
		return // generic functions alone
	}
	programs := builds(t, m)
	var total interp.Report
	for _, f := range m.Funcs() {
		total.Add(agrees(t, m, f, Sizes(f), programs))
	}
	judged(t, total)
}

// Every program of the language page.
func TestDocumentedPrograms(t *testing.T) {
	page, err := os.ReadFile("../../docs/language.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)```tn\n(.*?)```").FindAllStringSubmatch(string(page), -1)
	for i, b := range blocks {
		t.Run(fmt.Sprintf("block%d", i+1), func(t *testing.T) {
			t.Parallel()
			m, err := tn.Parse("block.tn", b[1])
			if err != nil {
				t.Fatal(err)
			}
			both(t, m)
		})
	}
}
