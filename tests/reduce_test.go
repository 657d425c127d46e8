package tests

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tenon/internal/reduce"
	"tenon/ir"
)

// chain is a program of n values, each made of the one before; the one in the
// middle takes the logarithm of a negative number.
func chain(n int) string {
	var b strings.Builder
	b.WriteString("fn chain(x: f32[N]) -> (f32[N], f32[N]) {\n  let y0[n] = x[n] + 1.0\n")
	for i := 1; i <= n; i++ {
		last := fmt.Sprintf("y%d[n]", i-1)
		switch {
		case i == n/2:
			last = "log(" + last + " - 1e6)"
		case i%3 == 0:
			last += " * 0.5"
		default:
			last += fmt.Sprintf(" + %d.0", i)
		}
		fmt.Fprintf(&b, "  let y%d[n] = %s\n", i, last)
	}
	fmt.Fprintf(&b, "  return y%d, y1\n}\n", n)
	return b.String()
}

// A program of 200 ops and more comes down to under 10 by a shell command that
// says whether the fault shows: one that takes any program, one that runs it as
// it was run, and one that hangs once.
func TestReduceByCommand(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("TENON", self)
	for name, check := range map[string]string{
		"pass":  `"$TENON" opt {} --passes=own-wrong --verify-each; test $? = 3`,
		"run":   `"$TENON" run --interp --in 'x=iota(3)' {} | grep -q nan`,
		"hangs": `echo >> asked; test $(wc -l < asked) != 3 || sleep 60; "$TENON" run --interp --in 'x=iota(3)' {} | grep -q nan`,
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			os.WriteFile(filepath.Join(dir, "big.tn"), []byte(chain(60)), 0o666)
			_, messages, code := runTenon(t, dir, nil, "reduce", "big.tn", "--check", check, "--timeout", "2s", "-o", "small.tnir")
			text, err := os.ReadFile(filepath.Join(dir, "small.tnir"))
			if code != 0 || err != nil {
				t.Fatalf("exit %d, %v: %s", code, err, messages)
			}
			m, err := ir.Parse("small.tnir", string(text))
			if err != nil {
				t.Fatal(err)
			}
			t.Log(messages)
			if n := reduce.Ops(m); n >= 10 || ir.Verify(m) != nil {
				t.Errorf("%d ops are left:\n%s", n, text)
			}
		})
	}
}
