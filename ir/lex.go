package ir

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"tenon/internal/diag"
)

// tokenKind is the kind of a lexeme of the text form.
type tokenKind uint8

const (
	tokEOF    tokenKind = iota
	tokWord             // name, or a bare op
	tokOp               // family.op
	tokValue            // %name
	tokItem             // @name
	tokHash             // #name
	tokInt              // decimal
	tokFloat            // with . or e
	tokHex              // 0x.., only inside nan(..)
	tokString           // decoded
	tokPunct
)

// sigils are the kinds of names that start with a sign.
var sigils = map[byte]tokenKind{'%': tokValue, '@': tokItem, '#': tokHash}

// token is one lexeme. text has no sigil, and strings are decoded.
type token struct {
	kind      tokenKind
	nl        bool // first on its line
	line, col int
	width     int // in characters
	text      string
}

func (t token) is(punct string) bool { return t.kind == tokPunct && t.text == punct }

// isWord reports whether t is one of the words ws.
func (t token) isWord(ws ...string) bool { return t.kind == tokWord && slices.Contains(ws, t.text) }

// String is the token as a message shows it.
func (t token) String() string {
	switch t.kind {
	case tokEOF:
		return "the end of the file"
	case tokString:
		return "the string " + Quote(t.text)
	case tokValue:
		return "`%" + t.text + "`"
	case tokItem:
		return "`@" + t.text + "`"
	case tokHash:
		return "`#" + t.text + "`"
	}
	return "`" + t.text + "`"
}

// lexer cuts text into tokens. A faulty character is reported and left out.
type lexer struct {
	file, text string
	off        int
	line, col  int
	nl         bool // nothing but space since the line began
	space      bool // the character before is a space
	toks       []token
	errs       diag.List
}

func lex(file, text string) ([]token, diag.List) {
	l := &lexer{file: file, text: text, line: 1, col: 1, nl: true, space: true}
	for l.off < len(text) {
		l.next()
	}
	l.add(tokEOF, "", 0)
	return l.toks, l.errs
}

func (l *lexer) add(kind tokenKind, text string, bytes int) {
	w := utf8.RuneCountInString(l.text[l.off : l.off+bytes])
	l.toks = append(l.toks, token{kind, l.nl, l.line, l.col, w, text})
	l.off += bytes
	l.col += w
	l.nl, l.space = false, false
}

func (l *lexer) errorf(format string, args ...any) *diag.Error {
	e := diag.Errorf(diag.Pos{File: l.file, Line: l.line, Col: l.col}, format, args...)
	if len(l.errs) < maxParseErrors {
		l.errs = append(l.errs, e)
	}
	return e
}

func (l *lexer) next() {
	rest := l.text[l.off:]
	c := rest[0]
	switch {
	case c == '\n':
		l.off++
		l.line++
		l.col, l.nl, l.space = 1, true, true
	case c == ' ' || c == '\t' || c == '\r':
		l.off++
		l.col++
		l.space = true
	case l.space && strings.HasPrefix(rest, "//"):
		n := strings.IndexByte(rest, '\n')
		if n < 0 {
			n = len(rest)
		}
		l.off += n
	case isLetter(c):
		l.word(rest)
	case c >= '0' && c <= '9':
		l.number(rest)
	case c == '"':
		l.string(rest)
	case sigils[c] != 0:
		l.sigil(rest)
	default:
		l.punct(rest)
	}
}

func isLetter(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_'
}
func isNameByte(c byte) bool { return isLetter(c) || c >= '0' && c <= '9' }

func nameLen(s string) int {
	n := 0
	for n < len(s) && isNameByte(s[n]) {
		n++
	}
	return n
}

// isName reports whether s can be written as a name.
func isName(s string) bool { return s != "" && nameLen(s) == len(s) }

func digitsLen(s string) int {
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return n
}

func (l *lexer) word(s string) {
	n := nameLen(s)
	if n+1 < len(s) && s[n] == '.' && isLetter(s[n+1]) {
		m := n + 1 + nameLen(s[n+1:])
		l.add(tokOp, s[:m], m)
		return
	}
	l.add(tokWord, s[:n], n)
}

