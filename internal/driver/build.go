package driver

import (
	"context"
	"io"
	"sort"
	"strings"

	"tenon/frontend/weights"
	"tenon/internal/diag"
	"tenon/ir"
)

// Kind is a form of output: how to make it of a program.
type Kind struct {
	Doc  string
	Ext  string // of a file that holds it
	Make func(ctx context.Context, m *ir.Module, name string, o Options) ([]byte, error)
}

// Kinds are the values of --emit beside the levels.
var Kinds = map[string]Kind{
	"so":     {"shared library", ".so", fromArtifact((*Artifact).Library)},
	"obj":    {"relocatable object", ".o", fromArtifact((*Artifact).Object)},
	"lib":    {"static library", ".a", fromArtifact((*Artifact).Archive)},
	"asm":    {"assembler text", ".s", fromArtifact((*Artifact).Assembly)},
	"ptx":    {"kernels for NVIDIA GPUs", ".ptx", fromArtifact((*Artifact).Assembly)},
	"llvm":   {"LLVM text", ".ll", fromArtifact((*Artifact).LLVM)},
	"header": {"C header", ".h", makeHeader},
	"ir":     {"the IR as the front end makes it", ".tnir", makeIR},
}

// laterKinds come with other targets.
var laterKinds = map[string]string{
	"c-mpi": "mpi", "exe": "mpi",
}

func fromArtifact(form func(*Artifact, context.Context) ([]byte, error)) func(context.Context, *ir.Module, string, Options) ([]byte, error) {
	return func(ctx context.Context, m *ir.Module, name string, o Options) ([]byte, error) {
		a, err := Compile(m, name, o)
		if err != nil {
			return nil, err
		}
		return form(a, ctx)
	}
}

func makeHeader(_ context.Context, m *ir.Module, name string, o Options) ([]byte, error) {
	if _, err := o.machine(); err != nil {
		return nil, err
	}
	h, err := Header(m, name)
	return []byte(h), err
}

func makeIR(_ context.Context, m *ir.Module, _ string, _ Options) ([]byte, error) {
	return []byte(ir.Print(m, ir.WithLocations())), nil
}

// KindOf is the kind that a file's extension says, "" if none.
func KindOf(file string) string {
	for name, k := range Kinds {
		if k.Ext != ".tnir" && strings.HasSuffix(file, k.Ext) {
			return name
		}
	}
	return ""
}

// gpuKinds are the kinds that a GPU has; CPUs have all others.
var gpuKinds = map[string]bool{"ptx": true, "llvm": true, "ir": true}

// fits refuses a kind that the machine has not.
func fits(kind string, o Options) error {
	desc, err := o.machine()
	switch {
	case err != nil:
		return err
	case desc.GPU != nil && !gpuKinds[kind]:
		return diag.Usagef("--emit=%s: %s gives ptx, llvm, ir, or a level", kind, desc.Name)
	case desc.GPU == nil && kind == "ptx":
		return diag.Usagef("--emit=ptx: %s is no GPU; add --target nvptx", desc.Name)
	}
	return nil
}

// Emit makes one form of m: a kind, or the text at a level.
func Emit(ctx context.Context, m *ir.Module, name, kind string, o Options) ([]byte, error) {
	if k, ok := Kinds[kind]; ok {
		if err := fits(kind, o); err != nil {
			return nil, err
		}
		return k.Make(ctx, m, name, o)
	}
	if target, ok := laterKinds[kind]; ok {
		return nil, diag.Usagef("--emit=%s: the target %s comes with a later version of Tenon", kind, target)
	}
	desc, err := o.machine()
	if err != nil {
		return nil, err
	}
	if ir.SpecOf(ir.Level(kind)) == nil {
		return nil, diag.Usagef("--emit=%s: expected %s, or a level that the program passes through: %s",
			kind, strings.Join(KindNames(), ", "), levelList(Levels(m, desc)))
	}
	if o.Sanitize {
		return nil, diag.Usagef("--emit=%s: the checks of --sanitize are put into code; tenon opt --passes=sanitize shows them", kind)
	}
	text, err := AtLevel(m, kind, desc)
	return []byte(text), err
}

// KindNames lists the kinds by name.
func KindNames() []string {
	var names []string
	for n := range Kinds {
		names = append(names, n)
	}
	sort.Strings(names)
	return names
}

// WriteFile writes data, whole or not at all; then, if not nil, runs before the
// file takes its name.
func WriteFile(path string, data []byte, then func() error) error {
	return weights.WriteWholeThen(path, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	}, then)
}
