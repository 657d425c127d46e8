package syntax

import "math"

// body prints a block from behind its opening brace, which is already printed,
// and ends the line of the closing one; a trailing comment there is taken up to
// the offset limit.
func (p *printer) body(b *Block, limit int) {
	p.block(b)
	p.finish(b.EndPos, limit)
}

// block prints the statements and the closing brace, without ending its line.
func (p *printer) block(b *Block) {
	first := b.EndPos.Offset
	if len(b.Stmts) > 0 {
		first = b.Stmts[0].Bounds().Pos.Offset
	}
	if len(b.Stmts) == 0 && (len(p.comments) == 0 || p.comments[0].Pos.Offset >= b.EndPos.Offset) {
		p.b.WriteString("}")
		return
	}
	p.finish(Position{Line: b.Pos.Line, Offset: b.Pos.Offset}, first)
	p.indent += 2
	p.fresh = true
	for i, s := range b.Stmts {
		limit := b.EndPos.Offset
		if i+1 < len(b.Stmts) {
			limit = b.Stmts[i+1].Bounds().Pos.Offset
		}
		p.stmt(s, limit)
	}
	p.commentsBefore(b.EndPos.Offset, math.MaxInt)
	p.indent -= 2
	p.fresh = true
	p.start(0)
	p.b.WriteString("}")
}

// stmt prints a statement; limit is the offset where the next thing starts.
func (p *printer) stmt(s Stmt, limit int) {
	span := s.Bounds()
	head, blocks := stmtLayout(s)
	p.commentsBefore(span.Pos.Offset, math.MaxInt)
	if len(blocks) == 0 {
		p.commentsBefore(span.EndPos.Offset, span.Pos.Line)
		p.start(span.Pos.Line)
		p.write(group(head), 0)
		p.finish(span.EndPos, limit)
		return
	}
	for i, b := range blocks {
		if i == 0 {
			p.commentsBefore(b.body.Pos.Offset, span.Pos.Line)
			p.start(span.Pos.Line)
			p.write(group(head, text(" {")), 0)
		} else {
			p.b.WriteString(" ")
			p.write(group(b.head, text("{")), 2)
		}
		p.block(b.body)
	}
	p.finish(span.EndPos, limit)
}

// headed is a block of a statement with what stands before its brace.
type headed struct {
	head *layout
	body *Block
}

// stmtLayout is the layout of a statement up to its first brace, and its
// blocks.
func stmtLayout(s Stmt) (*layout, []headed) {
	switch s := s.(type) {
	case *Let:
		return letLayout(s)
	case *Return:
		return cat(text("return "), group(nest(join(exprList(s.Values)))), trailerLayout(s.For)), nil
	case *Next:
		return bind(cat(text("next "), targetLayout(s.Target)), "=", s.Value), nil
	case *Stack:
		return cat(text("stack "), group(nest(join(identList(s.Names))))), nil
	case *Directive:
		return directiveLayout(s), nil
	case *Var:
		l := cat(text("var "+s.Name.Name+": "), elemLayout(s.Type))
		if s.Value != nil {
			l = bind(l, "=", s.Value)
		}
		return l, nil
	case *Local:
		return bind(text("let "+s.Name.Name), "=", s.Value), nil
	case *For:
		ranges := mapAll(s.Ranges, func(r *Range) *layout { return rangeLayout(r.Name, r.Lo, r.Hi, r.Step) })
		return cat(text("for "), group(nest(join(ranges)))), []headed{{nil, &s.Body.Block}}
	case *If:
		return ifLayout(s)
	case *Assign:
		return bind(cat(text(s.Name.Name), dimsLayout(s.Dims)), s.Op, s.X), nil
	case *CallStmt:
		return listLayout(s.Name.Name+"(", argList(s.Args), ")"), nil
	}
	return text(""), nil
}

func bind(target *layout, op string, value Expr) *layout {
	return cat(target, text(" "+op+" "), nest(exprLayout(value)))
}

func letLayout(s *Let) (*layout, []headed) {
	l := cat(text("let "), group(nest(join(mapAll(s.Targets, targetLayout)))))
	if s.Loop == nil {
		return cat(bind(l, "=", s.Value), trailerLayout(s.For)), nil
	}
	r := s.Loop.Range
	carry := mapAll(s.Loop.Carry, func(c *CarryInit) *layout { return bind(targetLayout(c.Target), "=", c.Value) })
	l = cat(l, text(" = for "), rangeLayout(r.Name, r.Lo, r.Hi, r.Step), nest(line(), text("carry "), group(nest(join(carry)))))
	return l, []headed{{nil, &s.Loop.Body.Block}}
}

