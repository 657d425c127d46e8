// Package affine answers questions about subscripts: their linear form over a
// set of axes, the values they take over a box of axes, whether they stay in
// range, whether they are injective. It knows integers and names only, no ops;
// it imports ir/sym and nothing else of Tenon's.
//
// Answers are sound and may be incomplete: a "yes" holds for every value of the
// names that satisfies the facts, a "no" means only that no proof was found.
package affine
