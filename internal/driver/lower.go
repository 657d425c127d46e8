package driver

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tenon/internal/debug"
	"tenon/internal/diag"
	"tenon/ir"
	"tenon/passes"
	"tenon/passes/pass"
	"tenon/targets"
)

// Lowered is a module at one of the levels on its way down.
type Lowered struct {
	Level  ir.Level
	Module *ir.Module
}

// Lower takes a copy of m through the stages of the pipeline for a machine, and
// calls see with the module at each level that it passes through. It ends at the
// level from which code is generated, or where see returns false.
func Lower(m *ir.Module, desc *targets.Desc, see func(Lowered) bool) (*ir.Module, error) {
	return lowerWith(&pass.Manager{}, m, machineOf(desc), see)
}

// lowerWith is Lower under a manager that keeps what the passes remark.
func lowerWith(manager *pass.Manager, m *ir.Module, on passes.Machine, see func(Lowered) bool) (*ir.Module, error) {
	m = ir.Clone(m)
	for _, s := range passes.Pipeline(passes.EntryLevel(m), on) {
		if err := manager.Run(m, s.Passes); err != nil {
			return nil, err
		}
		for _, f := range m.Funcs() {
			inheritLocations(f.Body, f.Loc)
		}
		if see != nil && !see(Lowered{s.Level, m}) {
			return m, nil
		}
	}
	return m, nil
}

// inheritLocations gives an op without a location, which a pass has made of a
// monoid, say, that of the op around it. Text without a location would else
// take its own place when it is read back, and give another line table.
func inheritLocations(r *ir.Region, around ir.Loc) {
	for _, op := range r.Ops {
		if !op.Loc.IsKnown() {
			op.Loc = around
		}
		for _, in := range op.Regions() {
			inheritLocations(in, op.Loc)
		}
	}
}

// machineOf is what the passes know of a machine.
func machineOf(d *targets.Desc) passes.Machine {
	if d.GPU != nil {
		return passes.Machine{BlockThreads: min(256, d.GPU.BlockThreads)}
	}
	return passes.Machine{Times: timesOf(d.Profile), VectorBytes: d.VectorBytes, Masked: d.Masked, Accumulators: min(4, d.FMA.InFlight()), FusedMul: d.FusedMul, HalfConvert: d.HalfConvert, Extremes: d.Extremes,
		StreamBytes: d.StreamBytes, NearBytes: nearBytes(d), FirstBytes: d.Caches[0].Bytes, LastBytes: d.Caches[len(d.Caches)-1].Bytes,
		VectorRegs: d.VectorRegs, FMALatency: d.FMA.Latency, FMAPerCycle: d.FMA.PerCycle, LoadsPerCycle: d.Load.PerCycle}
}

func timesOf(p *targets.Profile) *passes.Times {
	if p == nil {
		return nil
	}
	t := &passes.Times{Near: p.Near, Far: p.Far, Memory: p.Memory}
	for _, k := range p.Tiles {
		t.Tiles = append(t.Tiles, passes.TileTime{Kernel: k.Kernel, Enter: k.Enter, Step: k.Step})
	}
	return t
}

// nearBytes is the size of the largest cache that a core has for itself.
func nearBytes(d *targets.Desc) (bytes int64) {
	for _, c := range d.Caches {
		if !c.Shared {
			bytes = max(bytes, c.Bytes)
		}
	}
	return bytes
}

// Levels lists the levels that m passes through on its way to a machine.
func Levels(m *ir.Module, desc *targets.Desc) []ir.Level {
	var ls []ir.Level
	for _, s := range passes.Pipeline(passes.EntryLevel(m), machineOf(desc)) {
		ls = append(ls, s.Level)
	}
	return ls
}

// AllPasses are those that m goes through, in order.
func AllPasses(m *ir.Module) []pass.Instance {
	var all []pass.Instance
	for _, s := range passes.Pipeline(passes.EntryLevel(m), passes.AnyMachine) {
		all = append(all, s.Passes...)
	}
	return all
}

// AtLevel is the text of m at a level that it passes through.
func AtLevel(m *ir.Module, level string, desc *targets.Desc) (string, error) {
	ls := Levels(m, desc)
	if !slices.Contains(ls, ir.Level(level)) {
		return "", diag.Usagef("--emit=%s: the program does not pass through that level; it passes through %s", level, levelList(ls))
	}
	at, err := Lower(m, desc, func(l Lowered) bool { return string(l.Level) != level })
	if err != nil {
		return "", err
	}
	return ir.Print(at, ir.WithLocations()), nil
}

func levelList(ls []ir.Level) string {
	var names []string
	for _, l := range ls {
		names = append(names, string(l))
	}
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

// lowerForCode takes m to the vec level; what cannot get there is refused.
func lowerForCode(m *ir.Module, desc *targets.Desc, watch bool) (*ir.Module, error) {
	on := machineOf(desc)
	on.Watch = watch
	low, err := lowerWith(&pass.Manager{}, m, on, func(l Lowered) bool {
		keep(string(l.Level)+".tnir", ir.Print(l.Module, ir.WithLocations()))
		return true
	})
	if err != nil {
		return nil, err
	}
	var faults diag.List
	for _, f := range low.Funcs() {
		switch {
		case hasCode(f.Level, desc):
		case desc.GPU != nil:
			faults = append(faults, diag.Errorf(f.Loc.First(), "%s needs memory of its own, or an op that kernels have not yet", f.Name).
				WithFix("build it for a CPU, or run it with --interp"))
		default:
			faults = append(faults, diag.Errorf(f.Loc.First(), "%s is at the %s level, from which no code is generated yet", f.Name, f.Level).
				WithFix("run it with --interp"))
		}
	}
	return low, faults.Err()
}

// hasCode reports that code is generated from procs of that level.
func hasCode(l ir.Level, desc *targets.Desc) bool {
	if desc.GPU != nil {
		return l == ir.LevelGPU
	}
	return l == ir.LevelLoop || l == ir.LevelVec
}

// keep writes a file into the folder of the debug flag `keep`.
func keep(name, text string) {
	dir := debug.Flags.Keep
	if dir == "" {
		return
	}
	err := os.MkdirAll(dir, 0o777)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "-d keep:", err)
	}
}

// Only is m without the functions that entry does not need.
func Only(m *ir.Module, entry *ir.Func) *ir.Module {
	need := map[string]bool{}
	var visit func(f *ir.Func)
	visit = func(f *ir.Func) {
		if f == nil || need[f.Name] {
			return
		}
		need[f.Name] = true
		eachOp(f.Body, func(op *ir.Op) { visit(ir.Lookup[*ir.Func](m, ir.CalleeName(op))) })
	}
	visit(entry)
	for name := range m.Bodies() {
		need[name] = true
	}
	out := &ir.Module{}
	for _, it := range m.Items {
		if f, ok := it.(*ir.Func); !ok || need[f.Name] {
			out.Items = append(out.Items, it)
		}
	}
	return out
}

func eachOp(r *ir.Region, visit func(*ir.Op)) {
	for _, op := range r.Ops {
		visit(op)
		for _, in := range op.Regions() {
			eachOp(in, visit)
		}
	}
}
