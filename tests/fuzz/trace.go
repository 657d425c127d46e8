package fuzz

import (
	"runtime/debug"
	"strings"
)

// trace is the stack of a crash below the machinery that caught it, cut to what
// names the place.
func trace() string {
	lines := strings.Split(string(debug.Stack()), "\n")
	for i, l := range lines {
		if strings.HasPrefix(l, "panic(") {
			lines = lines[i+2:]
			break
		}
	}
	return strings.Join(lines[:min(len(lines), 16)], "\n")
}
