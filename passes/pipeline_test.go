package passes_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"tenon/frontend/tn"
	"tenon/ir"
	_ "tenon/ir/ops"
	"tenon/passes"
	"tenon/passes/pass"
)

// programs are the examples and the worked pages of the text form.
func programs(t *testing.T) map[string]*ir.Module {
	t.Helper()
	all := map[string]*ir.Module{}
	files, _ := filepath.Glob("../examples/*/*.tn")
	more, _ := filepath.Glob("testdata/*.tn")
	for _, f := range append(files, more...) {
		m, err := tn.Load(f)
		if err != nil {
			t.Fatal(err)
		}
		all[filepath.Base(f)] = m
	}
	texts, _ := filepath.Glob("testdata/*.tnir")
	for _, f := range texts {
		src, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		m, err := ir.Parse(f, string(src))
		if err != nil {
			t.Fatal(err)
		}
		all[filepath.Base(f)] = m
	}
	if len(all) < 10 {
		t.Fatalf("only %d programs found", len(all))
	}
	return all
}

// run takes m down; at each level text is written out and, where reread, read
// back before going on.
func run(t *testing.T, m *ir.Module, g *pass.Manager, reread bool) string {
	t.Helper()
	for done := ir.Level(""); ; {
		stages := passes.Pipeline(passes.EntryLevel(m), passes.AnyMachine)
		last := true
		for _, s := range stages {
			if err := g.Run(m, s.Passes); err != nil {
				t.Fatal(err)
			}
			if reread && s.Level != done && s.Level != ir.LevelLoop {
				done, last = s.Level, false
				m = parse(t, ir.Print(m))
				break
			}
		}
		if last {
			return ir.Print(m)
		}
	}
}

func parse(t *testing.T, text string) *ir.Module {
	t.Helper()
	m, err := ir.Parse("text", text)
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	return m
}

func TestPipelineKeepsTheMeaning(t *testing.T) {
	for name, m := range programs(t) {
		t.Run(name, func(t *testing.T) {
			run(t, m, &pass.Manager{VerifyEach: true, TempDir: t.TempDir()}, false)
		})
	}
}

// A program that is written out and read back at every level ends as the same
// text, and a program that is through ends as itself.
func TestReenteringChangesNothing(t *testing.T) {
	for name, m := range programs(t) {
		t.Run(name, func(t *testing.T) {
			text := ir.Print(m)
			once := run(t, parse(t, text), &pass.Manager{}, false)
			again := run(t, parse(t, text), &pass.Manager{}, true)
			if once != again {
				t.Errorf("without re-reading:\n%s\nwith:\n%s", once, again)
			}
			if end := run(t, parse(t, once), &pass.Manager{}, false); end != once {
				t.Errorf("at the end:\n%s\nafter another run:\n%s", once, end)
			}
		})
	}
}

// Ten thousand ops in a chain go down in seconds: no pass is quadratic. An exp
// becomes thirty ops, so there are few.
func TestLongChains(t *testing.T) {
	var b strings.Builder
	b.WriteString("tenon ir 1\nfunc tensor @f<N>(%x: f32[N]) -> (f32[N]) {\n  %y = tensor.comp par(i < N) in(%a0 = %x[i]) {\n")
	for i := 1; i <= 10000; i++ {
		op := []string{"sqrt", "neg", "abs"}[i%3]
		if i%40 == 0 {
			op = "exp"
		}
		b.WriteString("    %a" + strconv.Itoa(i) + " = " + op + "(%a" + strconv.Itoa(i-1) + ")\n")
	}
	b.WriteString("    yield(%a10000)\n  } : f32[N]\n  return(%y)\n}\n")
	start := time.Now()
	run(t, parse(t, b.String()), &pass.Manager{}, false)
	if d := time.Since(start); d > 10*time.Second {
		t.Errorf("took %v", d)
	}
}
