package run

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"tenon"
	"tenon/internal/diag"
	"tenon/internal/num"
	"tenon/ir"
	"tenon/ir/interp"
)

// artifact compiles a file at -O3 for the baseline machine, or skips loudly.
func artifact(t *testing.T, path string) *tenon.Artifact {
	t.Helper()
	return compiled(t, path, tenon.Options{Opt: 3})
}

func compiled(t *testing.T, path string, o tenon.Options) *tenon.Artifact {
	t.Helper()
	a, err := tenon.Compile(t.Context(), path, o)
	var missing *diag.MissingTool
	if errors.As(err, &missing) {
		t.Skipf("SKIP, compiled code is not tested: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func gcc(t *testing.T, dir string, args ...string) {
	t.Helper()
	if _, err := exec.LookPath("gcc"); err != nil {
		t.Skip("SKIP, the C interface is not tested: no gcc; install it with: apt-get install gcc")
	}
	cmd := exec.Command("gcc", append([]string{"-std=c11", "-D_DEFAULT_SOURCE", "-Wall", "-Wextra", "-pedantic", "-Werror"}, args...)...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", args, err, out)
	}
}

func save(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o666); err != nil {
		t.Fatal(err)
	}
}

// inC builds testdata/NAME.c with the header, the shared library and the static
// library of an example: two programs.
func inC(t *testing.T, name string, a *tenon.Artifact) (programs []string) {
	t.Helper()
	dir := t.TempDir()
	source, err := os.ReadFile(filepath.Join("testdata", name+".c"))
	if err != nil {
		t.Fatal(err)
	}
	header, err := a.Header()
	if err != nil {
		t.Fatal(err)
	}
	so, err := a.Library(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	lib, err := a.Archive(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	save(t, filepath.Join(dir, name+".c"), source)
	save(t, filepath.Join(dir, name+".h"), []byte(header))
	save(t, filepath.Join(dir, "lib"+name+".so"), so)
	save(t, filepath.Join(dir, "lib"+name+".a"), lib)
	gcc(t, dir, "-pthread", name+".c", "lib"+name+".so", "-Wl,-rpath,"+dir, "-o", "shared")
	gcc(t, dir, "-pthread", name+".c", "lib"+name+".a", "-lm", "-lgomp", "-o", "static")
	return []string{filepath.Join(dir, "shared"), filepath.Join(dir, "static")}
}

// A short C program against the generated header agrees with the interpreter,
// and gets the documented error for a result of a wrong shape.
func TestAttentionFromC(t *testing.T) {
	a := artifact(t, "../../examples/attention/attention.tn")
	m, err := tenon.Load("../../examples/attention/attention.tn")
	if err != nil {
		t.Fatal(err)
	}
	programs := inC(t, "attention", a)
	f := m.Funcs()[0]
	var total interp.Report
	for i, s := range []int64{0, 1, 5, 16, 33} {
		for j, keys := range []int64{0, 1, 5, 16, 33} {
			args, ok := Draw(f, map[string]int64{"B": 2, "H": 3, "S": s, "T": keys, "D": 8}, Plain, uint64(5*i+j))
			if !ok {
				t.Fatal("the sizes do not meet the facts")
			}
			ref, err := Reference(m, f.Name, args)
			if err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command(programs[(i+j)%2], fmt.Sprint(s), fmt.Sprint(keys), "8")
			cmd.Stdin = bytes.NewReader(encode(args))
			out, err := cmd.Output()
			if err != nil {
				t.Fatalf("S = %d, T = %d: %v\n%s", s, keys, err, out)
			}
			r, err := interp.Compare(decode(num.F32, out, 2, 3, s, 8), ref[0])
			if err != nil {
				t.Errorf("S = %d, T = %d: %v", s, keys, err)
			}
			total.Add(r)
		}
	}
	judged(t, total)
	out, err := exec.Command(programs[0], "0", "0", "7").Output()
	if fmt.Sprint(err) != "exit status 1" || string(out) != "1 3 3\n" {
		t.Errorf("a result with 7 columns: %v, %q; want TENON_SHAPE of argument 3, dim 3", err, out)
	}
}

// encode puts the elements of arrays one after the other.
func encode(args []any) []byte {
	var out []byte
	for _, a := range args {
		x, ok := a.(*ir.Array)
		if !ok {
			continue
		}
		for _, c := range x.Mem.Cells {
			var raw [8]byte
			num.Encode(x.Elem, c, raw[:x.Elem.Bytes()])
			out = append(out, raw[:x.Elem.Bytes()]...)
		}
	}
	return out
}

func decode(e num.Elem, raw []byte, shape ...int64) *ir.Array {
	a := ir.NewArray(e, shape...)
	for i := range a.Mem.Cells {
		if at := i * e.Bytes(); at+e.Bytes() <= len(raw) {
			a.Mem.Cells[i] = num.Decode(e, raw[at:])
		}
	}
	return a
}

// The C interface, case by case: see testdata/abi.c.
func TestInterfaceFromC(t *testing.T) {
	for _, program := range inC(t, "abi", artifact(t, "testdata/abi.tn")) {
		if out, err := exec.Command(program).CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", filepath.Base(program), err, out)
		}
	}
}

// No call, whether it ends well or with an error, leaves memory allocated or
// frees it twice.
func TestInterfaceKeepsNoMemory(t *testing.T) {
	program := inC(t, "abi", artifact(t, "testdata/abi.tn"))[1]
	dir := filepath.Dir(program)
	cmd := exec.Command("gcc", "-std=c11", "-D_DEFAULT_SOURCE", "-pthread", "-g", "-fsanitize=address,undefined", "abi.c", "libabi.a", "-lm", "-lgomp", "-o", "watched")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Skipf("SKIP, lost memory is not looked for: gcc has no address sanitizer here: %s", out)
	}
	watched := func(args ...string) (string, error) {
		c := exec.Command(filepath.Join(dir, "watched"), args...)
		c.Env = append(os.Environ(), "ASAN_OPTIONS=allocator_may_return_null=1:detect_leaks=1")
		out, err := c.CombinedOutput()
		return string(out), err
	}
	if out, err := watched("lose"); err == nil || !strings.Contains(out, "77 byte") {
		t.Skipf("SKIP, lost memory is not looked for: what is lost on purpose is not found: %v, %s", err, out)
	}
	if out, err := watched(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
