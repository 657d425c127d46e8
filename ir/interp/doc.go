// Package interp is the reference interpreter: the ir.Machine that runs what
// the op rows mean. It is the oracle: every pass is tested by running before
// and after, every target by running beside it.
//
// A function is staged once: each op's Eval gives a closure, frames hold all
// values in slots, and running allocates nothing but the arrays that the
// program makes. With Options.Shadow every scalar carries a shadow (package
// num), a higher-precision value and a bound on what a correct implementation
// may be off by; Compare holds a target's results against it. It is the only
// place that compares, so no test has a tolerance of its own.
//
// A user's fault while running is returned as a *Fault around a *diag.Error at
// the op's source line, with the code that compiled programs return; it is
// never a panic.
//
// The package knows no op by name. Of the op families it imports dist alone, for
// the layouts of what a distributed proc is given.
package interp
