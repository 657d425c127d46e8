package targets

import (
	"bytes"
	"context"
	"debug/elf"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"tenon/internal/diag"
)

// Link makes a shared library of objects for d. libc, libm and the OpenMP runtime
// become needed libraries only if a symbol of theirs is used; a symbol that
// nobody defines is an error here, not at load time. A library that uses OpenMP
// stays loaded once it is: its idle threads outlive any call. The same objects give the same bytes: the
// temporary names do not enter the output.
func (t *Toolchain) Link(ctx context.Context, d *Desc, objects ...[]byte) ([]byte, error) {
	threaded := usesOpenMP(objects)
	libs, err := systemLibs(d, threaded)
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
	if threaded {
		args = append(args, "-z", "nodelete")
	}
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
	c := call{t.LLD, append(args, libs...), nil, first, ".o", ""}
	if _, err := t.run(ctx, c); err != nil {
		return nil, err
	}
	c.holds = elfMagic
	so, err := os.ReadFile(out)
	if err != nil {
		so = nil
	}
	return so, c.check(so)
}

// libFolders are where Linux distributions keep the C library of a family.
var libFolders = map[string][]string{
	"x86-64":  {"/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/usr/x86_64-linux-gnu/lib", "/lib64", "/usr/lib64", "/usr/lib"},
	"aarch64": {"/lib/aarch64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/aarch64-linux-gnu/lib", "/lib64", "/usr/lib64", "/usr/lib"},
}

var libMachines = map[string]elf.Machine{"x86-64": elf.EM_X86_64, "aarch64": elf.EM_AARCH64}

var libPackages = map[string]string{"x86-64": "libc6-dev-amd64-cross", "aarch64": "libc6-dev-arm64-cross"}

// openMP is GCC's OpenMP runtime; LLVM's has the same entries.
const openMP = "libgomp.so.1"

var openMPPackages = map[string]map[string]string{
	"x86-64":  {"amd64": "libgomp1", "": "libgomp1-amd64-cross"},
	"aarch64": {"arm64": "libgomp1", "": "libgomp1-arm64-cross"},
}

// usesOpenMP reports an object that starts threads.
func usesOpenMP(objects [][]byte) bool {
	for _, o := range objects {
		if bytes.Contains(o, []byte("\x00GOMP_parallel\x00")) { // in its table of names
			return true
		}
	}
	return false
}

// systemLibs finds libm, libc and, where it is used, the OpenMP runtime for d, to
// be named as needed libraries.
func systemLibs(d *Desc, threaded bool) ([]string, error) {
	var found []string
	names := []string{"libm.so.6", "libc.so.6"}
	if threaded {
		names = append(names, openMP)
	}
	for _, name := range names {
		path := findLib(d.Family, name)
		if path == "" {
			return nil, missingLib(d, name)
		}
		found = append(found, path)
	}
	return found, nil
}

func missingLib(d *Desc, name string) error {
	if name != openMP {
		return &diag.MissingTool{Tool: name + " for " + d.Family, Install: "apt-get install " + libPackages[d.Family]}
	}
	pkg := openMPPackages[d.Family][runtime.GOARCH]
	if pkg == "" {
		pkg = openMPPackages[d.Family][""]
	}
	return &diag.MissingTool{Tool: "the OpenMP runtime " + name + " for " + d.Family, Install: "apt-get install " + pkg + " (or do without: --threads none)"}
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
