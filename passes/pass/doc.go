// Package pass is what a pass is and how passes are run: the registry, the
// options, and the manager that runs a list of passes over a module, verifies
// between them, times them, prints what changed, checks each against the
// interpreter, and names the pass and op in a crash.
//
// A pass is one exported value in one file:
//
//	var FoldConstants = pass.Register(&pass.Pass{Name: "fold-constants", Doc: "...", Run: run})
//
// The registry is the only state that exists before main. The order of passes
// is in package passes alone. This package must stay free of targets by name,
// code generators and front ends.
package pass
