package llvm

import (
	"fmt"

	"github.com/llir/llvm/ir"
	"github.com/llir/llvm/ir/enum"
	"github.com/llir/llvm/ir/metadata"
	"github.com/llir/llvm/ir/value"

	"tenon/internal/diag"
	"tenon/internal/num"
)

// Func is a function under construction. Instructions go to the end of the
// current block; flow.go moves it.
type Func struct {
	m      *Module
	f      *ir.Func
	entry  *ir.Block // allocas only, so that no loop grows the stack
	cur    *ir.Block
	params []Value
	result Type
	blocks int
	lanes  int // of the vectors that emitters are at work on; 0: scalars

	place     *metadata.DISubprogram // nil while no source is known
	pos       diag.Pos
	locations map[diag.Pos]*metadata.DILocation // looked up only
	stamped   map[*ir.Block]int                 // instructions that have a place
	open      []*ir.Block                       // blocks that may get more instructions
	seen      int                               // blocks of f that were put into open

	// Flags apply to the float arithmetic emitted from now on.
	Flags Flags
}

// Flags allow what IEEE arithmetic forbids.
type Flags uint8

const (
	// Contract lets a multiply and an add become one fused operation.
	Contract Flags = 1 << iota
	// Reassoc lets sums and products be regrouped. Set it for the accumulation
	// of a reduction that the program allows to be re-associated, and only
	// there.
	Reassoc
)

func (fl Flags) list() []enum.FastMathFlag {
	var out []enum.FastMathFlag
	if fl&Reassoc != 0 {
		out = append(out, enum.FastMathFlagReassoc)
	}
	if fl&Contract != 0 {
		out = append(out, enum.FastMathFlagContract)
	}
	return out
}

// With emits what body emits under other flags.
func (f *Func) With(flags Flags, body func()) {
	old := f.Flags
	f.Flags = flags
	body()
	f.Flags = old
}

// Module is the module that f belongs to.
func (f *Func) Module() *Module { return f.m }

// NoInline keeps calls of f calls.
func (f *Func) NoInline() {
	f.f.FuncAttrs = append(f.f.FuncAttrs, enum.FuncAttrNoInline)
}

// Name is the function's name.
func (f *Func) Name() string { return f.f.Name() }

// Param is the i-th parameter.
func (f *Func) Param(i int) Value { return f.params[i] }

// Return ends the current block; v is the zero Value in a Void function.
func (f *Func) Return(v Value) {
	if f.Done() {
		diag.Bugf("%s: return in a block that has ended", f.Name())
	}
	if v.t != f.result {
		diag.Bugf("%s returns %v, not %v", f.Name(), f.result, v.t)
	}
	f.cur.NewRet(v.v)
}

// Done reports whether the current block has ended in a return or a jump.
func (f *Func) Done() bool { return f.cur.Term != nil }

// Call calls a function of this module.
func (f *Func) Call(callee *Func, args ...Value) Value {
	if len(args) != len(callee.params) {
		diag.Bugf("%s takes %d arguments, not %d", callee.Name(), len(callee.params), len(args))
	}
	for i, a := range args {
		if a.t != callee.params[i].t {
			diag.Bugf("argument %d of %s is %v, not %v", i, callee.Name(), callee.params[i].t, a.t)
		}
	}
	return Value{f.cur.NewCall(callee.f, raw(args)...), callee.result}
}

// CallC calls a function of a library by name, with the C types of the
// arguments and the result. f16 and bf16 travel as their bits, bool as i1 and
// so not at all.
func (f *Func) CallC(name string, result Type, args ...Value) Value {
	callee := f.m.declared[name]
	if callee == nil {
		callee = f.m.declare(name, result.register(), false)
		for _, a := range args {
			callee.Params = append(callee.Params, ir.NewParam("", a.t.register()))
			callee.Sig.Params = append(callee.Sig.Params, a.t.register())
		}
	}
	return Value{f.cur.NewCall(callee, raw(args)...), result}
}

func raw(vs []Value) []value.Value {
	out := make([]value.Value, len(vs))
	for i, v := range vs {
		out[i] = v.v
	}
	return out
}

// block starts a block whose label says what it is for.
func (f *Func) block(what string) *ir.Block {
	f.blocks++
	return f.f.NewBlock(fmt.Sprintf("%s.%d", what, f.blocks))
}

// want stops code generation where an operand has another type.
func (f *Func) want(what string, v Value, e num.Elem) {
	if v.t != TypeOf(e) {
		diag.Bugf("%s: %s is %v, not %v", f.Name(), what, v.t, e)
	}
}
