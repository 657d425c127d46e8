package tn

import (
	"strings"

	"tenon/frontend/tn/syntax"
)

// knownDirectives are the directives of the language.
var knownDirectives = map[string]bool{"distribute": true, "parallel": true, "reduce": true, "tile": true, "pipeline": true,
	"fixed": true, "halo": true, "target": true}

// directiveText is a directive as the IR keeps it: `tile(i: 32, j: 32)`.
func directiveText(d *syntax.Directive) string {
	var b strings.Builder
	b.WriteString(d.Name.Name)
	if d.Args == nil {
		return b.String()
	}
	b.WriteString("(")
	for i, a := range d.Args {
		if i > 0 {
			b.WriteString(", ")
		}
		if a.Key != nil {
			b.WriteString(a.Key.Name + ": ")
		}
		switch {
		case a.Star:
			b.WriteString("*")
		case a.Str != "":
			b.WriteString(a.Str)
		default:
			b.WriteString(exprText(a.Lo))
			if a.Hi != nil {
				b.WriteString(":" + exprText(a.Hi))
			}
		}
	}
	b.WriteString(")")
	return b.String()
}

// exprText writes the small expressions that directives hold.
func exprText(e syntax.Expr) string {
	switch e := e.(type) {
	case *syntax.Name:
		return e.Name
	case *syntax.Lit:
		return e.Text
	case *syntax.Paren:
		return "(" + exprText(e.X) + ")"
	case *syntax.Unary:
		return e.Op + exprText(e.X)
	case *syntax.Binary:
		return exprText(e.X) + " " + e.Op + " " + exprText(e.Y)
	case *syntax.Call:
		args := make([]string, len(e.Args))
		for i, a := range e.Args {
			args[i] = exprText(a.X)
		}
		return e.Fn.Name + "(" + strings.Join(args, ", ") + ")"
	case *syntax.Index:
		subs := make([]string, len(e.Subs))
		for i, s := range e.Subs {
			subs[i] = exprText(s.X)
		}
		return exprText(e.X) + "[" + strings.Join(subs, ", ") + "]"
	}
	return "?"
}

// ofLoop checks the directives of one loop, which say nothing of another.
func (f *fnState) ofLoop(list []*syntax.Directive, loop *syntax.For) {
	said := f.said
	f.said = nil
	defer func() { f.said = said }()
	f.contradictions(list)
	f.checkDirectives(list, loop)
	var fixed *syntax.Directive
	for _, d := range list {
		if d.Name.Name == "fixed" {
			fixed = d
		}
	}
	for _, d := range list {
		if fixed != nil && (d.Name.Name == "tile" || d.Name.Name == "pipeline" || d.Name.Name == "parallel") {
			f.p.failWith(d.Errorf("@%s contradicts @fixed, which keeps the loop as it is", d.Name.Name).
				WithNote(fixed.At(), "the other one is here").WithFix("remove one of them"))
		}
	}
}

// contradictions checks a set of directives: each is known, and no two say
// different things of the same subject.
func (f *fnState) contradictions(list []*syntax.Directive) {
	for _, d := range list {
		if !knownDirectives[d.Name.Name] {
			f.p.failWith(d.Errorf("no directive @%s", d.Name.Name).
				WithExpected("distribute, parallel, reduce, tile, pipeline, fixed, halo or target"))
		}
		f.given(d)
	}
}

// given records what a directive says of each subject in f, and refuses a
// second, different saying.
func (f *fnState) given(d *syntax.Directive) {
	all := subjects(d)
	for _, subject := range sortedKeys(all) {
		key, says := d.Name.Name+"/"+subject, all[subject]
		if f.said == nil {
			f.said = map[string]saying{}
		}
		old, ok := f.said[key]
		if ok && old.text != says {
			f.p.failWith(d.Errorf("@%s contradicts an earlier directive%s", d.Name.Name, about(subject)).
				WithNote(old.at.At(), "the other one is here").WithFix("remove one of them"))
		}
		f.said[key] = saying{says, d}
	}
}

// about names the subject of a directive, which may have none.
func about(subject string) string {
	if s := strings.TrimSpace(subject); s != "" {
		return " about " + s
	}
	return ""
}

// saying is what a directive says, and where.
type saying struct {
	text string
	at   syntax.Node
}

// subjects splits a directive into what it says of each key.
func subjects(d *syntax.Directive) map[string]string {
	out := map[string]string{}
	key := ""
	for _, a := range d.Args {
		if a.Key != nil {
			key = a.Key.Name
			if _, twice := out[key]; twice {
				key += " " // a key given twice within one directive is a subject of its own
			}
		}
		one := syntax.Directive{Span: d.Span, Name: d.Name, Args: []*syntax.DirectiveArg{{Star: a.Star, Str: a.Str, Lo: a.Lo, Hi: a.Hi}}}
		out[key] += directiveText(&one) + ";"
	}
	if len(d.Args) == 0 {
		out[key] = "on"
	}
	return out
}
