// Package tests holds the tests of Tenon as a whole. By file: e2e_test.go runs
// the command line on the scripts in e2e and errors; numpy_test.go compares the
// examples with NumPy; layers_test.go holds the order of imports, style_test.go
// the house rules that a machine can check.
//
// A script is a txtar file; e2e_test.go says what it may hold. `go test ./tests
// -update` writes what the commands print into the scripts: read the difference
// before you commit it.
package tests
