package sym

import "testing"

// No text makes the parser panic, and what it accepts prints to a fixed point.
func FuzzParseExpr(f *testing.F) {
	for _, s := range []string{
		"256*g + t", "T + i - S", "(H + 1)//2", "k mod 8", "max(1, lo)", "-i + 3", "%g + nnz#p",
		"min(a, max(b, 3))//4 mod K", "9223372036854775807*2", "((((a))))", "a //b", "1//0", "#", "nnz#", "- -a",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		resolve := resolver()
		e, err := ParseExpr(s, resolve)
		if err != nil {
			return
		}
		text := e.String()
		back, err := ParseExpr(text, resolve)
		if err != nil || !back.Equal(e) || back.String() != text {
			t.Fatalf("%q prints %q, which parses as %v (%v)", s, text, back, err)
		}
	})
}
