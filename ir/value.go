package ir

import (
	"fmt"
	"strings"
	"sync/atomic"

	"tenon/internal/diag"
	"tenon/internal/num"
)

// Value is an SSA value: a parameter, a result of an op, or a name bound by a
// clause (a read, a carried value, a block's parameter). Values are compared by
// identity; Name is for people and need only be unique where it is visible.
type Value struct {
	Name string
	Type Type
	Def  *Op // the op whose result it is, else nil
	id   atomic.Uint64
}

// RefName makes a Value usable inside a sym.Expr, as %name.
func (v *Value) RefName() string { return v.Name }

var lastID atomic.Uint64

// RefID is a number that no other value of the process has, given when first
// asked for; with it sym needs no table that would keep v's module alive.
func (v *Value) RefID() uint64 {
	if v.id.Load() == 0 {
		v.id.CompareAndSwap(0, lastID.Add(1))
	}
	return v.id.Load()
}

// Loc is where an op comes from: a place in a file, a node of a model, or,
// after a fusion, several of either. The zero Loc is unknown.
type Loc struct {
	Pos   diag.Pos
	Node  string
	Fused []Loc
}

// At returns the location of a place in a file.
func At(pos diag.Pos) Loc { return Loc{Pos: pos} }

// IsKnown reports whether l says anything.
func (l Loc) IsKnown() bool { return l.Pos.IsValid() || l.Node != "" || len(l.Fused) > 0 }

// First is the first file position in l, for messages.
func (l Loc) First() diag.Pos {
	if l.Pos.IsValid() {
		return l.Pos
	}
	for _, f := range l.Fused {
		if p := f.First(); p.IsValid() {
			return p
		}
	}
	return diag.Pos{}
}

// Fuse is the location of an op made from several; duplicates are dropped.
func Fuse(locs ...Loc) Loc {
	var out []Loc
	seen := map[string]bool{}
	var add func(l Loc)
	add = func(l Loc) {
		switch {
		case len(l.Fused) > 0:
			for _, f := range l.Fused {
				add(f)
			}
		case l.IsKnown() && !seen[l.String()]:
			seen[l.String()] = true
			out = append(out, l)
		}
	}
	for _, l := range locs {
		add(l)
	}
	switch len(out) {
	case 0:
		return Loc{}
	case 1:
		return out[0]
	}
	return Loc{Fused: out}
}

// String is the text form, without the word `at`.
func (l Loc) String() string {
	switch {
	case len(l.Fused) > 0:
		parts := make([]string, len(l.Fused))
		for i, f := range l.Fused {
			parts[i] = f.String()
		}
		return "fused[" + strings.Join(parts, ", ") + "]"
	case l.Node != "":
		return "node " + Quote(l.Node)
	case l.Pos.IsValid():
		return fmt.Sprintf("%s:%d:%d", Quote(l.Pos.File), l.Pos.Line, l.Pos.Col)
	}
	return ""
}

// Quote writes s as a string lexeme of the text form.
func Quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r < 0x20 || r == 0x7f || r == 0xfffd:
			fmt.Fprintf(&b, `\u{%x}`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// Literal is a constant written in a clause. Elem is Invalid while the clause's
// op has not yet said which type it has; then Text holds what was written.
type Literal struct {
	Elem num.Elem
	Cell num.Cell
	Text string
}

// Resolve gives an untyped literal its element type.
func (l *Literal) Resolve(e num.Elem) error {
	if l.Elem == e {
		return nil
	}
	if l.Elem != num.Invalid {
		return fmt.Errorf("literal %s has type %s, want %s", l, l.Elem, e)
	}
	c, err := ParseLiteral(e, l.Text)
	if err != nil {
		return err
	}
	l.Elem, l.Cell = e, c
	return nil
}

func (l Literal) String() string {
	if l.Elem == num.Invalid {
		return l.Text
	}
	return FormatLiteral(l.Elem, l.Cell)
}

// FormatLiteral writes a constant of type e as the text form does.
func FormatLiteral(e num.Elem, c num.Cell) string {
	switch {
	case e.IsFloat():
		return num.FormatFloat(e, c)
	case e == num.Bool && num.IsTrue(c):
		return "true"
	case e == num.Bool:
		return "false"
	}
	return num.FormatInt(e, c)
}

// ParseLiteral reads a constant of type e.
func ParseLiteral(e num.Elem, text string) (num.Cell, error) {
	switch {
	case e.IsFloat():
		return num.ParseFloat(e, text)
	case e == num.Bool && (text == "true" || text == "1"):
		return num.FromBool(true), nil
	case e == num.Bool && (text == "false" || text == "0"):
		return num.FromBool(false), nil
	case e == num.Bool:
		return 0, fmt.Errorf("%q is not a bool; write true or false", text)
	}
	return num.ParseInt(e, text)
}
