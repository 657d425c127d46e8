package tests

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"tenon/targets"
)

// A tool of LLVM that ends well but writes something else is told, with exit
// code 3 and a reproducer, whichever it is and whatever is built; nothing is
// written then.
func TestToolsThatWriteGarbage(t *testing.T) {
	tools, err := targets.FindToolchain()
	if err != nil {
		t.Skipf("SKIPPED: %v", err)
	}
	real := map[string]string{"opt": tools.Opt, "llc": tools.LLC, "ld.lld": tools.LLD}
	for broken := range real {
		for _, kind := range []string{"so", "obj", "asm", "llvm", "run"} {
			if broken == "ld.lld" && kind != "so" && kind != "run" || broken == "llc" && kind == "llvm" {
				continue // is not used
			}
			t.Run(broken+"/"+kind, func(t *testing.T) {
				t.Parallel()
				withBroken(t, real, broken, kind, "garbage", "echo garbage\n"+
					"for a; do [ \"$last\" = -o ] && [ \"$a\" != - ] && echo garbage >\"$a\"; last=$a; done\nexit 0\n")
			})
		}
	}
}

// One that hangs is ended, and told likewise.
func TestToolsThatHang(t *testing.T) {
	tools, err := targets.FindToolchain()
	if err != nil {
		t.Skipf("SKIPPED: %v", err)
	}
	real := map[string]string{"opt": tools.Opt, "llc": tools.LLC, "ld.lld": tools.LLD}
	for broken := range real {
		t.Run(broken, func(t *testing.T) {
			t.Parallel()
			start := time.Now()
			withBroken(t, real, broken, "run", "ran longer than 5s", "exec sleep 300\n")
			if took := time.Since(start); took > time.Minute {
				t.Errorf("it takes %v", took)
			}
		})
	}
}

// withBroken builds kind, or runs a program, with one tool that does what a
// script says but for its version: exit code 3, a message that says what, and a
// reproducer.
func withBroken(t *testing.T, real map[string]string, broken, kind, says, script string) {
	t.Helper()
	dir := t.TempDir()
	for name, path := range real {
		text := "#!/bin/sh\nexec " + path + ` "$@"` + "\n"
		if name == broken {
			text = "#!/bin/sh\n[ \"$1\" = --version ] && exec " + path + " --version\n" + script
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	os.WriteFile(filepath.Join(dir, "f.tn"), []byte("fn f(x: f32[N]) -> f32[N] {\n  return x[n] + 0.5 for n\n}\n"), 0o666)
	args := []string{"build", "f.tn", "--emit=" + kind, "-o", "out"}
	if kind == "run" {
		args = []string{"run", "f.tn", "--in", "x=iota(3)"}
	}
	if strings.Contains(says, "longer") {
		args = append(args, "-d", "toolseconds=5")
	}
	out, messages, code := runTenon(t, dir, []string{"TENON_LLVM=" + dir, "TENON_CACHE=off", "TMPDIR=" + dir}, args...)
	if code != 3 || out != "" || !strings.Contains(messages, "/"+broken+" ") || !strings.Contains(messages, says) {
		t.Errorf("exit %d: %s%s", code, out, messages)
	}
	file := regexp.MustCompile(`reproducer: (\S+)`).FindStringSubmatch(messages)
	if file == nil {
		t.Fatalf("no reproducer is named: %s", messages)
	}
	if _, err := os.Stat(file[1]); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "out")); err == nil {
		t.Error("something is written")
	}
}
