// Package driver is what a command does behind its flags: it loads a program,
// binds the arrays of the command line to a function's parameters, runs the
// function in the interpreter or as compiled code, and delivers the results.
// Package tenon offers it to Go programs, package cli to the shell.
//
// By file: load.go reads programs; takes.go says what a function takes;
// inputs.go, sparse.go and quantised.go bind values to it; sizes.go finds the
// dims; interpret.go and native.go run; compile.go goes from a module to code;
// outputs.go, text.go and json.go deliver.
//
// The package knows no flags, no exit codes and no terminal.
package driver
