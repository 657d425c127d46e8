// Package loop registers the loop family: sequential and parallel loops,
// branches, memory, and element access by load and store, which print without
// the family's name.
//
// Sequential order is the meaning of a loop. loop.parallel states that its
// iterations may run in any order; running it checks that.
//
// The package must stay free of targets and passes.
package loop
