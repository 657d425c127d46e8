package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"tenon/frontend/tn/prelude"
	"tenon/frontend/weights"
	flags "tenon/internal/debug"
	"tenon/internal/diag"
)

// app is one invocation of the command line.
type app struct {
	args     []string
	out, err io.Writer
	program  string // the file in hand, for a reproducer
	ran      bool   // a command has begun: flags and arguments were right
}

// Main runs the command line and returns its exit code. It catches what is our
// own fault, once for all commands.
func Main(args []string) int {
	a := &app{args: args, out: os.Stdout, err: os.Stderr}
	ctx, stop := interruptible()
	defer stop()
	err := a.guarded(ctx)
	if ctx.Err() != nil && err != nil || errors.Is(err, context.Canceled) {
		fmt.Fprintln(a.err, "interrupted")
		return diag.ExitInterrupted
	}
	if err != nil {
		fmt.Fprint(a.err, diag.Render(err, prelude.Sources(), colored(os.Stderr)))
	}
	return diag.ExitCode(err)
}

// grace is how long an interrupted run may take to stop by itself. Compiled
// code does not look for interrupts, and LLVM only ends its own files.
const grace = 500 * time.Millisecond

// interruptible gives a context that ends at an interrupt. A run that does not
// stop soon after, or a second interrupt, ends the process; files half written
// are removed.
func interruptible() (context.Context, func()) {
	ctx, cancel := context.WithCancel(context.Background())
	sigs := make(chan os.Signal, 2)
	signal.Notify(sigs, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-sigs
		cancel()
		select {
		case <-sigs:
		case <-time.After(grace):
		}
		weights.RemoveTemps()
		os.Exit(diag.ExitInterrupted)
	}()
	return ctx, func() { signal.Stop(sigs) }
}

// guarded runs the command and turns a panic into a *diag.Bug with a
// reproducer.
func (a *app) guarded(ctx context.Context) (err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case *diag.Bug:
			err = a.bug(r)
		default:
			err = a.bug(&diag.Bug{Msg: fmt.Sprint(r)})
		}
	}()
	root := a.root()
	root.SetArgs(a.args)
	err = root.ExecuteContext(ctx)
	var bug *diag.Bug
	switch {
	case errors.As(err, &bug):
		return a.bug(bug)
	case err != nil && !a.ran:
		return asUsage(err)
	}
	return err
}

// asUsage makes cobra's complaints about flags and arguments usage errors.
func asUsage(err error) error {
	var u *diag.Usage
	if errors.As(err, &u) {
		return err
	}
	return diag.Usagef("%v\nSee tenon --help, or tenon COMMAND --help", err)
}

// bug completes a report of a fault of ours: the stack, and a file that
// reproduces it.
func (a *app) bug(b *diag.Bug) error {
	if b.Stack == "" {
		b.Stack = string(debug.Stack())
	}
	if b.Reproducer == "" {
		b.Reproducer = a.reproducer(b)
	}
	if flags.Flags.Stack {
		fmt.Fprintln(a.err, b.Stack)
	}
	return fmt.Errorf("%w\nThis is a fault of Tenon, not of your program. Please report it with the reproducer", b)
}

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:           "tenon",
		Short:         "A compiler for tensor programs",
		Version:       versions(),
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetVersionTemplate("{{.Version}}\n")
	root.SetOut(a.out)
	root.SetErr(a.err)
	root.Flags().SortFlags = false
	root.PersistentFlags().StringArrayP("debug", "d", nil, "debug flags, `KEY=VALUE,...`; -d help lists them (also TENON_DEBUG)")
	root.PersistentPreRunE = func(c *cobra.Command, _ []string) error {
		list, _ := c.Flags().GetStringArray("debug")
		for _, s := range append([]string{os.Getenv("TENON_DEBUG")}, list...) {
			if s == "help" {
				return diag.Usagef("debug flags:\n%s", strings.TrimSuffix(flags.Help(), "\n"))
			}
			if err := flags.Set(s); err != nil {
				return err
			}
		}
		return nil
	}
	root.AddCommand(a.runCmd(), a.buildCmd(), a.benchCmd(), a.checkCmd(), a.optCmd(), a.explainCmd(), a.reduceCmd(), a.opsCmd(), a.passesCmd(), a.targetsCmd(), a.fmtCmd(), a.cacheCmd(), a.profileCmd(), a.versionCmd())
	for _, c := range root.Commands() {
		a.mark(c)
	}
	root.InitDefaultCompletionCmd(a.args...)
	if c, _, err := root.Find([]string{"completion"}); err == nil && c != root {
		c.RunE = func(*cobra.Command, []string) error {
			return diag.Usagef("tenon completion: name the shell: bash, fish, powershell or zsh")
		}
	}
	return root
}

// mark notes when a command's own code begins.
func (a *app) mark(c *cobra.Command) {
	run := c.RunE
	c.Flags().SortFlags = false
	c.DisableFlagsInUseLine = true
	c.RunE = func(c *cobra.Command, args []string) error {
		a.ran = true
		return run(c, args)
	}
}

// files are the arguments of a command that takes one FILE, or several.
func files(several bool) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		switch {
		case len(args) == 0 && several:
			return diag.Usagef("tenon %s: expected at least one FILE", c.Name())
		case len(args) == 0:
			return diag.Usagef("tenon %s: expected a FILE, a .tn or .tnir program", c.Name())
		case len(args) > 1 && !several:
			return diag.Usagef("tenon %s: expected one FILE, got %s", c.Name(), strings.Join(quoted(args), " "))
		}
		return nil
	}
}

// colored reports whether f is a terminal whose user wants colours.
func colored(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0 && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
}
