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
//
// # Where to look
//
// Parse, Print and Equal: parse*.go, print*.go, equal.go; what a kind of clause
// looks like, how it is read, written, copied and checked is one row of the table
// in clause_kind.go. Verify: verify*.go. Copies for inlining and the like
// (Mapping, CloneRegion, Builder.Inline): clone*.go. Built-in monoids, and the
// combination that follows from a rescaled one (Monoid.Derived): monoid.go. How
// a function's dims are bound and what is checked when it is entered (Entry):
// entry.go.
//
// # What programs mean
//
// The interpreter implements these rules and every backend agrees with it. Where
// they are silent, NumPy's answer holds. docs/semantics.md has them at length.
//
// Shapes: any dim may be 0 or 1. Sizes and offsets have 64 bits, and a product
// of sizes that overflows is an error. Outputs are written completely; a
// reduction over no point gives the identity of its monoid, unless the comp says
// `empty(..)`. Index arithmetic is checked where integers of the program wrap.
// What an op binds by `exists` is checked against the bounds written there.
//
// Floats follow IEEE; each op rounds once to its type. max and min give NaN if
// either operand is one. -0.0 and +0.0 are told apart: only x + -0.0 and
// x - +0.0 may become x, and x * 0.0 never becomes 0. In a func a multiply-add
// may be contracted and a reduction by an associative monoid re-associated; in a
// proc only a recognised reduction may be. Float to integer saturates, NaN gives
// 0.
//
// Integers wrap in two's complement. tdiv and trem truncate as C does; floordiv
// and mod floor. Dividing by 0 gives 0, and the least integer by -1 wraps.
//
// Sparse patterns are multigraphs: each stored entry is a point, duplicates
// included. Equal sizes do not make two patterns one.
//
// Loops run in order, and not at all where lo >= hi. loop.parallel says that any
// order gives the same. Buffers do not alias unless they are declared to, and
// the two sides of a copy do not overlap. The variants of a tile.choose mean the
// same; the interpreter runs all whose guards hold.
//
// Ranks: the result is that of one process, whatever their number. A rank reads
// what it owns or has in a fresh halo, writes what it owns, and joins every
// collective. Threads of a block touch no element in common between two barriers
// unless all of them read it.
//
// Nothing is defined by itself: calls, monoids, encodings and kernels form no
// cycles.
//
// Agreement: two evaluations agree if their floats lie within four times the
// bound of a shadow in higher precision, and everything else is equal; see
// interp.Compare. No test has another tolerance.
package ir
