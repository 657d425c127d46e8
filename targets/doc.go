// Package targets describes the machines that Tenon compiles for, as data: a
// pass or a code generator reads the numbers of a Desc and never asks for a
// target by name. It also finds and runs the LLVM 19 tools that turn the text
// of codegen/llvm into objects, libraries and assembly.
//
// The package must stay free of the IR, of passes and of code generators.
package targets
