// Package gpu registers the gpu family: launches of blocks of threads, memory
// shared by a block, barriers, and asynchronous copies.
//
// Running a launch runs its blocks in an order drawn from the run's seed and the
// threads of a block as coroutines, from barrier to barrier. Accesses of two
// threads to shared memory between two barriers, or of two blocks to ordinary
// memory, conflict if one of them writes: that stops the run, as does a barrier
// that only some threads reach.
//
// The package must stay free of targets and passes.
package gpu
