// Package loop holds the passes over loops and buffers at loop level: fusing
// loops that run over the same range, shrinking the buffers between them to
// what one iteration needs, and keeping in a register what is written and read
// at one place.
//
// A pass here proves what it does from the accesses of the loops; it knows no
// program, no target and no op but through its row's traits, effects and
// clauses. The package must stay free of code generation.
package loop
