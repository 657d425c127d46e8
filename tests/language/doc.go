// Package language holds programs of the Tenon language, each spelled in several
// ways, against references in NumPy. Each testdata/*.txtar is a set of programs
// X.tn, X-2.tn, .. that mean the same, and refs.py with what they mean: a function
// X, and X_cases, the inputs to try. The test elaborates, verifies and runs every
// spelling in the interpreter and holds the results within its error bounds.
//
// The package has tests only; nothing imports it.
package language