// trailerLayout is ` for m, n`, on a line of its own where the statement breaks.
func trailerLayout(axes []*Axis) *layout {
	if len(axes) == 0 {
		return text("")
	}
	return nest(line(), text("for "), group(nest(join(axisList(axes)))))
}

func ifLayout(s *If) (*layout, []headed) {
	blocks := []headed{{nil, &s.Then.Block}}
	for _, e := range s.Elifs {
		blocks = append(blocks, headed{cat(text("else if "), nest(exprLayout(e.Cond)), text(" ")), &e.Then.Block})
	}
	if s.Else != nil {
		blocks = append(blocks, headed{text("else "), &s.Else.Block})
	}
	return cat(text("if "), nest(exprLayout(s.Cond))), blocks
}

// monoid prints a monoid, one part a line.
func (p *printer) monoid(d *Monoid) {
	first := d.EndPos.Offset
	for _, n := range Children(d) {
		if _, ok := n.(*Param); ok {
			first = n.Bounds().EndPos.Offset
		}
	}
	params := p.params(d.Params, first+1)
	head := []*layout{text("monoid " + d.Name.Name), typeParams(d.TypeParams), params}
	for _, prop := range d.Props {
		head = append(head, text(" "+prop))
	}
	p.commentsBefore(first, d.Pos.Line)
	p.start(d.Pos.Line)
	p.write(group(append(head, text(" {"))...), 0)
	p.finish(Position{Line: d.Params[len(d.Params)-1].EndPos.Line, Offset: first}, d.parts()[0].span.Pos.Offset)
	p.indent += 2
	p.fresh = true
	for _, part := range d.parts() {
		p.part(part)
	}
	p.commentsBefore(d.EndPos.Offset, math.MaxInt)
	p.indent -= 2
	p.fresh = true
	p.start(0)
	p.b.WriteString("}")
	p.finish(d.EndPos, math.MaxInt)
}

// monoidPart is one clause of a monoid: its head, and its body if it has one.
type monoidPart struct {
	span Span
	head *layout
	body *MonoidBody
}

func (d *Monoid) parts() []monoidPart {
	var out []monoidPart
	if d.Identity != nil {
		out = append(out, monoidPart{d.Identity.Span, cat(text("identity "), valuesLayout(d.Identity)), nil})
	}
	if c := d.Combine; c != nil {
		head := cat(names("combine (", c.Left), text(" "), names("(", c.Right))
		out = append(out, monoidPart{c.Span, head, c.Body})
	}
	if b := d.Base; b != nil {
		head := cat(names("base "+b.Monoid.Name+"(", b.Comps), names(" over "+b.Over.Name+"(", b.Scaled))
		out = append(out, monoidPart{b.Span, head, nil})
	}
	if a := d.Act; a != nil {
		out = append(out, monoidPart{a.Span, names("act (", a.Params), a.Body})
	}
	if i := d.Inject; i != nil {
		head := names("inject (", i.Params)
		if len(i.Params) == 1 {
			head = text("inject " + i.Params[0].Name)
		}
		out = append(out, monoidPart{i.Span, head, i.Body})
	}
	if d.Result != nil {
		out = append(out, monoidPart{d.Result.Span, cat(text("result "), valuesLayout(d.Result)), nil})
	}
	return out
}

func names(open string, list []*Ident) *layout { return listLayout(open, identList(list), ")") }

func (p *printer) part(m monoidPart) {
	p.commentsBefore(m.span.Pos.Offset, math.MaxInt)
	if m.body != nil && m.body.Body != nil {
		p.commentsBefore(m.body.Body.Pos.Offset, m.span.Pos.Line)
		p.start(m.span.Pos.Line)
		p.write(group(m.head, text(" {")), 0)
		p.body(&m.body.Body.Block, math.MaxInt)
		return
	}
	p.commentsBefore(m.span.EndPos.Offset, m.span.Pos.Line)
	p.start(m.span.Pos.Line)
	if m.body != nil {
		m.head = cat(m.head, text(" = "), nest(valuesLayout(m.body.Values)))
	}
	p.write(group(m.head), 0)
	p.finish(m.span.EndPos, math.MaxInt)
}
