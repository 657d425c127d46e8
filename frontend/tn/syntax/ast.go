package syntax

import (
	"strings"

	"github.com/alecthomas/participle/v2/lexer"

	"tenon/internal/diag"
)

// Position is a place in the text: byte offset, line and column (in
// characters, from 1).
type Position = lexer.Position

// Span is the stretch of text that a node was read from. Nodes embed it;
// EndPos is the place just behind the last token.
type Span struct {
	Pos    Position
	EndPos Position
}

// At is where the node starts, in the form that errors use.
func (s Span) At() diag.Pos { return at(s.Pos) }

// Bounds is the stretch of text of the node.
func (s Span) Bounds() Span { return s }

// Len is the number of characters to underline: up to the end of the node, or
// one if it ends on another line.
func (s Span) Len() int {
	if s.EndPos.Line != s.Pos.Line {
		return 1
	}
	return max(1, s.EndPos.Column-s.Pos.Column)
}

// Errorf returns an error that underlines the node.
func (s Span) Errorf(format string, args ...any) *diag.Error {
	e := diag.Errorf(s.At(), format, args...)
	e.Len = s.Len()
	return e
}

func at(p Position) diag.Pos { return diag.Pos{File: p.Filename, Line: p.Line, Col: p.Column} }

// Node is a piece of the syntax tree.
type Node interface {
	At() diag.Pos
	Bounds() Span
	Errorf(format string, args ...any) *diag.Error
}

// File is one parsed .tn file.
type File struct {
	Span
	Name     string
	Items    []*Item
	Comments []*Comment // all comments, in order; the formatter places them by position
}

// Comment is one `// ...` comment, without its line break.
type Comment struct {
	Span
	Text     string // with the slashes, without trailing space
	Trailing bool   // code stands before it on its line
}

func newComment(t lexer.Token, src string) *Comment {
	text := strings.TrimRight(t.Value, " \t\r")
	end := t.Pos
	end.Advance(text)
	line := src[:min(t.Pos.Offset, len(src))]
	line = line[strings.LastIndexByte(line, '\n')+1:]
	return &Comment{Span: Span{t.Pos, end}, Text: text, Trailing: strings.Trim(line, " \t\r\ufeff") != ""}
}

// Ident is a name where it is bound or called.
type Ident struct {
	Span
	Name string `parser:"@Ident"`
}
