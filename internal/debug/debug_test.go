package debug

import (
	"strings"
	"testing"

	"tenon/internal/diag"
)

func TestSet(t *testing.T) {
	old := Flags
	defer func() { Flags = old }()
	for _, list := range []string{"keep=/tmp/x,stack", " seed=7 ", "", "Stack=true,,seed=9"} {
		if err := Set(list); err != nil {
			t.Errorf("%q: %v", list, err)
		}
	}
	if Flags.Keep != "/tmp/x" || !Flags.Stack || Flags.Seed != 9 {
		t.Errorf("flags are %+v", Flags)
	}
	for _, list := range []string{"nothing=1", "seed=-1", "seed", "keep=", "keep", "stack=perhaps"} {
		if err := Set(list); diag.ExitCode(err) != diag.ExitUsage {
			t.Errorf("%q: got %v, expected a usage error", list, err)
		}
	}
}

// Every flag is listed with its help.
func TestHelp(t *testing.T) {
	help := Help()
	for _, key := range []string{"keep", "stack", "seed"} {
		if !strings.Contains(help, "  "+key) {
			t.Errorf("%s is not in\n%s", key, help)
		}
	}
	for _, line := range strings.Split(strings.TrimSuffix(help, "\n"), "\n") {
		if len(strings.Fields(line)) < 3 {
			t.Errorf("%q says nothing", line)
		}
	}
}
