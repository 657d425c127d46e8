package golden

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"tenon/internal/diag"
	"tenon/ir"
	_ "tenon/ir/ops"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// header is the first line of a module, left out in the golden files.
const header = "tenon ir 1\n"

// read parses and verifies a text without its first line.
func read(t testing.TB, name, text string) *ir.Module {
	t.Helper()
	m, err := ir.Parse(name, header+text)
	if err == nil {
		err = ir.Verify(m)
	}
	if err != nil {
		t.Fatal(diag.Render(err, diag.Sources{name: header + text}, false))
	}
	return m
}

func archives(t testing.TB) []string {
	t.Helper()
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no golden files: %v", err)
	}
	return files
}

// section is a file of an archive, which must have it.
func section(t testing.TB, a *txtar.Archive, name string) string {
	t.Helper()
	for _, f := range a.Files {
		if f.Name == name {
			return string(f.Data)
		}
	}
	t.Fatalf("the archive has no -- %s --", name)
	return ""
}

// input is the module that a golden file holds.
func input(t testing.TB, name string) *ir.Module {
	t.Helper()
	a, err := txtar.ParseFile(filepath.Join("testdata", name+".txtar"))
	if err != nil {
		t.Fatal(err)
	}
	return read(t, name+".tnir", section(t, a, "in"))
}

// Every example in shorthand verifies and prints as its canonical text, which
// reads as the same module and prints as itself.
func TestCanonicalTexts(t *testing.T) {
	for _, file := range archives(t) {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			a, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if len(bytes.TrimSpace(a.Comment)) == 0 {
				t.Error("the file does not say why it exists")
			}
			m := read(t, "in.tnir", section(t, a, "in"))
			printed := strings.TrimPrefix(ir.Print(m), header)
			if *update {
				a.Files = []txtar.File{a.Files[0], {Name: "out", Data: []byte(printed)}}
				if err := os.WriteFile(file, txtar.Format(a), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if want := section(t, a, "out"); printed != want {
				t.Errorf("printed\n%s\nwant\n%s\n(go test ./tests/golden -update rewrites)", printed, want)
			}
			again := read(t, "out.tnir", printed)
			if !ir.Equal(m, again) || ir.Print(again) != header+printed {
				t.Error("the canonical text reads as another module, or prints otherwise")
			}
		})
	}
}
