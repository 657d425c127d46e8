package language

import (
	"errors"
	"strings"
	"testing"

	"tenon/frontend/tn"
	"tenon/internal/diag"
	"tenon/ir"
	"tenon/tests/run"
)

// TestNative holds compiled programs against the interpreter, with the inputs of
// the references: every spelling in a whole run, else the first of each.
func TestNative(t *testing.T) {
	python := numpy(t)
	dir := t.TempDir()
	unpack(t, dir)
	refs := references(t, python, dir)
	for name, files := range spellings(t, dir) {
		if !run.Whole() {
			files = files[:1]
		}
		for k, file := range files {
			t.Run(strings.TrimPrefix(file, dir+"/"), func(t *testing.T) {
				m, err := tn.Load(file)
				if err != nil {
					t.Fatal(err)
				}
				if compiled(m) {
					natively(t, m, refs[name], 3*(k+len(name)%2)%6)
				}
			})
		}
	}
}

// compiled reports that m has nothing that compiled code cannot do yet.
func compiled(m *ir.Module) bool {
	text := ir.Print(m)
	for _, word := range []string{"pattern<", " enc @", "tensor.nonzero"} {
		if strings.Contains(text, word) {
			return false
		}
	}
	return true
}

// natively compiles m at -O0 or -O3 and compares it with the interpreter.
func natively(t *testing.T, m *ir.Module, examples []example, opt int) {
	defer func() {
		if r := recover(); r != nil {
			t.Errorf("-O%d: %v", opt, r)
		}
	}()
	p, err := run.Build(m, opt)
	var missing *diag.MissingTool
	if errors.As(err, &missing) {
		t.Skipf("SKIPPED: compiled code is not tested: %v", err)
	}
	if err != nil {
		t.Fatalf("-O%d: %v", opt, err)
	}
	defer p.Close()
	f := entry(t, m)
	for i, ex := range examples {
		args := ex.args(t, f)
		ref, fault := run.Reference(m, f.Name, args)
		if _, err := p.Check(f.Name, args, ref, fault, run.Layout(i)); err != nil {
			t.Errorf("-O%d, %s: %v", opt, ex.sizes(), err)
		}
	}
}
