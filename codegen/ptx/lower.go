package ptx

import (
	"fmt"
	"strings"

	"tenon/codegen/llvm"
	"tenon/internal/diag"
	"tenon/internal/num"
	"tenon/ir"
	"tenon/ir/sym"
	"tenon/targets"
)

// Lower makes an LLVM module of the procs of m, all of them at the gpu level.
// What has no form on a GPU is the user's error; all of a module is told at
// once.
func Lower(m *ir.Module, desc *targets.Desc, name string) (*llvm.Module, error) {
	out := llvm.NewModule(name, desc)
	var faults diag.List
	for _, f := range m.Funcs() {
		if !f.IsProc || f.Level != ir.LevelGPU {
			diag.Bugf("%s is at level %s; kernels are made of procs of the gpu level", f.Name, f.Level)
		}
		if err := lowerProc(out, f); err != nil {
			faults = append(faults, err)
		}
	}
	if err := faults.Err(); err != nil {
		return nil, err
	}
	return out, nil
}

// Launches are the names of f's kernels, in the order in which they run.
func Launches(f *ir.Func) []string {
	n := 0
	for _, op := range f.Body.Ops {
		if op.Def.Name == "gpu.launch" {
			n++
		}
	}
	if n == 1 {
		return []string{f.Name}
	}
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("%s_%d", f.Name, i)
	}
	return names
}

// refusal carries a user's error out of the middle of a kernel.
type refusal struct{ err *diag.Error }

// refuse stops the proc at hand.
func refuse(loc ir.Loc, format string, args ...any) {
	panic(refusal{diag.Errorf(loc.First(), format, args...).WithFix("run it on a CPU, or with --interp")})
}

// lowerProc emits a kernel for each launch. What stands between launches is
// computed again in every kernel after it: it must be pure.
func lowerProc(out *llvm.Module, f *ir.Func) (fault *diag.Error) {
	defer func() {
		if r := recover(); r != nil {
			e, ok := r.(refusal)
			if !ok {
				panic(r)
			}
			fault = e.err
		}
	}()
	names := Launches(f)
	var before []*ir.Op
	for _, op := range f.Body.Ops {
		switch {
		case op.Def.Name == "gpu.launch":
			emitKernel(out, names[0], f, before, op)
			names = names[1:]
		case op.Def.Traits.Has(ir.Pure):
			before = append(before, op)
		case op.Def.Name != "return":
			refuse(op.Loc, "op %s outside a launch has no form on a GPU", op.Def.Name)
		}
	}
	return nil
}

// kernel is a launch under construction.
type kernel struct {
	*llvm.Func
	src    *ir.Func
	values map[*ir.Value]llvm.Value // scalars
	bufs   map[*ir.Value]*buffer
	names  map[string]llvm.Value // dims and indices in scope
	facts  *sym.Facts            // what holds at the current op
	shared int                   // arrays of shared memory so far
	report llvm.Value            // where a fault is told
}

func axes(op *ir.Op, kw string) []ir.Axis { return ir.GetClause[*ir.Axes](op, kw).List }

func emitKernel(out *llvm.Module, name string, f *ir.Func, before []*ir.Op, launch *ir.Op) {
	threads := int64(1)
	for _, a := range axes(launch, "threads") {
		n, _ := a.Extent.IsConst() // verified
		threads *= n
	}
	k := &kernel{Func: out.NewKernel(name, threads, parameters(f)...), src: f,
		values: map[*ir.Value]llvm.Value{}, bufs: map[*ir.Value]*buffer{}, names: map[string]llvm.Value{}, facts: sym.NewFacts()}
	k.bind()
	for _, d := range f.Directives {
		if d == "contract" {
			k.Flags = llvm.Contract
		}
	}
	external := len(out.Externals())
	for _, op := range before {
		k.op(op)
	}
	k.ids(axes(launch, "blocks"), k.Block())
	k.ids(axes(launch, "threads"), k.Thread())
	k.region(ir.GetClause[*ir.Block](launch, "").Region)
	k.Return(llvm.Value{})
	if names := out.Externals(); len(names) > external {
		refuse(launch.Loc, "%s calls the C library (%s), which is not on a GPU", f.Name, strings.Join(names, ", "))
	}
}

// parameters are those of a kernel: see the package's comment.
func parameters(f *ir.Func) (params []llvm.Param) {
	var scalars []llvm.Param
	for _, p := range f.Params {
		switch t := p.Value.Type.(type) {
		case ir.Scalar:
			scalars = append(scalars, llvm.Param{Name: p.Value.Name, Type: llvm.TypeOf(t.Elem)})
		case ir.Buf:
			if zero, isConst := t.Offset.IsConst(); t.Dist != nil || t.Space != "" || t.Strides != nil || !isConst || zero != 0 {
				refuse(f.Loc, "parameter %s of %s is not dense", p.Value.Name, f.Name)
			}
			params = append(params, llvm.Param{Name: p.Value.Name, Type: llvm.Ptr, NoAlias: true, Const: p.Mode == ir.ModeIn})
		default:
			refuse(f.Loc, "parameter %s of %s, %s, has no form on a GPU", p.Value.Name, f.Name, t)
		}
	}
	params = append(params, scalars...)
	for _, d := range f.Dims {
		params = append(params, llvm.Param{Name: "dim." + d, Type: llvm.TypeOf(num.Index)})
	}
	return append(params, llvm.Param{Name: "error", Type: llvm.Ptr, NoAlias: true})
}

// bind gives the proc's parameters and dims their values.
func (k *kernel) bind() {
	var tensors, scalars []*ir.Param
	for _, p := range k.src.Params {
		if _, ok := p.Value.Type.(ir.Scalar); ok {
			scalars = append(scalars, p)
		} else {
			tensors = append(tensors, p)
		}
	}
	for i, p := range scalars {
		k.values[p.Value] = k.Param(len(tensors) + i)
	}
	for i, d := range k.src.Dims {
		k.names[d] = k.Param(len(k.src.Params) + i)
		k.facts.Add(sym.Le(sym.Const(0), sym.Name(d)))
	}
	for _, w := range k.src.Where {
		k.facts.Add(w.Cond)
	}
	for i, p := range tensors {
		k.bufs[p.Value] = k.dense(p.Value.Type.(ir.Buf), k.Param(i), argNumber(k.src, p))
	}
	k.report = k.Param(len(k.src.Params) + len(k.src.Dims))
}

func argNumber(f *ir.Func, p *ir.Param) int {
	for i, q := range f.Params {
		if q == p {
			return i
		}
	}
	return -1
}

// ids splits a number into the indices of axes, the last one fastest.
func (k *kernel) ids(list []ir.Axis, number llvm.Value) {
	for i := len(list) - 1; i >= 0; i-- {
		a := list[i]
		k.names[a.Name] = number
		if i > 0 {
			extent := k.expr(a.Extent)
			k.names[a.Name] = k.Op("trem", number, extent)
			number = k.Op("tdiv", number, extent)
		}
	}
	for _, a := range list {
		k.facts.Add(sym.Le(sym.Const(0), sym.Name(a.Name)))
		k.facts.Add(sym.Lt(sym.Name(a.Name), a.Extent))
	}
}
