// Package llvm builds LLVM modules for the code generators. It is the only
// package that imports llir: its callers see Value, Type, Func and Module, so a
// change of LLVM or of the library that prints its text stays in here.
//
// How things are represented:
//   - Every pointer is an i8*; loads and stores take an element type and cast
//     inside, which is all that typed and opaque pointers differ in.
//   - A bool is i1 in registers and a byte (0 or 1) in memory.
//   - f16 and bf16 are i16 in registers too, holding the bits. Arithmetic widens
//     to f32, works there and rounds back, which rounds + - * / and sqrt as one
//     rounding would (24 >= 2*11 + 2). Backends legalise half and bfloat in
//     different ways, call helpers that no libc has, and (avx512bf16) flush
//     subnormals; the integers of conversion.go do not.
//   - Constants are printed by us from their bits: llir's own truncate instead
//     of rounding and log a line for an inexact half.
//
// The operators are rows of a table (ops.go) under the names of the IR's scalar
// ops and mean exactly what internal/num says. What a row leaves out (min of
// bool, shl of f32) does not exist.
//
// The package must stay free of the IR, of passes and of the C ABI.
package llvm
