package tests

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"tenon/internal/driver"
	"tenon/ir"
	"tenon/runtime"
)

// abiPage reads docs/abi.md.
func abiPage(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../docs/abi.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// The files that the page shows are written, its commands run, and what they
// print is what stands under them. Those of C need gcc, that of Python NumPy:
// each is skipped alone, loudly.
func TestPageOfTheInterface(t *testing.T) {
	needLLVM(t)
	text, dir := abiPage(t), t.TempDir()
	files := regexp.MustCompile("(?s)```(?:tn|c|py)\n(?://|/\\*|#) (\\S+)(?: \\*/)?\n.*?```").FindAllStringSubmatch(text, -1)
	if len(files) != strings.Count(text, "```")/2 {
		t.Errorf("of %d blocks %d have a file name", strings.Count(text, "```")/2, len(files))
	}
	for _, f := range files {
		_, body, _ := strings.Cut(strings.TrimSuffix(f[0], "```"), "\n")
		put(t, filepath.Join(dir, f[1]), body, 0o666)
	}
	if err := os.Mkdir(filepath.Join(dir, "weights"), 0o777); err != nil {
		t.Fatal(err)
	}
	env := shellWith(t)
	sessions := regexp.MustCompile(`(?m)(?:^    .*\n)+`).FindAllString(text, -1)
	ran := 0
	for _, s := range sessions {
		if strings.HasPrefix(s, "    $ ") {
			ran++
			t.Run(fmt.Sprintf("session%d", ran), func(t *testing.T) { session(t, dir, env, s) })
		}
	}
	if ran < 5 {
		t.Errorf("only %d sessions found", ran)
	}
}

// shellWith is the environment of a shell in which tenon is the code under test
// and python one with NumPy, if there is one.
func shellWith(t *testing.T) []string {
	t.Helper()
	bin := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(bin, "tenon"), fmt.Sprintf("#!/bin/sh\n%s=1 exec %q \"$@\"\n", asTenon, self), 0o777)
	return append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"))
}

func put(t *testing.T, path, text string, mode os.FileMode) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}

// session runs the commands behind `$` one by one; what one prints stands under
// it.
func session(t *testing.T, dir string, env []string, text string) {
	for _, step := range strings.Split(strings.TrimPrefix(strings.ReplaceAll(text, "\n    ", "\n"), "    $ "), "\n$ ") {
		command, want, _ := strings.Cut(step, "\n")
		switch tool, rest, _ := strings.Cut(command, " "); tool {
		case "gcc":
			if _, err := exec.LookPath("gcc"); err != nil {
				t.Skip("SKIPPED: no gcc; install it with: apt-get install gcc")
			}
		case "python":
			command = numpy(t) + " " + rest
		}
		c := exec.Command("sh", "-c", command)
		c.Dir, c.Env = dir, env
		out, err := c.CombinedOutput()
		if err != nil || strings.TrimSpace(string(out)) != strings.TrimSpace(want) {
			t.Fatalf("%s: %v, prints\n%s\nthe page says\n%s", command, err, out, want)
		}
	}
}

// The table of codes has each code of the header, under its number, and the
// runtime and the IR number them alike.
func TestCodesOfTheInterface(t *testing.T) {
	header, err := driver.Header(&ir.Module{}, "none.tn")
	if err != nil {
		t.Fatal(err)
	}
	_, enum, _ := strings.Cut(header, "enum {")
	enum, _, _ = strings.Cut(enum, "};")
	names := regexp.MustCompile(`(?m)^  TENON_(\w+)`).FindAllStringSubmatch(enum, -1)
	rows := regexp.MustCompile("(?m)^\\| `TENON_(\\w+)` \\| (\\d+) \\|").FindAllStringSubmatch(abiPage(t), -1)
	if len(names) < 11 || len(rows) != len(names) {
		t.Fatalf("%d codes in the header, %d on the page", len(names), len(rows))
	}
	for i, n := range names {
		if rows[i][1] != n[1] || rows[i][2] != fmt.Sprint(i) {
			t.Errorf("code %d is %s in the header; the page has %s, %s", i, n[1], rows[i][1], rows[i][2])
		}
		if got := runtime.Code(i).String(); got != strings.ToLower(n[1]) {
			t.Errorf("code %d is %s in the header, %s for the runtime", i, n[1], got)
		}
	}
}
