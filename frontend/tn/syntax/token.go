package syntax

import (
	"strings"
	"unicode/utf8"

	"github.com/alecthomas/participle/v2/lexer"

	"tenon/internal/diag"
)

// Keywords are the reserved words; no name may be one of them. Other words
// (zero, clamp, identity, combine, ...) mean something in one place only and
// are free as names elsewhere.
var Keywords = []string{
	"fn", "proc", "monoid", "import", "const", "in", "where",
	"let", "var", "return", "for", "carry", "next", "stack", "step", "if", "else",
	"and", "or", "not", "true", "false", "inf", "nan",
}

// lexRules cuts the text into tokens. The order matters: comments before
// operators, floats before integers, long operators before their prefixes.
var lexRules = lexer.MustStateful(lexer.Rules{"Root": {
	{Name: "Space", Pattern: `[ \t\r\n\x{feff}]+`},
	{Name: "Comment", Pattern: `//[^\n]*`},
	{Name: "Keyword", Pattern: `(?:` + strings.Join(Keywords, "|") + `)\b`},
	{Name: "Ident", Pattern: `[A-Za-z_][A-Za-z0-9_]*`},
	{Name: "Float", Pattern: `[0-9]+(?:\.[0-9]+(?:[eE][+-]?[0-9]+)?|[eE][+-]?[0-9]+)`},
	{Name: "Int", Pattern: `0[xX][0-9a-fA-F]+|[0-9]+`},
	{Name: "String", Pattern: `"(?:[^"\\\n]|\\[^\n])*"`},
	{Name: "Foreign", Pattern: `&&|\|\||/\*|\*\*|:=|\+\+|<<|>>`},
	{Name: "Op", Pattern: `\.\.|->|==|!=|<=|>=|\+=|-=|\*=|/=|%=|[-+*/%<>=(){}\[\],;:@]`},
	{Name: "Bad", Pattern: `"[^\n]*|(?s:.)`},
}})

// The token types, by name, as the lexer numbers them.
var (
	tokSpace   = lexRules.Symbols()["Space"]
	tokComment = lexRules.Symbols()["Comment"]
	tokKeyword = lexRules.Symbols()["Keyword"]
	tokIdent   = lexRules.Symbols()["Ident"]
	tokFloat   = lexRules.Symbols()["Float"]
	tokInt     = lexRules.Symbols()["Int"]
	tokString  = lexRules.Symbols()["String"]
	tokOp      = lexRules.Symbols()["Op"]
	tokForeign = lexRules.Symbols()["Foreign"] // an operator of other languages
	tokBad     = lexRules.Symbols()["Bad"]
)

// maxNesting bounds brackets, braces and the prefix chains of expressions, so
// that no input can exhaust the stack of a recursive walk.
const maxNesting = 256

// scan is the outcome of lexing: the tokens that the parser sees (spaces and
// comments included, bad ones left out), the comments, and what was wrong.
type scan struct {
	tokens   []lexer.Token
	comments []*Comment
	errs     diag.List
}

// lex cuts src into tokens. Characters that start no token are reported and
// left out, so that the parser goes on behind them.
func lex(filename, src string) *scan {
	s := &scan{}
	lx, err := lexRules.LexString(filename, src)
	for err == nil {
		var t lexer.Token
		if t, err = lx.Next(); err != nil {
			break
		}
		s.add(t, src)
		if t.EOF() {
			s.nesting()
			return s
		}
	}
	// Bad matches every character, so the rules never fail; stay safe anyway.
	s.errs = append(s.errs, diag.Errorf(diag.Pos{File: filename, Line: 1, Col: 1}, "the text cannot be read: %v", err))
	s.tokens = append(s.tokens, lexer.EOFToken(lexer.Position{Filename: filename, Line: 1, Column: 1}))
	return s
}

func (s *scan) add(t lexer.Token, src string) {
	switch t.Type {
	case tokBad, tokForeign:
		if len(s.errs) <= maxErrors {
			s.errs = append(s.errs, badToken(t))
		}
		return
	case tokComment:
		s.comments = append(s.comments, newComment(t, src))
	case tokIdent, tokKeyword:
		if num := s.numberBefore(t); num != nil {
			s.errs = append(s.errs, badNumber(*num, t))
			return
		}
	}
	s.tokens = append(s.tokens, t)
}

// numberBefore is the number that t touches, or nil.
func (s *scan) numberBefore(t lexer.Token) *lexer.Token {
	if len(s.tokens) == 0 {
		return nil
	}
	n := &s.tokens[len(s.tokens)-1]
	if n.Type != tokInt && n.Type != tokFloat || n.Pos.Offset+len(n.Value) != t.Pos.Offset {
		return nil
	}
	return n
}

// badFixes says what to write instead of a spelling from another language.
var badFixes = map[string]string{
	"&&": "write `and`", "||": "write `or`", "!": "write `not`", "&": "write `and`", "|": "write `or`",
	"/*": "comments are `// ...` to the end of the line", "**": "write `pow(x, y)`", ":=": "write `=`", "++": "write `+= 1`",
	"<<": "write `shl(x, n)`", ">>": "write `shr(x, n)`", "^": "write `pow(x, y)`",
	"'": "strings are written with double quotes", "#": "comments start with `//`",
	".": "a number needs a digit on both sides of its point; a range is written `a..b`",
	"?": "write `select(condition, a, b)`",
}

func badToken(t lexer.Token) *diag.Error {
	e := diag.Errorf(at(t.Pos), "%s is not part of the language", quoteToken(t.Value))
	e.Len = utf8.RuneCountInString(t.Value)
	switch {
	case strings.HasPrefix(t.Value, `"`):
		e.Msg = "the string does not end on its line"
		e.WithFix("close it with `\"`")
	case t.Value == "\uFFFD" || !utf8.ValidString(t.Value):
		e.Msg = "the text is not valid UTF-8 here"
		e.WithFix("save the file as UTF-8")
	default:
		e.Fix = badFixes[t.Value]
	}
	return e
}

func badNumber(num, word lexer.Token) *diag.Error {
	text := num.Value + word.Value
	e := diag.Errorf(at(num.Pos), "malformed number `%s`", text)
	e.Len = utf8.RuneCountInString(text)
	return e.WithExpected("digits, or a name that starts with a letter").
		WithFix("leave a space, or write `f32(...)` around the number to give it a type")
}

// nesting reports brackets nested deeper than maxNesting and then drops all
// tokens, which nothing could parse anyway.
func (s *scan) nesting() {
	depth := 0
	for _, t := range s.tokens {
		if t.Type != tokOp {
			continue
		}
		switch t.Value {
		case "(", "[", "{":
			depth++
		case ")", "]", "}":
			depth = max(0, depth-1)
		}
		if depth > maxNesting {
			s.errs = append(s.errs, diag.Errorf(at(t.Pos), "brackets are nested more than %d deep", maxNesting).
				WithFix("name the inner parts with `let`"))
			s.tokens = s.tokens[len(s.tokens)-1:]
			return
		}
	}
}

// tokenSource feeds tokens that are already cut to participle.
type tokenSource struct {
	tokens []lexer.Token
	next   int
}

func (s *tokenSource) Next() (lexer.Token, error) {
	t := s.tokens[min(s.next, len(s.tokens)-1)]
	s.next++
	return t, nil
}

// quoteToken shows a token in a message, shortened.
func quoteToken(text string) string {
	r := []rune(text)
	if len(r) > 24 {
		text = string(r[:24]) + "..."
	}
	return "`" + strings.ToValidUTF8(text, "\uFFFD") + "`"
}
