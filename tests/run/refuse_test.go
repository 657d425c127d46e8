package run

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"tenon/internal/diag"
)

// What has no machine code yet is the user's fault, by the name of the op and
// the line of the source, with the way out. All of a file is told at once.
func TestRefusals(t *testing.T) {
	for _, c := range []struct {
		why, file, text string
		line            int
		say             string
	}{
		{"a sum over a pattern", "p.tn", "fn f(A: csr[N, M], x: f32[M]) -> f32[N] {\n  return sum[j in A[i]] x[j] for i\n}", 2, "tensor.comp over A, pattern"},
		{"a pattern alone", "p.tn", "\nfn f(A: csr[N, M], x: f32[M]) -> f32[M] { return x[i] for i }", 2, "parameter A of f, pattern"},
		{"quantised", "p.tn", "fn f(const w: int8 f16[N, K], x: f32[K]) -> f32[N] {\n  return sum[k] x[k] * f32(w[n, k]) for n\n}", 2, "tensor.comp over w, f32[N, K] enc"},
		{"a size that has no bound", "p.tnir", "tenon ir 1\nfunc tensor @f<N; P>(%x: i64[N]) -> (f32[P]) {\n  %m = tensor.comp red(n < N) in(%a = %x[n]) { yield(%a) } by max(i64) : i64[]\n  tensor.plan exists(P: 0 <= P) in(%p = %m[]) { yield(%p) }\n  %y = tensor.comp par(p < P) { yield(1.0: f32) } : f32[P]\n  return(%y) }", 4, "tensor.plan"},
		{"a size that grows as another falls", "p.tnir", "tenon ir 1\nfunc tensor @f<N; c>(%x: f32[N]) -> (f32[N - c]) {\n  %i = tensor.nonzero(%x) exists(c: 0 <= c and c <= N) : i64[1, c]\n  %y = tensor.comp par(p < N - c) { yield(1.0: f32) } : f32[N - c]\n  return(%y) }", 3, "tensor.nonzero"},
	} {
		m, err := parse(c.file, c.text)
		if err != nil {
			t.Errorf("%s: %v", c.why, err)
			continue
		}
		_, err = Build(m, 0)
		var missing *diag.MissingTool
		if errors.As(err, &missing) {
			t.Skipf("SKIP, compiled code is not tested: %v", err)
		}
		if !IsUsers(err) {
			t.Errorf("%s: %v", c.why, err)
			continue
		}
		text := diag.Render(err, diag.Sources{c.file: c.text}, false)
		for _, want := range []string{c.say, "--interp", fmt.Sprintf("%s:%d:", c.file, c.line)} {
			if !strings.Contains(text, want) {
				t.Errorf("%s: no %q in\n%s", c.why, want, text)
			}
		}
	}
}

func TestAllRefusalsAreToldAtOnce(t *testing.T) {
	m, err := parse("p.tn", "fn f(A: csr[N, M], x: f32[M]) -> f32[M] { return x[i] for i }\nfn g(A: csr[N, M], x: f32[M]) -> f32[M] { return x[i] for i }")
	if err != nil {
		t.Fatal(err)
	}
	_, err = Build(m, 0)
	var missing *diag.MissingTool
	if errors.As(err, &missing) {
		t.Skipf("SKIP, compiled code is not tested: %v", err)
	}
	if n := strings.Count(fmt.Sprint(err), "pattern"); n < 2 {
		t.Errorf("%d faults told: %v", n, err)
	}
}
