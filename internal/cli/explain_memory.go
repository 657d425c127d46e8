package cli

import (
	"encoding/json"
	"strconv"
	"strings"

	"tenon/internal/diag"
	"tenon/internal/driver"
	"tenon/ir"
)

// shapeSizes reads NAME=N.
func shapeSizes(list []string) (map[string]int64, error) {
	sizes := map[string]int64{}
	for _, s := range list {
		name, value, ok := strings.Cut(s, "=")
		n, err := strconv.ParseInt(value, 10, 64)
		if !ok || err != nil || n < 0 {
			return nil, diag.Usagef("--shape %s: expected NAME=N, a dim and its size", s)
		}
		sizes[name] = n
	}
	return sizes, nil
}

// explainMemory tells where the buffers of m's functions lie.
func (a *app) explainMemory(m *ir.Module, fn string, shape []string, o driver.Options, asJSON bool) error {
	sizes, err := shapeSizes(shape)
	if err != nil {
		return err
	}
	all, err := driver.ExplainMemory(m, fn, sizes, o)
	if err != nil {
		return err
	}
	if asJSON {
		e := json.NewEncoder(a.out)
		e.SetIndent("", "  ")
		return e.Encode(all)
	}
	for _, x := range all {
		x.Write(a.out)
	}
	return nil
}
