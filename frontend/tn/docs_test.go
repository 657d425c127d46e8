package tn_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"tenon/frontend/tn"
	"tenon/frontend/tn/prelude"
	"tenon/internal/diag"
	"tenon/ir"
)

// elaborates checks that a text becomes a module that verifies and survives a
// trip through its text form.
func elaborates(t *testing.T, name, src string) {
	t.Helper()
	m, err := tn.Parse(name, src)
	if err != nil {
		t.Errorf("%s", diag.Render(err, diag.Sources{name: src}, false))
		return
	}
	if err := ir.Verify(m); err != nil {
		t.Errorf("%s: %v\n%s", name, err, ir.Print(m))
		return
	}
	text := ir.Print(m)
	again, err := ir.Parse(name+"ir", text)
	if err != nil {
		t.Errorf("%s: its text does not parse: %v\n%s", name, err, text)
	} else if !ir.Equal(m, again) || ir.Print(again) != text {
		t.Errorf("%s: its text reads as another module\n%s", name, text)
	}
}

// Every program of the language page is a program.
func TestDocumentedPrograms(t *testing.T) {
	page, err := os.ReadFile("../../docs/language.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)```tn\n(.*?)```").FindAllStringSubmatch(string(page), -1)
	if len(blocks) < 10 {
		t.Fatalf("%d programs found", len(blocks))
	}
	for i, b := range blocks {
		elaborates(t, fmt.Sprintf("block%d.tn", i+1), b[1])
	}
}

func TestExamples(t *testing.T) {
	files, err := filepath.Glob("../../examples/*/*.tn")
	if err != nil || len(files) < 8 {
		t.Fatalf("%d examples found: %v", len(files), err)
	}
	for _, f := range files {
		src, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		elaborates(t, f, string(src))
	}
}

// The prelude is checked as a user's file is: every function on stand-ins.
func TestPreludeChecks(t *testing.T) {
	for _, f := range prelude.Files() {
		elaborates(t, f.Name, f.Src)
	}
}

func verifies(t *testing.T, m *ir.Module) {
	t.Helper()
	if err := ir.Verify(m); err != nil {
		t.Errorf("%v\n%s", err, ir.Print(m))
	}
}
