package ir

import (
	"tenon/internal/diag"
	"tenon/ir/sym"
)

// where reads the list of facts behind the word.
func (p *parser) where() []Fact {
	var fs []Fact
	p.expectWord("where")
	p.parens(func() { p.commas(func() { fs = append(fs, p.fact()) }) })
	return fs
}

func (p *parser) fact() Fact {
	t := p.expectKind(tokWord, "declared, proved or guarded")
	f := Fact{Provenance: Provenance(t.text)}
	switch f.Provenance {
	case Declared, Proved, Guarded:
	default:
		panic(p.errorAt(t, "unknown provenance %s", t.text).WithExpected("declared, proved or guarded"))
	}
	f.Cond = p.cond()
	return f
}

func (p *parser) directivesClause(op *Op, i int, _ *scope) {
	op.Clauses[i] = &Directives{List: p.directiveList()}
}

func (p *parser) directiveList() []string {
	var ds []string
	p.parens(func() {
		p.commas(func() { ds = append(ds, p.expectKind(tokString, "a directive as a string").text) })
	})
	return ds
}

// prove checks the facts of a `where` that claim to be proved, given the others
// and what holds of every dim and extent (at least 0).
func (p *parser) prove(t token, dims []string, params []*Param, fs []Fact) {
	known := sym.NewFacts()
	for _, d := range dims {
		known.Add(sym.Ge(sym.Name(d), sym.Const(0)))
	}
	for _, q := range params {
		addExtents(known, q.Value.Type)
	}
	for _, f := range fs {
		if f.Provenance != Proved {
			known.Add(f.Cond)
		}
	}
	for _, c := range proveFacts(known, fs) {
		p.report(unproved(p.pos(t), c))
	}
}

// proveFacts adds the facts of fs that are marked proved to what is known, each
// once it is proved, and returns those for which no proof is found.
func proveFacts(known *sym.Facts, fs []Fact) []sym.Cond {
	var failed []sym.Cond
	for _, f := range fs {
		switch {
		case f.Provenance != Proved:
		case known.Prove(f.Cond):
			known.Add(f.Cond)
		default:
			failed = append(failed, f.Cond)
		}
	}
	return failed
}

// addExtents adds that the extents of an argument are at least 0.
func addExtents(known *sym.Facts, t Type) {
	dims, _ := DimsOf(t)
	for _, d := range dims {
		if d.Degree() > 0 {
			known.Add(sym.Ge(d, sym.Const(0)))
		}
	}
}

func unproved(pos diag.Pos, c sym.Cond) *diag.Error {
	return diag.Errorf(pos, "fact %s is marked proved, but no proof is found", c).
		WithFix("mark it declared (checked at entry), or give the facts it follows from")
}
