package ops_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tenon/internal/diag"
	"tenon/ir"
	_ "tenon/ir/ops"
)

func parseFile(t *testing.T, name string) (*ir.Module, string) {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	m, err := ir.Parse(filepath.Base(name), string(data))
	if err != nil {
		t.Fatalf("%s does not parse:\n%s", name, diag.Render(err, diag.Sources{filepath.Base(name): string(data)}, false))
	}
	return m, string(data)
}

// The examples of the text form's page parse, print canonically (printing is a
// fixed point), and what is printed is the same module.
func TestExamplesRoundTrip(t *testing.T) {
	files, err := filepath.Glob("testdata/*.tnir")
	if err != nil || len(files) == 0 {
		t.Fatalf("no examples: %v", err)
	}
	for _, f := range files {
		t.Run(filepath.Base(f), func(t *testing.T) {
			m, _ := parseFile(t, f)
			roundTrip(t, m)
			roundTrip(t, m, ir.WithLocations())
		})
	}
}

// The examples keep the invariants, and still do after a round trip.
func TestExamplesVerify(t *testing.T) {
	files, _ := filepath.Glob("testdata/*.tnir")
	for _, f := range files {
		t.Run(filepath.Base(f), func(t *testing.T) {
			m, text := parseFile(t, f)
			if err := ir.Verify(m); err != nil {
				t.Error("\n" + diag.Render(err, diag.Sources{filepath.Base(f): text}, false))
			}
			if err := ir.Verify(ir.Clone(m)); err != nil {
				t.Errorf("the clone does not verify: %v", err)
			}
		})
	}
}

func roundTrip(t *testing.T, m *ir.Module, opts ...ir.PrintOption) {
	t.Helper()
	text := ir.Print(m, opts...)
	again, err := ir.Parse("printed.tnir", text)
	if err != nil {
		t.Fatalf("the printed text does not parse:\n%s\n%s", diag.Render(err, diag.Sources{"printed.tnir": text}, false), text)
	}
	if !ir.Equal(m, again) {
		t.Errorf("Parse(Print(m)) is not m:\n%s", text)
	}
	if second := ir.Print(again, opts...); second != text {
		t.Errorf("printing is no fixed point:\n%s\n--- then\n%s", text, second)
	}
	if copied := ir.Print(ir.Clone(m), opts...); copied != text {
		t.Errorf("a clone prints otherwise:\n%s", copied)
	}
}

// What Equal must tell apart, and what it must not.
func TestEqual(t *testing.T) {
	base := "tenon ir 1\nfunc tensor @f<N>(%x: f32[N]) -> (f32[N]) {\n" +
		"  %y = tensor.comp par(i < N) in(%a = %x[i]) { yield(add(%a, 1.0: f32)) } : f32[N]\n  return(%y) }\n"
	same := strings.NewReplacer("%x", "%q", "%y", "%r", "N", "M", "i <", "j <", "[i]", "[j]", "%a", "%b").Replace(base)
	other := strings.Replace(base, "1.0", "2.0", 1)
	named := strings.ReplaceAll(base, "@f", "@g")
	a := mustParse(t, base)
	if !ir.Equal(a, mustParse(t, same)) {
		t.Error("renaming values, dims and axes made another module")
	}
	for _, text := range []string{other, named} {
		if ir.Equal(a, mustParse(t, text)) {
			t.Errorf("these are not equal:\n%s\n%s", base, text)
		}
	}
}

func mustParse(t *testing.T, text string) *ir.Module {
	t.Helper()
	m, err := ir.Parse("t.tnir", text)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return m
}

// faults are the single errors in err.
func faults(err error) diag.List {
	var l diag.List
	errors.As(err, &l)
	return l
}

// The least integer is a literal wherever one may stand.
func TestLeastInteger(t *testing.T) {
	m, err := ir.Parse("least.tnir", `tenon ir 1
data @d : i64[1] = [-9223372036854775808]
func tensor @f(%x: i64[]) -> (i64[]) {
  %y = tensor.comp red(i < 2) in(%a = %x[]) {
    %c = const -9223372036854775808: i64
    yield(add(add(%a, %c), -9223372036854775808: i64)) } by max(i64) empty(-9223372036854775808) : i64[]
  return(%y) }
`)
	if err != nil {
		t.Fatal(err)
	}
	roundTrip(t, m)
}

// In a loop that never runs, guards and bounds are not at fault for that.
func TestFactsInDeadCode(t *testing.T) {
	m, err := ir.Parse("dead.tnir", `tenon ir 1
func tensor @f<M>(%x: f32[M], %s: i64[1]) -> (f32[M]) {
  %y = loop.for t = 0 to 0 carry(%c = %x) {
    %z = tile.choose dims(M) variant a where(guarded M <= 2) { yield(%c) } variant b { yield(%c) } pick { yield(0: i32) } : f32[M]
    tensor.plan exists(p: 0 <= p) in(%a = %s[0]) { yield(%a) }
    yield(%z) } : f32[M]
  return(%y) }
`)
	if err != nil {
		t.Fatal(err)
	}
	if err := ir.Verify(m); err != nil {
		t.Error(err)
	}
}
