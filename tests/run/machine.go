package run

import (
	"fmt"
	"os"

	"tenon"
	"tenon/runtime"
	"tenon/targets"
)

// Machine is a kind of processor that tests run on: this one, or one that
// QEMU plays.
type Machine struct {
	Name    string
	Options tenon.Options
	Core    string // what QEMU is to play; "" is this processor
	Vector  int    // bytes of an SVE vector there; 0 without SVE
}

// Machines are all that compiled code is tested on. One library is compiled
// for all lengths of an SVE vector.
var Machines = []*Machine{
	machine("native", "x86-64", "native"),
	machine("x86-64", "x86-64", "x86-64"),
	machine("x86-64-v2", "x86-64", "x86-64-v2"),
	machine("x86-64-v3", "x86-64", "x86-64-v3"),
	machine("x86-64-v4", "x86-64", "x86-64-v4"),
	emulated("neon", "aarch64", "cortex-a72", 0), // has no SVE
	emulated("sve128", "aarch64-sve", "max,sve128=on", 16),
	emulated("sve256", "aarch64-sve", "max,sve256=on", 32),
	emulated("sve512", "aarch64-sve", "max,sve512=on", 64),
}

func machine(name, family, cpu string) *Machine {
	if cpu == "native" {
		family = ""
	}
	return &Machine{Name: name, Options: tenon.Options{Target: family, CPU: cpu, Opt: 3}}
}

func emulated(name, cpu, core string, vector int) *Machine {
	m := machine(name, "aarch64", cpu)
	m.Core, m.Vector = core, vector
	return m
}

// Whole reports whether everything is to be tested, on every machine: the
// environment has TENON_CONFORMANCE, as under `make conformance`.
func Whole() bool { return os.Getenv("TENON_CONFORMANCE") != "" }

// Absent says why code for m cannot be run here, with the way out; "" if it can.
func (m *Machine) Absent() string {
	if m.Core != "" {
		return emulatorAbsent()
	}
	d, err := m.Desc()
	if err != nil {
		return err.Error()
	}
	return targets.CannotRun(d)
}

// Desc is the description that m's code is made for.
func (m *Machine) Desc() (*targets.Desc, error) { return targets.Find(m.Options.Target, m.Options.CPU) }

// At is m at another optimisation level. At -O3 every parallel loop is split
// into parts, which run on threads where they are real ones, and what may be
// written around the caches is, if its rows are aligned.
func (m *Machine) At(opt int) *Machine {
	n := *m
	n.Options.Opt, n.Name = opt, fmt.Sprintf("%s-O%d", m.Name, opt)
	n.Options.NoOpenMP = m.Core != ""
	if opt == 3 {
		n.Options.PartOps, n.Options.StreamBytes = 1, 1
	}
	return &n
}

// Sanitized is m with code that checks every access.
func (m *Machine) Sanitized() *Machine {
	n := *m
	n.Options.Sanitize, n.Name = true, m.Name+"-sanitized"
	return &n
}

// library is compiled code where it can be called.
type library interface {
	// call calls a function; what it writes is then in the places.
	call(fn string, args []passed) (runtime.Status, error)
	close()
}

// passed is an argument, a tensor between guard pages or a scalar.
type passed struct {
	place  *place
	scalar runtime.Scalar
}

// load makes the functions of a library callable on m.
func (m *Machine) load(so []byte) (library, error) {
	if m.Core != "" {
		return loadEmulated(m, so)
	}
	lib, err := runtime.OpenBytes(so)
	if err != nil {
		return nil, err
	}
	return loaded{lib}, nil
}

// loaded is a library in this process.
type loaded struct{ lib *runtime.Lib }

func (l loaded) close() { l.lib.Close() }

func (l loaded) call(fn string, args []passed) (runtime.Status, error) {
	native := make([]runtime.Arg, len(args))
	for i, a := range args {
		if native[i] = a.scalar; a.place != nil {
			native[i] = a.place.tensor
		}
	}
	return l.lib.Call(fn, native)
}
