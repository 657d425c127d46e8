// Package fuzz generates random well-typed programs and runs them every way
// Tenon knows, which must all agree: the text form round-trips, the verifier
// accepts, the interpreter gives the same before and after each pass, and
// compiled code at -O0 and -O3 agrees with the interpreter.
//
// Programs of the language are written together with what they mean, as functions
// in Go, which is held against the front end and the interpreter; their canonical
// form must mean the same, and damaged copies must be refused at a place.
//
// A program follows from a category, a seed and a size alone; what fails is
// reported by these three. Programs are written as text, so that a program that
// does not parse or verify is a fault of the generator or of the compiler and
// never a crash of a builder. Maker tables say what can be generated; the op
// table says what should be: rows that no program used are counted.
//
// The package is test code: nothing imports it but its command.
package fuzz
