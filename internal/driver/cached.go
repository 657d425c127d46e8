package driver

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"strings"

	"tenon/internal/cache"
	"tenon/internal/debug"
	"tenon/internal/diag"
	"tenon/ir"
	rt "tenon/runtime"
	"tenon/targets"
)

// BuildCached is Build that looks for the library in a store first, and leaves
// it there. With debug flags that ask for files of the compilation it compiles.
func BuildCached(ctx context.Context, m *ir.Module, name string, o Options, store *cache.Store) (*Loaded, error) {
	if err := o.runsHere(); err != nil {
		return nil, err
	}
	key := ""
	if store != nil && debug.Flags.Keep == "" {
		var err error
		if key, err = programKey(m, name, o); err != nil {
			return nil, err
		}
	}
	if key == "" {
		return Build(ctx, m, name, o)
	}
	if so, ok := store.Get(key); ok {
		lib, err := rt.OpenBytes(so)
		if err != nil {
			return nil, err
		}
		names, _ := store.Get(cache.Key("prepares", key)) // gone: each run prepares, with the same result
		return &Loaded{lib: lib, prepares: strings.Fields(string(names))}, nil
	}
	code, err := Compile(m, name, o)
	if err != nil {
		return nil, err
	}
	so, err := code.Library(ctx)
	if err != nil {
		return nil, err
	}
	store.Put(key, so)
	if names := PreparingFuncs(code.Module); len(names) > 0 {
		store.Put(cache.Key("prepares", key), []byte(strings.Join(names, " ")))
	}
	lib, err := rt.OpenBytes(so)
	if err != nil {
		return nil, err
	}
	return &Loaded{lib, code, PreparingFuncs(code.Module)}, nil
}

// programKey names the library of m: a hash of all that it is made from. It is
// "" where something cannot be named: a constant kept in a file, or an
// unreadable compiler.
func programKey(m *ir.Module, name string, o Options) (string, error) {
	desc, err := o.machine()
	if err != nil {
		return "", err
	}
	fingerprint := cache.Fingerprint()
	if fingerprint == "" {
		return "", nil
	}
	for _, it := range m.Items {
		if d, ok := it.(*ir.Data); ok && d.File != "" {
			return "", nil
		}
	}
	machine, err := json.Marshal(desc)
	if err != nil {
		diag.Bugf("a machine description has no JSON: %v", err)
	}
	return cache.Key("library", Version, fingerprint, targets.Stamp(), runtime.GOOS+"/"+runtime.GOARCH,
		sourceName(m, name), fmt.Sprintf("%+v", o), string(machine), ir.Print(m, ir.WithLocations())), nil
}
