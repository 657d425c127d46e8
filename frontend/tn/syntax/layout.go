package syntax

import (
	"strings"
	"unicode/utf8"
)

// A layout is text with places where a line may break, after Wadler's "A
// prettier printer": a group is printed on one line if it fits, else all its own
// breaks become line breaks and the groups inside decide for themselves.
type layout struct {
	kind layoutKind
	text string
	list []*layout
	hard bool // holds a line break that cannot be undone
}

type layoutKind int

const (
	layText  layoutKind = iota
	layCat              // list, one after the other
	layNest             // list, two columns further in behind a break
	layGroup            // list, flat or broken
	layLine             // text when flat, else a line break
	layHard             // a line break, always
)

// lineWidth is the column that lines stay within where they can.
const lineWidth = 100

func text(s string) *layout { return &layout{kind: layText, text: s} }

func line() *layout { return &layout{kind: layLine, text: " "} }

func soft() *layout { return &layout{kind: layLine} }

func hardLine() *layout { return &layout{kind: layHard, hard: true} }

func cat(list ...*layout) *layout { return branch(layCat, list) }

func nest(list ...*layout) *layout { return branch(layNest, list) }

func group(list ...*layout) *layout { return branch(layGroup, list) }

func branch(kind layoutKind, list []*layout) *layout {
	l := &layout{kind: kind, list: list}
	for _, c := range list {
		l.hard = l.hard || c.hard
	}
	return l
}

// join puts `, ` and a place to break between the elements.
func join(list []*layout) *layout {
	var out []*layout
	for i, l := range list {
		if i > 0 {
			out = append(out, text(","), line())
		}
		out = append(out, l)
	}
	return cat(out...)
}

// joinTight puts `, ` between the elements and breaks nowhere: a line broken
// inside a subscript reads badly.
func joinTight(list []*layout) *layout {
	var out []*layout
	for i, l := range list {
		if i > 0 {
			out = append(out, text(", "))
		}
		out = append(out, l)
	}
	return cat(out...)
}

// frame is a layout waiting to be printed, with its indent and mode.
type frame struct {
	l      *layout
	indent int
	flat   bool
}

// render prints l, starting at column col of a line indented by indent.
func render(l *layout, indent, col int) string {
	var b strings.Builder
	stack := []frame{{l, indent, false}}
	for len(stack) > 0 {
		f := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		switch {
		case f.l.kind == layText, f.l.kind == layLine && f.flat:
			b.WriteString(f.l.text)
			col += utf8.RuneCountInString(f.l.text)
		case f.l.kind == layLine, f.l.kind == layHard:
			b.WriteString("\n" + strings.Repeat(" ", f.indent))
			col = f.indent
		default:
			if f.l.kind == layNest {
				f.indent += 2
			}
			if f.l.kind == layGroup && !f.flat {
				f.flat = !f.l.hard && fits(f, stack, lineWidth-col)
			}
			stack = pushAll(stack, f)
		}
	}
	return trimLines(b.String())
}

// pushAll puts the parts of f on the stack, the first one on top.
func pushAll(stack []frame, f frame) []frame {
	for i := len(f.l.list) - 1; i >= 0; i-- {
		stack = append(stack, frame{f.l.list[i], f.indent, f.flat})
	}
	return stack
}

// fits reports whether f, printed flat, and what follows it up to the next line
// break need no more than room columns.
func fits(f frame, rest []frame, room int) bool {
	f.flat = !f.l.hard
	todo := []frame{f}
	for room >= 0 {
		if len(todo) == 0 {
			if len(rest) == 0 {
				return true
			}
			todo, rest = append(todo, rest[len(rest)-1]), rest[:len(rest)-1]
		}
		f, todo = todo[len(todo)-1], todo[:len(todo)-1]
		switch {
		case f.l.kind == layText, f.l.kind == layLine && f.flat:
			room -= utf8.RuneCountInString(f.l.text)
		case f.l.kind == layLine, f.l.kind == layHard:
			return true
		default:
			todo = pushAll(todo, f)
		}
	}
	return false
}

func trimLines(s string) string {
	if !strings.Contains(s, " \n") {
		return s
	}
	lines := strings.Split(s, "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}
