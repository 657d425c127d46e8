package sym

import "testing"

type value struct{ name string }

func (v *value) RefName() string { return v.name }

// resolver knows one value per name.
func resolver() func(string) (Ref, bool) {
	known := map[string]*value{}
	return func(s string) (Ref, bool) {
		if known[s] == nil {
			known[s] = &value{s}
		}
		return known[s], true
	}
}

// The texts on the right follow one rule: positive terms by name, negative
// ones, %v last in each, the constant.
func TestCanonicalText(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"0", "0"}, {"-3", "-3"}, {"N", "N"}, {"-1 + N", "N - 1"},
		{"t + g*256", "256*g + t"}, {"i - S + T", "T + i - S"},
		{"(H + 1)//2", "(H + 1)//2"}, {"r + p*2 - 1", "2*p + r - 1"},
		{"k//8", "k//8"}, {"k mod 8", "k mod 8"},
		{"max(lo, 1)", "max(1, lo)"}, {"min(hi, N - 1)", "min(N - 1, hi)"},
		{"3 - i", "-i + 3"}, {"i0 + m0 + i", "i + i0 + m0"},
		{"(nc + 31)//32", "(nc + 31)//32"}, {"(N + 255)//256", "(N + 255)//256"},
		{"%g + i", "i + %g"}, {"%g - %h - i + j", "j + %g - i - %h"},
		{"nnz#p + 1", "nnz#p + 1"}, {"(8*K)//8", "K"}, {"(8*K + r) mod 8", "r mod 8"},
		{"0//n", "0"}, {"K//1", "K"}, {"K mod 1", "0"}, {"min(a, a)", "a"},
		{"min(N, N - 1)", "N - 1"}, {"max(N, N - 1)", "N"}, {"N*K//N", "K"},
		{"8*(K//8)", "8*(K//8)"}, {"-(K//8)", "-(K//8)"}, {"(K//8)//4", "K//32"},
		{"(N + 7)//8", "(N + 7)//8"}, {"(N - 1)//8 + 1", "(N + 7)//8"},
		{"(a + b)*(a - b)", "a*a - b*b"}, {"(i + 1)*N", "N + N*i"},
		{"(k mod 16) mod 8", "k mod 8"}, {"(k mod 8) mod 16", "k mod 8"}, {"(k mod 8)//8", "0"},
		{"min(a, max(a, b))", "a"}, {"min(min(c, b), a)", "min(a, min(b, c))"},
		{"(N*K + j)//N", "K + j//N"}, {"(N*K + j) mod N", "j mod N"},
		{"(2*N + 2)//(N + 1)", "2"}, {"(4*K + 2)//8", "K//2"}, {"(K + N)//(M*N)", "(K + N)//(M*N)"},
		{"(K*N)//8", "(K*N)//8"}, {"2*x mod 8", "2*(x mod 4)"}, {"hi - lo", "hi - lo"}, {"5//9223372036854775807", "0"}, {"5 mod 9223372036854775807", "5"},
		{"-9223372036854775807 - 1", "-9223372036854775807 - 1"},
		{"9223372036854775807*2", "9223372036854775807*2"},
	} {
		resolve := resolver()
		e, err := ParseExpr(c.in, resolve)
		if err != nil {
			t.Errorf("%s: %v", c.in, err)
			continue
		}
		if got := e.String(); got != c.want {
			t.Errorf("%s prints %s, want %s", c.in, got, c.want)
		}
		back, err := ParseExpr(e.String(), resolve)
		if err != nil || !back.Equal(e) || back.Key() != e.Key() {
			t.Errorf("%s: parsed again is %v (%v)", e, back, err)
		}
	}
}
