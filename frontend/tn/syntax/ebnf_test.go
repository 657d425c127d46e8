package syntax

import (
	"fmt"
	"math/rand"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/participle/v2/lexer"
)

// This file reads grammars in the notation of docs/language.md, which is also
// the one in which participle prints its own, and works with them: a canonical
// text, a recogniser, a generator of random sentences.

// rule is a node of a grammar: a terminal or a production's name (word), a
// sequence, a choice, or a repetition ("?", "*", "+") of its one child.
type rule struct {
	kind byte // 't' terminal in quotes, 'n' name, 's' sequence, '|', '?', '*', '+'
	word string
	list []*rule
}

var ebnfTokens = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|<[a-z]+>|[A-Za-z]+|\(\?=|[()|?*+=.]`)

// readGrammar parses `Name = ... .` productions.
func readGrammar(t testing.TB, src string) map[string]*rule {
	t.Helper()
	out := map[string]*rule{}
	r := &ebnfReader{t: t, toks: ebnfTokens.FindAllString(src, -1)}
	for len(r.toks) > 0 {
		name := r.next()
		if eq := r.next(); eq != "=" {
			t.Fatalf("production %s: %q instead of =", name, eq)
		}
		if out[name] != nil {
			t.Fatalf("production %s is defined twice", name)
		}
		out[name] = r.choice()
		if dot := r.next(); dot != "." {
			t.Fatalf("production %s ends with %q", name, dot)
		}
	}
	return out
}

type ebnfReader struct {
	t    testing.TB
	toks []string
}

func (r *ebnfReader) peek() string {
	if len(r.toks) == 0 {
		return ""
	}
	return r.toks[0]
}

func (r *ebnfReader) next() string {
	s := r.peek()
	if s == "" {
		r.t.Fatal("the grammar ends too early")
	}
	r.toks = r.toks[1:]
	return s
}

func (r *ebnfReader) choice() *rule {
	alts := []*rule{r.sequence()}
	for r.peek() == "|" {
		r.next()
		alts = append(alts, r.sequence())
	}
	if len(alts) == 1 {
		return alts[0]
	}
	return &rule{kind: '|', list: alts}
}

func (r *ebnfReader) sequence() *rule {
	seq := &rule{kind: 's'}
	for !slices.Contains([]string{"|", ")", ".", ""}, r.peek()) {
		if x := r.repeated(); x != nil {
			seq.list = append(seq.list, x)
		}
	}
	if len(seq.list) == 1 {
		return seq.list[0]
	}
	return seq
}

// repeated reads one element. A look-ahead `(?= ..)` of participle is nil: it
// decides between alternatives and is no part of the language.
func (r *ebnfReader) repeated() *rule {
	var x *rule
	switch s := r.next(); {
	case s == "(?=":
		r.choice()
		r.next()
		return nil
	case s == "(":
		x = r.choice()
		r.next()
	case s[0] == '"':
		x = &rule{kind: 't', word: strings.Trim(s, `"`)}
	default:
		x = &rule{kind: 'n', word: s}
	}
	for slices.Contains([]string{"?", "*", "+"}, r.peek()) {
		x = &rule{kind: r.next()[0], list: []*rule{x}}
	}
	return x
}

// tokenNames maps the tokens of participle's print to the documented ones; its
// production Ident is just a name.
var tokenNames = map[string]string{"<ident>": "name", "Ident": "name", "<string>": "string"}

// String is a canonical text: nested sequences and choices are flat, single
// terms bare.
func (r *rule) String() string {
	switch r.kind {
	case 't':
		return fmt.Sprintf("%q", r.word)
	case 'n':
		if n, ok := tokenNames[r.word]; ok {
			return n
		}
		return r.word
	case '?', '*', '+':
		return "(" + r.list[0].String() + ")" + string(r.kind)
	}
	var parts []string
	for _, x := range r.flat(r.kind) {
		s := x.String()
		if x.kind == '|' {
			s = "(" + s + ")"
		}
		parts = append(parts, s)
	}
	sep := " "
	if r.kind == '|' {
		sep = " | "
	}
	return strings.Join(parts, sep)
}

func (r *rule) flat(kind byte) []*rule {
	if r.kind != kind {
		return []*rule{r}
	}
	var out []*rule
	for _, x := range r.list {
		out = append(out, x.flat(kind)...)
	}
	return out
}

// recogniser decides whether tokens are a sentence. The grammar has no left
// recursion, so it follows all alternatives and remembers where a production
// that starts somewhere can end.
type recogniser struct {
	grammar map[string]*rule
	toks    []lexer.Token
	memo    map[string][][]int // production, start -> ends (nil: not computed)
}

func recognises(grammar map[string]*rule, start string, toks []lexer.Token) bool {
	r := &recogniser{grammar, toks, map[string][][]int{}}
	return slices.Contains(r.production(start, 0), len(toks))
}

