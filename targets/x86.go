package targets

const x86Triple = "x86_64-unknown-linux-gnu"

// The four levels of the x86-64 psABI. Latencies and ports are those of
// Intel's and AMD's optimisation manuals for cores typical of the level:
// Nehalem for v2, Zen 3 for v3, Ice Lake server and Zen 4 for v4. Caches are the
// smallest of those cores', so that a block that fits here fits there.
var x86 = []*Desc{
	{
		Name: "x86-64", Doc: "any 64-bit x86 (SSE2, 16-byte vectors)",
		Family: "x86-64", Triple: x86Triple, CPU: "x86-64",
		VectorBytes: 16, VectorRegs: 16, LineBytes: 64, PageBytes: 4096, PartOps: cpuPartOps,
		StreamBytes: x86StreamBytes, StreamFence: "llvm.x86.sse.sfence",
		Caches: x86Caches(32, 256), FMA: Unit{8, 1}, Load: Unit{5, 1}, Store: Unit{5, 1},
	},
	{
		Name: "x86-64-v2", Doc: "x86-64 with SSE4.2 (2009 and later)",
		Family: "x86-64", Triple: x86Triple, CPU: "x86-64-v2",
		VectorBytes: 16, VectorRegs: 16, LineBytes: 64, PageBytes: 4096, PartOps: cpuPartOps,
		StreamBytes: x86StreamBytes, StreamFence: "llvm.x86.sse.sfence",
		Caches: x86Caches(32, 256), FMA: Unit{8, 1}, Load: Unit{5, 1}, Store: Unit{5, 1},
	},
	{
		Name: "x86-64-v3", Doc: "x86-64 with AVX2, FMA and F16C (2013 and later)",
		Family: "x86-64", Triple: x86Triple, CPU: "x86-64-v3",
		VectorBytes: 32, VectorRegs: 16, FusedMul: true, HalfConvert: true, LineBytes: 64, PageBytes: 4096, PartOps: cpuPartOps,
		StreamBytes: x86StreamBytes, StreamFence: "llvm.x86.sse.sfence",
		Caches: x86Caches(32, 256), FMA: Unit{4, 2}, Load: Unit{7, 2}, Store: Unit{5, 1},
	},
	{
		Name: "x86-64-v4", Doc: "x86-64 with AVX-512 F, BW, CD, DQ, VL (2017 and later)",
		Family: "x86-64", Triple: x86Triple, CPU: "x86-64-v4",
		VectorBytes: 64, VectorRegs: 32, Masked: true, FusedMul: true, HalfConvert: true, LineBytes: 64, PageBytes: 4096, PartOps: cpuPartOps,
		StreamBytes: x86StreamBytes, StreamFence: "llvm.x86.sse.sfence",
		Caches: x86Caches(32, 1024), FMA: Unit{4, 2}, Load: Unit{7, 2}, Store: Unit{5, 1},
	},
}

func x86Caches(l1, l2 int64) []Cache {
	return []Cache{{"L1d", l1 << 10, false}, {"L2", l2 << 10, false}, {"L3", 16 << 20, true}}
}
