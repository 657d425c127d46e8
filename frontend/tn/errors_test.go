package tn_test

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/tools/txtar"

	"tenon/frontend/tn"
	"tenon/frontend/tn/prelude"
	"tenon/internal/diag"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// Each testdata/errors/*.txtar holds a faulty program and what the user reads.
// `go test ./frontend/tn -update` rewrites them.
func TestErrors(t *testing.T) {
	files, err := filepath.Glob("testdata/errors/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no error tests found", err)
	}
	for _, f := range files {
		t.Run(filepath.Base(f), func(t *testing.T) {
			a, err := txtar.ParseFile(f)
			if err != nil || len(a.Files) != 2 {
				t.Fatalf("want -- in.tn -- and -- out --: %v", err)
			}
			src := string(a.Files[0].Data)
			_, err = tn.Parse("in.tn", src)
			got := "no error\n"
			if err != nil {
				sources := prelude.Sources()
				sources["in.tn"] = src
				got = diag.Render(err, sources, false)
			}
			if *update {
				a.Files[1].Data = []byte(got)
				if err := os.WriteFile(f, txtar.Format(a), 0o666); err != nil {
					t.Fatal(err)
				}
				return
			}
			if want := string(a.Files[1].Data); got != want {
				t.Errorf("got:\n%s\nwant:\n%s\nif the new text is right: go test ./frontend/tn -update", got, want)
			}
		})
	}
}

// FuzzParse holds the whole front end to its promise: an error or a module that
// verifies, never a panic.
func FuzzParse(f *testing.F) {
	files, _ := filepath.Glob("testdata/errors/*.txtar")
	for _, file := range files {
		if a, err := txtar.ParseFile(file); err == nil && len(a.Files) > 0 {
			f.Add(string(a.Files[0].Data))
		}
	}
	examples, _ := filepath.Glob("../../examples/*/*.tn")
	for _, file := range examples {
		if src, err := os.ReadFile(file); err == nil {
			f.Add(string(src))
		}
	}
	f.Fuzz(func(t *testing.T, src string) {
		m, err := tn.Parse("fuzz.tn", src)
		if err == nil {
			verifies(t, m)
		}
	})
}
