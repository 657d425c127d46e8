// Package bench runs one function of a program beside a library that computes
// the same matrix product, in this process and in turn: `tenon bench`.
//
// A round takes every contender once, and a ratio is taken within a round, so
// that a clock that drifts or a busy machine touches both sides. The rate of
// multiply-adds in registers, measured in the same rounds, bounds them. With one
// thread, time is processor time of the thread that works, else time on the wall.
//
// The library is loaded with dlopen and called through its C interface with
// outputs that are there beforehand. What it is called for follows from the IR
// alone (recognise.go). Results of both sides are held against dot products in
// double precision; a wrong one is an error and no figure.
//
// The package must stay free of passes and of code generation.
package bench
