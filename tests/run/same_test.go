package run

import (
	"bytes"
	"debug/elf"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"tenon"
	"tenon/internal/driver"
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
	for i, file := range append(nativeExamples(t), "testdata/abi.tn") {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			opt := []int{0, 3}[i%2]
			want, header := object(t, file, opt)
			m, err := tenon.Load(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, level := range driver.Levels(m) {
				text, err := driver.AtLevel(m, string(level))
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

// A library needs the C library alone, is small, exports what the file has, and
// does not tell where it was built.
func TestLibraries(t *testing.T) {
	source, err := os.ReadFile("../../examples/attention/attention.tn")
	if err != nil {
		t.Fatal(err)
	}
	var libs [][]byte
	for range 2 {
		dir := t.TempDir()
		save(t, filepath.Join(dir, "attention.tn"), source)
		so, err := artifact(t, filepath.Join(dir, "attention.tn")).Library(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(so, []byte(dir)) || bytes.Contains(so, []byte(os.TempDir()+"/")) {
			t.Error("the library holds the path of the folder that it was built in")
		}
		libs = append(libs, so)
	}
	if !bytes.Equal(libs[0], libs[1]) {
		t.Error("two folders give two libraries")
	}
	if len(libs[0]) > 40<<10 {
		t.Errorf("%d bytes", len(libs[0]))
	}
	f, err := elf.NewFile(bytes.NewReader(libs[0]))
	if err != nil {
		t.Fatal(err)
	}
	needed, _ := f.ImportedLibraries()
	for _, lib := range needed {
		if !slices.Contains([]string{"libc.so.6", "libm.so.6"}, lib) {
			t.Errorf("the library needs %s", lib)
		}
	}
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
