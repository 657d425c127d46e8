package cpu

import (
	"tenon/codegen/llvm"
	"tenon/internal/diag"
	"tenon/internal/num"
	"tenon/ir"
	"tenon/ir/ops/loop"
	"tenon/ir/sym"
)

// The body of a micro-kernel is no function that C calls: it gets the addresses
// of its views, its scalars, and its dims, strides among them:
//
//	NAME(data.., scalars, dims.., error) -> code
//
// It is emitted once and called for every tile. Its subscripts are not checked:
// the caller's views are, and a body keeps to them by its own tests.

// kernel is an emitted body.
type kernel struct {
	fn    *llvm.Func
	src   *ir.Func
	fails bool
}

// kernel emits the body f.
func (s *support) kernel(f *ir.Func, o Options) {
	o.Unchecked = true
	var params []llvm.Param
	for _, x := range f.Params {
		switch t := x.Value.Type.(type) {
		case ir.Buf:
			params = append(params, llvm.Param{Name: x.Value.Name + ".data", Type: llvm.Ptr, NoAlias: true, Const: x.Mode == ir.ModeIn})
		case ir.Scalar:
			params = append(params, llvm.Param{Name: x.Value.Name, Type: llvm.TypeOf(t.Elem)})
		default:
			diag.Bugf("body %s takes a %s", f.Name, t)
		}
	}
	for _, d := range f.Dims {
		params = append(params, llvm.Param{Name: "dim." + d, Type: index})
	}
	fn := s.m.NewInternal(f.Name, i32, append(params, llvm.Param{Name: "error", Type: llvm.Ptr, NoAlias: true})...)
	fn.NoInline()
	p := newProc(fn, s, f, nil, o)
	for i, d := range f.Dims {
		p.names[d] = p.Param(len(f.Params) + i)
		p.facts.Add(sym.Le(sym.Const(0), sym.Name(d)))
	}
	for i, x := range f.Params {
		if t, ok := x.Value.Type.(ir.Buf); ok {
			p.bufs[x.Value] = p.strided(t, p.Param(i))
		} else {
			p.values[x.Value] = p.Param(i)
		}
	}
	p.region(f.Body)
	fails := p.exit.Used()
	p.finish(p.Params()[len(p.Params())-1])
	s.kernels[f.Name] = &kernel{fn, f, fails}
}

// strided describes an array of type t, which may have strides of its own.
func (p *proc) strided(t ir.Buf, data llvm.Value) *buffer {
	b := p.dense(t, data, -1)
	for i, s := range t.Strides {
		b.strides[i] = p.expr(s)
	}
	return b
}

// lowerCall calls the body of a micro-kernel with views.
func lowerCall(p *proc, op *ir.Op) {
	k := p.shared.kernels[loop.Callee(op)]
	if k == nil {
		refuse(op)
	}
	var args []llvm.Value
	names := map[string]llvm.Value{}
	for i, a := range op.Args("") {
		switch t := k.src.Params[i].Value.Type.(type) {
		case ir.Buf:
			v := p.view(a)
			args = append(args, v.data)
			bindDims(names, t.Dims, v.dims)
			bindDims(names, t.Strides, v.strides)
		default:
			args = append(args, p.operand(a, ir.ElemOf(t)))
		}
	}
	for _, d := range k.src.Dims {
		v, ok := names[d]
		if !ok {
			diag.Bugf("call of %s: nothing says what %s is", k.src.Name, d)
		}
		args = append(args, v)
	}
	report := p.report()
	code := p.Call(k.fn, append(args, report)...)
	if k.fails {
		p.When(p.Op("ne", code, llvm.Int(num.I32, 0)), func() { p.Jump(p.exit, errorOf(p.Func, code, report)...) })
	}
}

// report is the address of the tenon_error: the last parameter of a body, the
// third of a part, which gets parameters after it.
func (p *proc) report() llvm.Value {
	if p.part != nil {
		return p.Param(2)
	}
	return p.Params()[len(p.Params())-1]
}

// bindDims binds the bare names among the dims or strides of a parameter.
func bindDims(names map[string]llvm.Value, of []sym.Expr, to []llvm.Value) {
	for i, e := range of {
		if n, bare := e.IsName(); bare && names[n] == (llvm.Value{}) {
			names[n] = to[i]
		}
	}
}
