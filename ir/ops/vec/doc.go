// Package vec registers the vec family: vectors and masks of a fixed number of
// lanes, in which the bodies of micro-kernels are written. There is one row for
// each instruction that targets have in common, and one for each dot-product or
// matrix instruction of a target, with its meaning lane by lane.
//
// Lanewise rows come from tables (lanewise.go, dot.go): a new instruction of a
// known kind is one line.
//
// The package must stay free of targets and passes.
package vec
