package bench

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
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
	// limit sets how many threads calls from the thread at hand may use.
	limit(threads int)
	// release gives back what prepare has made.
	release()
	// prepare gives the ways in which the library computes the product, ready to
	// run over this memory; its weights are packed here, outside any timing.
	prepare(p *problem) ([]*way, error)
}

// way is one entry of a library, ready to run.
type way struct {
	name, note string
	isa        string // of its library
	run        func() bool
}

// problem is a product of given sizes in memory, for each batch entry one.
type problem struct {
	elem    num.Elem
	m, n, k int64
	a, b, c []matrix // one a batch entry
	constB  bool     // B is a constant: it may be packed beforehand
	adds    bool     // to what C holds
	base    []base   // what C held at first, where it adds
	threads int
}

// matrix is a part of an array: A is m by k, B k by n, C m by n. Strides are in
// elements; one of them is 1, unless an extent is.
type matrix struct {
	data     unsafe.Pointer
	row, col int64
}

// libraries are the peers by the name that --against takes, with the folders of
// `make bench-env` that may hold them.
var libraries = []struct {
	name, file string
	mark       string // what every file name of the library contains
	folders    []string
	open       func(handle uintptr, threads int) (peer, error)
}{
	{"openblas", "libscipy_openblas*.so", "openblas", []string{"openblas/lib/python3*/site-packages/scipy_openblas32/lib"}, openBLAS},
	{"onednn", "libdnnl.so", "dnnl", []string{"onednn-openmp/lib"}, openOneDNN},
	{"onednn-sycl", "libdnnl.so", "dnnl", []string{"onednn/lib"}, openOneDNN},
	{"mkl", "libmkl_rt.so*", "mkl_rt", []string{"mkl/lib"}, openMKL},
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
		handle, err := loadLibrary(path, threads)
		if err != nil {
			return nil, diag.Errorf(diag.Pos{}, "cannot load %s: %v", path, err)
		}
		return l.open(handle, threads)
	}
	return nil, diag.Usagef("--against %s: expected %s, or the path of such a library (lib..openblas.., libdnnl.., libmkl_rt..)", against, strings.Join(known, " or "))
}

// Loads tries to load a peer, and says why it cannot be compared with.
func Loads(against string) error {
	_, err := openPeer(against, 1)
	return err
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
// kernels: settings for other programs may name slower ones. What it needs and the
// system does not find is looked for beside it.
func loadLibrary(path string, threads int) (uintptr, error) {
	for _, name := range []string{"OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE", "OPENBLAS_VERBOSE", "ONEDNN_MAX_CPU_ISA", "DNNL_MAX_CPU_ISA", "MKL_CBWR", "MKL_ENABLE_INSTRUCTIONS"} {
		environment(name, "")
	}
	folder := filepath.Dir(path)
	n := strconv.Itoa(threads)
	for name, value := range map[string]string{ // in any order: they do not depend on each other
		"OCL_ICD_FILENAMES":      filepath.Join(folder, "libintelocl.so"), // the driver of builds on SYCL
		"DPCPP_CPU_NUM_CUS":      n,
		"MKL_THREADING_LAYER":    map[bool]string{true: "SEQUENTIAL", false: "GNU"}[threads == 1],
		"OPENBLAS_NUM_THREADS":   n,
		"ONEDNN_VERBOSE":         "0",
		"KMP_BLOCKTIME":          "0",
		"ONEAPI_DEVICE_SELECTOR": "opencl:cpu",
		"SYCL_CACHE_PERSISTENT":  "0",
		"MKL_DYNAMIC":            "FALSE",
	} {
		environment(name, value)
	}
	for _, name := range []string{"libOpenCL.so.1", "libintelocl.so"} { // opened later by name, of builds on SYCL
		if there := filepath.Join(folder, name); exists(there) {
			if _, err := loadWith(there, folder, most); err != nil {
				return 0, err
			}
		}
	}
	return loadWith(path, folder, most)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// most is how many libraries a library may need.
const most = 40

// loadWith loads path, and before it, where it is said to be missing, what it
// needs from a folder, at most so many libraries.
func loadWith(path, folder string, most int) (uintptr, error) {
	for {
		handle, err := purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_LOCAL)
		if err == nil {
			return handle, nil
		}
		missing, _, ok := strings.Cut(err.Error(), ": cannot open shared object file")
		if i := strings.LastIndexAny(missing, " /"); i >= 0 {
			missing = missing[i+1:]
		}
		there := filepath.Join(folder, missing)
		if most--; !ok || most < 0 || there == path {
			return 0, err
		}
		if _, fault := loadWith(there, folder, most); fault != nil {
			return 0, err
		}
	}
}

// environment sets a variable where C code sees it, "" takes it away.
func environment(name, value string) {
	key, text := append([]byte(name), 0), append([]byte(value), 0)
	if value == "" {
		os.Unsetenv(name)
		if unset, err := purego.Dlsym(purego.RTLD_DEFAULT, "unsetenv"); err == nil {
			purego.SyscallN(unset, uintptr(unsafe.Pointer(&key[0])))
		}
		return
	}
	os.Setenv(name, value)
	if set, err := purego.Dlsym(purego.RTLD_DEFAULT, "setenv"); err == nil {
		purego.SyscallN(set, uintptr(unsafe.Pointer(&key[0])), uintptr(unsafe.Pointer(&text[0])), 1)
	}
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
