// Package graph holds the passes that keep a function's level: inlining,
// canonicalisation, common subexpressions, dead code. They work at every level,
// on values as on buffers, asking rows for traits and effects.
package graph
