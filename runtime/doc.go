// Package runtime loads compiled libraries and calls their functions with
// tensors: it packs the C argument block, keeps Go memory in place during the
// call, and turns the error that the function filled in into one that names the
// argument. What is compiled does not need this package; it is how the command
// line and tests run it.
//
// The package must stay free of front ends and passes.
package runtime
