package driver

import (
	"context"
	"path/filepath"
	"runtime"
	"strings"
	"sync"

	"tenon/codegen/cpu"
	"tenon/codegen/ptx"
	"tenon/internal/diag"
	"tenon/ir"
	"tenon/passes/loop"
	"tenon/passes/pass"
	"tenon/targets"
)

// Options says how to compile.
type Options struct {
	Target string // family of machines: x86-64, aarch64, nvptx; "" is that of the host
	CPU    string // a machine of the family, or native; "" for the baseline
	Opt    int    // 0 to 3

	// Profile are the measured times to compile for: a name, a file, or "" for the
	// machine's own, see targets.FindProfile.
	Profile string

	NoOpenMP bool  // start no threads; a caller's parallel_for is still used
	PartOps  int64 // operations that are worth a thread, where they are not 0; else as the machine's description says
	// StreamBytes is the size from which on a buffer is written around the caches,
	// where it is not 0; else as the machine's description says.
	StreamBytes int64
	// Watch makes variants of choices countable and forceable, see Loaded.Choices.
	Watch bool
	// Sanitize checks every access while running, and fills fresh arrays with
	// what no program computes.
	Sanitize bool
}

// machine finds the machine to compile for.
func (o Options) machine() (*targets.Desc, error) {
	if o.Opt < 0 || o.Opt > 3 {
		return nil, diag.Usagef("-O%d: the levels are -O0 to -O3", o.Opt)
	}
	found, err := targets.Find(o.Target, o.CPU)
	if err != nil {
		return nil, err
	}
	desc := *found
	if desc.Profile, err = targets.FindProfile(o.Profile, found); err != nil {
		return nil, err
	}
	return &desc, nil
}

// runsHere refuses to load code that this machine cannot run.
func (o Options) runsHere() error {
	desc, err := o.machine()
	if err != nil {
		return err
	}
	if why := targets.CannotRun(desc); why != "" {
		what := "a library"
		if desc.GPU != nil {
			what = "PTX"
		}
		return diag.Usagef("code for %s does not run here: %s; make %s with tenon build", desc.Name, why, what)
	}
	return nil
}

// Artifact is a compiled program: its module at the vec level and its LLVM
// text, from which it gives the forms that a build can want. Equal programs and
// options give equal bytes.
type Artifact struct {
	Module *ir.Module // every function a proc of the vec level, for a GPU of the gpu level
	Name   string     // of the source
	llvm   []byte
	parts  [][]byte // the same text in several, for a library
	desc   *targets.Desc
	tools  *targets.Toolchain
	opt    int

	explicit bool // no loop is left to LLVM's vectoriser
}

// Compile takes m down to LLVM text. name is that of its file. The tools of
// LLVM are looked for first: without them nothing can follow.
func Compile(m *ir.Module, name string, o Options) (*Artifact, error) {
	desc, err := o.machine()
	if err != nil {
		return nil, err
	}
	tools, err := targets.FindToolchain()
	if err != nil {
		return nil, err
	}
	low, err := lowerForCode(m, desc, o.Watch)
	if err == nil && desc.GPU != nil {
		return compileGPU(low, sourceName(m, name), desc, tools, o)
	}
	if err == nil && o.Sanitize {
		err = (&pass.Manager{}).Run(low, pass.Of(loop.Sanitize))
	}
	if err != nil {
		return nil, err
	}
	a := &Artifact{Module: low, Name: sourceName(m, name), desc: desc, tools: tools, opt: o.Opt, explicit: cpu.Explicit(low)}
	text, err := cpu.Lower(low, desc, a.Name, cpu.Options{NoOpenMP: o.NoOpenMP, PartOps: o.PartOps, StreamBytes: o.StreamBytes})
	if err != nil {
		return nil, err
	}
	if a.explicit { // no pass of LLVM goes from function to function then
		a.parts = text.Parts()
	}
	a.llvm = text.Text()
	keep("module.ll", string(a.llvm))
	return a, nil
}

