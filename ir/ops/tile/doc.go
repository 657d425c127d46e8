// Package tile registers the tile family: loops over tiles of sizes known when
// running, packing, calls of micro-kernels, and tile.choose, the one construct
// behind every choice made while running.
//
// The meaning of tile.call is the kernel's own meaning, applied to the elements
// that the provider regions yield; which instructions do it is the body's
// matter. tile.choose runs every variant and requires that they agree.
//
// The package must stay free of targets and passes.
package tile
