package targets

import "context"

// Emit is what Compile returns.
type Emit int

// The kinds of output: a relocatable object, assembly (PTX for a GPU), or LLVM
// text after optimisation.
const (
	EmitObj Emit = iota
	EmitAsm
	EmitLLVM
)

// CompileOpts says how to compile a module.
type CompileOpts struct {
	Opt  int // 0 to 3
	Emit Emit
	// Explicit says that the module's innermost loops are written with vectors.
	// Then opt only cleans up: its loop passes would unroll the loops and make
	// vectors of what is left over, which took four times as long and made code
	// half as long again that was no faster.
	Explicit bool
	// GPU is the machine of a module for a GPU, nil for a CPU: llc takes it from
	// no attribute of the functions, as it does for CPUs.
	GPU *Desc
}

// cleanup is what opt does for loops of vectors: values out of memory, once and
// outside of loops where they can be.
const cleanup = "-passes=function(sroa,early-cse,instcombine<no-verify-fixpoint>,simplifycfg,loop-mssa(licm),gvn,instcombine<no-verify-fixpoint>,simplifycfg)"

// levels holds the flags by optimisation level. opt -O3 made no faster code
// than -O2 in our measurements, so 3 differs from 2 in llc alone. Loop strength
// reduction turns constant strides into dozens of pointers that spill; loops
// run up to 1.7 times as fast without it.
var levels = [4]struct{ opt, llc []string }{
	{nil, []string{"-O0"}},
	{[]string{"-O1"}, []string{"-O1"}},
	{[]string{"-O2"}, []string{"-O2", "-disable-lsr"}},
	{[]string{"-O2"}, []string{"-O3", "-disable-lsr"}},
}

// Compile turns the text of an LLVM module into an object, assembly or
// optimised text. The same text gives the same bytes anywhere: the tools read
// and write pipes, so no path enters the output.
func (t *Toolchain) Compile(ctx context.Context, ll []byte, o CompileOpts) ([]byte, error) {
	flags := levels[max(0, min(o.Opt, 3))]
	code := ll
	if o.Emit == EmitLLVM || flags.opt != nil {
		out, err := t.optimise(ctx, ll, flags.opt, o)
		if err != nil || o.Emit == EmitLLVM {
			return out, err
		}
		code = out
	}
	kind, holds := "-filetype=obj", elfMagic
	if o.Emit == EmitAsm {
		kind, holds = "-filetype=asm", asmMark
	}
	args := append([]string{}, flags.llc...)
	if o.GPU != nil {
		args = append(args, "-mcpu="+o.GPU.CPU, "-mattr="+o.GPU.FeatureString())
	}
	args = append(args, "-relocation-model=pic", kind, "-o", "-", "-")
	return t.run(ctx, call{t.LLC, args, code, ll, ".ll", holds})
}

func (t *Toolchain) optimise(ctx context.Context, ll []byte, flags []string, o CompileOpts) ([]byte, error) {
	args := append([]string{}, flags...)
	switch {
	case flags == nil:
		args = []string{"-passes=verify"}
	case o.Explicit:
		args = []string{cleanup}
	}
	holds := bitcodeMagic
	if o.Emit == EmitLLVM {
		args, holds = append(args, "-S"), moduleMark
	}
	return t.run(ctx, call{t.Opt, append(args, "-o", "-", "-"), ll, ll, ".ll", holds})
}
