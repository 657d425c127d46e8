// Package memory has the passes that decide where buffers lie: which of them
// are one, which share memory one after the other, and which results may be
// computed in the memory of an argument. They run last, on the loops that code
// is made of, and record what they decide in the module: codegen only follows.
//
// Sharing memory between buffers that do not live at the same time is the
// problem of shared objects; the order by size is that of Pisarchyk and Lee,
// Efficient Memory Management for Deep Neural Net Inference, 2020.
//
// The package must stay free of targets, front ends and code generation.
package memory
