package tests

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// spin is a loop program that takes a second for every few hundred million
// steps.
const spin = `proc spin(steps: index, a: inout i64[N]) {
  for t in 0..steps {
    for i in 0..N {
      a[i] = a[i] * 3 + i64(t)
    }
  }
}
`

// An interrupt ends a run with 130 and leaves no file behind, in the
// interpreter, which stops by itself, and in compiled code, which does not.
func TestInterrupt(t *testing.T) {
	for name, flag := range map[string]string{"interpreter": "--interp", "native": "-O0"} {
		t.Run(name, func(t *testing.T) {
			if name == "native" {
				needLLVM(t)
			}
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "spin.tn"), []byte(spin), 0o666); err != nil {
				t.Fatal(err)
			}
			interrupted(t, dir, flag)
			left, _ := filepath.Glob(dir + "/*")
			hidden, _ := filepath.Glob(dir + "/.*")
			if len(left) != 1 || len(hidden) != 0 {
				t.Errorf("after the interrupt there are %v %v", left, hidden)
			}
		})
	}
}

func interrupted(t *testing.T, dir, flag string) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(self, "run", "spin.tn", flag, "--in", "steps=1000000000000", "--in", "a=iota(4)", "--out", "a.npy")
	c.Dir = dir
	c.Env = append(os.Environ(), asTenon+"=1")
	var messages strings.Builder
	c.Stderr = &messages
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(time.Second) // long enough to be running, not to be done
	c.Process.Signal(syscall.SIGINT)
	done := make(chan error, 1)
	go func() { done <- c.Wait() }()
	select {
	case <-done:
	case <-time.After(20 * time.Second):
		c.Process.Kill()
		t.Fatal("still running 20 s after the interrupt")
	}
	if code := c.ProcessState.ExitCode(); code != 130 {
		t.Errorf("exit %d, expected 130: %s", code, messages.String())
	}
}
