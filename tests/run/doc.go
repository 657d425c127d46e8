// Package run compiles programs and holds what they compute against the
// interpreter: every function of a module, on drawn and on written inputs,
// within the bounds of interp.Compare. It runs on this processor at -O0 and -O3
// and on an AArch64 core with NEON and one with SVE, which QEMU plays; with
// TENON_CONFORMANCE (make conformance) also on every level of x86-64 that this
// processor has, and with SVE vectors of 16, 32 and 64 bytes.
//
// Arguments lie between guard pages, at their end or at their beginning, so
// that a read or a write outside a tensor is a crash and not luck; every other
// call gives them strides that are not C order, with gaps that must stay as
// they were.
//
// The corpus is the txtar files of this folder: a first line that says why the
// file exists, a program (prog.tn or prog.tnir), and what to call it with:
//
//	-- sizes --
//	f N=0 M=7                          // inputs drawn at these sizes
//	-- calls --
//	f x=[1, nan] n=3 -> [0, nan]       // written inputs, and results where given
//	f x=[1] g=[7] -> error index g     // what the compiled function returns
//
// A function that neither section names runs at small sizes that its facts
// allow. The package is for tests alone.
package run
