package sym

import (
	"fmt"
	"strconv"
)

// TokenKind is the kind of a token of an index expression.
type TokenKind uint8

// The kinds of tokens. An edge dim nnz#p is one TokName.
const (
	TokEnd  TokenKind = iota // end of the text, or a token that no expression holds
	TokName                  // Text is the name
	TokVal                   // Text is the name without %
	TokInt                   // Text is the decimal text
	TokOp                    // Text is one of + - * // ( ) , or a relation
)

// Token is one token; Off is its place in the source, for errors.
type Token struct {
	Kind TokenKind
	Text string
	Off  int
}

// Tokens is what the parser reads from. The IR's lexer implements it over its
// own tokens; ParseExpr brings a small one for strings. Peek and Next give
// TokEnd for what cannot stand in an expression.
type Tokens interface {
	Peek() Token
	Next() Token
}

// SyntaxError is a fault in the text of an expression.
type SyntaxError struct {
	Off int // byte offset in the text
	Msg string
}

func (e *SyntaxError) Error() string { return fmt.Sprintf("at offset %d: %s", e.Off, e.Msg) }

// maxDepth bounds the nesting of parentheses.
const maxDepth = 200

type parser struct {
	ts      Tokens
	resolve func(string) (Ref, bool)
	depth   int
}

// ParseTokens reads the longest expression that the tokens begin with;
// resolveVal finds the SSA value %name and may be nil.
func ParseTokens(ts Tokens, resolveVal func(name string) (Ref, bool)) (Expr, error) {
	p := &parser{ts: ts, resolve: resolveVal}
	return p.sum()
}

// ParseExpr reads a whole string as an expression.
func ParseExpr(s string, resolveVal func(name string) (Ref, bool)) (Expr, error) {
	lex := newLexer(s)
	e, err := ParseTokens(lex, resolveVal)
	if err != nil {
		return Expr{}, err
	}
	return e, lex.end()
}

// ParseCond reads a whole string as a condition, `expr REL expr`.
func ParseCond(s string, resolveVal func(name string) (Ref, bool)) (Cond, error) {
	lex := newLexer(s)
	l, err := ParseTokens(lex, resolveVal)
	if err != nil {
		return Cond{}, err
	}
	t := lex.Next()
	if t.Kind != TokOp || !Rel(t.Text).Valid() {
		return Cond{}, lex.fault(t, "expected a relation: == != < <= > >=")
	}
	r, err := ParseTokens(lex, resolveVal)
	if err != nil {
		return Cond{}, err
	}
	return Cond{l, r, Rel(t.Text)}, lex.end()
}

func (p *parser) isOp(texts ...string) (string, bool) {
	t := p.ts.Peek()
	for _, s := range texts {
		if t.Text == s && (t.Kind == TokOp || t.Kind == TokName && s == "mod") {
			return s, true
		}
	}
	return "", false
}

func (p *parser) fault(t Token, format string, args ...any) error {
	return &SyntaxError{t.Off, fmt.Sprintf(format, args...)}
}

// sum = ["-"] product {("+" | "-") product}
func (p *parser) sum() (Expr, error) {
	if p.depth++; p.depth > maxDepth {
		return Expr{}, p.fault(p.ts.Peek(), "an expression nested deeper than %d", maxDepth)
	}
	defer func() { p.depth-- }()
	sign := int64(1)
	if _, ok := p.isOp("-"); ok {
		p.ts.Next()
		sign = -1
	}
	var e Expr
	for {
		x, err := p.product()
		if err != nil {
			return Expr{}, err
		}
		e = addScaled(e, sign, x)
		op, ok := p.isOp("+", "-")
		if !ok {
			return e, nil
		}
		p.ts.Next()
		if sign = 1; op == "-" {
			sign = -1
		}
	}
}

var productOps = map[string]func(a, b Expr) Expr{"*": Mul, "//": FloorDiv, "mod": Mod}

// product = operand {("*" | "//" | "mod") operand}, to the left
func (p *parser) product() (Expr, error) {
	e, err := p.operand()
	for err == nil {
		op, ok := p.isOp("*", "//", "mod")
		if !ok {
			break
		}
		at := p.ts.Next()
		var x Expr
		if x, err = p.operand(); err != nil {
			break
		}
		if c, isConst := x.IsConst(); isConst && c <= 0 && op != "*" {
			return Expr{}, p.fault(at, "the divisor of %s is %d; it must be positive", op, c)
		}
		e = productOps[op](e, x)
	}
	return e, err
}

// operand = INT | name | %name | ("min" | "max") "(" sum "," sum ")" | "(" sum ")"
func (p *parser) operand() (Expr, error) {
	t := p.ts.Peek()
	if t.Kind != TokEnd {
		p.ts.Next()
	}
	switch {
	case t.Kind == TokInt:
		v, err := strconv.ParseInt(t.Text, 10, 64)
		if err != nil {
			return Expr{}, p.fault(t, "the integer %s does not fit 64 bits", t.Text)
		}
		return Const(v), nil
	case t.Kind == TokVal:
		return p.val(t)
	case t.Kind == TokName && t.Text != "mod":
		if _, ok := p.isOp("("); ok && (t.Text == "min" || t.Text == "max") {
			return p.extremum(t.Text)
		}
		return Name(t.Text), nil
	case t.Kind == TokOp && t.Text == "(":
		e, err := p.sum()
		if err != nil {
			return Expr{}, err
		}
		return e, p.want(")")
	}
	return Expr{}, p.fault(t, "expected an integer, a name, a %%value or (")
}

func (p *parser) val(t Token) (Expr, error) {
	if p.resolve != nil {
		if r, ok := p.resolve(t.Text); ok {
			return Val(r), nil
		}
	}
	return Expr{}, p.fault(t, "%%%s is not a value visible here", t.Text)
}

func (p *parser) extremum(name string) (Expr, error) {
	if err := p.want("("); err != nil {
		return Expr{}, err
	}
	a, err := p.sum()
	if err != nil {
		return Expr{}, err
	}
	if err := p.want(","); err != nil {
		return Expr{}, err
	}
	b, err := p.sum()
	if err != nil {
		return Expr{}, err
	}
	if name == "min" {
		return Min(a, b), p.want(")")
	}
	return Max(a, b), p.want(")")
}

func (p *parser) want(op string) error {
	if _, ok := p.isOp(op); !ok {
		return p.fault(p.ts.Peek(), "expected %q", op)
	}
	p.ts.Next()
	return nil
}
