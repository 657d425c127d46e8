package sym

import "strings"

// lexer cuts a string into the tokens of an expression.
type lexer struct {
	src  string
	off  int
	next Token
	err  string // why the next token is TokEnd, if not for the end
}

func newLexer(s string) *lexer {
	l := &lexer{src: s}
	l.scan()
	return l
}

func (l *lexer) Peek() Token { return l.next }

func (l *lexer) Next() Token {
	t := l.next
	if t.Kind != TokEnd {
		l.scan()
	}
	return t
}

// end fails unless the whole text was read.
func (l *lexer) end() error {
	if l.err == "" && l.next.Kind == TokEnd {
		return nil
	}
	return l.fault(l.next, "expected the end of the expression")
}

func (l *lexer) fault(t Token, msg string) error {
	if l.err != "" && t.Off == l.next.Off {
		msg = l.err
	}
	return &SyntaxError{t.Off, msg}
}

var operators = []string{"//", "==", "!=", "<=", ">=", "<", ">", "+", "-", "*", "(", ")", ","}

func (l *lexer) scan() {
	start := l.off
	for l.off < len(l.src) && strings.IndexByte(" \t\n", l.src[l.off]) >= 0 {
		l.off++
	}
	spaced := l.off > start || l.off == 0
	at, rest := l.off, l.src[l.off:]
	set := func(k TokenKind, text string, n int) {
		l.next = Token{k, text, at}
		l.off += n
	}
	switch {
	case rest == "":
		set(TokEnd, "", 0)
	case spaced && strings.HasPrefix(rest, "//"):
		l.err = "// after a space starts a comment; floor division stands tight, K//8"
		set(TokEnd, "", 0)
	case isLetter(rest[0]):
		s := span(rest, isWord)
		if id := strings.TrimPrefix(rest, nnzPrefix); s == "nnz" && len(id) < len(rest) && span(id, isWord) != "" {
			s = nnzPrefix + span(id, isWord)
		}
		set(TokName, s, len(s))
	case rest[0] == '%' && span(rest[1:], isWord) != "":
		s := span(rest[1:], isWord)
		set(TokVal, s, len(s)+1)
	case isDigit(rest[0]):
		s := span(rest, isDigit)
		set(TokInt, s, len(s))
	default:
		l.scanOperator(rest, set)
	}
}

func (l *lexer) scanOperator(rest string, set func(TokenKind, string, int)) {
	for _, op := range operators {
		if strings.HasPrefix(rest, op) {
			set(TokOp, op, len(op))
			return
		}
	}
	l.err = "a character that no expression holds"
	set(TokEnd, "", 0)
}

func span(s string, in func(byte) bool) string {
	n := 0
	for n < len(s) && in(s[n]) {
		n++
	}
	return s[:n]
}

func isDigit(c byte) bool  { return c >= '0' && c <= '9' }
func isLetter(c byte) bool { return c == '_' || c|0x20 >= 'a' && c|0x20 <= 'z' }
func isWord(c byte) bool   { return isLetter(c) || isDigit(c) }
