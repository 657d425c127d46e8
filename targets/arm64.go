package targets

const arm64Triple = "aarch64-unknown-linux-gnu"

// AArch64. Latencies and ports are those of Arm's Neoverse N1 and V1 software
// optimisation guides (four 16-byte FMA pipes on V1, two on N1).
var arm64 = []*Desc{
	{
		Name: "aarch64", Doc: "any 64-bit Arm (NEON, 16-byte vectors)",
		Family: "aarch64", Triple: arm64Triple, CPU: "generic", Features: []string{"neon"},
		VectorBytes: 16, VectorRegs: 32, FusedMul: true, Extremes: true, HalfConvert: true, LineBytes: 64, PageBytes: 4096, PartOps: cpuPartOps,
		Caches: arm64Caches, FMA: Unit{4, 2}, Load: Unit{5, 2}, Store: Unit{2, 2},
	},
	{
		Name: "aarch64-sve", Doc: "64-bit Arm with SVE (vector length found at run time, 16 to 256 bytes)",
		Family: "aarch64", Triple: arm64Triple, CPU: "generic", Features: []string{"neon", "sve"},
		VectorBytes: 16, VectorRegs: 32, Scalable: true, Masked: true, FusedMul: true, Extremes: true, HalfConvert: true,
		LineBytes: 64, PageBytes: 4096, PartOps: cpuPartOps,
		Caches: arm64Caches, FMA: Unit{4, 2}, Load: Unit{6, 2}, Store: Unit{2, 2},
	},
}

var arm64Caches = []Cache{{"L1d", 64 << 10, false}, {"L2", 1 << 20, false}, {"L3", 32 << 20, true}}
