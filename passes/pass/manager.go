package pass

import (
	"fmt"
	"io"
	"slices"
	"time"

	"tenon/internal/diag"
	"tenon/ir"
)

// Manager runs passes over a module and watches them: after each the module is
// verified and its names are made unique.
type Manager struct {
	PrintAfter []string  // names of passes, or "all": print the module where it changed
	VerifyEach bool      // hold each pass against the interpreter, on seeded inputs
	TimePasses bool      // record times; see WriteTimes
	Out        io.Writer // of PrintAfter; nil: nothing is printed
	TempDir    string    // of reproducers; "": the system's
	Reproducer string    // names the file that shows the fault already; "": one is written

	Remarks []Remark // what passes did and left alone, and why, in order
	times   []timing

	// finished are the bodies of micro-kernels that were verified and named. No
	// pass changes one, and together they may be most of a module.
	finished map[*ir.Func]bool
}

type timing struct {
	pass           string
	run, verifying time.Duration
	changed        bool
	ops, applied   int // ops after it; applications, where the pass counts them
}

// Run applies the passes in order. The error is the user's fault, found by a
// pass. A fault of a pass (a crash, a module that does not verify, another
// meaning under VerifyEach) is raised as a *diag.Bug that names the pass and a
// file to reproduce it with.
func (g *Manager) Run(m *ir.Module, passes []Instance) error {
	uniqueNames(m, g.finished)
	for i, in := range passes {
		if err := g.one(m, in, passes[i:]); err != nil {
			return err
		}
	}
	return nil
}

func (g *Manager) one(m *ir.Module, in Instance, rest []Instance) error {
	prints := slices.Contains(g.PrintAfter, "all") || slices.Contains(g.PrintAfter, in.Pass.Name)
	watch := &watched{g: g, pass: in, rest: rest, before: ir.Snapshot(m)}
	text := ""
	if prints || g.TimePasses {
		text = ir.Print(m)
	}
	start := time.Now()
	err := watch.run(m)
	if err != nil {
		return err
	}
	uniqueNames(m, g.finished)
	took := time.Since(start)
	watch.verify(m)
	g.finish(m)
	if text != "" {
		now := ir.Print(m)
		g.times = append(g.times, timing{in.Pass.Name, took, time.Since(start) - took, now != text, countOps(m), watch.at.applied})
		if prints && now != text && g.Out != nil {
			fmt.Fprintf(g.Out, "// after %s\n%s\n", in, now)
		}
	}
	return nil
}

// finish notes the bodies of micro-kernels, which are good.
func (g *Manager) finish(m *ir.Module) {
	bodies := m.Bodies()
	for _, f := range m.Funcs() {
		if bodies[f.Name] && !g.finished[f] {
			if g.finished == nil {
				g.finished = map[*ir.Func]bool{}
			}
			g.finished[f] = true
		}
	}
}

func countOps(m *ir.Module) int {
	n := 0
	for _, f := range m.Funcs() {
		f.Body.Walk(func(*ir.Op) bool { n++; return true })
	}
	return n
}

// WriteTimes writes a table of what TimePasses recorded.
func (g *Manager) WriteTimes(w io.Writer) {
	fmt.Fprintf(w, "%-20s %12s %12s %8s %8s  %s\n", "pass", "time", "checks", "ops", "applied", "changed")
	var all, checks time.Duration
	for _, t := range g.times {
		all, checks = all+t.run, checks+t.verifying
		changed := ""
		if t.changed {
			changed = "yes"
		}
		fmt.Fprintf(w, "%-20s %12s %12s %8d %8d  %s\n", t.pass, t.run.Round(time.Microsecond), t.verifying.Round(time.Microsecond), t.ops, t.applied, changed)
	}
	fmt.Fprintf(w, "%-20s %12s %12s\n", "total", all.Round(time.Microsecond), checks.Round(time.Microsecond))
}

// watched is one run of a pass, with what is needed to report its faults.
type watched struct {
	g      *Manager
	pass   Instance
	rest   []Instance // this pass and those after it
	before *ir.Module
	at     *Context
	check  string // the flag of the reproducer that shows the fault; "": as g says
}

func (w *watched) run(m *ir.Module) (err error) {
	w.at = newContext(m, w.pass)
	defer func() {
		if r := recover(); r != nil {
			w.raise(bugOf(r))
		}
	}()
	err = w.pass.Pass.Run(w.at)
	w.g.Remarks = append(w.g.Remarks, w.at.remarks...)
	return err
}

// verify checks the module, and its meaning if asked to.
func (w *watched) verify(m *ir.Module) {
	if err := ir.VerifyExcept(m, w.g.finished); err != nil {
		w.raise(&diag.Bug{Msg: "leaves a module that does not verify: " + err.Error()})
	}
	if !w.g.VerifyEach {
		return
	}
	if _, err := SameMeaning(w.before, m, w.pass.Pass.Freedom()); err != nil {
		w.raise(&diag.Bug{Msg: "changes the meaning of " + err.Error()})
	}
}
