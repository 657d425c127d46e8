// Package raise finds in loop nests what comprehensions say directly, and puts
// buffer-form comprehensions in their place, so that a product written as loops
// is decomposed as one written in index notation.
//
// It knows sums of products by their accesses alone: neither the order of the
// loops nor any name enters. Whole procs are never turned into values. The
// package must stay free of targets and of how a comprehension is run later.
package raise
