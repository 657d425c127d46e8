package tests

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tenon/targets"
)

// One compilation serves all sizes: after the first run no tool of LLVM is started
// for another shape, and what is run is the library of the first.
func TestNoToolAfterTheFirstShape(t *testing.T) {
	tools, err := targets.FindToolchain()
	if err != nil {
		t.Skipf("SKIPPED: %v", err)
	}
	dir := t.TempDir()
	log := filepath.Join(dir, "log")
	for name, path := range map[string]string{"opt": tools.Opt, "llc": tools.LLC, "ld.lld": tools.LLD} {
		text := fmt.Sprintf("#!/bin/sh\n[ \"$1\" = --version ] || echo %s >>%s\nexec %s \"$@\"\n", name, log, path)
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	program := "fn layer(x: f32[M, K], const w: f32[K, N]) -> f32[M, N] { return sum[k] x[i, k] * w[k, j] for i, j }\n"
	if err := os.WriteFile(filepath.Join(dir, "f.tn"), []byte(program), 0o666); err != nil {
		t.Fatal(err)
	}
	started := 0
	for i, m := range []int{64, 1, 2, 7, 511} {
		out, messages, code := runTenon(t, dir, []string{"TENON_LLVM=" + dir, "TENON_CACHE=" + filepath.Join(dir, "cache")},
			"run", "f.tn", "--in", fmt.Sprintf("x=iota(%d,5)", m), "--in", "w=iota(5,33)", "--json")
		if code != 0 || !strings.Contains(out, fmt.Sprintf(`"shape": [%d, 33]`, m)) {
			t.Fatalf("M = %d: exit %d: %s%s", m, code, out, messages)
		}
		text, _ := os.ReadFile(log)
		n := strings.Count(string(text), "\n")
		if i == 0 {
			started = n
		}
		if n == 0 || n != started {
			t.Errorf("M = %d: %d tools were started, %d for the first shape:\n%s", m, n, started, text)
		}
	}
}
