package targets

import (
	"context"
	"debug/elf"
	"fmt"
	"os"
	"path/filepath"

	"tenon/internal/diag"
)

// Link makes a shared library of objects for d. libc and libm become needed
// libraries only if a symbol of theirs is used; a symbol that nobody defines is
// an error here, not at load time. The same objects give the same bytes: the
// temporary names do not enter the output.
func (t *Toolchain) Link(ctx context.Context, d *Desc, objects ...[]byte) ([]byte, error) {
	libs, err := systemLibs(d)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "tenon-link-")
	if err != nil {
		return nil, fmt.Errorf("no room for temporary files: %w", err)
	}
	defer os.RemoveAll(dir)
	out := filepath.Join(dir, "out.so")
	args := []string{"-shared", "--as-needed", "--build-id=none", "--hash-style=gnu", "--no-undefined",
		"-z", "noexecstack", "-z", "relro", "-z", "now", "-o", out}
	for i, o := range objects {
		path := filepath.Join(dir, fmt.Sprintf("%d.o", i))
		if err := os.WriteFile(path, o, 0o600); err != nil {
			return nil, fmt.Errorf("no room for temporary files: %w", err)
		}
		args = append(args, path)
	}
	var first []byte
	if len(objects) > 0 {
		first = objects[0]
	}
	if _, err := t.run(ctx, call{t.LLD, append(args, libs...), nil, first, ".o"}); err != nil {
		return nil, err
	}
	return os.ReadFile(out)
}

// libFolders are where Linux distributions keep the C library of a family.
var libFolders = map[string][]string{
	"x86-64":  {"/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/usr/x86_64-linux-gnu/lib", "/lib64", "/usr/lib64", "/usr/lib"},
	"aarch64": {"/lib/aarch64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/aarch64-linux-gnu/lib", "/lib64", "/usr/lib64", "/usr/lib"},
}

var libMachines = map[string]elf.Machine{"x86-64": elf.EM_X86_64, "aarch64": elf.EM_AARCH64}

var libPackages = map[string]string{"x86-64": "libc6-dev-amd64-cross", "aarch64": "libc6-dev-arm64-cross"}

// systemLibs finds libm and libc for d, to be named as needed libraries.
func systemLibs(d *Desc) ([]string, error) {
	var found []string
	for _, name := range []string{"libm.so.6", "libc.so.6"} {
		path := findLib(d.Family, name)
		if path == "" {
			return nil, &diag.MissingTool{Tool: name + " for " + d.Family, Install: "apt-get install " + libPackages[d.Family]}
		}
		found = append(found, path)
	}
	return found, nil
}

func findLib(family, name string) string {
	for _, dir := range libFolders[family] {
		path := filepath.Join(dir, name)
		f, err := elf.Open(path)
		if err != nil {
			continue
		}
		machine := f.Machine
		f.Close()
		if machine == libMachines[family] {
			return path
		}
	}
	return ""
}
