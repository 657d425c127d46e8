// Package docs holds the pages of docs/ about the IR to what they describe: their
// modules are read, verified, printed and run, and their op tables are made from
// the rows.
//
// The package has tests only; `go test ./tests/docs -update` rewrites the tables.
package docs
