package run

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"tenon"
)

// Bits do not depend on threads, and calls from 16 threads do not disturb each
// other: see testdata/threads.c.
func TestThreadsFromC(t *testing.T) {
	calledFromThreads(t, "2", tenon.Options{Opt: 3})
	calledFromThreads(t, "1", tenon.Options{Opt: 2, NoOpenMP: true})
}

// The same for a minute, on the machine at hand.
func TestConformanceThreads(t *testing.T) {
	if os.Getenv("TENON_CONFORMANCE") == "" {
		t.Skip("runs with make conformance")
	}
	calledFromThreads(t, "60", tenon.Options{Opt: 3, CPU: "native"})
}

func calledFromThreads(t *testing.T, seconds string, o tenon.Options) {
	t.Helper()
	for _, program := range inC(t, "threads", compiled(t, "testdata/threads.tn", o)) {
		out, err := exec.Command(program, seconds).CombinedOutput()
		if err != nil {
			t.Errorf("%s: %v\n%s", filepath.Base(program), err, out)
		}
		t.Logf("%s", out)
	}
}
