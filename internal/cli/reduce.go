package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tenon/internal/diag"
	"tenon/internal/driver"
	"tenon/internal/reduce"
	"tenon/ir"
	"tenon/passes/pass"
)

const reduceHelp = `Make a program that shows a fault small.

Parts are left out of the program as long as the fault shows. CMD is a command
for the shell that says whether it does: it exits with 0 where the fault shows.
{} in CMD stands for the file with the program, which is the IR's text; without
{} the file's name goes to the end of CMD. What CMD prints is not shown. A CMD
that takes longer than --timeout is ended, and its answer is no.

Without --check the fault is that of a pass: one of --passes, or of those that
FILE names, if it is a reproducer. No command is run then, and what comes out is
a reproducer for tenon opt --reproduce.`

// reduceFlags are the flags of `tenon reduce`.
type reduceFlags struct {
	check, passes, out string
	timeout            time.Duration
}

func (a *app) reduceCmd() *cobra.Command {
	f := &reduceFlags{}
	c := &cobra.Command{
		Use:   "reduce FILE --check CMD [flags]",
		Short: "Make a program that shows a fault small",
		Long:  reduceHelp,
		Example: "  tenon reduce model.tn --check 'tenon run {} --in x=rand(8) --verify; test $? = 3' -o small.tnir\n" +
			"  tenon reduce model.tn --passes=inline,fuse-producers -o small.tnir",
		Args: files(false),
		RunE: func(c *cobra.Command, args []string) error {
			a.program = args[0]
			return a.reduce(c.Context(), args[0], f)
		},
	}
	c.Flags().StringVar(&f.check, "check", "", "a shell command, `CMD`, that exits with 0 where the fault shows")
	c.Flags().StringVar(&f.passes, "passes", "", "the fault is that of one of these passes, a `LIST`")
	c.Flags().StringVarP(&f.out, "output", "o", "", "the `FILE` to write, kept up to date; else the standard output, at the end")
	c.Flags().DurationVar(&f.timeout, "timeout", 10*time.Second, "how long a check may take, a `TIME`")
	return c
}

func (a *app) reduce(ctx context.Context, file string, f *reduceFlags) error {
	if f.check != "" && f.passes != "" {
		return diag.Usagef("--check and --passes each say what the fault is; give one of them")
	}
	m, err := driver.Load(file)
	if err != nil {
		return err
	}
	r := &reduction{flags: f, before: reduce.Ops(m), text: func(m *ir.Module) string { return ir.Print(m) }}
	shows := r.passFault
	if f.check != "" {
		dir, err := os.MkdirTemp("", "tenon-reduce-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		check := &shellCheck{ctx: ctx, command: f.check, timeout: f.timeout, file: filepath.Join(dir, "candidate.tnir")}
		if err := check.first(file, m); err != nil {
			return err
		}
		shows = check.shows
	} else if m, err = r.findPass(file, m); err != nil {
		return err
	}
	small, checks, err := reduce.Module(ctx, m, shows, r.save)
	if err != nil {
		return err
	}
	if r.failed != nil {
		return r.failed
	}
	fmt.Fprintf(a.err, "reduced from %d ops to %d, by %d checks\n", r.before, reduce.Ops(small), checks)
	if f.out == "" {
		_, err = io.WriteString(a.out, r.text(small))
	}
	return err
}

// reduction is one run of the command.
type reduction struct {
	flags  *reduceFlags
	before int
	text   func(m *ir.Module) string // of what is written
	wrong  *pass.Wrong               // the pass whose fault it is, nil with --check
	failed error                     // to write the file
}

// save keeps the file of -o up to date.
func (r *reduction) save(m *ir.Module, _ int) {
	if r.flags.out != "" && r.failed == nil {
		r.failed = driver.WriteFile(r.flags.out, []byte(r.text(m)), nil)
	}
}

// findPass finds the wrong pass, and the module before it.
func (r *reduction) findPass(file string, m *ir.Module) (*ir.Module, error) {
	passes, err := pass.Parse(r.flags.passes)
	if err != nil {
		return nil, err
	}
	if r.flags.passes == "" {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, unreadable(file, err)
		}
		named, err := pass.Reproduced(string(text))
		if err != nil {
			return nil, err
		}
		if named == nil {
			return nil, diag.Usagef("tenon reduce: say what the fault is: --check CMD, or --passes LIST; %s is no reproducer, which would", file)
		}
		passes = named.Passes
	}
	r.wrong, err = (&pass.Manager{Reproducer: file}).Bisect(m, passes)
	if err != nil {
		return nil, err
	}
	if r.wrong == nil {
		return nil, diag.Errorf(diag.Pos{File: file}, "none of the passes %s changes the meaning on drawn inputs", pass.List(passes)).
			WithFix("name the wrong pass, or say with --check what the fault is")
	}
	r.text = r.reproducer
	return r.wrong.Before, nil
}

// passFault checks for the fault of the wrong pass.
func (r *reduction) passFault(m *ir.Module) (bool, error) {
	bug := pass.Fault(m, r.wrong.Passes)
	return bug != nil && bug.Pass == r.wrong.Bug.Pass && kindOf(bug) == kindOf(r.wrong.Bug), nil
}

// kindOf is what a fault has in common with others of its cause: where it
// crashed, or how its message begins.
func kindOf(b *diag.Bug) string {
	if at := crashSite(b.Stack); at != "" {
		return at
	}
	words := strings.Fields(b.Msg)
	return strings.Join(words[:min(3, len(words))], " ")
}

// crashSite is the file and line that panicked, of a stack as debug.Stack gives
// it; "" if it tells of none.
func crashSite(stack string) string {
	_, after, found := strings.Cut(stack, "\npanic(")
	if !found {
		return ""
	}
	lines := strings.Split(after, "\n")[2:] // behind panic's own
	for i := 0; i+1 < len(lines); i += 2 {
		if !strings.HasPrefix(lines[i], "runtime.") && !strings.HasPrefix(lines[i], "tenon/internal/diag.") {
			at, _, _ := strings.Cut(strings.TrimSpace(lines[i+1]), " +")
			return at
		}
	}
	return ""
}

// reproducer is the text of m with the command that shows the fault.
func (r *reduction) reproducer(m *ir.Module) string {
	w := *r.wrong
	w.Before = m
	if bug := pass.Fault(m, w.Passes); bug != nil {
		w.Bug = bug
	}
	name := "FILE"
	if r.flags.out != "" {
		name = filepath.Base(r.flags.out)
	}
	return w.Text(name)
}
