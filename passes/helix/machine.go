package helix

import (
	"strconv"
	"strings"

	"tenon/microkernels/gemm"
	"tenon/passes/pass"
)

// machine is what decompositions depend on.
type machine struct {
	Gemm gemm.Machine
	L1   int64 // bytes of the first cache
	L2   int64 // bytes of the caches that a core has for itself
	L3   int64 // bytes of the last cache

	half              bool                // f16 is converted in hardware
	near, far, memory float64             // bytes a cycle from L2, L3 and memory
	times             map[string]tileTime // measured, by kernel
}

// tileTime is what a full tile takes for sums of k products: enter + step k cycles.
type tileTime struct{ enter, step float64 }

// machineOptions are the numbers of a machine as options of the pass. The
// defaults are a machine with 32-byte vectors and 16 registers.
var machineOptions = []pass.Option{
	{Name: "bytes", Default: "32", Doc: "bytes of a vector register"},
	{Name: "registers", Default: "16", Doc: "vector registers"},
	{Name: "masked", Default: "0", Doc: "1: loads and stores can leave out lanes"},
	{Name: "fused", Default: "1", Doc: "1: multiply and add are one instruction"},
	{Name: "half", Default: "0", Doc: "1: f16 is converted in hardware"},
	{Name: "latency", Default: "4", Doc: "cycles of a multiply-add"},
	{Name: "fma", Default: "2", Doc: "multiply-adds a cycle"},
	{Name: "loads", Default: "2", Doc: "loads a cycle"},
	{Name: "l1", Default: "32768", Doc: "bytes of the first cache"},
	{Name: "l2", Default: "262144", Doc: "bytes of the caches of a core's own"},
	{Name: "l3", Default: "16777216", Doc: "bytes of the last cache"},
	{Name: "near", Default: "28.0", Doc: "bytes a cycle from a core's own caches"},
	{Name: "far", Default: "20.0", Doc: "bytes a cycle from the last cache"},
	{Name: "memory", Default: "8.0", Doc: "bytes a cycle from memory"},
	{Name: "times", Default: "none", Doc: "measured kernels as KERNEL:ENTER:STEP/.., in cycles"},
}

func machineFrom(c *pass.Context) machine {
	number := func(text string) float64 {
		f, _ := strconv.ParseFloat(text, 64)
		return f
	}
	times := map[string]tileTime{}
	for entry := range strings.SplitSeq(c.Option("times"), "/") {
		if f := strings.Split(entry, ":"); len(f) == 3 {
			times[f[0]] = tileTime{number(f[1]), number(f[2])}
		}
	}
	return machine{
		half: c.Int("half") != 0, near: number(c.Option("near")), far: number(c.Option("far")), memory: number(c.Option("memory")), times: times,
		Gemm: gemm.Machine{VectorBytes: int(c.Int("bytes")), VectorRegs: int(c.Int("registers")),
			Masked: c.Int("masked") != 0, FusedMul: c.Int("fused") != 0,
			FMALatency: int(c.Int("latency")), FMAPerCycle: int(c.Int("fma")), LoadsPerCycle: int(c.Int("loads"))},
		L1: c.Int("l1"), L2: c.Int("l2"), L3: c.Int("l3"),
	}
}
