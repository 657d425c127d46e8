package interp

import (
	"fmt"

	"tenon/internal/diag"
	"tenon/ir"
)

// Fault is a stop of a run by the user's program or data: the error, and the
// code that the C ABI has for it.
type Fault struct {
	Code ir.TrapCode
	Err  *diag.Error
}

func (f *Fault) Error() string { return f.Err.Error() }

// Unwrap gives the *diag.Error, for errors.As and diag.Render.
func (f *Fault) Unwrap() error { return f.Err }

// stop is what a trap panics with; Run and the coroutines recover it.
type stop struct{ fault *Fault }

// raise stops the run.
func raise(op *ir.Op, code ir.TrapCode, format string, args ...any) {
	e := &diag.Error{Msg: fmt.Sprintf(format, args...)}
	if op != nil {
		e.Pos = op.Loc.First()
		e.Msg = op.Def.Name + ": " + e.Msg
		if !e.Pos.IsValid() && op.Loc.IsKnown() {
			e.Msg += " (at " + op.Loc.String() + ")"
		}
	}
	panic(stop{&Fault{code, e}})
}

// catch turns a stop into an error; other panics go on.
func catch(err *error) {
	switch r := recover().(type) {
	case nil:
	case stop:
		*err = r.fault
	default:
		panic(r)
	}
}

// Trap implements ir.Machine.
func (s *stager) Trap(op *ir.Op, code ir.TrapCode, format string, args ...any) {
	raise(op, code, format, args...)
}
