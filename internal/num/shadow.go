package num

// Shadow is what the interpreter carries beside a scalar to judge other
// implementations: the value Hi+Lo (Lo is 0 except in f64 programs, where the
// two are a double-double) and Err, an absolute bound on what a correct
// implementation in the program's type may be off by. Err is +Inf on a bool or
// integer that a comparison inside its bound decided.
type Shadow struct{ Hi, Lo, Err float64 }
