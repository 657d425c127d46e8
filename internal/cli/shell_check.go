package cli

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"tenon/internal/diag"
	"tenon/ir"
)

// shellCheck asks a shell command whether a fault shows in a program.
type shellCheck struct {
	ctx     context.Context
	command string
	timeout time.Duration
	file    string // where the program is put
}

// first checks the program as it is, which must show the fault.
func (s *shellCheck) first(name string, m *ir.Module) error {
	code, err := s.run(m)
	switch {
	case err != nil || code == 0:
		return err
	case code < 0:
		return diag.Errorf(diag.Pos{File: name}, "the check takes longer than %v", s.timeout).WithFix("give it more with --timeout")
	}
	return diag.Errorf(diag.Pos{File: name}, "the check exits with %d on the whole program", code).
		WithExpected("0, which says that the fault shows")
}

func (s *shellCheck) shows(m *ir.Module) (bool, error) {
	code, err := s.run(m)
	return code == 0, err
}

// run runs the command on m and gives its exit code, -1 where it took too long
// or was ended by a signal. All that it started is ended with it.
func (s *shellCheck) run(m *ir.Module) (int, error) {
	if err := os.WriteFile(s.file, []byte(ir.Print(m)), 0o666); err != nil {
		return 0, err
	}
	ctx, cancel := context.WithTimeout(s.ctx, s.timeout)
	defer cancel()
	c := exec.CommandContext(ctx, "sh", "-c", s.line())
	c.Env = append(os.Environ(), "TMPDIR="+filepath.Dir(s.file)) // what it leaves there goes with the folder
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
	c.WaitDelay = time.Second
	err := c.Run()
	var exit *exec.ExitError
	switch {
	case s.ctx.Err() != nil:
		return 0, s.ctx.Err()
	case ctx.Err() != nil:
		return -1, nil
	case errors.As(err, &exit):
		return exit.ExitCode(), nil
	}
	return 0, err
}

// line is the command with the file's name in it.
func (s *shellCheck) line() string {
	name := quoted([]string{s.file})[0]
	if strings.Contains(s.command, "{}") {
		return strings.ReplaceAll(s.command, "{}", name)
	}
	return s.command + " " + name
}
