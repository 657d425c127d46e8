package syntax

import (
	"github.com/alecthomas/participle/v2"
	"github.com/alecthomas/participle/v2/lexer"

	"tenon/internal/diag"
)

// Block is a list of statements between braces. A statement with an error is
// left out and the error kept here, so that one run reports them all.
type Block struct {
	Span
	Stmts []Stmt
	errs  diag.List
}

// FnBody is the body of a fn, of a carry loop or of a part of a monoid: its
// statements are FnStmts.
type FnBody struct{ Block }

// ProcBody is the body of a proc, a loop or a branch: its statements are
// ProcStmts.
type ProcBody struct{ Block }

// fnStarts and procStarts are the words that begin a statement; behind an error
// the parser takes up again at one of them. Inside a fn, `for` ends statements
// more often than it begins one. Words that begin statements of the other kind of
// body only are among them, to be reported. A proc's assignments begin with a
// name, which counts only at the start of a line.
var (
	fnStarts   = map[string]bool{"let": true, "return": true, "next": true, "stack": true, "@": true, ";": true, "var": true, "if": true}
	procStarts = map[string]bool{"let": true, "var": true, "for": true, "if": true, "@": true, ";": true, "return": true}
	itemStarts = map[string]bool{"fn": true, "proc": true, "monoid": true, "import": true}
)

// Parse is the production of FnBody, called by participle.
func (b *FnBody) Parse(lex *lexer.PeekingLexer) error {
	return b.parse(lex, fnStatement, func(t *lexer.Token) bool {
		return fnStarts[t.Value]
	}, func() (Stmt, error) {
		s, err := fnStmtParser.ParseFromLexer(lex, participle.AllowTrailing(true))
		return s.Stmt, err
	})
}

// Parse is the production of ProcBody, called by participle.
func (b *ProcBody) Parse(lex *lexer.PeekingLexer) error {
	line := 0
	return b.parse(lex, procStatement, func(t *lexer.Token) bool {
		fresh := t.Pos.Line != line
		line = t.Pos.Line
		return procStarts[t.Value] || fresh && t.Type == tokIdent
	}, func() (Stmt, error) {
		line = lex.Peek().Pos.Line
		s, err := procStmtParser.ParseFromLexer(lex, participle.AllowTrailing(true))
		return s.Stmt, err
	})
}

func (b *Block) parse(lex *lexer.PeekingLexer, what string, starts func(*lexer.Token) bool, stmt func() (Stmt, error)) error {
	open := *lex.Peek()
	if open.Type != tokOp || open.Value != "{" {
		return participle.NextMatch
	}
	lex.Next()
	for {
		t := lex.Peek()
		switch {
		case t.Type == tokOp && t.Value == "}":
			lex.Next()
			b.Span = Span{open.Pos, lex.RawPeek().Pos}
			return nil
		case t.EOF() || t.Type == tokKeyword && itemStarts[t.Value]:
			if len(b.errs) == 0 {
				b.errs = append(b.errs, unclosed(t, open))
			}
			b.Span = Span{open.Pos, t.Pos}
			return nil
		case t.Type == tokOp && t.Value == ";":
			lex.Next()
			continue
		}
		b.statement(lex, what, starts, stmt)
	}
}

// statement reads one statement, or skips to the next after an error.
func (b *Block) statement(lex *lexer.PeekingLexer, what string, starts func(*lexer.Token) bool, stmt func() (Stmt, error)) {
	before := lex.Cursor()
	s, err := stmt()
	if err == nil {
		b.Stmts = append(b.Stmts, s)
		return
	}
	if len(b.errs) <= maxErrors {
		b.errs = append(b.errs, toDiag(err, what))
	}
	if lex.Cursor() == before {
		skipOne(lex)
	}
	for t := lex.Peek(); !t.EOF() && !starts(t) && !(t.Value == "}" && t.Type == tokOp); t = lex.Peek() {
		if t.Type == tokKeyword && itemStarts[t.Value] {
			return
		}
		skipOne(lex)
	}
}

// skipOne skips a token, or a whole block from its brace to the brace that
// closes it; items never nest, so a block does not reach over one.
func skipOne(lex *lexer.PeekingLexer) {
	depth := 0
	for {
		t := lex.Peek()
		if t.EOF() || depth > 0 && t.Type == tokKeyword && itemStarts[t.Value] {
			return
		}
		if t.Type == tokOp && t.Value == "{" {
			depth++
		}
		if t.Type == tokOp && t.Value == "}" {
			depth--
		}
		lex.Next()
		if depth <= 0 {
			return
		}
	}
}

func unclosed(t *lexer.Token, open lexer.Token) *diag.Error {
	return unexpected(t, "`}`").d.WithFix("close the block with `}`").
		WithNote(at(open.Pos), "the block opened here is not closed")
}
