// Package num holds the element types and the arithmetic that programs mean:
// every float type rounded as IEEE asks, integers wrapping in two's
// complement, casts that saturate. The interpreter evaluates with it, constant
// folding folds with it, and tests compare compiled code against it.
//
// A scalar of any type travels as a Cell: floats as the bits of a float64 that
// holds the value exactly (f32, f16 and bf16 values are all exact in f64),
// integers and index sign- or zero-extended to int64, bool as 0 or 1.
//
//   - cell.go, round.go, cast.go: the representation, rounding, conversion
//   - encode.go, bulk.go, text.go: memory and text forms
//   - ops.go, binary.go, arg.go: the scalar ops by name, staged for a type
//   - dd.go, math64.go, trig.go: functions good to 1 ulp in f64
//   - shadow*.go: values with error bounds, and Agree, by which every target
//     and every pass is judged. No test sets a tolerance of its own.
//
// The ops come as constructors: the look-up by name happens once per op, the
// closure it returns runs once per element.
//
// The package imports nothing of Tenon's.
package num
