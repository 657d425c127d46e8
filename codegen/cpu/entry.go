package cpu

import (
	"tenon/codegen/llvm"
	"tenon/internal/diag"
	"tenon/internal/num"
	"tenon/ir"
	"tenon/ir/sym"
)

// tensorArg is a tensor as the caller described it, in the entry function.
type tensorArg struct {
	*buffer
	field  Field
	bytes  llvm.Value // size of the dense array
	lo, hi llvm.Value // addresses that the caller's strides reach, hi exclusive
	strict llvm.Value // whether the caller's strides are those of C order
	dense  llvm.Value // address of the dense array: the caller's, or a copy
}

// emitEntry emits NAME(args, error): read and check the arguments, make dense
// copies where strides ask for it, call the body, copy results back.
//
// A null error pointer is tolerated: its place is taken by a local one.
func emitEntry(out *llvm.Module, f *ir.Func, fields []Field, body *llvm.Func) {
	fn := out.NewFunc(f.Name, i32, llvm.Param{Name: "args", Type: llvm.Ptr, Const: true}, llvm.Param{Name: "error", Type: llvm.Ptr})
	p := newProc(fn, f, fields, Options{})
	report := p.Select(p.IsNull(p.Param(1)), p.Alloca(12), p.Param(1))
	if len(fields) > 0 {
		p.failWhen(p.IsNull(p.Param(0)), ir.TrapNull, -1, -1)
	}
	tensors := p.readArgs()
	p.checkSizes(tensors)
	p.checkOverlaps(tensors)
	for _, t := range tensors {
		p.densify(t)
	}
	code := p.Call(body, append(p.bodyArgs(tensors), report)...)
	p.When(p.Op("ne", code, llvm.Int(num.I32, 0)), func() {
		dim := func(at int64) llvm.Value { return p.Load(i32, p.Offset(report, at)) }
		p.Jump(p.exit, code, dim(4), dim(8))
	})
	for _, t := range tensors {
		p.copyBack(t)
	}
	p.finish(report)
}

// readArgs loads the argument struct and binds the dims that stand alone in a
// shape. A missing shape, or a missing array that has elements, is TENON_NULL.
func (p *proc) readArgs() []*tensorArg {
	var tensors []*tensorArg
	for i, x := range p.fields {
		at := p.Offset(p.Param(0), x.Offset)
		if !x.Tensor {
			p.values[x.Param.Value] = p.Load(llvm.TypeOf(x.Elem), at)
			continue
		}
		t := &tensorArg{field: x, buffer: &buffer{typ: x.Param.Value.Type.(ir.Buf), arg: i}}
		t.data = p.Load(llvm.Ptr, at)
		p.readShape(t, at)
		tensors = append(tensors, t)
	}
	for _, d := range p.src.Dims {
		if !p.names[d].IsValid() {
			panic(refusal{diag.Errorf(p.src.Loc.First(), "size %s of %s is not a dim of any parameter, so it cannot be found when %s is called", d, p.src.Name, p.src.Name).
				WithFix("pass it as an index parameter")})
		}
	}
	return tensors
}

func (p *proc) readShape(t *tensorArg, at llvm.Value) {
	shape, strides := p.Load(llvm.Ptr, p.Offset(at, 8)), p.Load(llvm.Ptr, p.Offset(at, 16))
	if t.field.Rank > 0 {
		p.failWhen(p.IsNull(shape), ir.TrapNull, t.arg, -1)
	}
	for d, e := range t.typ.Dims {
		n := p.LoadElem(num.Index, shape, llvm.Index(int64(d)))
		t.dims = append(t.dims, n)
		if name, ok := e.IsName(); ok && !p.names[name].IsValid() {
			p.names[name] = n
		}
	}
	t.bytes = p.checkedBytes(t.dims, t.typ.Elem, t.arg)
	missing := p.Op("and", p.IsNull(t.data), p.Op("gt", t.bytes, llvm.Index(0)))
	p.failWhen(missing, ir.TrapNull, t.arg, -1)
	dense := p.cStrides(t.dims)
	for d := range t.dims {
		given := p.If(p.IsNull(strides),
			func() []llvm.Value { return []llvm.Value{dense[d]} },
			func() []llvm.Value { return []llvm.Value{p.LoadElem(num.Index, strides, llvm.Index(int64(d)))} })
		t.strides = append(t.strides, given[0])
	}
	p.reach(t, dense)
}

