package tests

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"tenon"
	"tenon/targets"
)

var update = flag.Bool("update", false, "write what commands print into the txtar files")

// asTenon makes the test binary behave as tenon, so that scripts run the
// command line of the code under test in a process of its own.
const asTenon = "TENON_TEST_AS_TENON"

func TestMain(m *testing.M) {
	if os.Getenv(asTenon) != "" {
		os.Exit(tenon.Main(os.Args[1:]))
	}
	os.Exit(withCache(m))
}

// withCache runs the tests with a cache of their own, which all commands share.
func withCache(m *testing.M) int {
	dir, err := os.MkdirTemp("", "tenon-test-cache-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	os.Setenv("TENON_CACHE", dir)
	return m.Run()
}

// A script is a txtar file. Its comment says why it exists; a line `needs llvm`
// there skips it, loudly, where LLVM is absent. The files are written to an
// empty folder. The file `session` is what a shell would show: commands behind
// a `$`, under each what it printed, messages (standard error) marked `!`, and
// `exit N` where that is not 0. Beside tenon the commands of script_test.go
// exist.
func TestScripts(t *testing.T) {
	for _, pattern := range []string{"e2e/*.txtar", "errors/*.txtar"} {
		files, _ := filepath.Glob(pattern)
		if len(files) == 0 {
			t.Errorf("no scripts in %s", pattern)
		}
		for _, f := range files {
			t.Run(strings.TrimSuffix(f, ".txtar"), func(t *testing.T) {
				t.Parallel()
				runScript(t, f)
			})
		}
	}
}

func runScript(t *testing.T, path string) {
	ar, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(string(ar.Comment), "#") {
		t.Error("the file does not begin with a line `# why it exists`")
	}
	if strings.Contains(string(ar.Comment), "\n# needs llvm") {
		needLLVM(t)
	}
	dir := t.TempDir()
	at := -1
	for i, f := range ar.Files {
		if f.Name == "session" {
			at = i
			continue
		}
		name := filepath.Join(dir, f.Name)
		os.MkdirAll(filepath.Dir(name), 0o777)
		if err := os.WriteFile(name, f.Data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if at < 0 {
		t.Fatal("there is no file `session`")
	}
	want := string(ar.Files[at].Data)
	got := replay(t, dir, want)
	if got == want {
		return
	}
	if *update {
		ar.Files[at].Data = []byte(got)
		if err := os.WriteFile(path, txtar.Format(ar), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Errorf("the session differs (-expected, +printed); go test ./tests -update writes it:\n%s", difference(want, got))
}

// difference shows the lines from the first to the last that differ.
func difference(want, got string) string {
	a, b := strings.Split(want, "\n"), strings.Split(got, "\n")
	from := 0
	for from < min(len(a), len(b)) && a[from] == b[from] {
		from++
	}
	ea, eb := len(a), len(b)
	for ea > from && eb > from && a[ea-1] == b[eb-1] {
		ea, eb = ea-1, eb-1
	}
	return "  " + strings.Join(a[max(0, from-1):from], "") + "\n- " + strings.Join(a[from:ea], "\n- ") + "\n+ " + strings.Join(b[from:eb], "\n+ ")
}

// replay runs the commands of a session and returns the session as it went.
func replay(t *testing.T, dir, session string) string {
	var b strings.Builder
	for _, line := range strings.Split(session, "\n") {
		command, ok := strings.CutPrefix(line, "$ ")
		if !ok {
			continue
		}
		b.WriteString(line + "\n")
		words, err := split(command)
		if err != nil {
			t.Fatalf("%s: %v", command, err)
		}
		b.WriteString(runLine(t, dir, words))
	}
	return b.String()
}

// runLine runs one command and gives what the session shows of it.
func runLine(t *testing.T, dir string, words []string) string {
	if run := commands[words[0]]; run != nil {
		out, err := run(dir, words[1:])
		if err != nil {
			out += fmt.Sprintf("! %v\nexit 1\n", err)
		}
		return out
	}
	var env []string
	for len(words) > 0 && regexp.MustCompile(`^[A-Z_]+=`).MatchString(words[0]) {
		env, words = append(env, words[0]), words[1:]
	}
	if len(words) == 0 || words[0] != "tenon" {
		t.Fatalf("there is no command %q", words)
	}
	out, messages, code := runTenon(t, dir, env, words[1:]...)
	s := mask(out) + marked(mask(messages))
	if code != 0 {
		s += fmt.Sprintf("exit %d\n", code)
	}
	return s
}

// runTenon runs the command line in dir.
func runTenon(t *testing.T, dir string, env []string, args ...string) (out, messages string, code int) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(self, args...)
	c.Dir = dir
	c.Env = append(append(os.Environ(), asTenon+"=1", "NO_COLOR=1", "TENON_DEBUG="), env...)
	var stdout, stderr bytes.Buffer
	c.Stdout, c.Stderr = &stdout, &stderr
	var exit *exec.ExitError
	if err := c.Run(); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return stdout.String(), stderr.String(), c.ProcessState.ExitCode()
}

// marked puts `! ` before each line.
func marked(s string) string {
	if s == "" {
		return ""
	}
	return "! " + strings.ReplaceAll(strings.TrimSuffix(s, "\n"), "\n", "\n! ") + "\n"
}

// masks take out what differs from run to run.
var masks = []struct {
	pattern *regexp.Regexp
	with    string
}{
	{regexp.MustCompile(`median of (\d+) runs: \S+`), "median of $1 runs: TIME"},
	{regexp.MustCompile(`"median_ns": \d+`), `"median_ns": TIME`},
	{regexp.MustCompile(`"max_error": [^}]*`), `"max_error": E`},
	{regexp.MustCompile(`size +\d+ (bytes|KiB)`), "size     SIZE"},
	{regexp.MustCompile(`largest error \S+ bounds`), "largest error E bounds"},
	{regexp.MustCompile(`more than the [\d.]+ \w+ of memory`), "more than the MEMORY"},
	{regexp.MustCompile(`the run may take [\d.]+ \w+`), "the run may take MEMORY"},
	{regexp.MustCompile(`none of \d+ passes`), "none of N passes"},
	{regexp.MustCompile(`/\S*/tenon-[a-z-]+-\d+\.\w+`), "REPRODUCER"},
}

func mask(s string) string {
	for _, m := range masks {
		s = m.pattern.ReplaceAllString(s, m.with)
	}
	return s
}

func needLLVM(t *testing.T) {
	t.Helper()
	if _, err := targets.FindToolchain(); err != nil {
		t.Skipf("SKIPPED: %v", err)
	}
}
