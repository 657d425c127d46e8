// Package math replaces elementary functions by formulas: straight-line scalar
// ops of the IR, without branches, tables or calls. LLVM vectorises loops that
// contain them, on every target, and the interpreter gives them the same bits.
//
// A formula is a row of the table in formulas.go: function, element type, and a
// builder. Polynomials come from package minimax, by its command gen.
//
// Formulas must survive `contract`, which lets a target fuse the product in
// a*b + c: no add, sub or neg in them takes a product. Where a product is part of
// a sum they say fma. A test holds every row to that.
//
// The package must stay free of targets and code generators.
package math
