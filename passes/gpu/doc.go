// Package gpu maps the loops of a proc to the blocks and threads of a GPU. What
// it knows of the machine is how many threads a block gets.
//
// The package must stay free of targets and code generation.
package gpu
