package syntax

import (
	"math/rand"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/participle/v2/lexer"

	"tenon/internal/diag"
)

// programs are the valid programs that the tests share: the language's own
// sample page, and a file that uses every construct.
func programs(t testing.TB) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, pattern := range []string{"testdata/*.tn", "../prelude/*.tn", "../../../examples/*/*.tn"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			b, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			out[f] = string(b)
		}
	}
	return out
}

func mustParse(t testing.TB, name, src string) *File {
	t.Helper()
	f, err := Parse(name, src)
	if err != nil {
		t.Fatalf("%s", diag.Render(err, diag.Sources{name: src}, false))
	}
	return f
}

func TestProgramsParse(t *testing.T) {
	for name, src := range programs(t) {
		mustParse(t, name, src)
	}
}

// Each text has the faults listed, one a line: position, what is wrong, what was
// expected, the fix.
func TestErrors(t *testing.T) {
	for _, c := range []struct{ src, want string }{
		{"fn f(x: f32[N]) -> f32[N] {\n  let y[n] = x[n] +\n  return y\n}\nfn g(x f32) -> f32 { return x }\n",
			"a:3:3: unexpected keyword `return`; expected an expression\n" +
				"a:5:8: unexpected `f32`; expected `:`"},
		{"fn f(x: f32[N]) -> f32[N] { let let = 3 return x && y return x }",
			"a:1:33: unexpected keyword `let`; expected a name; fix: `let` is a reserved word; take another name"},
		{"fn f(x: f32[N]) -> f32[N] {\n  return x\n\nfn g() -> f32 {\n  return 1.\n}\n",
			"a:4:1: unexpected keyword `fn`; expected `}`; fix: close the block with `}`\n" +
				"a:5:11: `.` is not part of the language; fix: a number needs a digit on both sides of its point; a range is written `a..b`"},
		{"proc p(A: inout f32[N]) {\n  for i 0..N { A[i] = 1.0 }\n  if A[0] = 1.0 { A[1] = 2x }\n  return A\n}\n",
			"a:2:9: unexpected `0`; expected `in`\n" +
				"a:3:11: unexpected `=`; expected `{`; fix: equality is written `==`\n" +
				"a:4:3: unexpected keyword `return`; expected a statement: let, var, for, if, an assignment or a call; " +
				"fix: a proc returns nothing: assign to its out and inout buffers"},
		{"fn f(x: f32[N]) -> f32[N] {\n  return a < b < c\n}\n", "a:2:16: comparisons do not chain; fix: write `a < b and b < c`"},
		{"fn f(x: f32[N]) -> f32[N] {\n  y[n] = x[n]\n  return x[1:3]\n}\n",
			"a:2:3: unexpected `y`; expected a statement: let, return, next or stack; fix: values are bound with `let name = ..`\n" +
				"a:3:13: unexpected `:`; expected `,` or `]`; fix: there are no slices: write the index, `x[i+1] for i in 0..N`"},
		{"import foo\nmonoid m(a: f32) {\n}\n",
			"a:1:8: unexpected `foo`; expected a string\na:3:1: unexpected `}`; expected `identity` or `base`"},
		{"fn f(x: f32) -> f32 {\n  return (a, b) + 1\n", "a:2:10: a tuple is no value; expected one value; " +
			"fix: several values stand in monoids, and as the body of a reduction by a monoid"},
	} {
		_, err := Parse("a", c.src)
		if err == nil || err.Error() != c.want {
			t.Errorf("%s\ngot\n%v\nwant\n%s", c.src, err, c.want)
		}
	}
}

func TestDeepNesting(t *testing.T) {
	for _, open := range []string{"(", "-", "not ", "sum[i] ", "x[", "f("} {
		_, err := Parse("a", "fn f() -> f32 { return "+strings.Repeat(open, 10000)+"1 }")
		if err == nil {
			t.Errorf("%q nested 10000 deep was accepted", open)
		}
	}
}

// tokensOf is the tokens of src that the parser sees.
func tokensOf(src string) []lexer.Token {
	var out []lexer.Token
	for _, t := range lex("", src).tokens {
		if t.Type != tokSpace && t.Type != tokComment && !t.EOF() {
			out = append(out, t)
		}
	}
	return out
}

