package conformance

import (
	"context"
	"fmt"
	"strings"

	"tenon/codegen/cpu"
	"tenon/internal/num"
	"tenon/ir"
	_ "tenon/ir/ops" // the rows of all ops
	"tenon/passes/graph"
	"tenon/passes/math"
	"tenon/passes/pass"
	"tenon/runtime"
	"tenon/targets"
)

// symbol names the procedure that maps a function over arrays.
func symbol(f function, e num.Elem) string { return fmt.Sprintf("map_%s_%v", f.name, e) }

// module has a procedure for every function on each of the types, with formulas
// or, without lowered, with the ops themselves. directives stand on each.
func module(elems []num.Elem, lowered bool, directives string) (*ir.Module, error) {
	var b strings.Builder
	b.WriteString("tenon ir 1\n")
	for _, f := range functions {
		for _, e := range elems {
			operands, params := "load(%x[i])", fmt.Sprintf("in %%x: buf<%v[N]>", e)
			if f.args == 2 {
				operands += ", load(%y[i])"
				params += fmt.Sprintf(", in %%y: buf<%v[N]>", e)
			}
			fmt.Fprintf(&b, "proc loop @%s<N>(%s, out %%r: buf<%v[N]>)%s {\n  loop.parallel i = 0 to N { store(%s(%s), %%r[i]) }\n  return() }\n",
				symbol(f, e), params, e, directives, f.name, operands)
		}
	}
	m, err := ir.Parse("conformance.tnir", b.String())
	if err != nil || !lowered {
		return m, err
	}
	g := &pass.Manager{}
	return m, g.Run(m, pass.Of(math.LowerMath, graph.Simplify))
}

// library is compiled code.
type library struct {
	lib  *runtime.Lib
	desc *targets.Desc
}

// build compiles a module for the machine that we run on.
func build(m *ir.Module) (*library, error) {
	tools, err := targets.FindToolchain()
	if err != nil {
		return nil, err
	}
	desc, err := targets.Native()
	if err != nil {
		return nil, err
	}
	code, err := cpu.Lower(m, desc, "conformance", cpu.Options{})
	if err != nil {
		return nil, err
	}
	ctx := context.Background()
	obj, err := tools.Compile(ctx, code.Text(), targets.CompileOpts{Opt: 3})
	if err != nil {
		return nil, err
	}
	so, err := tools.Link(ctx, desc, obj)
	if err != nil {
		return nil, err
	}
	lib, err := runtime.OpenBytes(so)
	return &library{lib, desc}, err
}

// call maps a function over arrays of type e, given as bytes.
func (l *library) call(f function, e num.Elem, r []byte, args ...[]byte) error {
	var native []runtime.Arg
	for _, data := range append(args[:len(args):len(args)], r) {
		native = append(native, &runtime.Tensor{Elem: e, Shape: []int64{int64(len(data) / e.Bytes())}, Data: data})
	}
	status, err := l.lib.Call(symbol(f, e), native)
	if err == nil && status.Code != runtime.OK {
		err = fmt.Errorf("%s returns %+v", symbol(f, e), status)
	}
	return err
}
