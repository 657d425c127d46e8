// Package rewrite holds identities of scalar ops as rows, each a pair of terms
// under a guard on the element type, and the driver that applies them and folds
// constants.
//
// A row is data: the test evaluates both its sides, for every value of the
// small types and at random for the others, so that a row that is wrong for NaN,
// for -0.0 or for the least integer does not pass. The result of a row is never
// larger than what it matches.
//
// The package must stay free of passes and of ops with regions: identities are
// over first-order terms.
package rewrite
