package syntax

import (
	"math"
	"strings"
)

// Format prints a file in the canonical form: two spaces a block, one statement
// a line, lines of at most 100 columns where they can be broken. Comments keep
// their place: a comment behind code stays behind it, one between statements
// stays there, and one inside a statement moves before it. Single blank lines
// are kept. Formatting the result again changes nothing.
func Format(f *File) string {
	p := &printer{comments: f.Comments}
	for i, it := range f.Items {
		p.item(it, i > 0)
	}
	p.commentsBefore(math.MaxInt, math.MaxInt)
	return p.b.String()
}

// FormatSource parses and formats; the error is Parse's.
func FormatSource(filename, src string) (string, error) {
	f, err := Parse(filename, src)
	if err != nil {
		return "", err
	}
	return Format(f), nil
}

// printer writes lines and weaves the comments in by their offsets.
type printer struct {
	b        strings.Builder
	comments []*Comment // those not yet printed
	indent   int
	lastLine int  // the line of the source where the last thing printed ended
	fresh    bool // a block was just opened: no blank line here
	blank    bool // a blank line must stand here
}

// start begins a line for something that stood on the given line of the source,
// after one blank line if there was one.
func (p *printer) start(line int) {
	if p.blank || p.b.Len() > 0 && !p.fresh && p.lastLine > 0 && line > p.lastLine+1 {
		p.b.WriteString("\n")
	}
	p.fresh, p.blank = false, false
	p.b.WriteString(strings.Repeat(" ", p.indent))
}

// write prints a layout at the current place of the current line.
func (p *printer) write(l *layout, col int) { p.b.WriteString(render(l, p.indent, p.indent+col)) }

// commentsBefore prints the comments before an offset as lines of their own.
// Those inside the statement that starts at line count as standing before it.
func (p *printer) commentsBefore(offset, line int) {
	for len(p.comments) > 0 && p.comments[0].Pos.Offset < offset {
		c := p.comments[0]
		p.comments = p.comments[1:]
		p.start(min(c.Pos.Line, line))
		p.b.WriteString(c.Text + "\n")
		p.lastLine = c.Pos.Line
	}
}

// finish ends the line of something that ended at end in the source, with the
// comment that stands behind it there, if that is before the offset limit.
func (p *printer) finish(end Position, limit int) {
	p.lastLine = end.Line
	if c := p.trailing(end, limit); c != nil {
		p.b.WriteString(" " + c.Text)
	}
	p.b.WriteString("\n")
}

// trailing takes the comment that stands behind end on its line and before the
// offset limit, or nil.
func (p *printer) trailing(end Position, limit int) *Comment {
	if len(p.comments) == 0 {
		return nil
	}
	c := p.comments[0]
	if !c.Trailing || c.Pos.Line != end.Line || c.Pos.Offset < end.Offset || c.Pos.Offset >= limit {
		return nil
	}
	p.comments = p.comments[1:]
	return c
}

// item prints a declaration; blank says that an empty line must stand before it
// and its comments.
func (p *printer) item(it *Item, blank bool) {
	_, isImport := it.Decl.(*Import)
	p.blank = blank && !isImport
	p.commentsBefore(it.Pos.Offset, math.MaxInt)
	for _, d := range it.Directives {
		p.commentsBefore(d.EndPos.Offset, d.Pos.Line)
		p.start(d.Pos.Line)
		p.write(directiveLayout(d), 0)
		p.finish(d.EndPos, it.Decl.Bounds().Pos.Offset)
	}
	switch d := it.Decl.(type) {
	case *Import:
		p.commentsBefore(d.EndPos.Offset, d.Pos.Line)
		p.start(d.Pos.Line)
		p.b.WriteString("import " + d.Path)
		p.finish(d.EndPos, math.MaxInt)
	case *Fn:
		p.fn(d)
	case *Proc:
		p.proc(d)
	case *Monoid:
		p.monoid(d)
	}
}

func (p *printer) fn(d *Fn) {
	params := p.params(d.Params, d.Results[0].Pos.Offset)
	head := []*layout{text("fn " + d.Name.Name), typeParams(d.TypeParams), params, text(" -> "), resultsLayout(d.Results)}
	p.header(d.Span, cat(head...), d.Where, &d.Body.Block)
}

func (p *printer) proc(d *Proc) {
	limit := d.Body.Pos.Offset
	if len(d.Where) > 0 {
		limit = d.Where[0].Bounds().Pos.Offset
	}
	params := p.params(d.Params, limit)
	head := []*layout{text("proc " + d.Name.Name), typeParams(d.TypeParams), params}
	p.header(d.Span, cat(head...), d.Where, &d.Body.Block)
}

// header prints the head of an item with its body. The facts move to a line of
// their own before the signature breaks.
func (p *printer) header(s Span, head *layout, where []Expr, body *Block) {
	p.commentsBefore(body.Pos.Offset, s.Pos.Line)
	p.start(s.Pos.Line)
	facts := whereLayout(where)
	if !fits(frame{l: head}, nil, lineWidth) {
		facts = group(facts)
	}
	p.write(group(head, facts, text(" {")), 0)
	p.body(body, math.MaxInt)
}

func typeParams(list []*TypeParam) *layout {
	if len(list) == 0 {
		return text("")
	}
	return listLayout("[", mapAll(list, func(t *TypeParam) *layout {
		return text(t.Name.Name + ": " + t.Class.Name)
	}), "]")
}

// params lays out parameters; comments between them stay there, which puts each
// on a line of its own. limit is the offset behind the closing parenthesis.
func (p *printer) params(list []*Param, limit int) *layout {
	if len(list) == 0 {
		return text("()")
	}
	var parts []*layout
	for i, d := range list {
		for len(p.comments) > 0 && p.comments[0].Pos.Offset < d.Pos.Offset && p.comments[0].Pos.Offset > list[0].Pos.Offset {
			parts = append(parts, text(p.comments[0].Text), hardLine())
			p.comments = p.comments[1:]
		}
		parts = append(parts, paramLayout(d))
		next := limit
		if i+1 < len(list) {
			parts = append(parts, text(","))
			next = list[i+1].Pos.Offset
		}
		if c := p.trailing(d.EndPos, next); c != nil {
			parts = append(parts, text(" "+c.Text), hardLine())
		} else if i+1 < len(list) {
			parts = append(parts, line())
		}
	}
	if parts[len(parts)-1].kind == layHard {
		return group(text("("), nest(append([]*layout{soft()}, parts[:len(parts)-1]...)...), hardLine(), text(")"))
	}
	return group(text("("), nest(append([]*layout{soft()}, parts...)...), soft(), text(")"))
}

func paramLayout(d *Param) *layout {
	s := d.Name.Name + ": "
	if d.Const {
		s = "const " + s
	}
	if d.Mode != "" {
		s += d.Mode + " "
	}
	return cat(text(s), typeLayout(d.Type))
}

func resultsLayout(list []*Result) *layout {
	one := func(r *Result) *layout {
		if r.Name != nil {
			return cat(text(r.Name.Name+": "), typeLayout(r.Type))
		}
		return typeLayout(r.Type)
	}
	if len(list) == 1 && list[0].Name == nil {
		return one(list[0])
	}
	return listLayout("(", mapAll(list, one), ")")
}

func whereLayout(list []Expr) *layout {
	if len(list) == 0 {
		return text("")
	}
	return nest(line(), text("where "), group(nest(join(exprList(list)))))
}
