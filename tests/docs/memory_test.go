package docs

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"tenon/internal/driver"
)

// The output that the page shows is that of its program.
func TestMemoryPage(t *testing.T) {
	const page = "../../docs/memory.md"
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)```tn\n(.*?)```.*?```text\n(.*?)```").FindStringSubmatchIndex(string(text))
	if blocks == nil {
		t.Fatal("the page has no program with its output")
	}
	m, err := driver.Parse("layers.tn", string(text[blocks[2]:blocks[3]]))
	if err != nil {
		t.Fatal(err)
	}
	all, err := driver.ExplainMemory(m, "", map[string]int64{"N": 100}, driver.Options{Target: "x86-64"})
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, x := range all {
		x.Write(&b)
	}
	if got := string(text[blocks[4]:blocks[5]]); got != b.String() {
		if *update {
			out := string(text[:blocks[4]]) + b.String() + string(text[blocks[5]:])
			if err := os.WriteFile(page, []byte(out), 0o644); err != nil {
				t.Fatal(err)
			}
			return
		}
		t.Errorf("docs/memory.md shows\n%s\nthe program gives\n%s\n(go test ./tests/docs -update rewrites it)", got, b.String())
	}
}
