package tests

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The tour of the README does what it shows: its commands run, in a copy of the
// examples, and print what stands under them.
func TestReadme(t *testing.T) {
	needLLVM(t)
	page, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("../examples")); err != nil {
		t.Fatal(err)
	}
	tour := regexp.MustCompile(`\\\n *`).ReplaceAllString(string(page), "")
	ran := 0
	for block := range strings.SplitSeq(tour, "\n\n") {
		var want []string
		lines := strings.Split(block, "\n")
		for i := 0; i < len(lines); i++ {
			command, ok := strings.CutPrefix(lines[i], "    $ tenon ")
			if !ok {
				continue
			}
			command, _, _ = strings.Cut(command, "  ") // a remark
			want = nil
			for i+1 < len(lines) && strings.HasPrefix(lines[i+1], "    ") && !strings.HasPrefix(lines[i+1], "    $") {
				i++
				want = append(want, lines[i][4:])
			}
			ran++
			tourStep(t, filepath.Join(dir, "digits"), command, strings.Join(want, "\n"))
		}
	}
	if ran < 10 {
		t.Errorf("only %d commands found", ran)
	}
}

func tourStep(t *testing.T, dir, command, want string) {
	words, err := split(command)
	if err != nil {
		t.Fatalf("%s: %v", command, err)
	}
	out, messages, code := runTenon(t, dir, nil, words...)
	if wrong := strings.HasPrefix(want, "error:"); (code != 0) != wrong {
		t.Errorf("tenon %s: exit %d: %s", command, code, messages)
	}
	got := strings.TrimSuffix(mask(out)+mask(messages), "\n")
	if want != "" && got != mask(want) {
		t.Errorf("tenon %s prints\n%s\nthe README says\n%s", command, got, want)
	}
}
