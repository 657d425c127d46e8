// Package prelude holds the functions that every Tenon program can call without
// an import, written in the Tenon language itself: users read them, and could
// have written them. It is text only; package tn parses and resolves it, and
// every front end may instantiate from it.
//
// The package imports nothing of Tenon's.
package prelude
