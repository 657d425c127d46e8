// Package minimax computes elementary functions to any precision and fits
// polynomials to them: the coefficients of package passes/math come from its
// command gen, and tests hold formulas against its functions.
//
// The fit is Remez's exchange algorithm (E. Y. Remez, 1934; as described in
// N. Brisebarre et al., Handbook of Floating-Point Arithmetic, 2nd ed., section
// 10.3) in math/big. Coefficients are rounded one at a time, lowest power first,
// each followed by a new fit of those that are left, which takes up its rounding;
// or all at once, where that leaves less.
//
// The package must stay free of the IR.
package minimax
