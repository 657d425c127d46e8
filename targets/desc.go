package targets

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"

	"tenon/internal/diag"
)

// Desc is one machine: what LLVM must be told and what candidate rules and
// cost models read. Numbers are those of public documentation for the level or
// a typical core of it; measured ones come from profiles, never from here.
type Desc struct {
	Name     string   // as in `tenon targets` and --cpu
	Doc      string   // one line
	Family   string   // the value of --target: x86-64, aarch64, nvptx
	Triple   string   // LLVM target triple
	CPU      string   // LLVM "target-cpu"
	Tune     string   // LLVM "tune-cpu"; empty: as CPU
	Features []string // LLVM features that CPU does not imply, without the sign

	VectorBytes int  // widest vector register; SVE: the least, 16
	VectorRegs  int  // architectural vector registers
	Scalable    bool // the vector length is known at run time only
	Masked      bool // every vector load and store can be masked
	FusedMul    bool // fused multiply-add in hardware
	Extremes    bool // maximum and minimum of floats as IEEE 754-2019 has them: NaN stays, -0 < +0
	HalfConvert bool // f16 <-> f32 in hardware

	LineBytes int     // cache line
	PageBytes int     // smallest page
	Caches    []Cache // from the core outwards

	// PartOps is how many scalar operations of a loop are worth handing to another
	// thread; a loop of less than two parts stays on one. 0: no threads.
	PartOps int64

	// StreamBytes is the size from which on a buffer is written around the caches:
	// they cannot keep it, and would read each line before it is overwritten. 0:
	// never. StreamFence is LLVM's intrinsic that puts such stores in order with
	// those that follow; empty: none is needed.
	StreamBytes int64
	StreamFence string

	// Profile are measured times, nil where they follow from the other fields.
	Profile *Profile

	FMA   Unit // vector multiply-add (multiply and add where it is absent)
	Load  Unit // vector load that hits the first cache
	Store Unit // vector store

	GPU *GPU // nvptx only
}

// x86StreamBytes is twice the last cache of typical cores: a reader that follows at
// once finds nothing of such a buffer's beginning there.
const x86StreamBytes = 32 << 20

// cpuPartOps makes a part take some 10 microseconds with vectors. Starting a loop
// on threads that wait costs about 1, waking them up 5 to 50.
const cpuPartOps = 1 << 16

// Cache is one level of the memory hierarchy.
type Cache struct {
	Name   string
	Bytes  int64
	Shared bool // by several cores
}

// Unit is the latency of an operation in cycles and how many start a cycle.
type Unit struct {
	Latency  int
	PerCycle int
}

// InFlight is how many independent operations keep the unit busy.
func (u Unit) InFlight() int { return u.Latency * u.PerCycle }

// GPU holds what only a GPU has. Sizes are per streaming multiprocessor.
type GPU struct {
	WarpThreads     int
	MaxThreads      int // resident threads
	BlockThreads    int // most threads in a block
	Registers       int // 32-bit registers
	ThreadRegisters int // most registers a thread
	SharedBytes     int // shared memory a block may use
	PTX             int // PTX version, 80 for 8.0
}

// Has reports whether the machine has an LLVM feature beyond those that its
// CPU name implies.
func (d *Desc) Has(feature string) bool { return slices.Contains(d.Features, feature) }

// FeatureString is the value of LLVM's "target-features".
func (d *Desc) FeatureString() string {
	parts := make([]string, len(d.Features))
	for i, f := range d.Features {
		parts[i] = "+" + f
	}
	return strings.Join(parts, ",")
}

// Lanes is how many elements of the given size a vector register holds.
func (d *Desc) Lanes(elemBytes int) int { return d.VectorBytes / elemBytes }

// Hash identifies the description: it enters artifacts and cache keys, so that
// a changed number is a changed target.
func (d *Desc) Hash() string {
	text, err := json.Marshal(d) // field order is fixed, and there is no map
	if err != nil {
		diag.Bugf("description of target %s: %v", d.Name, err)
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}

// All lists the built-in machines in the order of `tenon targets`.
func All() []*Desc { return slices.Concat(x86, arm64, nvptx) }

// Families lists the values of --target that name a machine family.
var Families = []string{"x86-64", "aarch64", "nvptx"}

// Find returns the machine for --target family and --cpu name. An empty family
// is the host's; an empty name is the family's baseline; "native" is the
// machine that we run on.
func Find(family, name string) (*Desc, error) {
	if family == "" {
		family = hostFamily()
	}
	if !slices.Contains(Families, family) {
		return nil, diag.Usagef("unknown target %q; the targets are %s", family, strings.Join(Families, ", "))
	}
	if name == "native" {
		return nativeFor(family)
	}
	var names []string
	for _, d := range All() {
		if d.Family != family {
			continue
		}
		if name == "" || d.Name == name {
			return d, nil
		}
		names = append(names, d.Name)
	}
	return nil, diag.Usagef("target %s has no cpu %q; it has native, %s", family, name, strings.Join(names, ", "))
}
