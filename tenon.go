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
// A fault of the program is a *diag.Error or a diag.List; ExitCode tells the
// kinds of errors apart. What is our own fault is a panic with a *diag.Bug,
// which Main catches.
package tenon

import (
	"context"

	"tenon/internal/cli"
	"tenon/internal/diag"
	"tenon/internal/driver"
	"tenon/ir"
)

// Version is the version of Tenon.
const Version = driver.Version

// Options says how to compile: for which machine, and how hard to try.
type Options = driver.Options

// Artifact is a compiled program; its methods give the object, the libraries,
// assembler and LLVM text, and the C header.
type Artifact = driver.Artifact

// Main runs the command line and returns its exit code.
func Main(args []string) int { return cli.Main(args) }

// Load reads and verifies the program at path, a .tn or .tnir file.
func Load(path string) (*ir.Module, error) { return driver.Load(path) }

// Parse reads and verifies a program from memory; name says by its extension
// which language it is in, and stands in messages.
func Parse(name, text string) (*ir.Module, error) { return driver.Parse(name, text) }

// Compile loads the program at path and compiles it. The context ends LLVM's
// tools; they run when the artifact is asked for a form.
func Compile(ctx context.Context, path string, o Options) (*Artifact, error) {
	m, err := Load(path)
	if err != nil {
		return nil, err
	}
	return CompileModule(ctx, m, path, o)
}

// CompileModule compiles a module; name is that of its source file.
func CompileModule(ctx context.Context, m *ir.Module, name string, o Options) (*Artifact, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return driver.Compile(m, name, o)
}

// ExitCode is the exit code of the command line for an error.
func ExitCode(err error) int { return diag.ExitCode(err) }
