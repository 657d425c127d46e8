// Package syntax is the concrete syntax of the Tenon language (.tn): lexer,
// grammar, syntax tree, parser and formatter. It knows what a program looks
// like and nothing of what it means: names are not resolved, types are not
// checked.
//
// The grammar is the participle tags on the structs of ast_*.go; expressions
// (expr.go), bodies (block.go) and tuples have productions written by hand,
// for precedence, for recovery after an error and for speed. The parser needs
// one token of look-ahead (two in four marked places), so its time is linear
// in the text. docs/language.md holds the same grammar for users; a test keeps
// the two equal.
//
// The package imports internal/diag alone of Tenon's packages, and must not
// import ir or anything above it.
package syntax
