package cli

import (
	"fmt"
	"os"
	"runtime"
	"strings"

	"tenon/internal/diag"
	"tenon/internal/driver"
)

// reproducer writes what is needed to see a fault again: the command, the
// program, the stack. It returns the file's name, or why there is none.
func (a *app) reproducer(b *diag.Bug) string {
	f, err := os.CreateTemp("", "tenon-bug-*.txt")
	if err != nil {
		return "none (" + err.Error() + ")"
	}
	defer f.Close()
	fmt.Fprintf(f, "tenon %s, %s %s/%s\n", driver.Version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
	dir, _ := os.Getwd()
	fmt.Fprintf(f, "in %s: tenon %s\n\n%v\n\n%s\n", dir, strings.Join(quoted(a.args), " "), b, b.Stack)
	if text, err := os.ReadFile(a.program); err == nil {
		fmt.Fprintf(f, "-- %s --\n%s", a.program, text)
	}
	return f.Name()
}

// quoted puts shell quotes around arguments that need them.
func quoted(args []string) []string {
	out := make([]string, len(args))
	for i, s := range args {
		if s == "" || strings.ContainsAny(s, " \t\n'\"\\$`*?[](){}<>|&;#~!") {
			s = "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
		}
		out[i] = s
	}
	return out
}
