// Package reduce makes a program that shows a fault as small as it can while
// the fault still shows, after Zeller and Hildebrandt, "Simplifying and
// Isolating Failure-Inducing Input" (IEEE Transactions on Software Engineering
// 28, 2002): parts of the program are left out, large groups of them first, and
// what no longer shows the fault is taken back.
//
// A part is an item, a result, a parameter, an op, a loop around ops. What used
// the result of an op that is left out uses another value instead: an operand
// of the op, a zero, or a new parameter. Candidates that do not verify are
// never checked, so that a check sees valid programs alone.
//
// The package knows nothing of the fault: the caller says whether it shows.
package reduce
