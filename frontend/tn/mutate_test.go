package tn_test

import (
	"math/rand"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tenon/frontend/tn"
)

// Programs with a few words exchanged, dropped or doubled are refused or
// elaborated, quickly and without a panic.
func TestMutatedPrograms(t *testing.T) {
	files, _ := filepath.Glob("../../examples/*/*.tn")
	errs, _ := filepath.Glob("testdata/errors/*.txtar")
	var words [][]string
	for _, f := range append(files, errs...) {
		src, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		text := string(src)
		for _, p := range []string{"(", ")", "[", "]", "{", "}", ",", ":", "+", "*"} {
			text = strings.ReplaceAll(text, p, " "+p+" ")
		}
		lines := strings.Split(text, "\n")
		var ws []string
		for _, l := range lines {
			if !strings.HasPrefix(strings.TrimSpace(l), "//") {
				ws = append(ws, strings.Fields(l)...)
				ws = append(ws, "\n")
			}
		}
		words = append(words, ws)
	}
	r := rand.New(rand.NewSource(1))
	passed := 0
	for i := 0; i < 900; i++ {
		ws := append([]string(nil), words[r.Intn(len(words))]...)
		for k := 1 + r.Intn(2); k > 0; k-- {
			a, b := r.Intn(len(ws)), r.Intn(len(ws))
			switch r.Intn(4) {
			case 0:
				ws[a], ws[b] = ws[b], ws[a]
			case 3:
				ws[a] = ws[b]
			case 1:
				ws[a] = ""
			default:
				ws[a] += " " + ws[b]
			}
		}
		src := strings.Join(ws, " ")
		start := time.Now()
		m, err := tn.Parse("mutant.tn", src)
		if d := time.Since(start); d > 10*time.Second {
			t.Errorf("%v for\n%s", d, src)
		}
		if err == nil {
			passed++
			verifies(t, m)
		}
		if t.Failed() {
			t.Fatal(src)
		}
	}
	t.Logf("%d of 900 mutants are programs", passed)
}
