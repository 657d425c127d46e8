package syntax

import (
	"fmt"
	"slices"
)

// What follows a name in brackets is a subscript, `x[i, j-1]`, or the axes of a
// reduction, `sum[j in A[i] where j <= i] body`. One reader serves both and
// decides behind the closing bracket: the name of a built-in reduction, an `in`
// or a guard mean a reduction; so does an operand that starts on the same line,
// which is how a user's monoid is applied. (On the next line it would be the
// next statement of a proc.)

// bracketItem is one item between the brackets, before it is known what it is.
type bracketItem struct {
	sub *Sub
	ax  *Axis // set if `in` was written
}

// bracket reads `[...]` after x and, for a reduction, its body.
func (p *exprParser) bracket(x Expr) (Expr, error) {
	open := *p.lex.Next()
	var items []bracketItem
	for !p.is("]") && !p.is("where") {
		it, err := p.bracketItem()
		if err != nil {
			return nil, err
		}
		items = append(items, it)
		if !p.accept(",") {
			break
		}
		if p.is("]") || p.is("where") {
			return nil, unexpected(p.lex.Peek(), "an index")
		}
	}
	guards, err := p.guards()
	if err != nil {
		return nil, err
	}
	closing := *p.lex.Peek()
	if err := p.expect("]", "`,` or `]`"); err != nil {
		return nil, err
	}
	if name, ok := x.(*Name); ok && p.reduces(name, items, guards, closing.Pos.Line) {
		return p.reduce(name, items, guards)
	}
	if len(guards) > 0 {
		return nil, fault(&open, "a guard has no meaning in a subscript").WithFix("guards stand in reductions: `sum[j where j <= i] x[j]`")
	}
	return p.subscript(x, items)
}

func (p *exprParser) bracketItem() (bracketItem, error) {
	pos := p.lex.Peek().Pos
	if p.accept("..") {
		t := *p.lex.Peek()
		if t.Type != tokIdent {
			return bracketItem{}, unexpected(&t, "the name of a pack")
		}
		p.lex.Next()
		return bracketItem{sub: &Sub{Span: p.end(pos), Pack: t.Value}}, nil
	}
	e, err := p.value()
	if err != nil {
		return bracketItem{}, err
	}
	it := bracketItem{sub: &Sub{Span: p.end(pos), X: e}}
	if !p.is("in") {
		return it, nil
	}
	it.ax, err = p.axisRange(e)
	return it, err
}

// axisRange reads `in A[i]` or `in lo..hi [step s]` after the name of an axis.
func (p *exprParser) axisRange(e Expr) (*Axis, error) {
	name, err := axisName(e)
	if err != nil {
		return nil, err
	}
	p.lex.Next()
	a := &Axis{Name: name}
	if a.In, err = p.value(); err != nil {
		return nil, err
	}
	if p.accept("..") {
		if a.Hi, err = p.value(); err != nil {
			return nil, err
		}
		if p.accept("step") {
			if a.Step, err = p.value(); err != nil {
				return nil, err
			}
		}
	}
	a.Span = p.end(name.Pos)
	return a, nil
}

func axisName(e Expr) (*Ident, error) {
	if n, ok := e.(*Name); ok {
		return &Ident{Span: n.Span, Name: n.Name}, nil
	}
	return nil, &syntaxError{e.Errorf("an axis must be a name").WithExpected("a name, such as `j`")}
}

func (p *exprParser) guards() ([]Expr, error) {
	if !p.accept("where") {
		return nil, nil
	}
	var guards []Expr
	for {
		g, err := p.value()
		if err != nil {
			return nil, err
		}
		guards = append(guards, g)
		if !p.accept(",") {
			return guards, nil
		}
	}
}

// reduces decides whether `name[items where guards]` starts a reduction.
func (p *exprParser) reduces(name *Name, items []bracketItem, guards []Expr, line int) bool {
	if slices.Contains(Reductions, name.Name) || len(guards) > 0 {
		return true
	}
	if slices.ContainsFunc(items, func(it bracketItem) bool { return it.ax != nil }) {
		return true
	}
	t := p.lex.Peek()
	if t.Pos.Line != line || t.Value == "-" || p.isPolicy() {
		return false
	}
	return startsOperand(t)
}

// isPolicy reports whether zero or clamp stands here as a policy; both are free
// as names of functions and variables.
func (p *exprParser) isPolicy() bool {
	t := p.lex.Peek()
	if t.Type != tokIdent || !slices.Contains(Policies, t.Value) {
		return false
	}
	mark := p.lex.MakeCheckpoint()
	defer p.lex.LoadCheckpoint(mark)
	p.lex.Next()
	n := p.lex.Peek()
	return n.Type != tokOp || !slices.Contains([]string{"(", "[", "=", "+=", "-=", "*=", "/=", "%="}, n.Value)
}

func (p *exprParser) reduce(name *Name, items []bracketItem, guards []Expr) (Expr, error) {
	r := &Reduce{Op: &Ident{Span: name.Span, Name: name.Name}, Where: guards}
	for _, it := range items {
		a, err := it.axis()
		if err != nil {
			return nil, err
		}
		r.Axes = append(r.Axes, a)
	}
	if p.depth++; p.depth > maxNesting {
		return nil, fault(p.lex.Peek(), "reductions are nested more than %d deep", maxNesting)
	}
	defer func() { p.depth-- }()
	if !startsOperand(p.lex.Peek()) {
		e := unexpected(p.lex.Peek(), "the body of the reduction")
		if e.d.Fix == "" && slices.Contains(Reductions, name.Name) {
			e.d.Fix = fmt.Sprintf("`%s[` starts a reduction; a tensor needs another name", name.Name)
		}
		return nil, e
	}
	body, err := p.binary(0)
	if err != nil {
		return nil, err
	}
	if slices.Contains(Reductions, name.Name) {
		if err := noTuple(body); err != nil {
			return nil, err
		}
	}
	r.Body, r.Span = body, p.end(name.Pos)
	return r, nil
}

func (it bracketItem) axis() (*Axis, error) {
	switch {
	case it.ax != nil:
		return it.ax, nil
	case it.sub.Pack != "":
		return &Axis{Span: it.sub.Span, Pack: it.sub.Pack}, nil
	}
	name, err := axisName(it.sub.X)
	if err != nil {
		return nil, err
	}
	return &Axis{Span: it.sub.Span, Name: name}, nil
}

func (p *exprParser) subscript(x Expr, items []bracketItem) (Expr, error) {
	e := &Index{X: x}
	for _, it := range items {
		if it.ax != nil {
			return nil, &syntaxError{it.ax.Errorf("`in` has no meaning in a subscript")}
		}
		e.Subs = append(e.Subs, it.sub)
	}
	if p.isPolicy() {
		e.Policy = p.lex.Next().Value
	}
	e.Span = p.end(x.Bounds().Pos)
	return e, nil
}
