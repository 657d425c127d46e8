package docs

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"tenon/internal/diag"
	"tenon/ir"
	"tenon/ir/interp"
	_ "tenon/ir/ops"
)

var update = flag.Bool("update", false, "rewrite the tables of docs/ir.md")

const page = "../../docs/ir.md"

func readPage(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

var tnirBlock = regexp.MustCompile("(?s)```tnir\n(.*?)```")

// Every module of the page is one: it verifies, survives its own text, and its
// functions run on drawn arguments.
func TestModulesOfThePage(t *testing.T) {
	blocks := tnirBlock.FindAllStringSubmatch(readPage(t), -1)
	if len(blocks) < 7 {
		t.Fatalf("the page has %d modules", len(blocks))
	}
	for i, b := range blocks {
		t.Run(fmt.Sprint("block ", i+1), func(t *testing.T) {
			m, err := ir.Parse("ir.md", b[1])
			if err == nil {
				err = ir.Verify(m)
			}
			if err != nil {
				t.Fatal(diag.Render(err, diag.Sources{"ir.md": b[1]}, false))
			}
			text := ir.Print(m)
			again, err := ir.Parse("printed.tnir", text)
			if err != nil {
				t.Fatalf("its canonical text does not parse: %v\n%s", err, text)
			}
			if !ir.Equal(m, again) || ir.Print(again) != text {
				t.Errorf("its canonical text reads as another module:\n%s", text)
			}
			for _, f := range m.Funcs() {
				runs(t, m, f)
			}
		})
	}
}

// runs runs f on arguments of several seeds.
func runs(t *testing.T, m *ir.Module, f *ir.Func) {
	t.Helper()
	for seed := range int64(6) {
		args, err := interp.Seeded(m, f, seed)
		if err != nil {
			t.Fatalf("no arguments can be drawn for @%s: %v", f.Name, err)
		}
		p := interp.New(m, interp.Options{Shadow: true, Seed: uint64(seed), Ranks: 3})
		if _, err := p.Run(f.Name, args); err != nil {
			t.Errorf("@%s, seed %d: %v", f.Name, seed, err)
		}
	}
}

const (
	tablesBegin = "<!-- ops: made from the rows by go test ./tests/docs -update -->\n"
	tablesEnd   = "<!-- end of ops -->\n"
	levelsBegin = "<!-- levels: likewise -->\n"
	levelsEnd   = "<!-- end of levels -->\n"
)

// The op tables and the table of levels are those of the source.
func TestTablesOfThePage(t *testing.T) {
	text := readPage(t)
	made := section(t, section(t, text, tablesBegin, tablesEnd, opTables(t)), levelsBegin, levelsEnd, levelTable())
	if made == text {
		return
	}
	if !*update {
		t.Fatal("docs/ir.md is not what the rows say; go test ./tests/docs -update rewrites its tables")
	}
	if err := os.WriteFile(page, []byte(made), 0o644); err != nil {
		t.Fatal(err)
	}
}

// section replaces what stands between two marks.
func section(t *testing.T, text, begin, end, with string) string {
	t.Helper()
	before, rest, ok := strings.Cut(text, begin)
	_, after, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatalf("the page lacks the marks %q and %q", begin, end)
	}
	return before + begin + with + end + after
}
