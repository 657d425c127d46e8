package driver

import (
	"context"
	"path/filepath"

	"tenon/codegen/cpu"
	"tenon/internal/diag"
	"tenon/ir"
	"tenon/targets"
)

// Options says how to compile.
type Options struct {
	Target string // family of machines, x86-64 unless given
	CPU    string // a machine of the family, or native; "" for the baseline
	Opt    int    // 0 to 3
}

// Code is a module on its way to machine code: at the loop level, and as LLVM
// text.
type Code struct {
	Module *ir.Module // every function a proc of the loop level
	LLVM   []byte
	Name   string // of the source
	desc   *targets.Desc
	tools  *targets.Toolchain
	opt    int
}

// Generate takes m down to LLVM text. name is that of the source file. The
// tools of LLVM are looked for first: without them nothing can follow.
func Generate(m *ir.Module, name string, o Options) (*Code, error) {
	if o.Opt < 0 || o.Opt > 3 {
		return nil, diag.Usagef("-O%d: the levels are -O0 to -O3", o.Opt)
	}
	desc, err := targets.Find(o.Target, o.CPU)
	if err != nil {
		return nil, err
	}
	tools, err := targets.FindToolchain()
	if err != nil {
		return nil, err
	}
	low, err := LowerTo(m, ir.LevelLoop, o)
	if err != nil {
		return nil, err
	}
	text, err := cpu.Lower(low, desc, filepath.Base(name), cpu.Options{})
	if err != nil {
		return nil, err
	}
	return &Code{Module: low, LLVM: text.Text(), Name: name, desc: desc, tools: tools, opt: o.Opt}, nil
}

// Object is the relocatable object.
func (c *Code) Object(ctx context.Context) ([]byte, error) { return c.compile(ctx, targets.EmitObj) }

func (c *Code) compile(ctx context.Context, e targets.Emit) ([]byte, error) {
	out, err := c.tools.Compile(ctx, c.LLVM, targets.CompileOpts{Opt: c.opt, Emit: e})
	if err != nil && ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return out, err
}

// Library is the shared library.
func (c *Code) Library(ctx context.Context) ([]byte, error) {
	obj, err := c.Object(ctx)
	if err != nil {
		return nil, err
	}
	return c.tools.Link(ctx, c.desc, obj)
}

// Header is the C header of the exported functions.
func (c *Code) Header() (string, error) { return cpu.Header(c.Module, filepath.Base(c.Name)) }
