package helix

import (
	"tenon/microkernels/gemm"
	"tenon/passes/pass"
)

// machine is what decompositions depend on.
type machine struct {
	Gemm gemm.Machine
	L1   int64 // bytes of the first cache
	L2   int64 // bytes of the caches that a core has for itself
	L3   int64 // bytes of the last cache
}

// machineOptions are the numbers of a machine as options of the pass. The
// defaults are a machine with 32-byte vectors and 16 registers.
var machineOptions = []pass.Option{
	{Name: "bytes", Default: "32", Doc: "bytes of a vector register"},
	{Name: "registers", Default: "16", Doc: "vector registers"},
	{Name: "masked", Default: "0", Doc: "1: loads and stores can leave out lanes"},
	{Name: "fused", Default: "1", Doc: "1: multiply and add are one instruction"},
	{Name: "latency", Default: "4", Doc: "cycles of a multiply-add"},
	{Name: "fma", Default: "2", Doc: "multiply-adds a cycle"},
	{Name: "loads", Default: "2", Doc: "loads a cycle"},
	{Name: "l1", Default: "32768", Doc: "bytes of the first cache"},
	{Name: "l2", Default: "262144", Doc: "bytes of the caches of a core's own"},
	{Name: "l3", Default: "16777216", Doc: "bytes of the last cache"},
}

func machineFrom(c *pass.Context) machine {
	return machine{
		Gemm: gemm.Machine{VectorBytes: int(c.Int("bytes")), VectorRegs: int(c.Int("registers")),
			Masked: c.Int("masked") != 0, FusedMul: c.Int("fused") != 0,
			FMALatency: int(c.Int("latency")), FMAPerCycle: int(c.Int("fma")), LoadsPerCycle: int(c.Int("loads"))},
		L1: c.Int("l1"), L2: c.Int("l2"), L3: c.Int("l3"),
	}
}
