package conformance

import (
	"fmt"
	std "math"
	"os"
	"os/exec"
	"path/filepath"
	goruntime "runtime"
	"unsafe"

	"github.com/ebitengine/purego"

	"tenon/internal/num"
)

// reference compares with the C library's functions in a wider type, quickly.
type reference struct{ compare32, compare64 uintptr }

// loadReference compiles testdata/reference.c. An error says why it cannot.
func loadReference(dir string) (*reference, error) {
	so := filepath.Join(dir, "reference.so")
	out, err := exec.Command("cc", "-O2", "-shared", "-fPIC", "-o", so, "testdata/reference.c", "-lm").CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("cc: %w\n%s", err, out)
	}
	lib, err := purego.Dlopen(so, purego.RTLD_NOW|purego.RTLD_LOCAL)
	if err != nil {
		return nil, err
	}
	defer os.Remove(so)
	r := &reference{}
	if r.compare32, err = purego.Dlsym(lib, "compare32"); err == nil {
		r.compare64, err = purego.Dlsym(lib, "compare64")
	}
	return r, err
}

// call is struct call of reference.c.
type call struct {
	name      *byte
	x, y, got unsafe.Pointer
	n         int64
	worst     float64
	at        int64
}

// hold is the greatest distance of results from a function's values.
func (r *reference) hold(f function, p *points, got []byte) worst {
	name := append([]byte(f.name), 0)
	c := &call{name: &name[0], x: unsafe.Pointer(&p.args[0][0]), got: unsafe.Pointer(&got[0]), n: int64(p.n)}
	if len(p.args) == 2 {
		c.y = unsafe.Pointer(&p.args[1][0])
	}
	compare := r.compare64
	if p.e == num.F32 {
		compare = r.compare32
	}
	var pins goruntime.Pinner // C sees these
	defer pins.Unpin()
	pins.Pin(c)
	for _, at := range []any{c.name, &got[0], &p.args[0][0], &p.args[len(p.args)-1][0]} {
		pins.Pin(at)
	}
	known, _, _ := purego.SyscallN(compare, uintptr(unsafe.Pointer(c)))
	if int32(known) == 0 {
		return worst{ulps: std.NaN()}
	}
	return worst{c.worst, p.at(0, int(c.at)), p.second(int(c.at))}
}
