// Package tn is the front end of the Tenon language: it resolves names, infers
// index ranges, checks types and turns a syntax tree into a verified module, a
// fn into a func at tensor level and a proc into one at loop level.
//
// The steps, by file: program.go collects the declarations of a file, its
// imports and the prelude; types.go reads types and dims; fn.go does a function
// and its statements; ranges.go finds what an index runs over; expr.go and
// reduce.go turn expressions into scalar regions and comps; call.go expands
// calls; carry.go does bounded loops; proc.go does loop programs; monoid.go and
// quant.go make the module's monoids and encodings; dims.go keeps the equalities
// between dims that a program relies on.
//
// Generic functions (type parameters, dim packs), functions of the prelude and
// imported ones are expanded where they are called, so that a module holds the
// file's own functions alone.
//
// The package must stay free of passes, targets and code generation.
package tn
