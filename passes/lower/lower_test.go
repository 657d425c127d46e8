package lower_test

import (
	"os"
	"path/filepath"
	"testing"

	"tenon/frontend/tn"
	"tenon/ir"
	_ "tenon/ir/ops"
	"tenon/passes/lower"
	"tenon/passes/pass"
)

// The examples and the functions of the worked pages keep every bit on their
// way to loops.
func TestExamplesKeepTheirMeaning(t *testing.T) {
	files, _ := filepath.Glob("../../examples/*/*.tn")
	if len(files) < 8 {
		t.Fatalf("only %d examples found", len(files))
	}
	for _, f := range files {
		t.Run(filepath.Base(f), func(t *testing.T) {
			m, err := tn.Load(f)
			if err != nil {
				t.Fatal(err)
			}
			lowered(t, m)
		})
	}
}

func lowered(t *testing.T, m *ir.Module) {
	t.Helper()
	g := &pass.Manager{VerifyEach: true, TempDir: t.TempDir()}
	if os.Getenv("SHOW") != "" {
		g.Out, g.PrintAfter = os.Stdout, []string{"all"}
	}
	if err := g.Run(m, pass.Of(lower.Bufferise, lower.LowerComps)); err != nil {
		t.Fatal(err)
	}
}
