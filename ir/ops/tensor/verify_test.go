package tensor_test

import (
	"strings"
	"testing"

	"tenon/internal/diag"
	"tenon/ir"
	_ "tenon/ir/ops"
)

// check parses and verifies, and gives the faults as text ("" if there are none).
func check(name, text string) string {
	m, err := ir.Parse(name, "tenon ir 1\n"+text)
	if err == nil {
		err = ir.Verify(m)
	}
	if err == nil {
		return ""
	}
	return diag.Render(err, diag.Sources{}, false)
}

const pair = "monoid @pair(%a: f32, %b: f32) assoc comm { identity { yield(0.0: f32, 0.0: f32) }\n" +
	"  combine(%a1, %b1, %a2, %b2) { yield(add(%a1, %a2), add(%b1, %b2)) } }\n"

// Each rule that the text form's page lists under "Verified", broken once.
func TestCompRules(t *testing.T) {
	fn := func(body string) string {
		return pair + "func tensor @f<N, M>(%x: f32[N, M], %t: f32[N], %i: i64[N], %p: pattern<N, M, nnz#p, csr(i32, i32)>, " +
			"%q: pattern<N, M, nnz#q, csr(i32, i32)>, %e: f32[nnz#p]) -> () {\n" + body + "\n  return() }"
	}
	proc := func(body string) string {
		return "proc loop @f<N, M>(in %x: buf<f32[N, M]>, inout %y: buf<f32[N]>, inout %z: buf<f32[N*M]>) {\n" + body + "\n  return() }"
	}
	cases := []struct{ name, text, want string }{
		{"rank", fn("%y = tensor.comp par(i < N) in(%v = %x[i]) { yield(%v) } : f32[N]"), "%x has rank 2, 1 subscripts are given"},
		{"no by", fn("%y = tensor.comp par(i < N) red(j < M) in(%v = %x[i, j]) { yield(%v) } : f32[N]"), "has red axes but no by"},
		{"no red", fn("%y = tensor.comp par(i < N) in(%v = %t[i]) { yield(%v) } by sum(f32) : f32[N]"), "has by but no red axes"},
		{"component", fn("%y = tensor.comp par(i < N) red(j < M) in(%v = %x[i, j]) { yield(cast(%v): f16) } by sum(f32) : f32[N]"), "casts are written"},
		{"arity", fn("%y, %z = tensor.comp par(i < N) red(j < M) in(%v = %x[i, j]) { yield(%v) } by @pair : 2 * f32[N]"), "the components of pair are [f32 f32]"},
		{"if without red", fn("%y = tensor.comp par(i < N) if(i < 3) in(%v = %t[i]) { yield(%v) } : f32[N]"), "needs red"},
		{"from(out)", fn("%y = tensor.comp par(i < N) red(j < M) in(%v = %x[i, j]) { yield(%v) } by sum(f32) from(out) : f32[N]"), "from(out) needs the buffer form"},
		{"two values", fn("%y = tensor.comp par(i < N) in(%a = %i[i], %b = %i[i], %v = %t[%a + %b]) { yield(%v) } : f32[N]"), "at most one may stand in it"},
		{"float subscript", fn("%y = tensor.comp par(i < N) in(%a = %t[i], %v = %t[%a]) { yield(%v) } : f32[N]"), "integer"},
		{"other pattern", fn("%y = tensor.comp par(i < N) red(j:k in %q[i]) in(%v = %e[k]) { yield(%v) } by sum(f32) : f32[N]"), "k is no entry of #p"},
		{"no entry", fn("%y = tensor.comp par(i < N) in(%v = %e[i]) { yield(%v) } : f32[N]"), "is no entry of #p"},
		{"column", fn("%y = tensor.comp par(i < N) red(j:k in %p[i]) in(%v = %e[j]) { yield(%v) } by sum(f32) : f32[N]"), "is no entry of #p"},
		{"entries without their row", fn("%y = tensor.comp par(j:k in %p[0]) in(%v = %e[k]) { yield(%v) } : f32[nnz#p]"), "must be the par axis just before"},
		{"out list", fn("%y = tensor.comp par(i < N, j < M) in(%v = %x[i, j]) out([i]) { yield(%v) } : f32[N]"), "depends on a par axis"},
		{"nested par", fn("%y = tensor.comp par(i < N) { %z = tensor.comp par(j < M) in(%v = %x[i, j]) { yield(%v) } : f32[M]\n yield(0.0: f32) } : f32[N]"), "no par and no out"},
		{"effects", fn("%y = tensor.comp par(i < N) { %s = tensor.nonzero(%t) exists(c: 0 <= c) : i64[1, c]\n yield(0.0: f32) } : f32[N]"), "only pure scalar ops"},
		{"later axis", fn("%y = tensor.comp red(j < i, i < N) { yield(1.0: f32) } by sum(f32) : f32[]"), "i"},
		{"not injective", proc("tensor.comp par(i < N, j < M) in(%v = %x[i, j]) out(%y[i]) { yield(%v) }"), "axis j does not follow"},
		{"overlapping", proc("tensor.comp par(i < N, j < M) in(%v = %x[i, j]) out(%z[i + j]) { yield(%v) }"), "two points may write one element"},
		{"in place", proc("tensor.comp par(i < N) in(%v = %y[N - 1 - i]) out(%y[i]) { yield(%v) }"), "sequence is loop.for's"},
		{"out uses red", proc("tensor.comp par(i < N) red(j < M) in(%v = %x[i, j]) out(%y[j]) { yield(%v) } by sum(f32)"), "uses a red axis"},
	}
	for _, c := range cases {
		if got := check(c.name, c.text); !strings.Contains(got, c.want) {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

func TestCompsThatAreRight(t *testing.T) {
	text := "proc loop @f<N, M>(in %x: buf<f32[N, M]>, inout %y: buf<f32[N]>, inout %z: buf<f32[N*M]>, out %w: buf<f32[8*N]>) {\n" +
		"  tensor.comp par(i < N, j < M) in(%v = %x[i, j]) out(%z[M*i + j]) { yield(%v) }\n" +
		"  tensor.comp par(i < N, j < 8) out(%w[8*i - j + 7]) { yield(0.0: f32) }\n" +
		"  tensor.comp par(i < N) in(%v = %y[i]) out(%y[i]) {\n" +
		"    %s = tensor.comp red(j < M) in(%u = %x[i, j]) { yield(%u) } by sum(f32) : f32\n" +
		"    yield(add(%v, %s)) }\n" +
		"  return() }"
	if got := check("right", text); got != "" {
		t.Error(got)
	}
}

// Ops on whole tensors refuse what does not fit.
func TestTensorOpRules(t *testing.T) {
	fn := func(body string) string {
		return "func tensor @f<N, M>(%x: f32[N, M], %y: f32[M, N], %p: pattern<N, M, nnz#p, csr(i32, i32)>) -> () {\n" + body + "\n  return() }"
	}
	cases := []struct{ name, text, want string }{
		{"reshape", fn("%z = tensor.reshape(%x) : f32[N, N]"), "add check("},
		{"reshape type", fn("%z = tensor.reshape(%x) : f64[M, N]"), "cannot give"},
		{"concat", fn("%z = tensor.concat(%x, %y) axis=0 : f32[N, M]"), "equal dims are one name"},
		{"axis", fn("%z, %i = tensor.sort(%x) axis=2 : f32[N, M], i64[N, M]"), "from 0 to 1"},
		{"no func", fn("%z = tensor.call @g(%x) : f32[N]"), "there is no item @g"},
		{"no data", fn("%z = tensor.data @g : f32[3]"), "there is no item @g"},
		{"own identity", fn("%q, %a = tensor.pattern_transpose(%p) : pattern<M, N, nnz#p, csr(i32, i32)>, i64[nnz#p]"), "#p"},
		{"not transposed", fn("%q, %a = tensor.pattern_transpose(%p) : pattern<N, M, nnz#q, csr(i32, i32)>, i64[nnz#q]"), "gives a pattern of M x N"},
		{"plan", fn("tensor.plan exists(P: 0 <= P) { yield(1.0: f32) }"), "a dim is an integer"},
		{"scatter", fn("%z = tensor.scatter(%x) par(i < N) out([i]) { yield(1.0: f32) } : f32[N, M]"), "1 subscripts for rank 2"},
	}
	for _, c := range cases {
		if got := check(c.name, c.text); !strings.Contains(got, c.want) {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

const halves = "encoding @halves<N, K> of f32 { part %a: i8[N, K]; part %b: f16[N]\n" +
	"  decode(n, k) { %w = tensor.comp in(%q = %a[n, k], %s = %b[n]) { yield(mul(cast(%q): f32, cast(%s): f32)) } : f32; yield(%w) } }\n"

// The dims of a call's results are those that the callee's entry finds, and
// those of parts the encoded tensor's.
func TestDimsAcrossItems(t *testing.T) {
	call := func(callee, body string) string {
		return "func tensor @g" + callee + "\nfunc tensor @f<N, M>(%x: f32[2*N], %y: f32[M], %z: f32[M + N]) -> () {\n" + body + "\n  return() }"
	}
	parts := func(results string) string {
		return halves + "func tensor @f<K, M>(%w: f32[M, K] enc @halves) -> () { %a, %b = tensor.parts(%w) : " + results + "\n  return() }"
	}
	const double = "<N>(%x: f32[2*N]) -> (f32[N]) { %r = tensor.comp par(i < N) in(%a = %x[i + N]) { yield(%a) } : f32[N]; return(%r) }"
	const last = "<M, N>(%y: f32[M], %z: f32[M + N]) -> (f32[N]) { %r = tensor.comp par(i < N) in(%a = %z[i + M]) { yield(%a) } : f32[N]; return(%r) }"
	cases := []struct{ name, text, want string }{
		{"half", call(double, "%r = tensor.call @g(%x) : f32[N]"), ""},
		{"not half", call(double, "%r = tensor.call @g(%x) : f32[2*N]"), "result 1 is f32[2*N], @g gives f32[N] here"},
		{"half of another name", call(double, "%r = tensor.call @g(%y) : f32[N]"), "result 1 is f32[N], @g gives f32[M//2] here"},
		{"difference", call(last, "%r = tensor.call @g(%y, %z) : f32[N]"), ""},
		{"difference with names exchanged", call(last, "%r = tensor.call @g(%z, %x) : f32[N - M]"), ""},
		{"not the difference", call(last, "%r = tensor.call @g(%y, %z) : f32[M]"), "@g gives f32[N] here"},
		{"parts", parts("i8[M, K], f16[M]"), ""},
		{"parts of other dims", parts("i8[M, K], f16[K]"), "part %b of %w is f16[M] here, not f16[K]"},
		{"parts exchanged", parts("i8[K, M], f16[M]"), "part %a of %w is i8[M, K] here, not i8[K, M]"},
	}
	for _, c := range cases {
		if got := check(c.name, c.text); c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}
