// Package passes says in which order passes run on the way down, and nothing
// else: pipeline.go reads as prose. The passes themselves are in the folders
// below, each one exported value in one file; importing this package registers
// them all.
//
// It must stay free of targets by name, code generators and front ends.
package passes
