package fuzz

import (
	"errors"
	"fmt"

	"tenon/internal/diag"
	"tenon/ir"
	"tenon/ir/interp"
	"tenon/passes"
	"tenon/passes/pass"
)

// lowered is a program at the end of the passes.
type lowered struct {
	program *Program
	module  *ir.Module
	runs    []Run
}

// takeDown runs the pipeline one pass at a time and holds each against the
// interpreter on the program's own inputs. It gives nil where a pass refuses
// the program, as passes may, by the name of what they have no form for.
func (c *checker) takeDown(p *Program, runs []Run) (*lowered, *Mismatch) {
	m := ir.Clone(p.Module)
	level := passes.EntryLevel(m)
	loose := false // bits may differ from what the program gave at first
	for _, s := range passes.Pipeline(level, passes.AnyMachine) {
		for _, in := range s.Passes {
			loose = loose || in.Pass.Reassociates
			before := ir.Print(m)
			err, bad := c.one(p, m, in)
			if bad != nil {
				return nil, bad
			}
			if err != nil {
				return nil, c.refused(p, in.Pass.Name, err)
			}
			text := ir.Print(m)
			if text == before {
				continue
			}
			c.report.of(p.Category).Passes++
			if bad := RoundTrip(p, m, "the level after "+in.Pass.Name); bad != nil {
				return nil, bad
			}
			if bad := c.sameRuns(p, m, in.Pass, loose, runs); bad != nil {
				bad.Detail += fmt.Sprintf("\nbefore the pass:\n%s\nafter it:\n%s", before, text)
				return nil, bad
			}
		}
	}
	for _, f := range m.Funcs() {
		if !f.IsProc || f.Level != ir.LevelVec && f.Level != ir.LevelLoop {
			return nil, nil // no passes lead on from this level
		}
	}
	return &lowered{p, m, runs}, nil
}

// one runs a pass; a crash or a module that does not verify is a mismatch.
func (c *checker) one(p *Program, m *ir.Module, in pass.Instance) (err error, bad *Mismatch) {
	defer func() {
		if r := recover(); r != nil {
			bad = mismatch(p, "pass "+in.Pass.Name, "", "%v", r)
			if b, ok := r.(*diag.Bug); ok {
				bad.Detail += "\n" + b.Stack
			}
		}
	}()
	g := pass.Manager{TempDir: c.temp}
	return g.Run(m, []pass.Instance{in}), nil
}

// sameRuns runs the module after a pass as the program was run. Arguments that
// a pass added, the out buffers of what was a func, are made by the run.
func (c *checker) sameRuns(p *Program, m *ir.Module, by *pass.Pass, loose bool, runs []Run) *Mismatch {
	for _, r := range runs {
		f := ir.Lookup[*ir.Func](m, r.Func.Name)
		stage := "pass " + by.Name
		if f == nil {
			return mismatch(p, stage, r.Func.Name, "the function is gone")
		}
		out, bad := run(p, m, r.Func.Name, r.Args(p, f), interp.Options{Seed: 3, Ranks: r.Ranks, Shadow: loose})
		if bad != nil {
			bad.Stage = stage + ", " + bad.Stage
			return bad
		}
		if r.Fault != nil { // a pass may drop what nobody uses, with its fault
			if out.Fault == nil {
				c.report.of(p.Category).Dropped++
			}
			continue
		}
		why := differ(r.Outcome, out)
		if loose && out.Fault == nil {
			why = disagree(r.Outcome, out)
		}
		if why != "" {
			return mismatch(p, stage, r.Func.Name, "at %s: %s", sizesText(r.Sizes), why)
		}
	}
	return nil
}

// disagree holds two runs with shadows to the larger of their bounds.
func disagree(a, b Outcome) string {
	for i := range a.Results {
		_, err := interp.Compare(b.Results[i], a.Results[i])
		if err == nil {
			continue
		}
		if _, err2 := interp.Compare(a.Results[i], b.Results[i]); err2 != nil {
			return fmt.Sprintf("result %d: %v", i+1, err)
		}
	}
	return ""
}

// refused counts what has no form further down. The refusal must be the user's
// error, with a place, and name what is refused.
func (c *checker) refused(p *Program, by string, err error) *Mismatch {
	faults := faultsOf(err)
	if len(faults) == 0 {
		return mismatch(p, by, "", "refuses the program without a place: %v", err)
	}
	for _, e := range faults {
		if !e.Pos.IsValid() || e.Msg == "" {
			return mismatch(p, by, "", "refuses without a place: %v", e)
		}
		c.report.of(p.Category).Refused[by+": "+kind(e.Msg)]++
	}
	return nil
}

func faultsOf(err error) []*diag.Error {
	var list diag.List
	var one *diag.Error
	switch {
	case errors.As(err, &list):
		return list
	case errors.As(err, &one):
		return []*diag.Error{one}
	}
	return nil
}
