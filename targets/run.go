package targets

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"tenon/internal/diag"
)

// call is one run of a tool.
type call struct {
	tool   string
	args   []string
	stdin  []byte
	source []byte // kept as the reproducer if the tool fails
	suffix string // of the reproducer's name
	holds  string // what is in any output of this kind: else it is none
}

// What outputs begin with, or hold: a broken tool may end well and write
// something else.
const (
	elfMagic     = "\x7fELF"
	bitcodeMagic = "BC\xC0\xDE"
	moduleMark   = "; ModuleID"
	asmMark      = "\n\t."
)

// check refuses an output that is none of the kind that was asked for.
func (c call) check(out []byte) error {
	head := out[:min(len(out), 4096)]
	if c.holds == asmMark && bytes.Contains(head, []byte(asmMark)) || c.holds != asmMark && bytes.HasPrefix(head, []byte(c.holds)) {
		return nil
	}
	return c.bug(fmt.Sprintf("ended well, but wrote something else than was asked for: %q", head[:min(len(head), 60)]))
}

// run runs a tool and returns its standard output. A tool that fails, crashes
// or runs too long is our fault: a *diag.Bug with a reproducer file. A
// cancelled context kills the tool and is returned as it is.
func (t *Toolchain) run(ctx context.Context, c call) ([]byte, error) {
	limited, cancel := context.WithTimeout(ctx, t.Timeout)
	defer cancel()
	cmd := exec.CommandContext(limited, c.tool, c.args...)
	cmd.Stdin = bytes.NewReader(c.stdin)
	cmd.WaitDelay = 5 * time.Second
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	switch {
	case err == nil:
		if err := c.check(stdout.Bytes()); err != nil {
			return nil, err
		}
		return stdout.Bytes(), nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case limited.Err() != nil:
		return nil, c.bug(fmt.Sprintf("ran longer than %v", t.Timeout))
	}
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return nil, &diag.MissingTool{Tool: c.tool, Detail: err.Error(), Install: installLLVM}
	}
	return nil, c.bug(exit.String() + "\n" + head(stderr.String(), 20))
}

// bug keeps the input beside its hash, so that the same failure is kept once.
func (c call) bug(why string) *diag.Bug {
	sum := sha256.Sum256(c.source)
	path := filepath.Join(os.TempDir(), "tenon-bug-"+hex.EncodeToString(sum[:6])+c.suffix)
	if os.WriteFile(path, c.source, 0o644) != nil {
		path = ""
	}
	return &diag.Bug{Msg: fmt.Sprintf("%s %s: %s", c.tool, strings.Join(c.args, " "), why), Reproducer: path}
}

// head is the first n lines of s: LLVM names the fault first and its own stack
// after it.
func head(s string, n int) string {
	lines := strings.SplitN(strings.TrimSpace(s), "\n", n+1)
	return strings.Join(lines[:min(n, len(lines))], "\n")
}
