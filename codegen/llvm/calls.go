package llvm

import (
	"github.com/llir/llvm/ir"
	"github.com/llir/llvm/ir/constant"
	"github.com/llir/llvm/ir/enum"
	lltypes "github.com/llir/llvm/ir/types"

	"tenon/internal/diag"
)

// AddParam gives f one more parameter while it is under construction, such as a
// value of the function around it that its body turns out to need. Calls of f
// must come later.
func (f *Func) AddParam(p Param) Value {
	q := ir.NewParam(p.Name, p.Type.register())
	q.Attrs = append(q.Attrs, paramAttrs(p)...)
	f.f.Params = append(f.f.Params, q)
	f.f.Sig.Params = append(f.f.Sig.Params, q.Type())
	v := Value{q, p.Type}
	f.params = append(f.params, v)
	return v
}

// Params are the parameters that f has so far.
func (f *Func) Params() []Value { return f.params }

// Addr is the address of f, to be called through. f must have all of its
// parameters.
func (f *Func) Addr() Value {
	return Value{constant.NewBitCast(f.f, lltypes.I8Ptr), Ptr}
}

// CallAt calls the function at an address with arguments of C types.
func (f *Func) CallAt(fn Value, result Type, args ...Value) Value {
	if fn.t != Ptr {
		diag.Bugf("%s: a call at a %v", f.Name(), fn.t)
	}
	var params []lltypes.Type
	for _, a := range args {
		params = append(params, a.t.register())
	}
	typed := f.cur.NewBitCast(fn.v, lltypes.NewPointer(lltypes.NewFunc(result.register(), params...)))
	return Value{f.cur.NewCall(typed, raw(args)...), result}
}

// IsConst reports whether v is a constant, the same in every function.
func (v Value) IsConst() bool {
	_, ok := v.v.(constant.Constant)
	return ok
}

// FetchAdd adds x to the integer at addr in one indivisible step and gives what
// was there before. It orders nothing else.
func (f *Func) FetchAdd(addr, x Value) Value {
	rmw := ir.NewAtomicRMW(enum.AtomicOpAdd, f.typed(addr, x.t), x.v, enum.AtomicOrderingMonotonic)
	f.cur.Insts = append(f.cur.Insts, rmw)
	return Value{rmw, x.t}
}
