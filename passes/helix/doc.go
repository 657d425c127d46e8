// Package helix decomposes contractions over the layers of a machine: registers,
// caches, threads. Register tiles come from microkernels/gemm, block sizes from
// the capacities of the caches, and which decomposition runs is chosen at run
// time by the actual shape.
//
// It knows machines as numbers only and contractions by their accesses only: no
// name of a target, an operation or an axis enters.
package helix
