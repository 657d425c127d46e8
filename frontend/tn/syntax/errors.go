package syntax

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/alecthomas/participle/v2"
	"github.com/alecthomas/participle/v2/lexer"

	"tenon/internal/diag"
)

// syntaxError carries a finished diagnosis through participle.
type syntaxError struct{ d *diag.Error }

func (e *syntaxError) Error() string { return e.d.Error() }

// Message is the text without its position; participle asks for it.
func (e *syntaxError) Message() string { return e.d.Msg }

// Position is where the error is; participle asks for it.
func (e *syntaxError) Position() lexer.Position {
	return lexer.Position{Filename: e.d.Pos.File, Line: e.d.Pos.Line, Column: e.d.Pos.Col}
}

// fault is an error at a token.
func fault(t *lexer.Token, format string, args ...any) *syntaxError {
	e := diag.Errorf(at(t.Pos), format, args...)
	e.Len = max(1, utf8.RuneCountInString(t.Value))
	return &syntaxError{e}
}

// WithFix sets what to change and returns e.
func (e *syntaxError) WithFix(format string, args ...any) *syntaxError {
	e.d.WithFix(format, args...)
	return e
}

// unexpected is the error of a token that cannot stand where it does.
func unexpected(t *lexer.Token, expected string) *syntaxError {
	var e *syntaxError
	switch {
	case t.EOF():
		e = fault(t, "the file ends too early")
	case t.Type == tokKeyword:
		e = fault(t, "unexpected keyword `%s`", t.Value)
	default:
		e = fault(t, "unexpected %s", quoteToken(t.Value))
	}
	e.d.Expected = expected
	e.d.Fix = hint(t, expected)
	return e
}

// hints are the fixes for mistakes that a look at the token gives away: the
// token (or "name" for any), a part of what was expected, the fix.
var hints = []struct{ token, expected, fix string }{
	{"=", ")", "equality is written `==`"},
	{"=", "`{`", "equality is written `==`"},
	{")", "a statement", "remove it, or open the bracket before it"},
	{"]", "a statement", "remove it, or open the bracket before it"},
	{")", "a ", "write what is missing before it, or remove the comma"},
	{"]", "`:`", "give the type parameter a class: `E: float`, `E: int` or `E: number`"},
	{"{", "`->`", "a fn gives results, `-> f32[N]`; loops over buffers are a `proc`"},
	{":", "`]`", "there are no slices: write the index, `x[i+1] for i in 0..N`"},
	{"..", "a statement", "a range is written `i in a..b`; a pack is written `..p` inside brackets"},
	{"..", "an expression", "a range is written `i in a..b`; a pack is written `..p` inside brackets"},
	{"..", "`)`", "a range is written `i in a..b`; a pack is written `..p` inside brackets"},
	{"if", "an expression", "write `select(condition, a, b)`"},
	{"for", "an expression", "a loop stands behind `let`: `let y = for t in 0..T carry s = .. { .. }`"},
	{"->", "`{`", "a proc returns nothing: it writes its `out` and `inout` buffers"},
	{"for", fnStatement, "loops stand in procs; a fn has `let y = for t in 0..T carry s = .. { .. }`"},
	{"if", fnStatement, "branches stand in procs; a fn has `select(condition, a, b)`"},
	{"var", fnStatement, "variables stand in procs; a fn binds values with `let`"},
	{"[", fnStatement, "`for` ends a return and ranges over all its values; bind each with `let`, and return the names"},
	{"(", fnStatement, "`for` ends a return and ranges over all its values; bind each with `let`, and return the names"},
	{"name", fnStatement, "values are bound with `let name = ..`"},
	{"return", procStatement, "a proc returns nothing: assign to its out and inout buffers"},
	{"==", "`=`", "an assignment is written `=`"},
}

// What the two kinds of bodies expect.
const (
	fnStatement   = "a statement: let, return, next or stack"
	procStatement = "a statement: let, var, for, if, an assignment or a call"
)

func hint(t *lexer.Token, expected string) string {
	if t.Type == tokKeyword && t.Value == "not" && expected == "an expression" {
		return "put parentheses around `not ...` here"
	}
	if t.Type == tokKeyword && expected == "a name" {
		return fmt.Sprintf("`%s` is a reserved word; take another name", t.Value)
	}
	for _, h := range hints {
		same := h.token == t.Value || h.token == "name" && t.Type == tokIdent
		if same && strings.Contains(expected, h.expected) {
			return h.fix
		}
	}
	return ""
}

// productions gives the words for a production or a token class in a message.
var productions = map[string]string{
	"<ident>": "a name", "<string>": "a string", "Ident": "a name", "Expr": "an expression", "Type": "a type",
	"ElemType": "an element type", "Param": "a parameter", "Result": "a result type", "TypeParam": "a type parameter, such as `E: float`",
	"FnBody": "`{`", "ProcBody": "`{`", "Sub": "a dim", "Dims": "`[`", "Axis": "an index", "Range": "a range, such as `i in 0..N`",
	"Target": "a name", "CarryInit": "a carried name, such as `s[n] = 0.0`", "Arg": "an argument", "DirectiveArg": "an argument",
	"Values": "a value", "MonoidBody": "`=` or `{`", "Decl": "fn, proc, monoid or import", "FnStmt": "a statement", "ProcStmt": "a statement",
	"Combine": "`combine (a, b) (c, d) = ..`", "Base": "`base`", "Act": "`act`", "Inject": "`inject`", "CarryLoop": "an expression", `"*"`: "an argument", `"identity"`: "`identity` or `base`",
}

var expectedText = regexp.MustCompile(`\(expected (.*)\)$`)

// term matches the first element of a grammar text as participle prints it.
var term = regexp.MustCompile(`^[ (]*(?:\(\?[=!] )?("(?:[^"\\]|\\.)*"|<[a-z]+>|[A-Za-z]+)`)

// toDiag turns an error of participle into ours; what is expected where
// participle does not say.
func toDiag(err error, what string) *diag.Error {
	var se *syntaxError
	if errors.As(err, &se) {
		return se.d
	}
	var ut *participle.UnexpectedTokenError
	if errors.As(err, &ut) {
		if m := expectedText.FindStringSubmatch(ut.Message()); m != nil {
			what = firstTerm(m[1])
		}
		return unexpected(&ut.Unexpected, what).d
	}
	var pe participle.Error
	if errors.As(err, &pe) {
		return diag.Errorf(at(pe.Position()), "%s", pe.Message())
	}
	return diag.Errorf(diag.Pos{}, "%v", err)
}

// firstTerm names what comes first in a piece of grammar.
func firstTerm(grammar string) string {
	m := term.FindStringSubmatch(grammar)
	if m == nil {
		return ""
	}
	if w, ok := productions[m[1]]; ok {
		return w
	}
	if strings.HasPrefix(m[1], `"`) {
		word := "`" + strings.Trim(m[1], `"`) + "`"
		if word == "`)`" || word == "`]`" {
			return "`,` or " + word
		}
		return word
	}
	return m[1]
}
