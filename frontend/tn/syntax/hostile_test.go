package syntax

import (
	"strings"
	"testing"
	"time"

	"tenon/internal/diag"
)

// Texts that are no programs, made of one thing many times: an error soon, with
// a bounded report, and no exhausted stack.
func TestHostileTexts(t *testing.T) {
	const n = 2000
	head := "fn f() -> f32 { "
	for _, unit := range []string{
		"fn ", "@", "}", "{", "(", "[", "#", "x ", "- ", "\"", ",", "let ", "é", "\x00", "\xff", "0", "1.", "..", "for i in ", "where ", "sum[i] ", "f(",
		"not ", "fn f() -> f32 { ", "monoid m(", "if x { } else ", "proc p() { ", "a + ", "a[i] ", "let x = 1 ", "let x = (", "return ", "@a(b: ", "/*",
	} {
		for _, prefix := range []string{"", head, "proc p() { "} {
			start := time.Now()
			f, err := Parse("hostile", prefix+strings.Repeat(unit, n))
			if d := time.Since(start); d > 2*time.Second {
				t.Errorf("%q times %d: %v", unit, n, d)
			}
			if err == nil {
				t.Errorf("%q times %d was accepted", unit, n)
				continue
			}
			if list := err.(diag.List); len(list) > maxErrors+1 {
				t.Errorf("%q times %d: %d errors", unit, n, len(list))
			}
			Walk(f, func(Node) bool { return true })
		}
	}
}

// A long program that is one is accepted.
func TestLongPrograms(t *testing.T) {
	for _, body := range []string{
		strings.Repeat("let x = 1\n", 20000),
		"let x = f(" + strings.Repeat("1, ", 20000) + "1)\n",
		"let x = " + strings.Repeat("1 + ", maxChain) + "1\n",
		"let x" + strings.Repeat(", x", 20000) + " = y\n",
	} {
		f := mustParse(t, "long", "fn f() -> f32 {\n"+body+"return x\n}\n")
		if out := Format(f); len(out) < len(body) {
			t.Errorf("the formatted text lacks something: %d bytes from %d", len(out), len(body))
		}
	}
}
