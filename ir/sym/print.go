package sym

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
)

// overText overflows again when it is parsed.
const overText = "9223372036854775807*2"

// printed is a term ready to be written. Order and text follow the names of
// refs, not their identity, so that a text parsed again prints the same.
type printed struct {
	neg    bool
	hasVal bool
	coef   uint64 // absolute value
	f      []factorText
}

type factorText struct {
	kind Kind
	text string
}

// String is the canonical text: positive terms by name, then negative ones,
// terms with an SSA value last in each, then the constant. Parsing it gives e.
func (e Expr) String() string {
	if e.isOver() {
		return overText
	}
	var b strings.Builder
	for _, p := range e.printedTerms() {
		sign(&b, p.neg)
		p.write(&b)
	}
	writeConst(&b, e.constant())
	return b.String()
}

func (e Expr) printedTerms() []printed {
	var ps []printed
	for _, t := range e.terms() {
		p := printed{neg: t.coef < 0, coef: abs64(t.coef)}
		for _, a := range t.f {
			p.f = append(p.f, factorText{a.Kind, a.String()})
			p.hasVal = p.hasVal || a.Kind == AtomVal
		}
		slices.SortFunc(p.f, cmpFactorText)
		if t.coef == math.MinInt64 { // its absolute value is no integer literal: two terms
			p.coef--
			one := p
			one.coef = 1
			ps = append(ps, one)
		}
		ps = append(ps, p)
	}
	slices.SortStableFunc(ps, cmpPrinted)
	return ps
}

func cmpFactorText(a, b factorText) int {
	return cmp.Or(cmp.Compare(a.kind, b.kind), strings.Compare(a.text, b.text))
}

func cmpPrinted(a, b printed) int {
	return cmp.Or(
		cmp.Compare(b2i(a.neg), b2i(b.neg)),
		cmp.Compare(b2i(a.hasVal), b2i(b.hasVal)),
		slices.CompareFunc(a.f, b.f, cmpFactorText))
}

func sign(b *strings.Builder, neg bool) {
	switch {
	case b.Len() > 0 && neg:
		b.WriteString(" - ")
	case b.Len() > 0:
		b.WriteString(" + ")
	case neg:
		b.WriteByte('-')
	}
}

// write leaves the sign to the caller.
func (p printed) write(b *strings.Builder) {
	first := b.Len() == 0 || strings.HasSuffix(b.String(), "-") // a leading minus
	alone := p.coef == 1 && len(p.f) == 1
	if p.coef != 1 {
		b.WriteString(strconv.FormatUint(p.coef, 10))
	}
	for i, f := range p.f {
		if i > 0 || p.coef != 1 {
			b.WriteByte('*')
		}
		isDiv := f.kind == AtomFloorDiv || f.kind == AtomMod
		if isDiv && (!alone || first && p.neg) {
			b.WriteString("(" + f.text + ")")
		} else {
			b.WriteString(f.text)
		}
	}
}

func writeConst(b *strings.Builder, c int64) {
	switch {
	case c == 0 && b.Len() > 0:
	case c == math.MinInt64:
		sign(b, true)
		b.WriteString("9223372036854775807 - 1")
	default:
		sign(b, c < 0)
		b.WriteString(strconv.FormatUint(abs64(c), 10))
	}
}

// String is the atom's text, unparenthesised: `N`, `(H + 1)//2`, `k mod 8`.
func (a Atom) String() string {
	x, y := a.Args[0], a.Args[1]
	switch a.Kind {
	case AtomName:
		return a.Name
	case AtomVal:
		return "%" + a.Ref.RefName()
	case AtomFloorDiv:
		return x.operand() + "//" + y.operand()
	case AtomMod:
		return x.operand() + " mod " + y.operand()
	}
	args := extremumTexts(a.Kind, a.Expr())
	text := args[len(args)-1]
	for i := len(args) - 2; i >= 0; i-- {
		text = extremumNames[a.Kind] + "(" + args[i] + ", " + text + ")"
	}
	return text
}

var extremumNames = map[Kind]string{AtomMin: "min", AtomMax: "max"}

// extremumTexts lists what a (nested) min or max ranges over: constants first,
// then by text.
func extremumTexts(k Kind, e Expr) []string {
	ls := leaves(k, e, nil)
	isVar := func(e Expr) int { return b2i(len(e.terms()) > 0) }
	type leaf struct {
		rank int
		text string
	}
	out := make([]leaf, len(ls))
	for i, l := range ls {
		out[i] = leaf{isVar(l), l.String()}
	}
	slices.SortFunc(out, func(a, b leaf) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), strings.Compare(a.text, b.text))
	})
	texts := make([]string, len(out))
	for i, l := range out {
		texts[i] = l.text
	}
	return texts
}

// operand is e as an operand of // or mod.
func (e Expr) operand() string {
	s := e.String()
	if c, ok := e.IsConst(); ok && c >= 0 {
		return s
	}
	if a := e.atom(); a != nil && a.Kind != AtomFloorDiv && a.Kind != AtomMod {
		return s
	}
	return "(" + s + ")"
}