func (r *recogniser) production(name string, at int) []int {
	m := r.memo[name]
	if m == nil {
		m = make([][]int, len(r.toks)+1)
		r.memo[name] = m
	}
	if m[at] == nil {
		m[at] = append([]int{}, r.match(r.grammar[name], []int{at})...)
	}
	return m[at]
}

// match gives the places where x can end if it starts at one of from.
func (r *recogniser) match(x *rule, from []int) []int {
	var ends []int
	switch x.kind {
	case 's':
		for _, y := range x.list {
			from = r.match(y, from)
		}
		return from
	case '|':
		for _, y := range x.list {
			ends = append(ends, r.match(y, from)...)
		}
	case '?':
		ends = append(r.match(x.list[0], from), from...)
	case '*', '+':
		if x.kind == '*' {
			ends = append(ends, from...)
		}
		for fresh := from; len(fresh) > 0; {
			next := r.match(x.list[0], fresh)
			fresh = slices.DeleteFunc(next, func(e int) bool { return slices.Contains(ends, e) })
			ends = append(ends, fresh...)
		}
	default:
		for _, at := range from {
			ends = append(ends, r.term(x, at)...)
		}
	}
	slices.Sort(ends)
	return slices.Compact(ends)
}

func (r *recogniser) term(x *rule, at int) []int {
	if x.kind == 'n' && r.grammar[x.word] != nil {
		return r.production(x.word, at)
	}
	if at < len(r.toks) && matchesToken(x, r.toks[at]) {
		return []int{at + 1}
	}
	return nil
}

func matchesToken(x *rule, t lexer.Token) bool {
	if x.kind == 't' {
		return t.Value == x.word && t.Type != tokString
	}
	return map[string]lexer.TokenType{"name": tokIdent, "string": tokString, "integer": tokInt, "float": tokFloat}[x.word] == t.Type
}

// generator writes random sentences. budget shrinks with depth: at 0 it takes
// the shortest way out.
type generator struct {
	grammar map[string]*rule
	rng     *rand.Rand
	least   map[string]int // the depth that a production needs at least
	out     []string
}

func newGenerator(grammar map[string]*rule, seed int64) *generator {
	g := &generator{grammar: grammar, rng: rand.New(rand.NewSource(seed)), least: map[string]int{}}
	for range len(grammar) + 1 {
		for name, x := range grammar {
			g.least[name] = 1 + g.depth(x)
		}
	}
	return g
}

// depth is the least depth of productions below x; unknown ones count as deep.
func (g *generator) depth(x *rule) int {
	switch x.kind {
	case 's', '+':
		d := 0
		for _, y := range x.list {
			d = max(d, g.depth(y))
		}
		return d
	case '|':
		d := 1000
		for _, y := range x.list {
			d = min(d, g.depth(y))
		}
		return d
	case 'n':
		if g.grammar[x.word] == nil {
			return 0
		}
		if d := g.least[x.word]; d > 0 {
			return d
		}
		return 1000
	}
	return 0
}

func (g *generator) sentence(start string, budget int) string {
	g.out = nil
	g.write(&rule{kind: 'n', word: start}, budget)
	return strings.Join(g.out, " ")
}

func (g *generator) write(x *rule, budget int) {
	switch x.kind {
	case 't':
		g.out = append(g.out, x.word)
	case 'n':
		g.name(x.word, budget)
	case 's':
		for _, y := range x.list {
			g.write(y, budget)
		}
	case '|':
		g.write(g.pick(x.list, budget), budget)
	case '?', '*', '+':
		n := map[byte]int{'?': g.rng.Intn(2), '*': g.rng.Intn(3), '+': 1 + g.rng.Intn(2)}[x.kind]
		if x.kind != '+' && g.depth(x.list[0]) > budget {
			n = 0
		}
		for range n {
			g.write(x.list[0], budget)
		}
	}
}

func (g *generator) pick(alts []*rule, budget int) *rule {
	var can []*rule
	best := alts[0]
	for _, y := range alts {
		if g.depth(y) <= budget {
			can = append(can, y)
		}
		if g.depth(y) < g.depth(best) {
			best = y
		}
	}
	if len(can) == 0 {
		return best
	}
	return can[g.rng.Intn(len(can))]
}

// lineStarts are the productions that begin a line, so that no operand on the
// same line turns the subscript before them into a reduction.
var lineStarts = map[string]bool{"FnStmt": true, "ProcStmt": true, "Combine": true, "Act": true, "Inject": true, "Item": true}

func (g *generator) name(word string, budget int) {
	samples := map[string][]string{"name": {"x", "A", "f32", "best"}, "string": {`"s.tn"`}, "integer": {"3", "0x1F"}, "float": {"1.5", "1e-3"}}
	switch {
	case samples[word] != nil:
		g.out = append(g.out, samples[word][g.rng.Intn(len(samples[word]))])
	default:
		if lineStarts[word] {
			g.out = append(g.out, "\n")
		}
		g.write(g.grammar[word], budget-1)
	}
}
