package tests

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

// The two files of docs/adding-a-pass.md make a pass: with them laid over the
// sources, and nothing else, `tenon passes` lists it and `tenon opt` does what
// its test says.
func TestAddingAPass(t *testing.T) {
	page, err := os.ReadFile("../docs/adding-a-pass.md")
	if err != nil {
		t.Fatal(err)
	}
	files := regexp.MustCompile("(?ms)^`([a-z_/.-]+)`\n\n```[a-z]*\n(.*?)^```$").FindAllStringSubmatch(string(page), -1)
	if len(files) != 2 {
		t.Fatalf("the page shows %d files", len(files))
	}
	tenon := buildWith(t, files[0][1], files[0][2])
	test := txtar.Parse([]byte(files[1][2]))
	name := filepath.Base(filepath.Dir(files[1][1]))

	if out := runTool(t, tenon, "passes"); !strings.Contains(out, "\n"+name+" ") {
		t.Errorf("tenon passes does not list %s:\n%s", name, out)
	}
	in := filepath.Join(t.TempDir(), "in.tnir")
	if err := os.WriteFile(in, append([]byte(moduleHeader), test.Files[0].Data...), 0o644); err != nil {
		t.Fatal(err)
	}
	out := runTool(t, tenon, "opt", in, "--passes="+name, "--verify-each")
	if want := moduleHeader + string(test.Files[1].Data); withoutLocations(out) != want {
		t.Errorf("tenon opt gives\n%s\nthe page says\n%s", out, want)
	}
}

// withoutLocations drops the `at "file":line:col` that files carry.
func withoutLocations(text string) string {
	return regexp.MustCompile(` at "[^"]*":\d+:\d+`).ReplaceAllString(text, "")
}

// buildWith builds the command with one more source file, which is not written
// into the tree.
func buildWith(t *testing.T, path, source string) string {
	t.Helper()
	dir := t.TempDir()
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(root, path)); err == nil {
		t.Fatalf("%s exists", path)
	}
	file, overlay, tenon := filepath.Join(dir, "pass.go"), filepath.Join(dir, "overlay.json"), filepath.Join(dir, "tenon")
	spec, err := json.Marshal(map[string]any{"Replace": map[string]string{filepath.Join(root, path): file}})
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{file: []byte(source), overlay: spec} {
		if err := os.WriteFile(name, data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("go", "build", "-overlay", overlay, "-o", tenon, "./cmd/tenon")
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return tenon
}

func runTool(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.Command(args[0], args[1:]...)
	var errs strings.Builder
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v\n%s", args, err, errs.String())
	}
	return string(out)
}
