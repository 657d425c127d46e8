// Package tenon is the Go interface of the Tenon compiler: it loads programs,
// compiles them, and is the whole command line to a driver of one's own:
//
//	package main
//
//	import (
//		"os"
//		"tenon"
//		_ "example.com/mypass" // registers a pass
//	)
//
//	func main() { os.Exit(tenon.Main(os.Args[1:])) }
//
// Errors are *diag.Error and diag.List for faults of a program, and of the other
// kinds of package internal/diag; ExitCode tells them apart. What is our own
// fault is a panic with a *diag.Bug, which Main catches.
package tenon

import (
	"tenon/internal/cli"
	"tenon/internal/diag"
	"tenon/internal/driver"
	"tenon/ir"
)

// Version is the version of Tenon.
const Version = driver.Version

// Main runs the command line and returns its exit code.
func Main(args []string) int { return cli.Main(args) }

// Load reads and verifies the program at path, a .tn or .tnir file.
func Load(path string) (*ir.Module, error) { return driver.Load(path) }

// ExitCode is the exit code of the command line for an error.
func ExitCode(err error) int { return diag.ExitCode(err) }
