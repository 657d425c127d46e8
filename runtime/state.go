package runtime

import (
	goruntime "runtime"
	"unsafe"

	"github.com/ebitengine/purego"

	"tenon/internal/diag"
)

// State holds the const parameters of a function that NAME_open has bound, and
// what was prepared from them. Any number of plans and runs may use it at once.
type State struct {
	lib  *Lib
	name string
	at   uintptr
}

// OpenState calls NAME_open: const parameters are read from PARAMETER.npy in
// folder. The state of a function without any holds nothing.
func (l *Lib) OpenState(name, folder string) (*State, Status, error) {
	fn, err := purego.Dlsym(l.handle, name+"_open")
	if err != nil {
		return nil, Status{}, diag.Errorf(diag.Pos{}, "the library %s has no function %s_open", l.path, name)
	}
	path := append([]byte(folder), 0)
	out := make([]uintptr, 1)
	var c frame
	defer c.end()
	c.begin(nil)
	c.b.pins.Pin(&path[0])
	c.b.pins.Pin(&out[0])
	code, _, _ := purego.SyscallN(fn, uintptr(unsafe.Pointer(&path[0])), uintptr(unsafe.Pointer(&out[0])), c.report())
	goruntime.KeepAlive(path)
	status := c.status(code)
	if status.Code != OK {
		return nil, status, nil
	}
	return &State{l, name, out[0]}, status, nil
}

// word is the state as an argument; that of none is 0.
func (s *State) word() uintptr {
	if s == nil {
		return 0
	}
	return s.at
}

// Close calls NAME_close; no run with the state may be under way, and none may
// follow.
func (s *State) Close() error {
	fn, err := purego.Dlsym(s.lib.handle, s.name+"_close")
	if err != nil {
		return diag.Errorf(diag.Pos{}, "the library %s has no function %s_close", s.lib.path, s.name)
	}
	purego.SyscallN(fn, s.at)
	s.at = 0
	return nil
}
