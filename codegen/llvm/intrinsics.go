package llvm

import (
	lltypes "github.com/llir/llvm/ir/types"
	"github.com/llir/llvm/ir/value"

	"tenon/internal/diag"
	"tenon/internal/num"
)

// intrinsicArgs holds the number of operands of LLVM's overloaded float
// intrinsics that we use: all operands and the result have one type.
var intrinsicArgs = map[string]int{
	"sqrt": 1, "fabs": 1, "floor": 1, "ceil": 1, "trunc": 1, "roundeven": 1,
	"arithmetic.fence": 1, "maximum": 2, "minimum": 2, "copysign": 2, "fma": 3,
}

// intrinsic calls llvm.NAME at the operands' type.
func intrinsic(name string) emit {
	args, ok := intrinsicArgs[name]
	if !ok {
		diag.Bugf("intrinsic llvm.%s is not in the table", name)
	}
	return func(f *Func, _ num.Elem, a []value.Value) value.Value {
		t := a[0].Type()
		params := make([]lltypes.Type, args)
		for i := range params {
			params[i] = t
		}
		callee := f.m.declare("llvm."+name+"."+short(t), t, true, params...)
		return f.cur.NewCall(callee, a...)
	}
}

// Pin is v, of floats, as a value that LLVM knows nothing of: it is not made
// again where it is used, and no sum or product is folded into it. Floats of 16
// bits, which are in flight as integers, stay as they are.
func (f *Func) Pin(v Value) Value {
	if e := v.t.elem; e != num.F32 && e != num.F64 {
		return v
	}
	return Value{intrinsic("arithmetic.fence")(f, v.t.elem, []value.Value{v.v}), v.t}
}
