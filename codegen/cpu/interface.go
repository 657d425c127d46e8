package cpu

import (
	"slices"

	"tenon/codegen/llvm"
	"tenon/internal/num"
	"tenon/ir"
)

// The functions that C calls, around NAME.enter. The one-call form gives it no
// plan and no workspace; the full form has a state, which holds the constants
// that were bound when it was opened, and a plan.

// exportsOf are the names that C calls a function by.
func exportsOf(name string) []string {
	return []string{name, name + "_open", name + "_plan", name + "_run", name + "_close"}
}

// The layout of struct NAME_plan; the shapes of what is written follow.
const (
	planWorkspace = 0  // bytes
	planFor       = 8  // the caller's parallel_for
	planPool      = 16 // its first argument
	planThreads   = 24 // an int32
	planShapes    = 32
)

// planned are the tensors whose shapes stand in the plan: those that the caller
// has to allocate.
func planned(fields []Field) (outs []Field) {
	for _, x := range fields {
		if x.Tensor && x.Param.Mode == ir.ModeOut && x.Rank > 0 {
			outs = append(outs, x)
		}
	}
	return outs
}

// boundedDims has a bit for each dim of x of which only a part is written.
func boundedDims(f *ir.Func, x Field) (mask int64) {
	for _, b := range ir.Bounds(f) {
		if f.Params[b.Param] == x.Param {
			mask |= 1 << b.Dim
		}
	}
	return mask
}

func emitInterface(out *llvm.Module, shared *support, f *ir.Func, fields []Field, enter, prepare *llvm.Func) {
	ptr := func(name string) llvm.Param { return llvm.Param{Name: name, Type: llvm.Ptr} }
	start := func(suffix string, params ...llvm.Param) *llvm.Func {
		fn := out.NewFunc(f.Name+suffix, i32, params...)
		fn.Source(f.Loc.First())
		return fn
	}
	once := start("", ptr("args"), ptr("error"))
	call := func(from *llvm.Func, args, plan, workspace, kept, report llvm.Value) {
		list := []llvm.Value{args, plan, workspace, kept, report}
		if prepare == nil {
			list = slices.Delete(list, 3, 4)
		}
		from.Return(from.Call(enter, list...))
	}
	call(once, once.Param(0), llvm.Null(), llvm.Null(), llvm.Null(), once.Param(1))

	run := start("_run", ptr("state"), ptr("args"), ptr("plan"), ptr("workspace"), ptr("error"))
	run.When(run.IsNull(run.Param(2)), func() {
		report(run, run.Param(4), code(ir.TrapNull), -1, -1)
		run.Return(code(ir.TrapNull))
	})
	args := withConstants(run, fields, run.Param(0), run.Param(1))
	call(run, args, run.Param(2), run.Param(3), keptBy(run, f, fields, run.Param(0)), run.Param(4))

	emitPlan(start("_plan", ptr("state"), ptr("args"), llvm.Param{Name: "threads", Type: i32}, ptr("plan"), ptr("error")), shared, f, fields)
	var ready *llvm.Func
	if keepsPrepared(f, fields) {
		ready = emitReady(out, shared, f, fields, prepare)
	}
	emitOpen(start("_open", ptr("weights"), ptr("state"), ptr("error")), shared, fields, ready)
	close := out.NewFunc(f.Name+"_close", llvm.Void, ptr("state"))
	close.Source(f.Loc.First())
	emitClose(close, fields, ready != nil)
}

// report fills in a tenon_error that may be null.
func report(f *llvm.Func, at, code llvm.Value, arg, dim int64) {
	f.When(f.Op("not", f.IsNull(at)), func() {
		f.Store(code, at)
		f.Store(llvm.Int(num.I32, arg), f.Offset(at, 4))
		f.Store(llvm.Int(num.I32, dim), f.Offset(at, 8))
	})
}

// emitPlan emits NAME_plan(state, args, threads, plan, error): the checks of a
// call without its outputs, then what a run needs.
func emitPlan(fn *llvm.Func, shared *support, f *ir.Func, fields []Field) {
	args := withConstants(fn, fields, fn.Param(0), fn.Param(1))
	e, report := newEntry(fn, shared, f, fields, args, true)
	plan := fn.Param(3)
	e.failWhen(e.IsNull(plan), ir.TrapNull, -1, -1)
	e.readArgs()
	e.checkSizes()
	fills := llvm.Int(num.Bool, 1)
	if keepsPrepared(f, fields) {
		fills = e.IsNull(fn.Param(0))
	}
	bytes := e.workspaceBytes(fills)
	e.Store(bytes, e.Offset(plan, planWorkspace))
	e.Store(llvm.Null(), e.Offset(plan, planFor))
	e.Store(llvm.Null(), e.Offset(plan, planPool))
	e.Store(e.Op("max", fn.Param(2), llvm.Int(num.I32, 0)), e.Offset(plan, planThreads))
	e.Store(llvm.Int(num.I32, 0), e.Offset(plan, planThreads+4))
	at := int64(planShapes)
	for _, x := range planned(fields) {
		for _, d := range x.Param.Value.Type.(ir.Buf).Dims {
			e.Store(e.expr(d), e.Offset(plan, at))
			at += 8
		}
		e.Store(llvm.Index(boundedDims(f, x)), e.Offset(plan, at))
		at += 8
	}
	e.finish(report)
}