// mutants visits faulty versions of src, n a token: the token dropped,
// repeated, replaced, another put before it, or the text cut off behind it.
// Which ones is drawn with a seed.
func mutants(src string, n int, visit func(at lexer.Token, mutated string)) {
	others := []string{"(", ")", "[", "]", "{", "}", ",", "..", "=", "-", ";", "@", "x", "1", "let", "for", "fn", "in", "where", "&&", "\"", "1.", "é"}
	rng := rand.New(rand.NewSource(1))
	for _, t := range tokensOf(src) {
		head, tail := src[:t.Pos.Offset], src[t.Pos.Offset+len(t.Value):]
		visit(t, head+tail)
		for range n {
			o := others[rng.Intn(len(others))]
			visit(t, []string{head, head + t.Value + " " + t.Value + tail, head + o + tail, head + o + " " + t.Value + tail}[rng.Intn(4)])
		}
	}
}

// items cuts a program into its items, which keeps tests on many mutants fast.
func items(t testing.TB, name, src string) []string {
	var out []string
	for _, it := range mustParse(t, name, src).Items {
		out = append(out, src[it.Pos.Offset:it.EndPos.Offset])
	}
	return out
}

// A fault at any token of a valid program is reported where it is or later,
// with a few errors at most, and never panics. What follows the faulty item is
// read as ever.
func TestErrorsAtEveryToken(t *testing.T) {
	const after = "\nfn after(x: f32[N]) -> f32[N] {\n  return x[n] + for n\n}\n"
	for name, src := range programs(t) {
		if !strings.HasPrefix(name, "testdata/") {
			continue
		}
		counts := map[int]int{}
		for _, item := range items(t, name, src) {
			mutants(item, 3, func(tok lexer.Token, mutated string) {
				_, err := Parse(name, mutated+after)
				if err == nil {
					t.Fatalf("the fault in the last item is not reported:\n%s", mutated)
				}
				list := err.(diag.List)
				counts[len(list)]++
				checkErrors(t, list, mutated+after)
				if last := list[len(list)-1]; last.Pos.Line < strings.Count(mutated, "\n")+2 && !strings.Contains(mutated, "\"") {
					t.Errorf("the fault in the last item is not reported:\n%v\n%s", err, mutated)
				}
				if len(list) > 4 {
					t.Errorf("%d errors for one fault at %v:\n%v\n%s", len(list)-1, tok.Pos, err, mutated)
				}
			})
		}
		t.Logf("%s: programs by number of errors: %v", name, counts)
		if total := counts[1] + counts[2]; total*20 < 19*(total+counts[3]+counts[4]) {
			t.Errorf("%s: one fault gives more than one error too often: %v", name, counts)
		}
	}
}

// checkErrors checks that each error points into the text and says something.
func checkErrors(t *testing.T, list diag.List, src string) {
	lines := strings.Count(src, "\n") + 1
	for _, e := range list {
		if e.Pos.Line < 1 || e.Pos.Line > lines || e.Pos.Col < 1 || e.Msg == "" {
			t.Fatalf("error at %v: %v\n%s", e.Pos, e, src)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, src := range programs(f) {
		f.Add(src)
	}
	f.Fuzz(func(t *testing.T, src string) {
		file, err := Parse("fuzz.tn", src)
		if err != nil {
			if len(err.(diag.List)) == 0 {
				t.Fatal("an error without errors")
			}
			return
		}
		out := Format(file)
		again, err := Parse("fuzz.tn", out)
		if err != nil || dump(file) != dump(again) || Format(again) != out {
			t.Fatalf("formatting is not faithful: %v\n%s", err, out)
		}
	})
}

// The work is linear in the text, counted in bytes allocated (time is too noisy
// a measure on a busy machine, and only bounded here): 16 times the text takes 16
// times as much, also where an error stands in every item.
func TestLinearWork(t *testing.T) {
	src := programs(t)["testdata/language.tn"]
	for _, text := range []string{src, strings.ReplaceAll(src, "return", "return )")} {
		cost := func(n int) (bytes uint64, d time.Duration) {
			var before, after runtime.MemStats
			long := strings.Repeat(text, n)
			runtime.ReadMemStats(&before)
			start := time.Now()
			_, _ = Parse("a", long)
			d = time.Since(start)
			runtime.ReadMemStats(&after)
			return after.TotalAlloc - before.TotalAlloc, d
		}
		small, _ := cost(4)
		large, d := cost(64)
		t.Logf("%d kB: %d kB allocated; %d kB: %d kB allocated in %v", 4*len(text)/1000, small/1000, 64*len(text)/1000, large/1000, d)
		if large > 24*small || d > 20*time.Second {
			t.Errorf("parsing is not linear: %d bytes for 4 copies, %d for 64, in %v", small, large, d)
		}
	}
}
