package docs

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
)

// The two files of docs/adding-an-op.md add an op: with them laid over the
// sources, and nothing else, its test passes.
func TestAddingAnOp(t *testing.T) {
	text, err := os.ReadFile("../../docs/adding-an-op.md")
	if err != nil {
		t.Fatal(err)
	}
	files := regexp.MustCompile("(?ms)^`([a-z_/.-]+)`\n\n```go\n(.*?)^```$").FindAllStringSubmatch(string(text), -1)
	if len(files) != 2 {
		t.Fatalf("the page shows %d files", len(files))
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	dir, replace := t.TempDir(), map[string]string{}
	for _, f := range files {
		at := filepath.Join(dir, filepath.Base(f[1]))
		if err := os.WriteFile(at, []byte(f[2]), 0o644); err != nil {
			t.Fatal(err)
		}
		replace[filepath.Join(root, f[1])] = at
	}
	overlay := filepath.Join(dir, "overlay.json")
	data, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(overlay, data, 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("go", "test", "-overlay="+overlay, "-v", "-run", "Lerp", "./ir/ops/scalar")
	cmd.Dir = root
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, test := range []string{"--- PASS: TestLerp ", "--- PASS: TestLerpOfIntegers "} {
		if !regexp.MustCompile(regexp.QuoteMeta(test)).Match(out) {
			t.Errorf("%s did not run:\n%s", test, out)
		}
	}
}
