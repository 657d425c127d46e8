package syntax

import (
	"slices"

	"github.com/alecthomas/participle/v2"
	"github.com/alecthomas/participle/v2/lexer"
)

// Reductions are the built-in reductions. Each of these names followed by `[`
// starts a reduction, always.
var Reductions = []string{"sum", "prod", "max", "min", "mean", "any", "all", "argmax", "argmin", "logsumexp"}

// Policies say what a subscript out of range gives.
var Policies = []string{"zero", "clamp"}

// binaryLevels are the binary operators from the loosest to the tightest. The
// comparisons do not chain.
var binaryLevels = [][]string{
	{"or"},
	{"and"},
	{"==", "!=", "<", "<=", ">", ">="},
	{"+", "-"},
	{"*", "/", "%"},
}

const (
	levelCompare = 2
	levelAdd     = 3
)

// levelOf gives the level of each binary operator.
var levelOf = func() map[string]int {
	m := map[string]int{}
	for level, ops := range binaryLevels {
		for _, op := range ops {
			m[op] = level
		}
	}
	return m
}()

// maxChain bounds the operators of one level in a row: the tree leans left, and
// everything that walks it recurses.
const maxChain = 4096

// exprParser reads expressions by precedence climbing. depth counts the
// recursion that no bracket bounds: prefix operators and bodies of reductions.
type exprParser struct {
	lex   *lexer.PeekingLexer
	depth int
}

// parseExpr is the production of Expr.
func parseExpr(lex *lexer.PeekingLexer) (Expr, error) {
	if !startsOperand(lex.Peek()) {
		return nil, participle.NextMatch
	}
	return (&exprParser{lex: lex}).value()
}

// startsOperand reports whether t can be the first token of an expression.
func startsOperand(t *lexer.Token) bool {
	switch t.Type {
	case tokIdent, tokInt, tokFloat:
		return true
	case tokKeyword:
		return t.Value == "not" || isLitWord(t.Value)
	case tokOp:
		return t.Value == "(" || t.Value == "-"
	}
	return false
}

func isLitWord(s string) bool { return s == "true" || s == "false" || s == "inf" || s == "nan" }

func (p *exprParser) is(op string) bool {
	t := p.lex.Peek()
	return t.Value == op && (t.Type == tokOp || t.Type == tokKeyword)
}

func (p *exprParser) accept(op string) bool {
	if p.is(op) {
		p.lex.Next()
		return true
	}
	return false
}

func (p *exprParser) expect(op, what string) error {
	if p.accept(op) {
		return nil
	}
	return unexpected(p.lex.Peek(), what)
}

// end closes the span of a node that starts at pos behind the last token.
func (p *exprParser) end(pos Position) Span { return Span{pos, p.lex.RawPeek().Pos} }

// value reads an expression that is no tuple.
func (p *exprParser) value() (Expr, error) {
	e, err := p.binary(0)
	if err != nil {
		return nil, err
	}
	return e, noTuple(e)
}

// binary reads operators of level and tighter. The result may be a tuple if no
// operator stands beside it.
func (p *exprParser) binary(level int) (Expr, error) {
	if level == len(binaryLevels) {
		if p.is("-") {
			return p.prefix("-", level)
		}
		return p.postfix()
	}
	if level == levelCompare && p.is("not") {
		return p.prefix("not", levelCompare)
	}
	x, err := p.binary(level + 1)
	for n := 0; err == nil; n++ {
		t := p.lex.Peek()
		if (t.Type != tokOp && t.Type != tokKeyword) || !slices.Contains(binaryLevels[level], t.Value) {
			return x, nil
		}
		if n > 0 && level == levelCompare {
			return nil, fault(t, "comparisons do not chain").WithFix("write `a %s b and b %s c`", x.(*Binary).Op, t.Value)
		}
		if n == maxChain {
			return nil, fault(t, "more than %d operators in a row", maxChain).WithFix("name a part with `let`")
		}
		x, err = p.operator(x, level)
	}
	return nil, err
}

// operator reads `op y` after x.
func (p *exprParser) operator(x Expr, level int) (Expr, error) {
	if err := noTuple(x); err != nil {
		return nil, err
	}
	op := *p.lex.Next()
	y, err := p.binary(level + 1)
	if err != nil {
		return nil, err
	}
	if err := noTuple(y); err != nil {
		return nil, err
	}
	return &Binary{Span: p.end(x.Bounds().Pos), Op: op.Value, OpPos: op.Pos, X: x, Y: y}, nil
}

