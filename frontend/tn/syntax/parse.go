package syntax

import (
	"github.com/alecthomas/participle/v2"
	"github.com/alecthomas/participle/v2/lexer"

	"tenon/internal/diag"
)

// maxErrors bounds the report of one file, and the work spent on one that is no
// program at all: behind that many faults the rest is noise.
const maxErrors = 50

// fnLine and procLine are one statement, the roots of the parsers that bodies
// call; participle wants a struct at a root.
type (
	fnLine struct {
		Stmt FnStmt `parser:"@@"`
	}
	procLine struct {
		Stmt ProcStmt `parser:"@@"`
	}
)

// The parsers of an item and of a statement; Parse and the bodies call them one
// by one, to go on behind an error.
var (
	itemParser     *participle.Parser[Item]
	fnStmtParser   *participle.Parser[fnLine]
	procStmtParser *participle.Parser[procLine]
)

// The parsers are built here and not in the declaration: bodies call them, and
// they hold the bodies' productions.
func init() {
	itemParser = build[Item]()
	fnStmtParser = build[fnLine]()
	procStmtParser = build[procLine]()
}

func build[P any]() *participle.Parser[P] {
	return participle.MustBuild[P](
		participle.Lexer(lexRules),
		participle.Elide("Space", "Comment"),
		participle.UseLookahead(0), // a token decides, and what it starts must follow
		participle.Union[Decl](&Fn{}, &Proc{}, &Monoid{}, &Import{}),
		participle.Union[FnStmt](&Let{}, &Return{}, &Next{}, &Stack{}, &Directive{}),
		participle.Union[ProcStmt](&Var{}, &Local{}, &For{}, &If{}, &CallStmt{}, &Assign{}, &Directive{}),
		participle.ParseTypeWith(parseExpr),
	)
}

// Parse reads a .tn file. The error is a diag.List of all faults found; the
// file then holds what could be read, and must not be compiled.
func Parse(filename, src string) (*File, error) {
	s := lex(filename, src)
	lx, err := lexer.Upgrade(&tokenSource{tokens: s.tokens}, tokSpace, tokComment)
	if err != nil {
		diag.Bugf("tokens of %s: %v", filename, err)
	}
	f := &File{Name: filename, Comments: s.comments}
	f.Pos = Position{Filename: filename, Line: 1, Column: 1}
	f.EndPos = s.tokens[len(s.tokens)-1].Pos
	errs := s.errs
	failed := false // the item before had an error: what is left of it is no second one
	for !lx.Peek().EOF() && len(errs) <= maxErrors {
		before := lx.Cursor()
		it, err := itemParser.ParseFromLexer(lx, participle.AllowTrailing(true))
		found := bodyErrors(it)
		if err == nil {
			f.Items = append(f.Items, it)
		} else if e := toDiag(err, "fn, proc, monoid or import"); !failed || len(found) > 0 || startsItem(lx, before) {
			found = append(found, e)
		}
		errs = append(errs, found...)
		if failed = len(found) > 0 || err != nil; err != nil {
			skipItem(lx, before)
		}
	}
	return f, report(errs)
}

// startsItem reports whether the tokens read since before were an item's.
func startsItem(lx *lexer.PeekingLexer, before int) bool { return lx.Cursor() > before }

// skipItem moves to the next word that starts an item.
func skipItem(lx *lexer.PeekingLexer, before int) {
	if lx.Cursor() == before {
		lx.Next()
	}
	for t := lx.Peek(); !t.EOF() && !(t.Type == tokKeyword && itemStarts[t.Value]); t = lx.Peek() {
		lx.Next()
	}
}

// bodyErrors collects the errors that the blocks of an item kept.
func bodyErrors(it *Item) diag.List {
	var errs diag.List
	Walk(it, func(n Node) bool {
		switch b := n.(type) {
		case *FnBody:
			errs = append(errs, b.errs...)
		case *ProcBody:
			errs = append(errs, b.errs...)
		}
		return true
	})
	return errs
}

// report sorts the errors, keeps the first of each line (the others are mostly
// its consequences) and no more than maxErrors.
func report(errs diag.List) error {
	if errs.Err() == nil {
		return nil
	}
	kept := errs[:0]
	for i, e := range errs {
		if i == 0 || e.Pos.Line != kept[len(kept)-1].Pos.Line {
			kept = append(kept, e)
		}
	}
	if len(kept) > maxErrors {
		kept = append(kept[:maxErrors], diag.Errorf(kept[maxErrors].Pos, "more errors from here on").
			WithFix("correct those above first"))
	}
	return kept
}
