package llvm

import (
	"fmt"
	"strings"
	"testing"

	"tenon/internal/num"
	"tenon/targets"
)

// A large module falls into parts that define each function once, declare the
// others and hide what was internal; its own text stays as it was.
func TestParts(t *testing.T) {
	desc, err := targets.Find("x86-64", "")
	if err != nil {
		t.Fatal(err)
	}
	m := NewModule("m.tn", desc)
	m.Data("table", []byte("abc"))
	const funcs = 40
	for i := range funcs {
		f := m.NewInternal(fmt.Sprintf("f%d", i), TypeOf(num.I64), Param{Name: "x", Type: TypeOf(num.I64)})
		v := f.Param(0)
		for range 2*partInsts/funcs + 10 {
			v = f.Op("add", v, v)
		}
		f.Return(v)
	}
	whole := string(m.Text())
	parts := m.Parts()
	if len(parts) != 2 {
		t.Fatalf("%d parts, want 2", len(parts))
	}
	for i := range funcs {
		defined, declared := 0, 0
		for _, p := range parts {
			defined += strings.Count(string(p), fmt.Sprintf("define hidden i64 @f%d(", i))
			declared += strings.Count(string(p), fmt.Sprintf("declare hidden i64 @f%d(", i))
		}
		if defined != 1 || declared != 1 {
			t.Errorf("f%d is defined %d times and declared %d times", i, defined, declared)
		}
	}
	if a, b := strings.Count(string(parts[0]), `@table = hidden constant`), strings.Count(string(parts[1]), "@table = external hidden constant"); a != 1 || b != 1 {
		t.Errorf("the table is defined %d times and declared %d times", a, b)
	}
	if string(m.Text()) != whole {
		t.Error("the text of the whole module changed")
	}
}
