package runtime

import (
	"encoding/binary"
	"fmt"
	"os"
	goruntime "runtime"
	"unsafe"

	"github.com/ebitengine/purego"

	"tenon/internal/diag"
	"tenon/internal/num"
)

// Lib is a loaded library.
type Lib struct {
	path   string
	handle uintptr
}

// Open loads a compiled library.
func Open(path string) (*Lib, error) {
	if _, err := os.Stat(path); err != nil {
		return nil, diag.Errorf(diag.Pos{}, "cannot load the library: %v", err)
	}
	handle, err := purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_LOCAL)
	if err != nil {
		return nil, diag.Errorf(diag.Pos{}, "cannot load the library %s: %v", path, err)
	}
	return &Lib{path, handle}, nil
}

// OpenBytes loads a compiled library that was just built. The file that the
// loader needs is gone again when OpenBytes returns.
func OpenBytes(so []byte) (*Lib, error) {
	f, err := os.CreateTemp("", "tenon-*.so")
	if err != nil {
		return nil, fmt.Errorf("no room for temporary files: %w", err)
	}
	defer os.Remove(f.Name())
	_, err = f.Write(so)
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return nil, fmt.Errorf("no room for temporary files: %w", err)
	}
	return Open(f.Name())
}

// Close unloads the library; no function of it may be running.
func (l *Lib) Close() error { return purego.Dlclose(l.handle) }

// Has reports whether the library exports a function.
func (l *Lib) Has(name string) bool {
	_, err := purego.Dlsym(l.handle, name)
	return err == nil
}

// Scalar is an argument that travels by value.
type Scalar struct {
	Elem num.Elem
	Cell num.Cell
}

// Arg is a *Tensor or a Scalar; for Plan also an Output.
type Arg interface{ pack(b *block) }

// Call calls int NAME(const struct NAME_args *, tenon_error *) with the
// parameters and then the results in the order of the declaration. Outputs are
// written in place. The error is ours or the library's; what the function found
// wrong with its arguments is in the Status.
func (l *Lib) Call(name string, args []Arg) (Status, error) {
	fn, err := purego.Dlsym(l.handle, name)
	if err != nil {
		return Status{}, diag.Errorf(diag.Pos{}, "the library %s has no function %s", l.path, name)
	}
	return callAt(fn, args), nil
}

func callAt(fn uintptr, args []Arg) Status {
	var c frame
	defer c.end()
	c.begin(args)
	code, _, _ := purego.SyscallN(fn, c.args(), c.report())
	goruntime.KeepAlive(args)
	return c.status(code)
}

// block is a C struct under construction: fields in order, each at a multiple
// of its alignment.
type block struct {
	bytes []byte
	pins  goruntime.Pinner
}

func (b *block) align(n int) {
	for len(b.bytes)%n != 0 {
		b.bytes = append(b.bytes, 0)
	}
}

func (b *block) pointer(p unsafe.Pointer) {
	b.bytes = binary.NativeEndian.AppendUint64(b.bytes, uint64(uintptr(p)))
}

// empty is what an empty array points to: it is no null pointer.
var empty [8]int64

func (b *block) int64s(s []int64) {
	if len(s) == 0 {
		b.pointer(unsafe.Pointer(&empty))
		return
	}
	b.pins.Pin(&s[0])
	b.pointer(unsafe.Pointer(&s[0]))
}

func (t *Tensor) pack(b *block) {
	b.align(8)
	if len(t.Data) == 0 {
		b.pointer(unsafe.Pointer(&empty))
	} else {
		b.pins.Pin(&t.Data[0])
		b.pointer(unsafe.Pointer(&t.Data[0]))
	}
	b.int64s(t.Shape)
	if t.Strides == nil {
		b.pointer(nil)
	} else {
		b.int64s(t.Strides)
	}
}

func (s Scalar) pack(b *block) {
	n := s.Elem.Bytes()
	b.align(n)
	var raw [8]byte
	num.Encode(s.Elem, s.Cell, raw[:n])
	b.bytes = append(b.bytes, raw[:n]...)
}
