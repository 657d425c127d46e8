// Package cpu turns procs of the loop level into LLVM modules with the C
// interface that users link against, and writes the C header.
//
// A proc becomes NAME.body, and around it the functions that C calls.
//
//   - NAME(args, error) and NAME_run(state, args, plan, workspace, error) go through
//     NAME.enter, which checks what the caller passed: null pointers, alignment,
//     sizes against declared dims and facts, products that overflow, arguments
//     that overlap. A tensor whose strides are not C order is copied in, and out
//     again, so that result bits never depend on strides.
//   - NAME_plan makes the same checks without the outputs and tells their shapes
//     and the size of the workspace (workspace.go).
//   - NAME_open maps const parameters from files (constants.go, npy.go).
//   - NAME.body works on dense arrays that do not alias, with the dims as
//     integers; a subscript that the facts at hand do not prove in range is
//     checked there, and any error leaves through one exit that frees all memory.
//   - NAME.partK is a part of an outermost parallel loop (parallel.go), run by the
//     caller's threads or those of OpenMP (threads.go).
//
// Arithmetic is exact unless the program allows more: a proc with the directive
// `contract` lets multiply and add fuse, a loop with the directive `reassoc`
// lets the folds of its carried values be regrouped.
//
// The package imports llvm only through codegen/llvm, and no passes.
package cpu