// compileGPU makes kernels of a module at the gpu level.
func compileGPU(low *ir.Module, name string, desc *targets.Desc, tools *targets.Toolchain, o Options) (*Artifact, error) {
	if o.Sanitize {
		return nil, diag.Usagef("--sanitize: kernels check their accesses already; leave it out for %s", desc.Name)
	}
	text, err := ptx.Lower(low, desc, name)
	if err != nil {
		return nil, err
	}
	a := &Artifact{Module: low, Name: name, desc: desc, tools: tools, opt: o.Opt, llvm: text.Text()}
	keep("module.ll", string(a.llvm))
	return a, nil
}

// sourceName is the name of the file that the user wrote: a module read back
// from its text has it in the locations of its functions, so that it gives the
// same bytes as the source.
func sourceName(m *ir.Module, file string) string {
	for _, f := range m.Funcs() {
		if p := f.Loc.First(); p.File != "" {
			return filepath.Base(p.File)
		}
	}
	return filepath.Base(file)
}

func (a *Artifact) compile(ctx context.Context, e targets.Emit) ([]byte, error) {
	return a.compileText(ctx, a.llvm, e)
}

func (a *Artifact) compileText(ctx context.Context, text []byte, e targets.Emit) ([]byte, error) {
	out, err := a.tools.Compile(ctx, text, targets.CompileOpts{Opt: a.opt, Emit: e, GPU: a.gpu(), Explicit: a.explicit})
	if err != nil && ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return out, err
}

// gpu is the machine if it is a GPU.
func (a *Artifact) gpu() *targets.Desc {
	if a.desc.GPU == nil {
		return nil
	}
	return a.desc
}

// Object is the relocatable object.
func (a *Artifact) Object(ctx context.Context) ([]byte, error) {
	return a.compile(ctx, targets.EmitObj)
}

// Assembly is the assembler text.
func (a *Artifact) Assembly(ctx context.Context) ([]byte, error) {
	return a.compile(ctx, targets.EmitAsm)
}

// LLVM is the LLVM text after LLVM's own passes.
func (a *Artifact) LLVM(ctx context.Context) ([]byte, error) {
	return a.compile(ctx, targets.EmitLLVM)
}

// Library is the shared library.
func (a *Artifact) Library(ctx context.Context) ([]byte, error) {
	objs, err := a.objects(ctx)
	if err != nil {
		return nil, err
	}
	out, err := a.tools.Link(ctx, a.desc, objs...)
	if err != nil && ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return out, err
}

// objects are those of a shared library: the parts of a large program are
// compiled side by side.
func (a *Artifact) objects(ctx context.Context) ([][]byte, error) {
	if len(a.parts) < 2 {
		obj, err := a.Object(ctx)
		return [][]byte{obj}, err
	}
	objs, errs := make([][]byte, len(a.parts)), make([]error, len(a.parts))
	var wait sync.WaitGroup
	free := make(chan struct{}, runtime.GOMAXPROCS(0))
	for i, text := range a.parts {
		wait.Go(func() {
			free <- struct{}{}
			defer func() { <-free }()
			objs[i], errs[i] = a.compileText(ctx, text, targets.EmitObj)
		})
	}
	wait.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return objs, nil
}

// Archive is the static library.
func (a *Artifact) Archive(ctx context.Context) ([]byte, error) {
	obj, err := a.Object(ctx)
	if err != nil {
		return nil, err
	}
	name := strings.TrimSuffix(a.Name, filepath.Ext(a.Name))
	return targets.Archive([]targets.Member{{Name: name[:min(len(name), 13)] + ".o", Data: obj}}), nil
}

// Header is the C header of the exported functions.
func (a *Artifact) Header() (string, error) {
	return cpu.Header(a.Module, strings.TrimSuffix(a.Name, filepath.Ext(a.Name)))
}

// Header is the C header of m's functions; it needs no LLVM.
func Header(m *ir.Module, name string) (string, error) {
	desc, err := targets.Find("", "")
	if err != nil {
		return "", err
	}
	low, err := lowerForCode(m, desc, false)
	if err != nil {
		return "", err
	}
	return (&Artifact{Module: low, Name: sourceName(m, name)}).Header()
}
