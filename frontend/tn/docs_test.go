package tn

import (
	"os"
	"regexp"
	"testing"

	"tenon/internal/diag"
	_ "tenon/ir/ops"
)

// The programs that docs/language.md shows are programs: they resolve and type.
func TestDocumentedPrograms(t *testing.T) {
	page, err := os.ReadFile("../../docs/language.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)```tn\n(.*?)```").FindAllStringSubmatch(string(page), -1)
	if len(blocks) < 10 {
		t.Fatalf("only %d programs found", len(blocks))
	}
	for _, b := range blocks {
		if _, err := Parse("docs/language.md", b[1]); err != nil {
			t.Error(diag.Render(err, diag.Sources{"docs/language.md": b[1]}, false))
		}
	}
}
