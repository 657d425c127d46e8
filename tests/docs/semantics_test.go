package docs

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"tenon/internal/num"
	"tenon/ir"
	"tenon/ir/interp"
)

func semantics(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../docs/semantics.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// value runs a function without arguments at the tensor level that gives a
// result of the type.
func value(t *testing.T, typ, body string) string {
	t.Helper()
	text := fmt.Sprintf("tenon ir 1\nfunc tensor @f() -> (%s) {\n%s\n}\n", typ, body)
	m, err := ir.Parse("f.tnir", text)
	if err == nil {
		err = ir.Verify(m)
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	out, err := interp.New(m, interp.Options{Shadow: true}).Run("f", nil)
	if err != nil {
		t.Fatal(err)
	}
	switch r := out[0].(type) {
	case interp.Scalar:
		return ir.FormatLiteral(r.Elem, r.Cell)
	case *ir.Array:
		return ir.FormatLiteral(r.Elem, r.Mem.Cells[0])
	}
	return "nothing"
}

// Each row of the table of values is what the interpreter computes.
func TestValuesOfThePage(t *testing.T) {
	rows := regexp.MustCompile("(?m)^\\| `([^`]*)` \\| `([^`]*)` \\| (\\w+) \\|$").FindAllStringSubmatch(semantics(t), -1)
	if len(rows) < 30 {
		t.Fatalf("the table has %d rows", len(rows))
	}
	for _, r := range rows {
		if got := value(t, r[3], "%r = "+r[1]+"\nreturn(%r)"); got != r[2] && !(strings.HasPrefix(got, "nan") && r[2] == "nan") {
			t.Errorf("%s is %s, the page says %s", r[1], got, r[2])
		}
	}
}

// Each row of the table of folds is what a fold over no point gives.
func TestFoldsOfThePage(t *testing.T) {
	rows := regexp.MustCompile("(?m)^\\| `(\\w+)\\((\\w+)\\)` \\| `([^`]*)` \\|$").FindAllStringSubmatch(semantics(t), -1)
	if len(rows) < 9 {
		t.Fatalf("the table has %d rows", len(rows))
	}
	for _, r := range rows {
		one := "1"
		if num.ElemByName(r[2]).IsFloat() {
			one = "1.0"
		}
		body := fmt.Sprintf("%%r = tensor.comp red(i < 0) { yield(%s: %s) } by %s(%s) : %s[]\nreturn(%%r)", one, r[2], r[1], r[2], r[2])
		if got := value(t, r[2]+"[]", body); got != r[3] {
			t.Errorf("%s(%s) over no point is %s, the page says %s", r[1], r[2], got, r[3])
		}
	}
}
