// Package scalar has the rows of the scalar ops: constants, casts, arithmetic,
// comparisons, select, and the terminators yield and return. What an op computes
// is package internal/num's matter; a row says its types, its traits and how it
// is staged.
//
// The package knows nothing of tensors or loops and imports no other op family.
package scalar
