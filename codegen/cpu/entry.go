package cpu

import (
	"errors"

	"tenon/codegen/llvm"
	"tenon/internal/diag"
	"tenon/internal/num"
	"tenon/ir"
	"tenon/ir/sym"
)

// entry is the function that C calls, under construction.
type entry struct {
	*proc
	shared  *support
	plan    *ir.EntryPlan
	tensors []*tensorArg
	records llvm.Value
}

// tensorArg is a tensor as the caller described it.
type tensorArg struct {
	field  Field
	arg    int
	at     llvm.Value // address of its tenon_tensor
	record llvm.Value
}

// emitEntry emits NAME(args, error): read and check the arguments, make dense
// copies where strides ask for it, call the body, copy results back.
//
// A null error pointer is tolerated: its place is taken by a local one.
func emitEntry(out *llvm.Module, shared *support, f *ir.Func, fields []Field, body *llvm.Func) {
	plan, err := ir.Entry(f)
	if err != nil {
		panic(refusal{err})
	}
	fn := out.NewFunc(f.Name, i32, llvm.Param{Name: "args", Type: llvm.Ptr, Const: true}, llvm.Param{Name: "error", Type: llvm.Ptr})
	e := &entry{proc: newProc(fn, f, fields, Options{}), shared: shared, plan: plan}
	report := e.Select(e.IsNull(e.Param(1)), e.Alloca(12), e.Param(1))
	e.locate()
	if len(fields) > 0 {
		e.failWhen(e.IsNull(e.Param(0)), ir.TrapNull, -1, -1)
	}
	e.readArgs()
	e.checkSizes()
	e.checkOverlaps()
	e.densify()
	code := e.Call(body, append(e.bodyArgs(), report)...)
	e.When(e.Op("ne", code, llvm.Int(num.I32, 0)), func() {
		e.Jump(e.exit, code, e.Load(i32, e.Offset(report, 4)), e.Load(i32, e.Offset(report, 8)))
	})
	for _, t := range e.tensors {
		if t.field.Param.Mode != ir.ModeIn && t.field.Rank > 0 {
			e.Call(shared.restore(int64(t.field.Elem.Bytes())), t.at, t.rank(), t.record)
		}
	}
	e.finish(report)
}

func (t *tensorArg) rank() llvm.Value { return llvm.Index(int64(t.field.Rank)) }

// locate lays out the records, with no copy yet, so that the exit may be taken
// from anywhere.
func (e *entry) locate() {
	for i, x := range e.fields {
		if x.Tensor {
			e.tensors = append(e.tensors, &tensorArg{field: x, arg: i})
		}
	}
	if len(e.tensors) == 0 {
		return
	}
	e.records = e.Alloca(recordBytes * int64(len(e.tensors)))
	for i, t := range e.tensors {
		t.record = e.Offset(e.records, recordBytes*int64(i))
		e.Store(llvm.Null(), e.Offset(t.record, recCopy))
	}
	e.cleanup = func() { e.Call(e.shared.release(), e.records, llvm.Index(int64(len(e.tensors)))) }
}

// readArgs loads the argument struct and the extents, and binds the dims.
func (e *entry) readArgs() {
	tensors := e.tensors
	for _, x := range e.fields {
		at := e.Offset(e.Param(0), x.Offset)
		if !x.Tensor {
			e.values[x.Param.Value] = e.Load(llvm.TypeOf(x.Elem), at)
			continue
		}
		t := tensors[0]
		tensors, t.at = tensors[1:], at
		e.examine(t)
	}
	for _, s := range e.plan.Sources {
		t := e.tensorOf(s.Param)
		e.names[s.Name] = e.LoadElem(num.Index, address(e.Func, t.at, fieldShape), llvm.Index(int64(s.Dim)))
	}
	for _, b := range e.plan.Bindings {
		e.names[b.Dim] = e.expr(b.Value)
	}
}

func (e *entry) tensorOf(arg int) *tensorArg {
	for _, t := range e.tensors {
		if t.arg == arg {
			return t
		}
	}
	diag.Bugf("%s: parameter %d is no tensor", e.src.Name, arg)
	return nil
}

func (e *entry) examine(t *tensorArg) {
	written := int64(0)
	if t.field.Param.Mode != ir.ModeIn {
		written = 1
	}
	e.Store(llvm.Index(written), e.Offset(t.record, recWritten))
	e.Store(llvm.Index(int64(t.arg)), e.Offset(t.record, recArg))
	code := e.Call(e.shared.examine(), t.at, t.rank(), llvm.Index(int64(t.field.Elem.Bytes())), t.record)
	e.failIf(code, t.arg, func() llvm.Value { return e.Cast(word(e.Func, t.record, recDim), num.I32) })
}

// failIf leaves with a code that is not 0.
func (e *entry) failIf(code llvm.Value, arg int, dim func() llvm.Value) {
	e.When(e.Op("ne", code, llvm.Int(num.I32, 0)), func() {
		e.Jump(e.exit, code, llvm.Int(num.I32, int64(arg)), dim())
	})
}

// checkSizes compares every extent with its declaration, then the facts.
func (e *entry) checkSizes() {
	for _, c := range e.plan.Checks {
		switch {
		case c.Source < 0:
			e.require(c.Cond)
		default:
			e.failWhen(e.cond(c.Cond.Not()), ir.TrapShape, c.Param, c.Dim)
		}
	}
	for _, d := range e.src.Dims {
		e.facts.Add(sym.Le(sym.Const(0), sym.Name(d)))
	}
}

// checkOverlaps refuses a written tensor that shares memory with another.
func (e *entry) checkOverlaps() {
	written := false
	for _, t := range e.tensors {
		written = written || t.field.Param.Mode != ir.ModeIn
	}
	if !written || len(e.tensors) < 2 {
		return
	}
	arg := e.Call(e.shared.overlap(), e.records, llvm.Index(int64(len(e.tensors))))
	e.When(e.Op("ge", arg, llvm.Index(0)), func() {
		e.Jump(e.exit, code(ir.TrapAlias), e.Cast(arg, num.I32), llvm.Int(num.I32, -1))
	})
}

// densify finds or makes the dense arrays.
func (e *entry) densify() {
	for _, t := range e.tensors {
		if t.field.Rank == 0 { // in C order whatever its strides
			continue
		}
		fill := int64(1)
		if t.field.Param.Mode == ir.ModeOut {
			fill = 0
		}
		code := e.Call(e.shared.densify(int64(t.field.Elem.Bytes())), t.at, t.rank(), llvm.Index(fill), t.record)
		e.failIf(code, t.arg, func() llvm.Value { return llvm.Int(num.I32, -1) })
	}
}

// bodyArgs are the body's parameters but the last.
func (e *entry) bodyArgs() []llvm.Value {
	var args []llvm.Value
	tensors := e.tensors
	for _, x := range e.fields {
		switch {
		case !x.Tensor:
			args = append(args, e.values[x.Param.Value])
			continue
		case x.Rank == 0:
			args = append(args, address(e.Func, tensors[0].at, fieldData))
		default:
			args = append(args, address(e.Func, tensors[0].record, recDense))
		}
		tensors = tensors[1:]
	}
	for _, d := range e.src.Dims {
		args = append(args, e.names[d])
	}
	return args
}

// failure makes err the refusal of a proc.
func failure(err error) diag.List {
	var list diag.List
	var one *diag.Error
	switch {
	case errors.As(err, &list):
		return list
	case errors.As(err, &one):
		return diag.List{one}
	}
	diag.Bugf("a refusal is %v", err)
	return nil
}
