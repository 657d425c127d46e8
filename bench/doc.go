// Bench measures what Tenon promises about speed and prints it as tables, each
// figure beside what bounds it: `make bench`.
//
// What is compared is measured in the same run, in turn: a round takes every
// contender of a row once, and a ratio is taken within a round, so that a clock
// that drifts or a busy machine touches both sides. A figure is the median of
// the rounds; the least and the greatest stand beside it. With one thread, time
// is processor time of the thread that works; with two, time on the wall.
//
// The bounds (native/kernels.c) are what the machine does with the same bytes:
// the C library's memcpy, a read of everything, chains of multiply-adds. The
// peers run in processes of their own over arrays of the same values: oneDNN
// (native/onednn.c) through its C interface with primitives made beforehand,
// and NumPy with preallocated results. Every row says which implementation a
// peer chose; one that left AVX-512 unused where the machine has it voids the
// comparison. A program whose results are not those of the interpreter, on rows
// drawn from the array that is timed, is an error and no figure.
//
// What is missing (a C compiler, a peer) is said and left out; what a row falls
// short of is listed at the end, with the known reason from reasons.go.
package main
