package syntax

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

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

func TestErrors(t *testing.T) {
	for _, c := range []struct{ src, want string }{
		{"fn f(x: f32[N]) -> f32[N] {\n  let y[n] = x[n] +\n  return y\n}\nfn g(x f32) -> f32 { return x }\n",
			"a:3:3: unexpected keyword `return`; expected an expression\n" +
				"a:5:8: unexpected `f32`; expected `:`"},
		{"fn f(x: f32[N]) -> f32[N] { let let = 3 return x && y return x }",
			"a:1:33: unexpected keyword `let`; expected a name; fix: `let` is a reserved word; take another name"},
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
