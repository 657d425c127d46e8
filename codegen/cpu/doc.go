// Package cpu turns procs of the loop level into LLVM modules with the C
// interface that users link against, and writes the C header.
//
// A proc becomes two functions. NAME(const struct NAME_args *, tenon_error *)
// checks what the caller passed: null pointers, sizes against declared dims and
// facts, products that overflow, arguments that overlap. A tensor whose strides
// are not C order is copied in, and out again, so that result bits never depend
// on strides. NAME.body then works on dense arrays that do not alias, with the
// dims as integers; a subscript that the facts at hand do not prove in range is
// checked there, and any error leaves through one exit that frees all memory.
//
// Arithmetic is exact unless the program allows more: a proc with the directive
// `contract` lets multiply and add fuse, a loop with the directive `reassoc`
// lets the folds of its carried values be regrouped.
//
// The package imports llvm only through codegen/llvm, and no passes.
package cpu
