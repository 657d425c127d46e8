// Package cli is the command line: it turns flags into calls of package driver,
// and errors into messages and exit codes. A file holds a command, or a few
// small ones; root.go holds what they share.
//
// The package decides nothing about programs; what a command does stands in
// package driver, so that Go programs can do the same.
package cli
