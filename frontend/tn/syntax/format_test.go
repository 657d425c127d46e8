package syntax

import (
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// checkFormat formats src and checks the promises of Format: the same program,
// the same comments, and nothing left to change.
func checkFormat(t *testing.T, name, src string) string {
	t.Helper()
	f := mustParse(t, name, src)
	once := Format(f)
	g, err := Parse(name, once)
	if err != nil {
		t.Fatalf("%s: the formatted text does not parse: %v\n%s\nfrom\n%s", name, err, once, src)
	}
	if dump(f) != dump(g) {
		t.Fatalf("%s: formatting changed the program:\n%s\nfrom\n%s", name, once, src)
	}
	if a, b := commentTexts(f), commentTexts(g); !slices.Equal(a, b) {
		t.Fatalf("%s: comments %q became %q:\n%s\nfrom\n%s", name, a, b, once, src)
	}
	if twice := Format(g); twice != once {
		t.Fatalf("%s: formatting is not idempotent:\n%s\nbecame\n%s\nfrom\n%s", name, once, twice, src)
	}
	return once
}

func commentTexts(f *File) []string {
	var out []string
	for _, c := range f.Comments {
		out = append(out, c.Text)
	}
	slices.Sort(out)
	return out
}

func TestFormatPrograms(t *testing.T) {
	for name, src := range programs(t) {
		out := checkFormat(t, name, src)
		for i, line := range strings.Split(out, "\n") {
			if !strings.HasPrefix(strings.TrimSpace(line), "//") && utf8.RuneCountInString(line) > lineWidth {
				t.Errorf("%s:%d: %d columns: %s", name, i+1, utf8.RuneCountInString(line), line)
			}
		}
	}
}

// The programs that users read are in the canonical form.
func TestShippedProgramsAreFormatted(t *testing.T) {
	for name, src := range programs(t) {
		if strings.HasPrefix(name, "testdata/") {
			continue
		}
		if out := checkFormat(t, name, src); out != src {
			t.Errorf("%s is not formatted; expected\n%s", name, out)
		}
	}
}

// A comment between any two tokens survives, behind code and on its own line.
func TestCommentsSurviveAnywhere(t *testing.T) {
	for name, src := range programs(t) {
		if !strings.HasPrefix(name, "testdata/") {
			continue
		}
		for _, item := range items(t, name, src) {
			for i, tok := range tokensOf(item) {
				form := []string{" // here\n", "\n// here\n", "\n\n// here\n\n"}[i%3]
				mutated := item[:tok.Pos.Offset] + form + item[tok.Pos.Offset:]
				if _, err := Parse(name, mutated); err != nil {
					continue // a user's monoid needs its operand on the line of the bracket
				}
				checkFormat(t, name, mutated)
			}
		}
	}
}

// Text without line breaks, or with a break at every token, formats the same.
func TestFormatIgnoresLayout(t *testing.T) {
	src := programs(t)["testdata/language.tn"]
	want := stripComments(t, src)
	broken := strings.NewReplacer("  ", " ", " ", "\n ").Replace(want)
	if got := stripBlank(checkFormat(t, "broken", broken)); got != stripBlank(want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func stripBlank(s string) string { return strings.ReplaceAll(s, "\n\n", "\n") }

func stripComments(t *testing.T, src string) string {
	f := mustParse(t, "a", src)
	f.Comments = nil
	return Format(f)
}

func TestFormatBreaksLongLines(t *testing.T) {
	const src = `fn long(aaaaaaaaaaaaaaaa: f32[N, M], bbbbbbbbbbbbbbbbbbbbb: f32[N, M], cccccccccccccccc: f32[N, M]) -> (y: f32[N, M], z: f32[N, M])
{ let y[i, j] = aaaaaaaaaaaaaaaa[i, j] * bbbbbbbbbbbbbbbbbbbbb[i, j] + cccccccccccccccc[i, j] * aaaaaaaaaaaaaaaa[i, j] + 1.0
return some_function_with_a_name(aaaaaaaaaaaaaaaa, bbbbbbbbbbbbbbbbbbbbb, cccccccccccccccc, axis=-1), sum[i, j] y[i, j] for m, n
}`
	const want = `fn long(
  aaaaaaaaaaaaaaaa: f32[N, M],
  bbbbbbbbbbbbbbbbbbbbb: f32[N, M],
  cccccccccccccccc: f32[N, M]
) -> (y: f32[N, M], z: f32[N, M]) {
  let y[i, j] = aaaaaaaaaaaaaaaa[i, j] * bbbbbbbbbbbbbbbbbbbbb[i, j] +
      cccccccccccccccc[i, j] * aaaaaaaaaaaaaaaa[i, j] +
      1.0
  return some_function_with_a_name(
      aaaaaaaaaaaaaaaa,
      bbbbbbbbbbbbbbbbbbbbb,
      cccccccccccccccc,
      axis=-1
    ),
    sum[i, j] y[i, j]
    for m, n
}
`
	if got := checkFormat(t, "long", src); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// Random expressions of all sizes keep their meaning.
func TestFormatRandomExpressions(t *testing.T) {
	rng := rand.New(rand.NewSource(1))
	for i := range 300 {
		src := fmt.Sprintf("fn f() -> f32 {\n  let a = %s\n  return %s for i\n}\n", randomExpr(rng, 1+i%7), randomExpr(rng, 1+i%5))
		checkFormat(t, "random", src)
	}
}

func randomExpr(rng *rand.Rand, depth int) string {
	if depth == 0 {
		return []string{"x", "3", "1e-5", "true", "-inf", "some_longer_name"}[rng.Intn(6)]
	}
	sub := func() string { return randomExpr(rng, depth-1) }
	ops := slices.Concat(binaryLevels[3], binaryLevels[4])
	switch rng.Intn(8) {
	case 0:
		return "(" + sub() + " " + []string{"and", "or", "==", "<="}[rng.Intn(4)] + " " + "(" + sub() + "))"
	case 1:
		return "sum[i, j in A[i] where i < j] " + sub()
	case 2:
		return "x[" + sub() + ", ..p] clamp"
	case 3:
		return "f(" + sub() + ", axis=" + sub() + ")"
	case 4:
		return "(not " + sub() + ")"
	case 5:
		return "-" + "(" + sub() + ")"
	}
	return sub() + " " + ops[rng.Intn(len(ops))] + " " + sub()
}
