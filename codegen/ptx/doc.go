// Package ptx turns procs of the gpu level into LLVM modules for NVIDIA GPUs, from
// which LLVM writes PTX.
//
// Each launch of a proc becomes a kernel: NAME if the proc has one launch, else
// NAME_0, NAME_1, .. in the order in which they must run. Its parameters are, in
// this order: for each tensor of the proc the address of its elements, dense and
// in C order; each scalar, by value; both in the order of the proc's parameters;
// then each dim of the proc as a 64-bit integer; and at last the address of
// three 32-bit integers {code, arg, dim}, 0 before the launch, where a thread
// that is about to leave a tensor says so. What such a thread would have read is
// 0 and what it would have written is not, so that no thread misses a barrier.
//
// A grid has one dimension: as many blocks as the product of the launch's
// extents, in the order of its axes, the last one fastest. A block has the
// number of threads that the launch says, and the kernel asks for exactly that.
//
// The caller makes sure of what the entry of a C function checks: sizes against
// dims and facts, pointers, overlaps.
//
// The package must stay free of passes, and of how kernels are loaded and run.
package ptx
