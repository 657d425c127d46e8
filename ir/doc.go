// Package ir is Tenon's one intermediate representation: a module of functions,
// each at a level (tensor, tile, loop, vec, dist, gpu), made of ops that are
// rows of one table. It holds the containers (Module, Func, Op, Region, Value),
// the types, the text form with its parser and printer, the verifier, the
// builder, and the small interface (Machine) against which an op's row says what
// the op does when it runs.
//
// The ops themselves are in ir/ops/*, symbolic integers in ir/sym, integer maps
// in ir/affine, the machine that runs programs in ir/interp.
//
// The package must stay free of targets, passes and front ends.
package ir
