package passes

import (
	"slices"
	"strconv"
	"strings"

	"tenon/ir"
	"tenon/passes/gpu"
	"tenon/passes/graph"
	"tenon/passes/helix"
	loops "tenon/passes/loop"
	"tenon/passes/lower"
	"tenon/passes/math"
	"tenon/passes/memory"
	"tenon/passes/pass"
	"tenon/passes/raise"
	"tenon/passes/vec"
)

// Stage is a part of the way down: after its passes the module is at Level, and
// a build may write it out there or read it back.
type Stage struct {
	Level  ir.Level
	Passes []pass.Instance
}

// Tensor level: calls are inlined, so that what follows sees whole functions;
// then each function is simplified, before values become buffers and sharing
// gets harder to see. Values that are read once are made where they are read.
// Then folds that would rescale at every point do so once a part.
var tensor = Stage{ir.LevelTensor, pass.Of(graph.Inline, graph.Canonicalise, graph.CSE, graph.DCE, graph.FuseProducers,
	graph.SplitFolds, graph.Simplify)}

// Tile level: values go into buffers, once. The copies this makes and the
// guards of its comps are simplified. Procs of the module, which are at loop level
// from the start, get their products found. Then contractions are decomposed for
// the machine's layers.
func tile(m Machine) Stage {
	return Stage{ir.LevelTile, append(pass.Of(lower.Bufferise, graph.Simplify, raise.Raise), contractions(m)...)}
}

// contractions are the passes that find and decompose products of matrices.
func contractions(m Machine) []pass.Instance {
	if m.VectorBytes == 0 || m.VectorRegs == 0 {
		return nil
	}
	number := func(n int64) string { return strconv.FormatInt(n, 10) }
	flag := map[bool]string{false: "0", true: "1"}
	in := pass.Instance{Pass: helix.Helix, Options: map[string]string{
		"bytes": strconv.Itoa(m.VectorBytes), "registers": strconv.Itoa(m.VectorRegs), "masked": flag[m.Masked], "fused": flag[m.FusedMul], "half": flag[m.HalfConvert],
		"latency": strconv.Itoa(m.FMALatency), "fma": strconv.Itoa(m.FMAPerCycle), "loads": strconv.Itoa(m.LoadsPerCycle),
		"l1": number(m.FirstBytes), "l2": number(m.NearBytes), "l3": number(m.LastBytes)}}
	if t := m.Times; t != nil {
		real := func(f float64) string { return strconv.FormatFloat(f, 'f', 3, 64) }
		in.Options["near"], in.Options["far"], in.Options["memory"] = real(t.Near), real(t.Far), real(t.Memory)
		var tiles []string
		for _, k := range t.Tiles {
			tiles = append(tiles, k.Kernel+":"+real(k.Enter)+":"+real(k.Step))
		}
		in.Options["times"] = strings.Join(tiles, "/")
	}
	return append([]pass.Instance{in}, pass.Of(graph.Simplify)...)
}

// Loop level: comps become loops. Lowering repeats identities and subscripts at
// every use, which simplifying merges. Then folds go along rows, loops over the
// same rows become one, and the buffers between them shrink to a row, to a
// register, or to nothing where the value is at hand. What a loop repeats is
// done before it, and folds over rows read several of them at a time.
func loop(m Machine) Stage {
	blocks := pass.Instance{Pass: loops.BlockTransposes, Options: map[string]string{"vector": strconv.Itoa(m.VectorBytes)}}
	down := pass.Instance{Pass: lower.LowerComps, Options: map[string]string{}}
	if m.Watch {
		down.Options["watch"] = "1"
	}
	return Stage{ir.LevelLoop, slices.Concat([]pass.Instance{down}, pass.Of(graph.Canonicalise, graph.CSE, graph.DCE, graph.Simplify,
		loops.InterchangeFolds, loops.FuseLoops, loops.ForwardElements, loops.ContractBuffers),
		[]pass.Instance{blocks}, pass.Of(loops.HoistInvariants, loops.SplitStreams, graph.Simplify))}
}

// A proc starts at loop level. Its calls are inlined like a func's; its variables
// become values, so that sums in them are seen; loops that sum products become
// comps, which are decomposed or become loops as any do.
func proc(m Machine) Stage {
	return Stage{ir.LevelLoop, slices.Concat(pass.Of(graph.Inline, loops.PromoteScalars, graph.Simplify, raise.Raise), contractions(m), loop(m).Passes)}
}

// Where buffers lie is decided last, on the loops that code is made of.
var placed = pass.Of(memory.ReuseBuffers, memory.PlanWorkspace, memory.AllowDonation)

// Times are what was measured on a machine: bytes that a core reads a cycle from
// its own caches, the last one and memory, and what tiles of micro-kernels take:
// Enter + Step k cycles for sums of k products.
type Times struct {
	Near, Far, Memory float64
	Tiles             []TileTime
}

// TileTime is the time of one micro-kernel.
type TileTime struct {
	Kernel      string
	Enter, Step float64
}

