package weights

import (
	"fmt"
	"strconv"
	"strings"
)

// maxLiteralDepth bounds the nesting of a literal. A structured descr nests a
// few levels deep; the parser recurses once a level.
const maxLiteralDepth = 16

// A literalParser reads the subset of Python literals that npy headers use:
// strings, integers, True, False, None, tuples, lists and dictionaries.
type literalParser struct {
	s     string
	i     int
	depth int
}

// parseLiteral returns string, int64, bool, nil, []any or map[string]any.
func parseLiteral(s string) (any, error) {
	p := &literalParser{s: s}
	v, err := p.value()
	if err != nil {
		return nil, err
	}
	if p.space(); p.i < len(p.s) {
		return nil, p.fault("unexpected text after the dictionary")
	}
	return v, nil
}

func (p *literalParser) fault(format string, args ...any) error {
	return fmt.Errorf("%s at byte %d", fmt.Sprintf(format, args...), p.i)
}

func (p *literalParser) space() {
	for p.i < len(p.s) && strings.IndexByte(" \t\r\n", p.s[p.i]) >= 0 {
		p.i++
	}
}

// accept skips space and then c, if it is next.
func (p *literalParser) accept(c byte) bool {
	p.space()
	if p.i < len(p.s) && p.s[p.i] == c {
		p.i++
		return true
	}
	return false
}

func (p *literalParser) value() (any, error) {
	p.depth++
	defer func() { p.depth-- }()
	p.space()
	switch {
	case p.depth > maxLiteralDepth:
		return nil, p.fault("nested too deeply")
	case p.i == len(p.s):
		return nil, p.fault("unexpected end")
	}
	switch c := p.s[p.i]; {
	case c == '\'' || c == '"':
		return p.str(c)
	case c == '(':
		p.i++
		return p.list(')')
	case c == '[':
		p.i++
		return p.list(']')
	case c == '{':
		p.i++
		return p.dict()
	case c == '-' || c == '+' || c >= '0' && c <= '9':
		return p.integer()
	}
	return p.word()
}

func (p *literalParser) str(quote byte) (any, error) {
	var b strings.Builder
	for p.i++; p.i < len(p.s); p.i++ {
		switch c := p.s[p.i]; c {
		case quote:
			p.i++
			return b.String(), nil
		case '\\':
			return nil, p.fault("escapes are not expected")
		case '\n':
			return nil, p.fault("string without an end")
		default:
			b.WriteByte(c)
		}
	}
	return nil, p.fault("string without an end")
}

// integer reads a decimal; Python 2 wrote shapes as 3L.
func (p *literalParser) integer() (any, error) {
	from := p.i
	for p.i++; p.i < len(p.s) && p.s[p.i] >= '0' && p.s[p.i] <= '9'; {
		p.i++
	}
	n, err := strconv.ParseInt(p.s[from:p.i], 10, 64)
	if err != nil {
		return nil, p.fault("integer does not fit in 64 bits")
	}
	if p.i < len(p.s) && p.s[p.i] == 'L' {
		p.i++
	}
	return n, nil
}

func (p *literalParser) word() (any, error) {
	for text, v := range map[string]any{"True": true, "False": false, "None": nil} {
		if strings.HasPrefix(p.s[p.i:], text) {
			p.i += len(text)
			return v, nil
		}
	}
	return nil, p.fault("unexpected character %q", p.s[p.i])
}

// list reads the rest of a tuple or list. (x) is taken as a tuple of one;
// NumPy would refuse it as a shape, and nothing else could be meant.
func (p *literalParser) list(end byte) (any, error) {
	out := []any{}
	for !p.accept(end) {
		v, err := p.value()
		if err != nil {
			return nil, err
		}
		out = append(out, v)
		if !p.accept(',') {
			if !p.accept(end) {
				return nil, p.fault("expected , or %c", end)
			}
			break
		}
	}
	return out, nil
}

func (p *literalParser) dict() (any, error) {
	out := map[string]any{}
	for !p.accept('}') {
		k, err := p.value()
		if err != nil {
			return nil, err
		}
		key, ok := k.(string)
		if _, dup := out[key]; !ok || dup {
			return nil, p.fault("a key is not a string or stands twice")
		}
		if !p.accept(':') {
			return nil, p.fault("expected :")
		}
		if out[key], err = p.value(); err != nil {
			return nil, err
		}
		if !p.accept(',') {
			if !p.accept('}') {
				return nil, p.fault("expected , or }")
			}
			break
		}
	}
	return out, nil
}