// reach finds out whether the strides are those of C order (those of dims
// below 2 do not matter, nor does any in an empty array), and which bytes they
// reach, negative strides included.
func (p *proc) reach(t *tensorArg, dense []llvm.Value) {
	e := int64(t.typ.Elem.Bytes())
	t.strict, t.lo = llvm.Int(num.Bool, 1), p.PtrInt(t.data)
	t.hi = p.Op("add", t.lo, llvm.Index(e))
	for d, n := range t.dims {
		same := p.Op("or", p.Op("eq", t.strides[d], dense[d]), p.Op("lt", n, llvm.Index(2)))
		t.strict = p.Op("and", t.strict, same)
		span := p.Op("mul", p.Op("mul", p.Op("sub", n, llvm.Index(1)), t.strides[d]), llvm.Index(e))
		t.lo = p.Op("add", t.lo, p.Op("min", span, llvm.Index(0)))
		t.hi = p.Op("add", t.hi, p.Op("max", span, llvm.Index(0)))
	}
	t.strict = p.Op("or", t.strict, p.isEmpty(t))
}

func (p *proc) isEmpty(t *tensorArg) llvm.Value { return p.Op("eq", t.bytes, llvm.Index(0)) }

// checkSizes compares every dim with its declaration, then the declared facts.
func (p *proc) checkSizes(tensors []*tensorArg) {
	for _, d := range p.src.Dims {
		p.facts.Add(sym.Le(sym.Const(0), sym.Name(d)))
	}
	for _, t := range tensors {
		for d, e := range t.typ.Dims {
			p.failWhen(p.Op("ne", t.dims[d], p.expr(e)), ir.TrapShape, t.arg, d)
		}
	}
	for _, w := range p.src.Where {
		if w.Provenance == ir.Declared {
			p.require(w.Cond)
		}
	}
}

// checkOverlaps refuses a written tensor that shares memory with another.
func (p *proc) checkOverlaps(tensors []*tensorArg) {
	for i, a := range tensors {
		for _, b := range tensors[i+1:] {
			if a.field.Param.Mode == ir.ModeIn && b.field.Param.Mode == ir.ModeIn {
				continue
			}
			meet := p.Op("and", p.Op("lt", a.lo, b.hi), p.Op("lt", b.lo, a.hi))
			some := p.Op("not", p.Op("or", p.isEmpty(a), p.isEmpty(b)))
			p.failWhen(p.Op("and", meet, some), ir.TrapAlias, b.arg, -1)
		}
	}
}

// densify sets t.dense: the caller's array, or a copy in C order.
func (p *proc) densify(t *tensorArg) {
	slot := p.slot()
	t.dense = p.If(t.strict,
		func() []llvm.Value { return []llvm.Value{t.data} },
		func() []llvm.Value {
			room := p.Malloc(t.bytes)
			p.failWhen(p.IsNull(room), ir.TrapMemory, t.arg, -1)
			p.Store(room, slot)
			if t.field.Param.Mode != ir.ModeOut {
				p.copyLoops(t.buffer, p.inOrder(t, room), nil)
			}
			return []llvm.Value{room}
		})[0]
}

// inOrder is t's array in C order at another address.
func (p *proc) inOrder(t *tensorArg, data llvm.Value) *buffer {
	return &buffer{typ: t.typ, data: data, dims: t.dims, strides: p.cStrides(t.dims), arg: t.arg}
}

func (p *proc) copyBack(t *tensorArg) {
	if t.field.Param.Mode == ir.ModeIn {
		return
	}
	p.When(p.Op("not", t.strict), func() { p.copyLoops(p.inOrder(t, t.dense), t.buffer, nil) })
}

// bodyArgs are the body's parameters but the last.
func (p *proc) bodyArgs(tensors []*tensorArg) []llvm.Value {
	var args []llvm.Value
	for _, x := range p.fields {
		if x.Tensor {
			args = append(args, tensors[0].dense)
			tensors = tensors[1:]
		} else {
			args = append(args, p.values[x.Param.Value])
		}
	}
	for _, d := range p.src.Dims {
		args = append(args, p.names[d])
	}
	return args
}
