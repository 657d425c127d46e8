package targets

const nvptxTriple = "nvptx64-nvidia-cuda"

// NVIDIA GPUs, from the CUDA programming guide's table of compute
// capabilities. A vector here is what one thread loads at most: 16 bytes.
var nvptx = []*Desc{
	{
		Name: "sm_80", Doc: "NVIDIA Ampere (A100)",
		Family: "nvptx", Triple: nvptxTriple, CPU: "sm_80", Features: []string{"ptx80"},
		VectorBytes: 16, VectorRegs: 255, Masked: true, FusedMul: true, HalfConvert: true, LineBytes: 128, PageBytes: 4096,
		Caches: []Cache{{"L1", 192 << 10, false}, {"L2", 40 << 20, true}},
		FMA:    Unit{4, 64}, Load: Unit{33, 32}, Store: Unit{33, 32},
		GPU: &GPU{WarpThreads: 32, MaxThreads: 2048, BlockThreads: 1024, Registers: 65536, ThreadRegisters: 255, SharedBytes: 163 << 10, PTX: 80},
	},
	{
		Name: "sm_90", Doc: "NVIDIA Hopper (H100, H200)",
		Family: "nvptx", Triple: nvptxTriple, CPU: "sm_90", Features: []string{"ptx80"},
		VectorBytes: 16, VectorRegs: 255, Masked: true, FusedMul: true, HalfConvert: true, LineBytes: 128, PageBytes: 4096,
		Caches: []Cache{{"L1", 256 << 10, false}, {"L2", 50 << 20, true}},
		FMA:    Unit{4, 128}, Load: Unit{33, 32}, Store: Unit{33, 32},
		GPU: &GPU{WarpThreads: 32, MaxThreads: 2048, BlockThreads: 1024, Registers: 65536, ThreadRegisters: 255, SharedBytes: 227 << 10, PTX: 80},
	},
}
