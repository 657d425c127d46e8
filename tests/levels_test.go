package tests

import (
	"bytes"
	"context"
	"path/filepath"
	"testing"

	"tenon"
	"tenon/internal/driver"
	"tenon/ir"
)

// Every dense example gives the same object from its text at each level that it
// passes through as from the source.
func TestLevelsGiveTheSameObject(t *testing.T) {
	needLLVM(t)
	files, _ := filepath.Glob("../examples/*/*.tn")
	built := 0
	for _, file := range files {
		m, err := tenon.Load(file)
		if err != nil {
			t.Fatal(err)
		}
		if interpretedOnly(m) {
			continue
		}
		built++
		want := object(t, m, file)
		for _, level := range driver.Levels(m) {
			text, err := driver.AtLevel(m, string(level))
			if err != nil {
				t.Fatalf("%s at %s: %v", file, level, err)
			}
			back, err := tenon.Parse("again.tnir", text)
			if err != nil {
				t.Fatalf("%s at %s does not read back: %v", file, level, err)
			}
			if !bytes.Equal(object(t, back, "again.tnir"), want) {
				t.Errorf("%s: the text at the %s level gives another object than the source", file, level)
			}
		}
	}
	if built < 8 {
		t.Errorf("only %d examples were built", built)
	}
}

// interpretedOnly: sparse and quantised parameters have no native form yet.
func interpretedOnly(m *ir.Module) bool {
	for _, f := range m.Funcs() {
		for _, p := range f.Params {
			if tt, ok := p.Value.Type.(ir.Tensor); ok && tt.Enc != nil {
				return true
			}
			if _, ok := p.Value.Type.(ir.Pattern); ok {
				return true
			}
		}
	}
	return false
}

func object(t *testing.T, m *ir.Module, name string) []byte {
	t.Helper()
	a, err := tenon.CompileModule(context.Background(), m, name, tenon.Options{Opt: 0})
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	obj, err := a.Object(context.Background())
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return obj
}
