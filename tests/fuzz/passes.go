package fuzz

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"

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

// takeDown runs passes one at a time and holds each against the interpreter on
// the program's own inputs. It gives nil where a pass refuses the program, as
// passes may, by the name of what they have no form for.
func (c *checker) takeDown(p *Program, runs []Run) (*lowered, *Mismatch) {
	m := ir.Clone(p.Module)
	latest := make([]Outcome, len(runs)) // bits that passes must keep now
	for i, r := range runs {
		latest[i] = r.Outcome
	}
	freedom := pass.Exact // of what passes did so far
	for _, in := range route(p, passes.EntryLevel(m)) {
		freedom = max(freedom, in.Pass.Freedom())
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
		c.report.Passes[in.Pass.Name]++
		if bad := RoundTrip(p, m, "the level after "+in.String()); bad != nil {
			return nil, bad
		}
		if bad := c.sameRuns(p, m, in, freedom, runs, latest); bad != nil {
			bad.Detail += fmt.Sprintf("\nbefore the pass:\n%s\nafter it:\n%s", before, text)
			return nil, bad
		}
	}
	for _, f := range m.Funcs() {
		if !f.IsProc || f.Level != ir.LevelVec && f.Level != ir.LevelLoop {
			return nil, nil // no passes lead on from this level
		}
	}
	return &lowered{p, m, runs}, nil
}

// route lists the passes that a program takes: those of the pipeline, and by
// its seed others in between, with any options, since each pass must keep the
// meaning wherever it runs.
func route(p *Program, level ir.Level) []pass.Instance {
	g := &gen{Rand: rand.New(rand.NewPCG(p.Seed, uint64(p.Size)))}
	var list []pass.Instance
	ran := map[string]bool{}
	detours := g.chance(2)
	detour := func() {
		for detours && g.chance(3) {
			if in := pick(g, pass.All()); mayInsert(in, ran) {
				list = append(list, pass.Instance{Pass: in, Options: g.options(in)})
			}
		}
	}
	for _, s := range passes.Pipeline(level, g.machine()) {
		for _, in := range s.Passes {
			detour()
			list, ran[in.Pass.Name] = append(list, in), true
		}
	}
	if len(list) > 0 {
		detour()
	}
	return list
}

// machine is one to compile for: vectors of any size, or none.
func (g *gen) machine() passes.Machine {
	return passes.Machine{VectorBytes: pick(g, []int{0, 16, 32, 32, 64}), Masked: g.chance(2), Accumulators: 1 + g.IntN(4), FusedMul: g.chance(2), Extremes: g.chance(2)}
}

// mayInsert: a pass that takes a program to another level has its place, and so
// have those that say what they come after.
func mayInsert(in *pass.Pass, ran map[string]bool) bool {
	for _, a := range in.After {
		if !ran[a] {
			return false
		}
	}
	return in.Name != "bufferise" && in.Name != "lower-comps"
}

// options sets the numbers that a pass takes to small and large ones.
func (g *gen) options(p *pass.Pass) map[string]string {
	set := map[string]string{}
	for _, o := range p.Options {
		if _, err := strconv.Atoi(o.Default); err == nil && g.chance(2) {
			set[o.Name] = pick(g, []string{"0", "1", "2", "7", "16", "300"})
		}
	}
	if p.Counted && g.chance(4) {
		set["limit"] = fmt.Sprint(g.IntN(4))
	}
	return set
}

// one runs a pass; a crash or a module that does not verify is a mismatch.
func (c *checker) one(p *Program, m *ir.Module, in pass.Instance) (err error, bad *Mismatch) {
	defer func() {
		if r := recover(); r != nil {
			bad = mismatch(p, "pass "+in.String(), "", "%v", r)
			if b, ok := r.(*diag.Bug); ok {
				bad.Detail += "\n" + b.Stack
			}
		}
	}()
	g := pass.Manager{TempDir: c.temp}
	return g.Run(m, []pass.Instance{in}), nil
}

// sameRuns runs the module after a pass as the program was run: bits are those
// of the latest run, or, where the pass may change them, within the bounds that
// freedom leaves. Arguments that a pass added, the out buffers of what was a func,
// are made by the run.
func (c *checker) sameRuns(p *Program, m *ir.Module, in pass.Instance, freedom pass.Freedom, runs []Run, latest []Outcome) *Mismatch {
	stage, loose := "pass "+in.String(), in.Pass.Freedom() > pass.Exact
	for i, r := range runs {
		f := ir.Lookup[*ir.Func](m, r.Func.Name)
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
		why := ""
		switch {
		case loose && out.Fault == nil:
			why = disagree(r.Outcome, out, freedom)
			latest[i] = out
		default:
			why = differ(latest[i], out)
		}
		if why != "" {
			return mismatch(p, stage, r.Func.Name, "at %s: %s", sizesText(r.Sizes), why)
		}
	}
	return nil
}

// disagree holds two runs with shadows to the larger of their bounds, or, after
// formulas, to those of the first.
func disagree(a, b Outcome, freedom pass.Freedom) string {
	for i := range a.Results {
		_, err := interp.Compare(b.Results[i], a.Results[i])
		if err == nil {
			continue
		}
		if freedom == pass.Approximated {
			return fmt.Sprintf("result %d: %v", i+1, err)
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
