package tests

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The commands in the head of each example do something: they run in a copy of
// its folder. Those that read files that the folder lacks are for numpy_test.go.
func TestExampleComments(t *testing.T) {
	needLLVM(t)
	files, _ := filepath.Glob("../examples/*/*.tn")
	command := regexp.MustCompile(`(?m)^//   tenon (.*)$`)
	ran := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		if err := os.CopyFS(dir, os.DirFS(filepath.Dir(file))); err != nil {
			t.Fatal(err)
		}
		joined := regexp.MustCompile(`\\\n// *`).ReplaceAllString(string(text), "")
		found := command.FindAllStringSubmatch(joined, -1)
		if len(found) == 0 {
			t.Errorf("%s shows no command", file)
		}
		for _, m := range found {
			words, err := split(m[1])
			if err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			if lacksInput(dir, words) {
				continue
			}
			ran++
			if _, messages, code := runTenon(t, dir, nil, words...); code != 0 {
				t.Errorf("%s: tenon %s: exit %d: %s", file, m[1], code, messages)
			}
		}
	}
	if ran < 8 {
		t.Errorf("only %d commands ran", ran)
	}
}

// lacksInput reports whether an input names a file that is not there.
func lacksInput(dir string, words []string) bool {
	for i, w := range words {
		if i == 0 || words[i-1] != "--in" {
			continue
		}
		_, value, _ := strings.Cut(w, "=")
		if at := strings.Index(value, ".npy"); at >= 0 && !exists(filepath.Join(dir, value[:at+4])) {
			return true
		}
	}
	return false
}
