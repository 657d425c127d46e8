package run

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"tenon"
	"tenon/targets"
)

// linesProgram is lines.c with the shared library of lines.tn, beside its source.
func linesProgram(t *testing.T, o tenon.Options) (program string, source []string) {
	t.Helper()
	program = inC(t, "lines", compiled(t, "testdata/lines.tn", o))[0]
	text, err := os.ReadFile("testdata/lines.tn")
	if err != nil {
		t.Fatal(err)
	}
	beside := filepath.Join(filepath.Dir(program), "lines.tn")
	save(t, beside, text)
	if err := os.Chtimes(beside, time.Unix(1, 0), time.Unix(1, 0)); err != nil { // gdb warns of a source that is newer than the program
		t.Fatal(err)
	}
	return program, strings.Split(string(text), "\n")
}

// lineOf is the number of the source line with a text.
func lineOf(t *testing.T, source []string, text string) int {
	t.Helper()
	for i, l := range source {
		if strings.Contains(l, text) {
			return i + 1
		}
	}
	t.Fatalf("no line has %q", text)
	return 0
}

// gdb stops at lines of the source, in code of every level, and shows them.
func TestLinesInGDB(t *testing.T) {
	if _, err := exec.LookPath("gdb"); err != nil {
		t.Skip("SKIP, what a debugger shows is not tested: no gdb; install it with: apt-get install gdb")
	}
	for opt := range 4 {
		t.Run(fmt.Sprintf("O%d", opt), func(t *testing.T) {
			program, source := linesProgram(t, tenon.Options{Opt: opt})
			script := "set breakpoint pending on\nset pagination off\n"
			var stops []string
			for _, text := range []string{"max[j]", "sum[j]", "log(s", "let old", "if old", "old + by"} {
				line := lineOf(t, source, text)
				script += fmt.Sprintf("tbreak lines.tn:%d\ncommands\nsilent\nframe\ncontinue\nend\n", line)
				stops = append(stops, fmt.Sprintf("at lines.tn:%d\n%d\t%s\n", line, line, source[line-1]))
			}
			save(t, filepath.Join(filepath.Dir(program), "script"), []byte(script+"run\n"))
			cmd := exec.Command("gdb", "--batch", "-nx", "-x", "script", program)
			cmd.Dir, cmd.Env = filepath.Dir(program), append(os.Environ(), "DEBUGINFOD_URLS=")
			out, err := cmd.CombinedOutput()
			if strings.Contains(string(out), "ptrace: Operation not permitted") {
				t.Skip("SKIP, what a debugger shows is not tested: processes may not be traced here")
			}
			for _, s := range stops {
				if !strings.Contains(string(out), s) {
					t.Errorf("gdb does not show %q", s)
				}
			}
			if t.Failed() {
				t.Logf("%v\n%s", err, out)
			}
		})
	}
}

// Profilers ask which line an address belongs to: a call of the C library stands
// on the line that names it, for both tools that they ask.
func TestLinesOfAddresses(t *testing.T) {
	program, source := linesProgram(t, tenon.Options{Target: "x86-64", Opt: 3})
	library := filepath.Join(filepath.Dir(program), "liblines.so")
	for function, text := range map[string]string{"expf": "sum[j]", "logf": "log(s"} {
		where := fmt.Sprintf("lines.tn:%d", lineOf(t, source, text))
		calls := addressesOfCalls(t, library, function)
		if len(calls) == 0 {
			t.Errorf("nothing calls %s", function)
		}
		for _, tool := range [][]string{{"addr2line", "-e"}, {"llvm-symbolizer-" + targets.LLVMVersion, "-e"}} {
			if _, err := exec.LookPath(tool[0]); err != nil {
				t.Logf("SKIP, lines of addresses are not asked of %s: it is not installed", tool[0])
				continue
			}
			out, err := exec.Command(tool[0], append(append(tool[1:], library), calls...)...).Output()
			if err != nil {
				t.Fatal(err)
			}
			if n := len(regexp.MustCompile(`(?m)`+regexp.QuoteMeta(where)+`\b`).FindAll(out, -1)); n != len(calls) {
				t.Errorf("%s: %d of %d calls of %s stand on %s:\n%s", tool[0], n, len(calls), function, where, out)
			}
		}
	}
}

// perf tells on which lines the time goes.
func TestLinesInProfile(t *testing.T) {
	program, source := linesProgram(t, tenon.Options{Opt: 3})
	if _, err := exec.LookPath("perf"); err != nil {
		t.Skip("SKIP, profiles are not tested: no perf; install it with: apt-get install linux-perf")
	}
	perf := func(args ...string) (string, error) {
		c := exec.Command("perf", args...)
		c.Dir = filepath.Dir(program)
		out, err := c.CombinedOutput()
		return string(out), err
	}
	if out, err := perf("record", "-q", "-e", "cpu-clock", "-o", "data", program, "long"); err != nil {
		t.Skipf("SKIP, profiles are not tested: perf may not record here: %v, %s", err, out)
	}
	out, err := perf("report", "-i", "data", "--stdio", "-s", "sym,srcline")
	for _, text := range []string{"max[j]", "sum[j]"} {
		if where := fmt.Sprintf(`lines\.tn:%d\b`, lineOf(t, source, text)); !regexp.MustCompile(where).MatchString(out) {
			t.Errorf("perf does not tell of %s: %v\n%s", where, err, out)
		}
	}
}

// addressesOfCalls lists where a library calls a function of another.
func addressesOfCalls(t *testing.T, library, function string) (at []string) {
	t.Helper()
	tool := "llvm-objdump-" + targets.LLVMVersion
	if _, err := exec.LookPath(tool); err != nil {
		t.Skipf("SKIP, lines of addresses are not tested: no %s; install it with: apt-get install llvm-19", tool)
	}
	out, err := exec.Command(tool, "-d", "--no-show-raw-insn", library).Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`(?m)^ +([0-9a-f]+):\s+callq?\s.*<`+function+`@plt>`).FindAllStringSubmatch(string(out), -1) {
		at = append(at, "0x"+m[1])
	}
	return at
}
