package cli

import (
	"fmt"
	"os"

	"tenon/internal/diag"
	"tenon/internal/driver"
	"tenon/ir"
	"tenon/passes/pass"
)

// bisect looks for the first wrong pass of a list, or of all that the program
// goes through on its way to code. What it finds is a bug, with exit code 3.
func (a *app) bisect(file, list string, g *pass.Manager) error {
	passes, err := pass.Parse(list)
	if err != nil {
		return err
	}
	m, err := driver.Load(file)
	if err != nil {
		return err
	}
	if list == "" {
		passes = driver.AllPasses(m)
	}
	return a.tryAll(m, passes, g)
}

// tryAll reports the first wrong one of passes, or that there is none.
func (a *app) tryAll(m *ir.Module, passes []pass.Instance, g *pass.Manager) error {
	wrong, err := g.Bisect(m, passes)
	if err != nil {
		return err
	}
	if wrong != nil {
		return wrong.Bug
	}
	fmt.Fprintf(a.out, "none of %d passes changes the meaning on drawn inputs\n", len(passes))
	return nil
}

// reproduce runs what a reproducer says, so that its fault shows again.
func (a *app) reproduce(file string, g *pass.Manager) error {
	m, err := driver.Load(file)
	if err != nil {
		return err
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return unreadable(file, err)
	}
	r, err := pass.Reproduced(string(text))
	if err != nil {
		return err
	}
	if r == nil {
		return diag.Usagef("%s is no reproducer: it has no line `// tenon opt FILE --passes=...`; name the passes with --passes", file)
	}
	g.Reproducer = file
	if r.Bisect {
		return a.tryAll(m, r.Passes, g)
	}
	g.VerifyEach = g.VerifyEach || r.VerifyEach
	if err := g.Run(m, r.Passes); err != nil {
		return err
	}
	fmt.Fprintf(a.out, "%s: no fault shows in %s\n", file, pass.List(r.Passes))
	return nil
}
