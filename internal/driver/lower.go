package driver

import (
	"fmt"

	"tenon/internal/diag"
	"tenon/ir"
)

// LowerTo takes a module down to a level.
func LowerTo(m *ir.Module, level ir.Level, o Options) (*ir.Module, error) {
	var faults diag.List
	for _, f := range m.Funcs() {
		if f.Level != level {
			faults = append(faults, diag.Errorf(f.Loc.First(), "%s is at the %s level, which has no native form", f.Name, f.Level).
				WithFix("run it with --interp"))
		}
	}
	if err := faults.Err(); err != nil {
		return nil, fmt.Errorf("%w", err)
	}
	return ir.Clone(m), nil
}
