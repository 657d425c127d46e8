// Package lower holds the passes that take a program one level down: bufferise
// turns values into buffers (tensor to tile level), lower-comps turns
// comprehensions into loops (tile to loop level).
//
// They keep every bit: the loops take points and fold values in the order in
// which the comprehension's meaning takes them.
package lower
