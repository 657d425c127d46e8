package ops_test

import (
	"math/rand"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tenon/internal/diag"
	"tenon/ir"
)

// FuzzParse: no text makes the parser or the verifier panic, every error has a
// position, and what parses prints as a text that parses to the same module.
func FuzzParse(f *testing.F) {
	for _, text := range exampleTexts(f) {
		f.Add(text)
	}
	f.Fuzz(checkText)
}

func exampleTexts(t testing.TB) []string {
	files, _ := filepath.Glob("testdata/*.tnir")
	var texts []string
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, string(data))
	}
	if len(texts) == 0 {
		t.Fatal("no examples")
	}
	return texts
}

func checkText(t *testing.T, text string) {
	defer func() {
		if r := recover(); r != nil {
			t.Fatalf("panic %v on:\n%s", r, text)
		}
	}()
	m, err := ir.Parse("f.tnir", text)
	if err != nil {
		list, ok := err.(diag.List)
		if !ok || len(list) == 0 {
			t.Fatalf("error %v is no list", err)
		}
		for _, e := range list {
			if !e.Pos.IsValid() || e.Msg == "" {
				t.Fatalf("error without a position: %v", e)
			}
		}
		return
	}
	_ = ir.Verify(m)
	printed := ir.Print(m)
	again, err := ir.Parse("printed.tnir", printed)
	if err != nil {
		t.Fatalf("printed text does not parse: %v\n%s\n--- from\n%s", err, printed, text)
	}
	if !ir.Equal(m, again) {
		t.Fatalf("Parse(Print(m)) is not m:\n%s\n--- from\n%s", printed, text)
	}
}

// Small random edits of the examples: what a user's slip looks like.
func TestMutatedTexts(t *testing.T) {
	texts := exampleTexts(t)
	r := rand.New(rand.NewSource(1))
	var pieces []string
	for _, text := range texts {
		pieces = append(pieces, strings.Fields(text)...)
	}
	n := 1500
	if testing.Short() {
		n = 300
	}
	for range n {
		items := splitItems(texts[r.Intn(len(texts))])
		text := "tenon ir 1\n" + items[r.Intn(len(items))]
		for range 1 + r.Intn(3) {
			text = mutate(r, text, pieces)
		}
		checkText(t, text)
	}
}

// splitItems cuts a module's text into its items.
func splitItems(text string) []string {
	_, text, _ = strings.Cut(text, "\n")
	var items []string
	for _, line := range strings.SplitAfter(text, "\n") {
		word, _, _ := strings.Cut(line, " ")
		if strings.Contains(" func proc monoid encoding kernel grid data extern ", " "+word+" ") || len(items) == 0 {
			items = append(items, "")
		}
		items[len(items)-1] += line
	}
	return items
}

func mutate(r *rand.Rand, s string, pieces []string) string {
	a := r.Intn(len(s) + 1)
	b := min(a+r.Intn(12), len(s))
	switch r.Intn(5) {
	case 0: // drop
		return s[:a] + s[b:]
	case 1: // double
		return s[:b] + s[a:]
	case 2: // put in a word from elsewhere
		return s[:a] + " " + pieces[r.Intn(len(pieces))] + " " + s[a:]
	case 3: // put in a sign
		return s[:a] + string("(){}[]<>,;:=+-*/%@#\"\\\n.\x000x9\xff"[r.Intn(27)]) + s[a:]
	}
	return s[:a] // cut off
}

// Every prefix of an example is an error at worst.
func TestPrefixes(t *testing.T) {
	for _, text := range exampleTexts(t) {
		for _, item := range splitItems(text) {
			for n := 0; n < len(item); n += 1 + len(item)/60 {
				checkText(t, "tenon ir 1\n"+item[:n])
			}
		}
	}
}

// Deep nesting is refused with a message, not a stack overflow.
func TestDeepNesting(t *testing.T) {
	const n = 100000
	for _, text := range []string{
		"func tensor @f<N>(%x: f32[" + strings.Repeat("(", n) + "N",
		"func tensor @f<N>(%x: f32[" + strings.Repeat("-", n) + "N",
		"func tensor @f<N>(%x: f32[" + strings.Repeat("min(N, ", n),
		"func tensor @f() -> () {\n yield(" + strings.Repeat("neg(", n),
		"func tensor @f() -> () {\n" + strings.Repeat("tensor.comp {", n),
		"func tensor @f() -> () at " + strings.Repeat("fused[", n),
		"func tensor @f<N>(%x: f32[" + strings.Repeat("(N + 1)*", 500) + "N",
	} {
		text = "tenon ir 1\n" + text
		if _, err := ir.Parse("d.tnir", text); err == nil {
			t.Errorf("%.60s.. was accepted", text)
		}
	}
}
