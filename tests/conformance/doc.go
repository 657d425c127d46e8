// Package conformance holds the formulas of passes/math against higher
// precision: what is compiled and what the interpreter computes, over the whole
// range of the types.
//
// `go test` takes a sample; `make conformance` (TENON_CONFORMANCE=1) takes every
// f32 for functions of one argument, and 10^8 points in all for the others,
// against the C library in a wider type.
package conformance
