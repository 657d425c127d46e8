// Package microkernels holds the families of micro-kernels, one a folder.
//
// A micro-kernel computes one small tile of a result with accumulators in
// registers. It is one value made of two items: the kernel, whose meaning is IR
// (a comprehension over the tile), and its body, a proc of the vec level that
// does the same with vectors. Both run in the interpreter, so every body is
// tested against its meaning, for machines that are not at hand too.
//
// Which tiles there are follows from numbers of a machine alone (registers,
// vector width, latency and ports), never from a shape or a target's name.
//
// These packages must stay free of passes and code generation: a micro-kernel
// is a value that passes choose and code generation writes out.
package microkernels
