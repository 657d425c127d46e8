package rewrite

import (
	"fmt"
	"strings"

	"tenon/internal/diag"
	"tenon/internal/num"
	"tenon/ir"
)

// Term is a pattern: a variable (Var), a constant (Lit) or an op on terms.
type Term struct {
	Var, Lit string
	Op       string
	Args     []*Term
}

// Size is the number of ops in t.
func (t *Term) Size() int {
	if t.Op == "" {
		return 0
	}
	n := 1
	for _, a := range t.Args {
		n += a.Size()
	}
	return n
}

func (t *Term) String() string {
	if t.Op == "" {
		return t.Var + t.Lit
	}
	var args []string
	for _, a := range t.Args {
		args = append(args, a.String())
	}
	return t.Op + "(" + strings.Join(args, ", ") + ")"
}

// parseTerm reads `add(x, 0)`: a word before a parenthesis is an op, a single
// letter a variable, anything else a literal. Rows are our own text, so a fault
// is a bug.
func parseTerm(s string) *Term {
	t, rest := term(strings.ReplaceAll(s, " ", ""))
	if rest != "" {
		diag.Bugf("rewrite: %q is left of %q", rest, s)
	}
	return t
}

func term(s string) (*Term, string) {
	end := strings.IndexAny(s, "(),")
	if end < 0 {
		end = len(s)
	}
	word, rest := s[:end], s[end:]
	if !strings.HasPrefix(rest, "(") {
		if len(word) == 1 && word[0] >= 'a' && word[0] <= 'z' {
			return &Term{Var: word}, rest
		}
		return &Term{Lit: word}, rest
	}
	t := &Term{Op: word}
	for rest[0] != ')' {
		a, more := term(rest[1:])
		t.Args, rest = append(t.Args, a), more
		if rest == "" {
			diag.Bugf("rewrite: %q has no closing parenthesis", s)
		}
	}
	return t, rest[1:]
}

// match binds the variables of t so that t stands for v.
func (t *Term) match(v *ir.Value, bound map[string]*ir.Value) bool {
	switch {
	case t.Var != "":
		if b := bound[t.Var]; b != nil {
			return b == v
		}
		bound[t.Var] = v
		return true
	case t.Lit != "":
		return isLiteral(v, t.Lit)
	}
	if v.Def == nil || v.Def.Def.Name != t.Op {
		return false
	}
	args := v.Def.OperandValues("")
	if len(args) != len(t.Args) {
		return false
	}
	if len(args) == 2 && v.Def.Def.Traits.Has(ir.Commutative) {
		return t.matchArgs(args, bound) || t.matchArgs([]*ir.Value{args[1], args[0]}, bound)
	}
	return t.matchArgs(args, bound)
}

// matchArgs leaves bound as it was where it fails.
func (t *Term) matchArgs(args []*ir.Value, bound map[string]*ir.Value) bool {
	had := make(map[string]bool, len(bound))
	for k := range bound {
		had[k] = true
	}
	for i, a := range t.Args {
		if a.match(args[i], bound) {
			continue
		}
		for k := range bound {
			if !had[k] {
				delete(bound, k)
			}
		}
		return false
	}
	return true
}

// constant is the literal that v is defined as.
func constant(v *ir.Value) (*ir.Literal, bool) {
	if v.Def == nil || v.Def.Def.Name != "const" {
		return nil, false
	}
	l := ir.GetClause[*ir.Literal](v.Def, "")
	return l, l != nil && l.Elem != num.Invalid
}

// isLiteral reports that v is the constant text, bit for bit.
func isLiteral(v *ir.Value, text string) bool {
	l, ok := constant(v)
	if !ok {
		return false
	}
	c, err := literal(l.Elem, text)
	return err == nil && num.Bits(l.Elem, c) == num.Bits(l.Elem, l.Cell)
}

// literal reads text as a constant of type e: `0` and `1` serve all numbers.
func literal(e num.Elem, text string) (num.Cell, error) {
	isBool := text == "true" || text == "false"
	if isBool != (e == num.Bool) {
		return 0, fmt.Errorf("%s is no %s", text, e)
	}
	if e.IsInt() && strings.Contains(text, ".") {
		return 0, fmt.Errorf("%s is no integer", text)
	}
	return ir.ParseLiteral(e, text)
}