func (l *lexer) sigil(s string) {
	n := 1 + nameLen(s[1:])
	if n == 1 {
		l.errorf("`%c` stands alone", s[0]).WithExpected("a name right after it, such as %cx", s[0])
		l.off, l.col = l.off+1, l.col+1
		return
	}
	l.add(sigils[s[0]], s[1:n], n)
}

func (l *lexer) number(s string) {
	if strings.HasPrefix(s, "0x") || strings.HasPrefix(s, "0X") {
		n := nameLen(s)
		l.add(tokHex, s[:n], n)
		return
	}
	n, kind := digitsLen(s), tokInt
	if n+1 < len(s) && s[n] == '.' && digitsLen(s[n+1:]) > 0 {
		n += 1 + digitsLen(s[n+1:])
		kind = tokFloat
	}
	if e := exponentLen(s[n:]); e > 0 {
		n += e
		kind = tokFloat
	}
	if kind == tokInt && n > 1 && s[0] == '0' {
		l.errorf("integer %s has a leading zero", s[:n]).WithFix("write %s", strings.TrimLeft(s[:n-1], "0")+s[n-1:n])
	}
	l.add(kind, s[:n], n)
}

// exponentLen is the length of e+12 at the start of s, 0 if there is none.
func exponentLen(s string) int {
	if len(s) < 2 || s[0] != 'e' && s[0] != 'E' {
		return 0
	}
	n := 1
	if s[n] == '+' || s[n] == '-' {
		n++
	}
	d := digitsLen(s[n:])
	if d == 0 {
		return 0
	}
	return n + d
}

var puncts = []string{"->", "==", "!=", "<=", ">=", "//"}

func (l *lexer) punct(s string) {
	for _, p := range puncts {
		if strings.HasPrefix(s, p) {
			l.add(tokPunct, p, len(p))
			return
		}
	}
	if strings.IndexByte("()[]{}<>,;:=+-*/", s[0]) >= 0 {
		l.add(tokPunct, s[:1], 1)
		return
	}
	r, n := utf8.DecodeRuneInString(s)
	if r == utf8.RuneError && n == 1 {
		l.errorf("byte 0x%02x is no UTF-8", s[0])
	} else {
		l.errorf("character %q has no meaning here", r)
	}
	l.off += n
	l.col++
	l.space = false
}

// string reads a quoted string; an unknown escape or a missing end is reported.
func (l *lexer) string(s string) {
	var b strings.Builder
	i := 1
	for i < len(s) && s[i] != '"' && s[i] != '\n' {
		if s[i] != '\\' {
			b.WriteByte(s[i])
			i++
			continue
		}
		n := unescape(&b, s[i:])
		if n == 0 {
			l.errorf("unknown escape in a string").WithExpected(`\" \\ \n \t or \u{hex}`)
			n = 1
		}
		i += n
	}
	if i >= len(s) || s[i] != '"' {
		l.errorf("string has no end").WithFix(`close it with " on the same line`)
		l.add(tokString, b.String(), i)
		return
	}
	if !utf8.ValidString(b.String()) {
		l.errorf("string is no UTF-8")
	}
	l.add(tokString, strings.ToValidUTF8(b.String(), "\uFFFD"), i+1)
}

var escapes = map[byte]byte{'"': '"', '\\': '\\', 'n': '\n', 't': '\t'}

// unescape decodes the escape at the start of s and returns its length, 0 if it
// is none.
func unescape(b *strings.Builder, s string) int {
	if len(s) < 2 {
		return 0
	}
	if c, ok := escapes[s[1]]; ok {
		b.WriteByte(c)
		return 2
	}
	end := strings.IndexByte(s, '}')
	if s[1] != 'u' || end < 4 || s[2] != '{' {
		return 0
	}
	r, err := strconv.ParseUint(s[3:end], 16, 32)
	if err != nil || !utf8.ValidRune(rune(r)) {
		return 0
	}
	b.WriteRune(rune(r))
	return end + 1
}
