package run

import (
	"bytes"
	"debug/elf"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"tenon"
	"tenon/internal/diag"
	"tenon/internal/driver"
	"tenon/targets"
)

// nativeExamples are those that have machine code.
func nativeExamples(t *testing.T) (files []string) {
	t.Helper()
	all, _ := filepath.Glob("../../examples/*/*.tn")
	for _, f := range all {
		if m, err := tenon.Load(f); err == nil && dense(m) {
			files = append(files, f)
		}
	}
	if len(files) < 8 {
		t.Fatalf("only %d examples found", len(files))
	}
	return files
}

// The source, and the text of each level that it passes through, give the same
// object and the same header.
func TestEveryLevelGivesTheSameObject(t *testing.T) {
	for i, file := range append(nativeExamples(t), "testdata/abi.tn", "testdata/layouts.tn") {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			opt := []int{0, 3}[i%2]
			want, header := object(t, file, opt)
			m, err := tenon.Load(file)
			if err != nil {
				t.Fatal(err)
			}
			desc, err := targets.Find("", "") // as object compiles
			if err != nil {
				t.Fatal(err)
			}
			for _, level := range driver.Levels(m, desc) {
				text, err := driver.AtLevel(m, string(level), desc)
				if err != nil {
					t.Fatal(err)
				}
				path := filepath.Join(t.TempDir(), "other.tnir")
				save(t, path, []byte(text))
				got, again := object(t, path, opt)
				if !bytes.Equal(got, want) {
					t.Errorf("the text of level %s gives another object", level)
				}
				if again != header {
					t.Errorf("the text of level %s gives another header:\n%s\nwant\n%s", level, again, header)
				}
			}
		})
	}
}

func object(t *testing.T, path string, opt int) ([]byte, string) {
	t.Helper()
	artifact(t, path) // skips without LLVM
	a, err := tenon.Compile(t.Context(), path, tenon.Options{Opt: opt})
	if err != nil {
		t.Fatal(err)
	}
	obj, err := a.Object(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	header, err := a.Header()
	if err != nil {
		t.Fatal(err)
	}
	return obj, header
}

// A library needs the C library and at most the OpenMP runtime, and does not
// tell where it was built: two folders give the same bytes.
func TestLibraries(t *testing.T) {
	for i, file := range nativeExamples(t) {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			source, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			o := tenon.Options{Opt: i % 4, NoOpenMP: i%3 == 0}
			first, second := libraryIn(t, filepath.Base(file), source, o), libraryIn(t, filepath.Base(file), source, o)
			if !bytes.Equal(first, second) {
				t.Error("two folders give two libraries")
			}
			allowed := []string{"libc.so.6", "libm.so.6", "libgomp.so.1"}
			if o.NoOpenMP {
				allowed = allowed[:2]
			}
			for _, lib := range needed(t, first) {
				if !slices.Contains(allowed, lib) {
					t.Errorf("the library needs %s", lib)
				}
			}
		})
	}
}

// libraryIn builds a library in a folder of its own.
func libraryIn(t *testing.T, name string, source []byte, o tenon.Options) []byte {
	t.Helper()
	dir := t.TempDir()
	save(t, filepath.Join(dir, name), source)
	so, err := compiled(t, filepath.Join(dir, name), o).Library(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(so, []byte(dir)) || bytes.Contains(so, []byte(os.TempDir()+"/")) {
		t.Error("the library holds the path of the folder that it was built in")
	}
	return so
}

func needed(t *testing.T, so []byte) []string {
	t.Helper()
	f, err := elf.NewFile(bytes.NewReader(so))
	if err != nil {
		t.Fatal(err)
	}
	libs, err := f.ImportedLibraries()
	if err != nil {
		t.Fatal(err)
	}
	return libs
}

// Two functions of the prelude, with the checks, plans and threads of both, for
// each machine: a library of them is under 60 KB.
func TestSmallLibraries(t *testing.T) {
	m := program(t, map[string]string{"prog.tn": `
fn soft(x: f32[M, N]) -> f32[M, N] { return softmax(x) }
fn norm(x: f32[M, N], g: f32[N], b: f32[N]) -> f32[M, N] { return layernorm(x, g, b, 1e-5) }
`})
	for _, d := range targets.All() {
		if d.GPU != nil {
			continue
		}
		t.Run(d.Name, func(t *testing.T) {
			t.Parallel()
			a, err := tenon.CompileModule(t.Context(), m, "prog.tn", tenon.Options{Target: d.Family, CPU: d.Name, Opt: 3})
			var missing *diag.MissingTool
			if errors.As(err, &missing) {
				t.Skipf("SKIP, the size of libraries is not tested: %v", err)
			}
			if err != nil {
				t.Fatal(err)
			}
			so, err := a.Library(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%d bytes", len(so))
			if len(so) >= 60_000 {
				t.Errorf("the library has %d bytes", len(so))
			}
		})
	}
}

// A library is small and exports what the file has, by the names that the header
// gives.
func TestExports(t *testing.T) {
	so, err := artifact(t, "../../examples/attention/attention.tn").Library(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(so) > 40<<10 {
		t.Errorf("%d bytes", len(so))
	}
	if !slices.Contains(needed(t, so), "libgomp.so.1") {
		t.Error("attention has no threads")
	}
	f, _ := elf.NewFile(bytes.NewReader(so))
	symbols, _ := f.DynamicSymbols()
	var exported []string
	for _, s := range symbols {
		if s.Section != elf.SHN_UNDEF {
			exported = append(exported, s.Name)
		}
	}
	slices.Sort(exported)
	if !slices.Equal(exported, []string{"attention", "attention_close", "attention_open", "attention_plan", "attention_run"}) {
		t.Errorf("the library exports %v", exported)
	}
}
