package driver

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"tenon/frontend/weights"
	"tenon/internal/num"
	"tenon/ir"
	"tenon/ir/ops/loop"
	"tenon/runtime"
)

// PreparingFuncs are the functions of lowered code that compute something from
// their const parameters once, when they are opened.
func PreparingFuncs(m *ir.Module) (names []string) {
	for _, f := range m.Funcs() {
		if len(loop.Prepares(f)) > 0 && slices.ContainsFunc(f.Params, func(p *ir.Param) bool { return p.Const }) {
			names = append(names, f.Name)
		}
	}
	return names
}

// OpenState opens f, a function of lib, with the const ones of args, which
// begin with its parameters in order. They go by way of files, which are gone
// when it returns: mappings of them stay. names are those of args, for messages.
func OpenState(lib *runtime.Lib, f *ir.Func, args []runtime.Arg, names []string) (*runtime.State, error) {
	folder, err := os.MkdirTemp("", "tenon-const-*")
	if err != nil {
		return nil, fmt.Errorf("no room for temporary files: %w", err)
	}
	defer os.RemoveAll(folder)
	for i, p := range f.Params {
		if !p.Const {
			continue
		}
		if err := weights.WriteConst(filepath.Join(folder, p.Value.Name+".npy"), arrayOf(args[i])); err != nil {
			return nil, err
		}
	}
	state, status, err := lib.OpenState(f.Name, folder)
	if err == nil {
		err = status.Err(f.Name, names)
	}
	return state, err
}

// arrayOf is an argument of compiled code as an array.
func arrayOf(a runtime.Arg) *weights.Array {
	if s, ok := a.(runtime.Scalar); ok {
		raw := make([]byte, s.Elem.Bytes())
		num.Encode(s.Elem, s.Cell, raw)
		return weights.FromBytes(s.Elem, nil, raw)
	}
	t := a.(*runtime.Tensor)
	return weights.FromBytes(t.Elem, t.Shape, t.Data)
}