// prefix reads `-x` or `not x`, where x is an operand of the given level: `-`
// binds tighter than `*`, `not` looser than a comparison.
func (p *exprParser) prefix(op string, level int) (Expr, error) {
	t := *p.lex.Peek()
	if p.depth++; p.depth > maxNesting {
		return nil, fault(&t, "operators are nested more than %d deep", maxNesting)
	}
	defer func() { p.depth-- }()
	p.lex.Next()
	x, err := p.binary(level)
	if err != nil {
		return nil, err
	}
	if err := noTuple(x); err != nil {
		return nil, err
	}
	return &Unary{Span: p.end(t.Pos), Op: op, X: x}, nil
}

// postfix reads a primary and the subscripts after it.
func (p *exprParser) postfix() (Expr, error) {
	x, err := p.primary()
	for n := 0; err == nil && p.is("["); n++ {
		if n == maxNesting {
			return nil, fault(p.lex.Peek(), "more than %d subscripts in a row", maxNesting)
		}
		if err = noTuple(x); err == nil {
			x, err = p.bracket(x)
		}
		if _, ok := x.(*Reduce); ok {
			return x, err
		}
	}
	if err != nil {
		return nil, err
	}
	return x, nil
}

func (p *exprParser) primary() (Expr, error) {
	t := *p.lex.Peek()
	switch {
	case t.Type == tokIdent:
		return p.nameOrCall()
	case t.Type == tokInt:
		return p.literal(IntLit), nil
	case t.Type == tokFloat, t.Type == tokKeyword && (t.Value == "inf" || t.Value == "nan"):
		return p.literal(FloatLit), nil
	case t.Type == tokKeyword && (t.Value == "true" || t.Value == "false"):
		return p.literal(BoolLit), nil
	case t.Type == tokOp && t.Value == "(":
		return p.parens()
	}
	return nil, unexpected(&t, "an expression")
}

func (p *exprParser) literal(kind LitKind) Expr {
	t := p.lex.Next()
	return &Lit{Span: p.end(t.Pos), Kind: kind, Text: t.Value}
}

func (p *exprParser) nameOrCall() (Expr, error) {
	t := *p.lex.Next()
	name := p.end(t.Pos)
	if !p.accept("(") {
		return &Name{Span: name, Name: t.Value}, nil
	}
	c := &Call{Fn: &Ident{Span: name, Name: t.Value}}
	if !p.is(")") {
		for {
			a, err := p.arg()
			if err != nil {
				return nil, err
			}
			c.Args = append(c.Args, a)
			if !p.accept(",") {
				break
			}
		}
	}
	if err := p.expect(")", "`,` or `)`"); err != nil {
		return nil, err
	}
	c.Span = p.end(t.Pos)
	return c, nil
}

func (p *exprParser) arg() (*Arg, error) {
	a := &Arg{}
	pos := p.lex.Peek().Pos
	if p.lex.Peek().Type == tokIdent {
		mark := p.lex.MakeCheckpoint()
		t := *p.lex.Next()
		name := p.end(t.Pos)
		if p.accept("=") {
			a.Name = &Ident{Span: name, Name: t.Value}
		} else {
			p.lex.LoadCheckpoint(mark)
		}
	}
	x, err := p.value()
	a.X, a.Span = x, p.end(pos)
	return a, err
}

// parens reads `(x)` or the tuple `(x, y)`.
func (p *exprParser) parens() (Expr, error) {
	pos := p.lex.Next().Pos
	var list []Expr
	for {
		x, err := p.value()
		if err != nil {
			return nil, err
		}
		list = append(list, x)
		if !p.accept(",") {
			break
		}
	}
	if err := p.expect(")", "`)`"); err != nil {
		return nil, err
	}
	if len(list) == 1 {
		return &Paren{Span: p.end(pos), X: list[0]}, nil
	}
	return &Tuple{Span: p.end(pos), List: list}, nil
}

// noTuple refuses a tuple where one value is meant.
func noTuple(e Expr) error {
	if t, ok := e.(*Tuple); ok {
		return &syntaxError{t.Errorf("a tuple is no value").
			WithExpected("one value").
			WithFix("several values stand in monoids, and as the body of a reduction by a monoid")}
	}
	return nil
}

// Parse is the production of Values, called by participle.
func (v *Values) Parse(lex *lexer.PeekingLexer) error {
	if !startsOperand(lex.Peek()) {
		return participle.NextMatch
	}
	p := &exprParser{lex: lex}
	e, err := p.binary(0)
	if err != nil {
		return err
	}
	v.Span = e.Bounds()
	if t, ok := e.(*Tuple); ok {
		v.List = t.List
	} else {
		v.List = []Expr{e}
	}
	return nil
}