// Machine is what the passes know of the target: numbers, no name; and a wish.
type Machine struct {
	Watch         bool   // variants of choices are counted, and can be forced
	VectorBytes   int    // of a vector register; 0: loops stay scalar
	Masked        bool   // loads and stores can leave out lanes
	Accumulators  int    // partial results that keep the adders busy
	FusedMul      bool   // multiply and add are one instruction
	Extremes      bool   // maximum and minimum of floats keep NaN and the sign of 0, in one instruction
	HalfConvert   bool   // f16 <-> f32 in hardware
	StreamBytes   int64  // larger buffers are written around the caches; 0: none
	FirstBytes    int64  // of the first cache
	NearBytes     int64  // of the caches that a core has for itself
	LastBytes     int64  // of the last cache
	VectorRegs    int    // vector registers; 0: products stay loops
	FMALatency    int    // cycles of a vector multiply-add
	FMAPerCycle   int    // vector multiply-adds a cycle
	LoadsPerCycle int    // vector loads a cycle
	Times         *Times // nil: nothing was measured
	BlockThreads  int    // of a GPU: how many threads a block gets; 0 for a CPU
}

// AnyMachine is the one that checks of the passes alone run for.
var AnyMachine = Machine{VectorBytes: 32, Masked: true, Accumulators: 2, FusedMul: true}

// Vec level: functions become formulas, which have vector forms where calls have
// none; without fused multiply-add they would be slower than calls. Extremes of
// floats are folded as integers where those of the machine lose NaN. Then innermost
// loops become loops of vectors, and what they share is made once. Last it is
// decided where buffers lie.
func vectors(m Machine) Stage {
	var before []pass.Instance
	if m.FusedMul {
		before = pass.Of(math.LowerMath, graph.Simplify)
	}
	if !m.Extremes {
		before = append(before, pass.Of(vec.IntegerExtremes)...)
	}
	flag := map[bool]string{false: "0", true: "1"}
	in := pass.Instance{Pass: vec.Vectorise, Options: map[string]string{
		"bytes": strconv.Itoa(m.VectorBytes), "masked": flag[m.Masked],
		"accumulators": strconv.Itoa(m.Accumulators), "stream": strconv.FormatInt(m.StreamBytes, 10)}}
	tiles := pass.Instance{Pass: vec.TileTransposes, Options: map[string]string{"stream": in.Options["stream"]}}
	rows := pass.Instance{Pass: vec.PrefetchRows, Options: map[string]string{"cache": strconv.FormatInt(m.NearBytes, 10)}}
	return Stage{ir.LevelVec, slices.Concat(before, []pass.Instance{tiles}, []pass.Instance{rows, in}, pass.Of(graph.Simplify), placed)}
}

// A GPU has the memory that the caller gives and no other: loops are fused and
// values forwarded, but no fold is given a row of scratch. There is no C library
// either, so elementary functions become formulas.
var flat = Stage{ir.LevelLoop, pass.Of(lower.LowerComps, graph.Canonicalise, graph.CSE, graph.DCE, graph.Simplify,
	loops.FuseLoops, loops.ForwardElements, loops.ContractBuffers, math.LowerMath, graph.Simplify)}

// GPU level: loops become launches of blocks of threads.
func launches(m Machine) Stage {
	in := pass.Instance{Pass: gpu.MapToThreads, Options: map[string]string{"threads": strconv.Itoa(m.BlockThreads)}}
	return Stage{ir.LevelGPU, []pass.Instance{in}}
}

// onGPU is Pipeline for a GPU.
func onGPU(level ir.Level, m Machine) []Stage {
	switch level {
	case ir.LevelTensor:
		return []Stage{tensor, tile(m), flat, launches(m)}
	case ir.LevelTile:
		return []Stage{{ir.LevelTile, nil}, flat, launches(m)}
	case ir.LevelLoop:
		return []Stage{{ir.LevelLoop, append(pass.Of(graph.Inline, graph.Simplify), flat.Passes...)}, launches(m)}
	case ir.LevelGPU:
		return []Stage{{ir.LevelGPU, nil}}
	}
	return nil
}

// Pipeline lists the stages for a module that enters at the given level; nil
// where no passes lead on from there. A module that was written out after a
// stage and enters again at that level takes the stages that are left, so that
// it ends in the same code.
func Pipeline(level ir.Level, m Machine) []Stage {
	if m.BlockThreads > 0 {
		return onGPU(level, m)
	}
	switch level {
	case ir.LevelTensor:
		return append([]Stage{tensor, tile(m)}, ending(loop(m), m)...)
	case ir.LevelTile:
		return append([]Stage{{ir.LevelTile, nil}}, ending(loop(m), m)...)
	case ir.LevelLoop:
		return ending(proc(m), m)
	case ir.LevelVec:
		return []Stage{{ir.LevelVec, placed}}
	}
	return nil
}

// ending is the stage of loops with what follows it.
func ending(above Stage, m Machine) []Stage {
	if m.VectorBytes > 0 {
		return []Stage{above, vectors(m)}
	}
	return []Stage{{above.Level, slices.Concat(above.Passes, placed)}}
}

// EntryLevel is where a module enters: at the highest level of its functions.
func EntryLevel(m *ir.Module) ir.Level {
	order := []ir.Level{ir.LevelTensor, ir.LevelTile, ir.LevelLoop, ir.LevelDist, ir.LevelGPU, ir.LevelVec}
	best := len(order)
	for _, f := range m.Funcs() {
		if i := slices.Index(order, f.Level); i >= 0 {
			best = min(best, i)
		}
	}
	if best == len(order) {
		return ir.LevelTensor
	}
	return order[best]
}
