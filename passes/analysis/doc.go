// Package analysis computes what passes ask about a function: what is known of
// its integers at a place, what its values are used for. Analyses compute,
// passes edit: nothing here changes a module.
package analysis
