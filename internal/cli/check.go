package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"tenon/frontend/tn/prelude"
	"tenon/frontend/tn/syntax"
	"tenon/internal/diag"
	"tenon/internal/driver"
)

func (a *app) checkCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "check FILE...",
		Short: "Parse, resolve and verify programs; write nothing",
		Args:  files(true),
		RunE: func(_ *cobra.Command, args []string) error {
			return a.each(args, func(file string) error {
				_, err := driver.Load(file)
				return err
			})
		},
	}
}

// each calls f for every file, reports all faults of programs, and returns one.
func (a *app) each(files []string, f func(file string) error) error {
	var last error
	for _, file := range files {
		a.program = file
		err := f(file)
		if err == nil {
			continue
		}
		if last != nil {
			fmt.Fprint(a.err, diag.Render(last, prelude.Sources(), colored(os.Stderr)))
		}
		last = err
	}
	return last
}

func (a *app) fmtCmd() *cobra.Command {
	var check bool
	c := &cobra.Command{
		Use:   "fmt [--check] FILE...",
		Short: "Bring .tn files into the canonical form, in place",
		Long: `Bring .tn files into the canonical form, in place, and print the names of those
that changed. The file - is the standard input, formatted to the standard output.`,
		Args: files(true),
	}
	c.Flags().BoolVar(&check, "check", false, "write nothing; list the files that are not in that form and exit with 1")
	c.RunE = func(_ *cobra.Command, files []string) error {
		changed := 0
		err := a.each(files, func(file string) error {
			did, err := a.format(file, check)
			if did {
				changed++
			}
			return err
		})
		if err == nil && check && changed > 0 {
			return diag.Errorf(diag.Pos{}, "%d of %d files are not formatted", changed, len(files)).WithFix("run tenon fmt on them")
		}
		return err
	}
	return c
}

// format formats one file and reports whether that changes it.
func (a *app) format(file string, check bool) (changed bool, err error) {
	if file != "-" && filepath.Ext(file) != ".tn" {
		return false, diag.Usagef("%s: tenon fmt formats .tn files", file)
	}
	var text []byte
	if file == "-" {
		text, err = io.ReadAll(os.Stdin)
	} else {
		text, err = os.ReadFile(file)
	}
	if err != nil {
		return false, unreadable(file, err)
	}
	formatted, err := syntax.FormatSource(file, string(text))
	if err != nil {
		return false, err
	}
	changed = formatted != string(text)
	switch {
	case file == "-" && !check:
		_, err = io.WriteString(a.out, formatted)
	case changed && check:
		fmt.Fprintln(a.out, file)
	case changed:
		if err = rewrite(file, formatted); err == nil {
			fmt.Fprintln(a.out, file)
		}
	}
	return changed, err
}

func unreadable(file string, err error) error {
	var pe *os.PathError
	why := err.Error()
	if errors.As(err, &pe) {
		why = pe.Err.Error()
	}
	return diag.Errorf(diag.Pos{File: file}, "cannot be read: %s", why).WithFix("check the path and its permissions")
}

// rewrite replaces a file and keeps its permissions.
func rewrite(file, text string) error {
	info, err := os.Stat(file)
	if err != nil {
		return unreadable(file, err)
	}
	if err := driver.WriteFile(file, []byte(text), nil); err != nil {
		return err
	}
	return os.Chmod(file, info.Mode().Perm())
}
