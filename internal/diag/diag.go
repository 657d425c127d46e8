// Package diag is how Tenon reports failure. There are two kinds: the user's
// fault is a returned *Error (or a List of them) with a position, what is
// wrong, what was expected and what to change; our own fault is a *Bug, raised
// with Bugf as a panic and caught once in the driver.
//
// The package imports nothing of Tenon's.
package diag

import (
	"errors"
	"fmt"
	"sort"
	"strings"
)

// Exit codes of the command line; see docs on the command line.
const (
	ExitOK          = 0
	ExitUser        = 1 // the user's program or data is at fault
	ExitUsage       = 2 // wrong usage
	ExitBug         = 3 // a bug in Tenon
	ExitTool        = 4 // a tool is missing
	ExitInterrupted = 130
)

// Pos is a place in a source file. Line and Col count from 1, Col in
// characters (runes); the zero Pos is "no position".
type Pos struct {
	File string
	Line int
	Col  int
}

// IsValid reports whether p names a line.
func (p Pos) IsValid() bool { return p.Line > 0 }

func (p Pos) String() string {
	switch {
	case !p.IsValid():
		return p.File
	case p.File == "":
		return fmt.Sprintf("%d:%d", p.Line, p.Col)
	}
	return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Col)
}

// Note points at a second place that explains an error.
type Note struct {
	Pos Pos
	Msg string
}

// Error is one fault of the user's program or data.
type Error struct {
	Pos      Pos
	Len      int    // characters to underline from Pos; 0 or 1 is a single caret
	Msg      string // what is wrong
	Expected string // what was expected, if that helps
	Fix      string // what to change, where there is one
	Notes    []Note
}

// Errorf returns an Error at pos.
func Errorf(pos Pos, format string, args ...any) *Error {
	return &Error{Pos: pos, Msg: fmt.Sprintf(format, args...)}
}

// WithFix sets what to change and returns e.
func (e *Error) WithFix(format string, args ...any) *Error {
	e.Fix = fmt.Sprintf(format, args...)
	return e
}

// WithExpected sets what was expected and returns e.
func (e *Error) WithExpected(format string, args ...any) *Error {
	e.Expected = fmt.Sprintf(format, args...)
	return e
}

// WithNote adds a second place and returns e.
func (e *Error) WithNote(pos Pos, format string, args ...any) *Error {
	e.Notes = append(e.Notes, Note{pos, fmt.Sprintf(format, args...)})
	return e
}

// Error gives the message on one line, without the source excerpt.
func (e *Error) Error() string {
	var b strings.Builder
	if p := e.Pos.String(); p != "" {
		b.WriteString(p + ": ")
	}
	b.WriteString(e.Msg)
	if e.Expected != "" {
		b.WriteString("; expected " + e.Expected)
	}
	if e.Fix != "" {
		b.WriteString("; fix: " + e.Fix)
	}
	return b.String()
}

// List is several faults found in one run.
type List []*Error

func (l List) Error() string {
	lines := make([]string, len(l))
	for i, e := range l {
		lines[i] = e.Error()
	}
	return strings.Join(lines, "\n")
}

// Err returns nil for an empty list, else the list sorted by position.
func (l List) Err() error {
	if len(l) == 0 {
		return nil
	}
	sort.SliceStable(l, func(i, j int) bool {
		a, b := l[i].Pos, l[j].Pos
		if a.File != b.File {
			return a.File < b.File
		}
		if a.Line != b.Line {
			return a.Line < b.Line
		}
		return a.Col < b.Col
	})
	return l
}

// Bug is a fault of Tenon's own. Bugf panics with one; the driver recovers it,
// fills in pass, function and reproducer, and exits with ExitBug.
type Bug struct {
	Msg        string
	Pass       string
	Func       string
	Op         string // the op in hand, with its source line
	Reproducer string // file that reproduces it
	Stack      string
}

func (b *Bug) Error() string {
	s := "internal error"
	if b.Pass != "" {
		s += " in pass " + b.Pass
	}
	if b.Func != "" {
		s += ", function " + b.Func
	}
	if b.Op != "" {
		s += ", op " + b.Op
	}
	s += ": " + b.Msg
	if b.Reproducer != "" {
		s += "\nreproducer: " + b.Reproducer
	}
	return s
}

// Bugf panics with a *Bug.
func Bugf(format string, args ...any) {
	panic(&Bug{Msg: fmt.Sprintf(format, args...)})
}

// MissingTool says that an external tool is absent or unfit, and the command
// that installs it.
type MissingTool struct {
	Tool    string
	Detail  string // why it does not serve, if it was found
	Install string
}

func (m *MissingTool) Error() string {
	s := m.Tool + " not found"
	if m.Detail != "" {
		s = m.Tool + ": " + m.Detail
	}
	return s + "; install it with: " + m.Install
}

// Usage is a wrong use of the command line.
type Usage struct{ Msg string }

func (u *Usage) Error() string { return u.Msg }

// Usagef returns a *Usage.
func Usagef(format string, args ...any) error { return &Usage{fmt.Sprintf(format, args...)} }

// ExitCode maps an error to the command line's exit code.
func ExitCode(err error) int {
	var bug *Bug
	var tool *MissingTool
	var usage *Usage
	switch {
	case err == nil:
		return ExitOK
	case errors.As(err, &bug):
		return ExitBug
	case errors.As(err, &tool):
		return ExitTool
	case errors.As(err, &usage):
		return ExitUsage
	}
	return ExitUser
}
