package ops_test

import (
	"strings"
	"testing"

	"tenon/ir"
)

// factCases hold a reshape that is right only by a fact known where it stands;
// without the fact (fact replaced by instead) it is refused.
var factCases = []struct{ name, text, fact, instead string }{
	{"declared at entry", `
func tensor @f<M, N, K>(%x: f32[M, N], %y: f32[K]) -> (f32[K]) where(declared M*N == K) {
  %r = tensor.reshape(%x) : f32[K]
  return(%r) }`, "declared M*N == K", "declared M*N <= K"},
	{"proved at entry", `
func tensor @f<M, N>(%x: f32[M], %y: f32[N]) -> (f32[N]) where(declared M <= N, declared N <= M, proved M == N) {
  %r = tensor.reshape(%x) : f32[N]
  return(%r) }`, "declared N <= M, proved M == N", "declared N <= M + 1"},
	{"checked before", `
func tensor @f<M, N>(%x: f32[M], %y: f32[N]) -> (f32[N]) {
  tensor.check(M == N)
  %r = tensor.reshape(%x) : f32[N]
  return(%r) }`, "tensor.check(M == N)", "tensor.check(M <= N)"},
	{"guarded in its variant", `
func tensor @f<M, N>(%x: f32[M], %y: f32[N]) -> (f32[N]) {
  %r = tile.choose dims(M, N) variant a where(guarded M == N) { %s = tensor.reshape(%x) : f32[N]; yield(%s) }
    variant b { yield(%y) } pick { yield(0: i32) } : f32[N]
  return(%r) }`, "guarded M == N", "guarded M <= N"},
	{"under a condition, and not in its else", `
func tensor @f<M, N>(%x: f32[M], %y: f32[N]) -> (f32[N]) {
  %r = loop.if (M == N) { %s = tensor.reshape(%x) : f32[N]; yield(%s) } else { yield(%y) } : f32[N]
  return(%r) }`, "{ %s = tensor.reshape(%x) : f32[N]; yield(%s) } else { yield(%y) }",
		"{ yield(%y) } else { %s = tensor.reshape(%x) : f32[N]; yield(%s) }"},
	{"bounds of an existential", `
func tensor @f<N; c>(%x: f32[N]) -> (f32[c]) {
  %i = tensor.nonzero(%x) exists(c: N <= c and c <= N) : i64[1, c]
  %r = tensor.reshape(%x) : f32[c]
  return(%r) }`, "N <= c", "0 <= c"},
	{"the multiples that a loop steps through", `
func tensor @f<N>(%x: f32[N]) -> (f32[N]) {
  %r = loop.for i = 0 to N step 8 carry(%c = %x) {
    %a = tensor.comp par(j < i) { yield(0.0: f32) } : f32[i]
    %b = tensor.reshape(%a) : f32[8, i//8]
    yield(%c) } : f32[N]
  return(%r) }`, "step 8", "step 6"},
	{"the size of a step", `
func tensor @f<N>(%x: f32[N]) -> (f32[N]) where(declared N mod 8 == 0) {
  %r = loop.for i:n = 0 to N step 8 carry(%c = %x) {
    %a = tensor.comp par(j < n) { yield(0.0: f32) } : f32[n]
    %b = tensor.reshape(%a) : f32[8]
    yield(%c) } : f32[N]
  return(%r) }`, "declared N mod 8 == 0", "declared N mod 4 == 0"},
}

// What is known is known where it holds, and nowhere else.
func TestFacts(t *testing.T) {
	for _, c := range factCases {
		t.Run(c.name, func(t *testing.T) {
			if err := ir.Verify(mustParse(t, "tenon ir 1"+c.text)); err != nil {
				t.Errorf("with the fact: %v", err)
			}
			without := strings.Replace(c.text, c.fact, c.instead, 1)
			if without == c.text {
				t.Fatal("the fact is not in the text")
			}
			expectFault(t, ir.Verify(mustParse(t, "tenon ir 1"+without)), "need not have the same size", 0)
		})
	}
}
