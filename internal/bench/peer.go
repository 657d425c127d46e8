package bench

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unsafe"

	"github.com/ebitengine/purego"

	"tenon/internal/diag"
	"tenon/internal/num"
)

// peer is a loaded library that multiplies matrices.
type peer interface {
	name() string // with its version
	isa() string  // the instruction set or core type that it chose
	// prepare gives the ways in which the library computes the product, ready to
	// run over this memory; its weights are packed here, outside any timing.
	prepare(p *problem) ([]*way, error)
}

// way is one entry of a library, ready to run.
type way struct {
	name, note string
	run        func() bool
}

// problem is a product of given sizes in memory, for each batch entry one.
type problem struct {
	elem    num.Elem
	m, n, k int64
	a, b, c []matrix // one a batch entry
	constB  bool     // B is a constant: it may be packed beforehand
	threads int
}

// matrix is a part of an array: A is m by k, B k by n, C m by n. Strides are in
// elements; one of them is 1, unless an extent is.
type matrix struct {
	data     unsafe.Pointer
	row, col int64
}

// libraries are the peers by the name that --against takes, with the folders of
// `make bench-env` that may hold them, the best first.
var libraries = []struct {
	name, file string
	mark       string // what every file name of the library contains
	folders    []string
	open       func(handle uintptr, threads int) (peer, error)
}{
	{"openblas", "libscipy_openblas*.so", "openblas", []string{"openblas/lib/python3*/site-packages/scipy_openblas32/lib"}, openBLAS},
	{"onednn", "libdnnl.so", "dnnl", []string{"onednn-openmp/lib"}, openOneDNN},
}

// BenchEnv is the folder into which `make bench-env` puts peers.
func BenchEnv() string {
	if dir := os.Getenv("BENCH_ENV"); dir != "" {
		return dir
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(cache, "tenon", "bench")
}

// openPeer loads the library that --against names: openblas, onednn, or a path
// whose file name says which of them it is.
func openPeer(against string, threads int) (peer, error) {
	var known []string
	for _, l := range libraries {
		known = append(known, l.name)
		path := ""
		switch {
		case against == l.name:
			path = findLibrary(l.folders, l.file)
			if path == "" {
				return nil, &diag.MissingTool{Tool: l.name, Install: "make bench-env; or give the path of the library"}
			}
		case strings.ContainsRune(against, '/') && strings.Contains(filepath.Base(against), l.mark):
			path = against
		default:
			continue
		}
		handle, err := loadLibrary(path)
		if err != nil {
			return nil, diag.Errorf(diag.Pos{}, "cannot load %s: %v", path, err)
		}
		return l.open(handle, threads)
	}
	return nil, diag.Usagef("--against %s: expected %s, or the path of such a library (lib..openblas.., libdnnl..)", against, strings.Join(known, " or "))
}

func findLibrary(folders []string, file string) string {
	for _, f := range folders {
		found, _ := filepath.Glob(filepath.Join(BenchEnv(), f, file))
		slices.Sort(found)
		if len(found) > 0 {
			return found[len(found)-1]
		}
	}
	return ""
}

// loadLibrary loads with an environment that lets the library choose its own
// kernels: settings for other programs may name slower ones.
func loadLibrary(path string) (uintptr, error) {
	if unset, err := purego.Dlsym(purego.RTLD_DEFAULT, "unsetenv"); err == nil {
		for _, name := range []string{"OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE", "OPENBLAS_VERBOSE", "ONEDNN_MAX_CPU_ISA", "DNNL_MAX_CPU_ISA"} {
			text := append([]byte(name), 0)
			purego.SyscallN(unset, uintptr(unsafe.Pointer(&text[0])))
			os.Unsetenv(name)
		}
	}
	return purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_LOCAL)
}

// text reads a C string.
func text(p uintptr) string {
	if p == 0 {
		return ""
	}
	var out []byte
	for q := *(*unsafe.Pointer)(unsafe.Pointer(&p)); *(*byte)(q) != 0; q = unsafe.Add(q, 1) {
		out = append(out, *(*byte)(q))
	}
	return string(out)
}
