// Package golden holds the text form of the IR against its golden files: each
// example of the form's documentation in the shorthand in which people write
// it, and the canonical text that it prints as. What the examples compute is
// tested here too where the interpreter's own tests leave a size out.
//
// The package has tests only; `go test ./tests/golden -update` rewrites the
// canonical texts.
package golden
