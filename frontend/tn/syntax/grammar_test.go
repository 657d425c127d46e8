package syntax

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/participle/v2/lexer"
)

const languagePage = "../../../docs/language.md"

func documented(t testing.TB, fence string) []string {
	t.Helper()
	b, err := os.ReadFile(languagePage)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, m := range regexp.MustCompile("(?s)```"+fence+"\n(.*?)```").FindAllStringSubmatch(string(b), -1) {
		out = append(out, m[1])
	}
	if len(out) == 0 {
		t.Fatalf("%s has no %s block", languagePage, fence)
	}
	return out
}

func documentedGrammar(t testing.TB) map[string]*rule {
	t.Helper()
	blocks := documented(t, "ebnf")
	if len(blocks) != 1 {
		t.Fatalf("%s has %d ebnf blocks", languagePage, len(blocks))
	}
	return readGrammar(t, blocks[0])
}

// byHand are the productions that are code; the tests below hold them with
// sentences.
var byHand = []string{"File", "Values", "FnBody", "ProcBody", "Expr", "And", "Not", "Compare", "Sum", "Product", "Unary", "Postfix",
	"Primary", "Call", "Reduce", "Tuple"}

// Every production of the parser's tags stands in the documentation word for
// word, and the documentation has no others.
func TestDocumentedGrammarIsTheParsers(t *testing.T) {
	doc := documentedGrammar(t)
	parser := map[string]*rule{}
	for _, text := range []string{itemParser.String(), fnStmtParser.String(), procStmtParser.String()} {
		for name, x := range readGrammar(t, text) {
			parser[name] = x
		}
	}
	for _, root := range []string{"FnLine", "ProcLine", "Ident"} {
		delete(parser, root)
	}
	for name, x := range parser {
		if doc[name] == nil {
			t.Errorf("production %s of the parser is not documented: %s", name, x)
		} else if doc[name].String() != x.String() {
			t.Errorf("production %s is documented as\n  %s\nand the parser has\n  %s", name, doc[name], x)
		}
	}
	for name := range doc {
		if parser[name] == nil && !slices.Contains(byHand, name) {
			t.Errorf("the documented production %s is not in the parser", name)
		}
	}
	for _, name := range byHand {
		if doc[name] == nil {
			t.Errorf("production %s is not documented", name)
		}
	}
}

// What the parser accepts the documented grammar accepts, on valid programs
// and on faulty ones; and where no line break and no ambiguity is in play, the
// other way round too.
func TestParserAcceptsOnlyTheGrammar(t *testing.T) {
	doc := documentedGrammar(t)
	accepted, refused := 0, 0
	check := func(name, src string) {
		_, err := Parse(name, src)
		if err != nil {
			refused++
			return
		}
		accepted++
		if !recognises(doc, "File", tokensOf(src)) {
			t.Errorf("the parser accepts what the grammar does not:\n%s", src)
		}
	}
	for name, src := range programs(t) {
		for _, item := range items(t, name, src) {
			check(name, item)
			if strings.HasPrefix(name, "testdata/") {
				mutants(item, 3, func(_ lexer.Token, mutated string) { check(name, mutated) })
			}
		}
	}
	t.Logf("%d texts accepted, %d refused", accepted, refused)
	if accepted < 100 || refused < 1000 {
		t.Errorf("too few texts to say anything: %d accepted, %d refused", accepted, refused)
	}
}

// Random sentences of the documented grammar parse, and format faithfully.
func TestDocumentedSentencesParse(t *testing.T) {
	doc := documentedGrammar(t)
	g := newGenerator(doc, 7)
	chains, total := 0, 3000
	for i := range total {
		src := g.sentence("File", 9+i%9)
		if _, err := Parse("random", src); err != nil {
			// The grammar cannot say that a reduction's body reaches over a comparison.
			if strings.Contains(err.Error(), "comparisons do not chain") {
				chains++
				continue
			}
			t.Fatalf("a documented sentence does not parse: %v\n%s", err, src)
		}
		if i%10 == 0 {
			checkFormat(t, "random", src)
		}
	}
	if chains > total/10 {
		t.Errorf("%d of %d sentences were left out", chains, total)
	}
}

// The examples of the page parse and are in the canonical form.
func TestDocumentedExamples(t *testing.T) {
	for _, src := range documented(t, "tn") {
		if out := checkFormat(t, "docs/language.md", src); out != src {
			t.Errorf("not formatted; expected\n%s", out)
		}
	}
}

// The reserved words of the page are the lexer's.
func TestDocumentedKeywords(t *testing.T) {
	b, err := os.ReadFile(languagePage)
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`(?s)\n    (fn proc .*?)\n\n`).FindStringSubmatch(string(b))
	if m == nil || !slices.Equal(strings.Fields(m[1]), Keywords) {
		t.Errorf("the page lists %v, the lexer has %v", m, Keywords)
	}
}
