package fuzz

import (
	"testing"

	"tenon/ir"
)

// found are programs that once showed a fault: each is run every way again.
var found = []struct{ what, text string }{
	{"a weighted mean whose weights are so small that the reciprocal of their sum is infinite, and one of equal weights over a triangle", `
monoid @wmean(%n: f32, %u: f32) assoc comm {
  identity { yield(0.0: f32, 0.0: f32) }
  combine(%n1, %u1, %n2, %u2) {
    %n = add(%n1, %n2)
    %d = select(eq(%n, 0.0: f32), 1.0: f32, %n)
    yield(%n, add(%u1, mul(sub(%u2, %u1), div(%n2, %d)))) }
}
func tensor @f<M>(%y: f32[M, M]) -> (f32[M], f32[M], f32[M], f32[M]) {
  %x = tensor.comp par(i < M, j < M) in(%a = %y[i, j]) { yield(max(min(%a, 100.0: f32), -100.0: f32)) } : f32[M, M]
  %n, %u = tensor.comp par(i < M) red(j < M) in(%a = %x[i, j]) {
    yield(mul(1e-39: f32, add(abs(%a), 1.0: f32)), %a) } by @wmean : f32[M], f32[M]
  %p, %v = tensor.comp par(i < M) red(j < i + 1) in(%a = %x[i, j]) { yield(2.0: f32, %a) } by @wmean : f32[M], f32[M]
  return(%n, %u, %p, %v) }`},
	{"reshape of a shape with a constant dim of 0: its subscripts were divided by 0", `
func tensor @f<K>(%x: f64[K, 0]) -> (f64[0]) {
  %y = tensor.reshape(%x) : f64[0]
  return(%y) }`},
	{"ops of a built-in monoid had no location after lowering", `
func tensor @f<M>(%x: f64[M, 3]) -> (f64[M]) {
  %y = tensor.comp par(i < M) red(j < 3) in(%a = %x[i, j]) { yield(%a) } by max(f64) : f64[M]
  return(%y) }`},
	{"a plan that reads a buffer, after bufferise", `
func tensor @f<M>(%x: f64[M]) -> (i64[M]) {
  %v, %y = tensor.comp par(i < M) red(j < M) in(%a = %x[j]) { yield(%a, idx(j): i64) } by argmax(f64, i64) : f64[M], i64[M]
  tensor.plan exists(c: 0 <= c) in(%a = %y[0]) { yield(%a) }
  %z = tensor.comp par(i < M) in(%a = %y[i]) { yield(add(%a, idx(c): i64)) } : i64[M]
  return(%z) }`},
	{"LLVM crashed where a max met the fma and the max of the same operands", `
func tensor @f<M>(%x: f64[M], %y: f64[M], %z: f32[M]) -> (f64[M], f32[M]) {
  %v, %w = tensor.comp par(i < M) in(%a = %x[i], %b = %y[i], %c = %z[i]) {
    %m = max(fma(%a, %b, %b), max(%a, %b))
    yield(%m, min(min(%c, %c), fma(%c, %c, %c))) } : f64[M], f32[M]
  return(%v, %w) }`},
	{"the same in vectors: a maximum of fmas over a row", `
func tensor @f<M>(%x: f32[M], %y: f64[M]) -> (f32[], f64[]) {
  %v = tensor.comp red(i < M) in(%a = %x[i]) { yield(fma(%a, %a, %a)) } by max(f32) : f32[]
  %w = tensor.comp red(i < M) in(%a = %y[i]) { yield(min(fma(%a, %a, %a), %a)) } by min(f64) : f64[]
  return(%v, %w) }`},
	{"a vector of bools read or written one by one", `
proc loop @f<M, N>(in %x: buf<bool[M, N]>, in %y: buf<f32[M]>, out %z: buf<bool[M, 2]>, out %w: buf<f32[M]>) {
  loop.parallel i = 0 to M {
    store(false: bool, %z[i, 0])
    %a = load(%y[i])
    %b = mul(%a, fma(%a, %a, add(%a, %a)))
    store(lt(%b, sub(%a, mul(%a, %b))), %z[i, 1])
    store(add(%b, mul(%a, %b)), %w[i])
  }
  loop.if (0 < N) {
    loop.parallel i = 0 to M {
      %a = load(%w[i])
      %c = add(mul(%a, fma(%a, %a, add(%a, %a))), mul(%a, %a))
      store(select(load(%x[i, 0]), %c, sub(%c, %a)), %w[i])
    }
  }
  return() }`},
	{"a vector of bools gathered", `
proc loop @f<M, N>(in %x: buf<bool[N]>, in %g: buf<i32[M]>, in %y: buf<f32[M]>, out %z: buf<f32[M]>) {
  loop.parallel i = 0 to M {
    %k = load(%g[i])
    %n = mod(%k, 3: i32)
    %a = load(%y[i])
    %b = mul(%a, fma(%a, %a, add(%a, %a)))
    %c = fma(%b, %a, mul(%b, add(%b, %a)))
    loop.if (3 <= N) { store(%c, %z[i]) } else { store(%a, %z[i]) }
  }
  loop.if (3 <= N) {
    loop.parallel i = 0 to M {
      %k = load(%g[i])
      %n = mod(%k, 3: i32)
      %a = load(%z[i])
      %b = mul(%a, fma(%a, %a, add(%a, %a)))
      %c = fma(%b, %a, mul(%b, add(%b, %a)))
      store(select(load(%x[%n]), fma(%c, %a, %b), mul(%c, add(%c, %b))), %z[i])
    }
  }
  return() }`},
	{"a comp split by its results' axes had a yield without location", `
func tensor @f<M, N>(%x: f64[M], %y: f64[N]) -> (f64[M], f64[N]) {
  %v, %w = tensor.comp par(i < M, j < N) in(%a = %x[i], %b = %y[j]) out([i], [j]) { yield(neg(%a), neg(%b)) } : f64[M], f64[N]
  return(%v, %w) }`},
	{"a value in a subscript of a nested comp", `
func tensor @f<M, N>(%x: f64[N], %g: i64[M, N]) -> (f64[M]) {
  %y = tensor.comp par(i < M) {
    %s = tensor.comp red(j < N) in(%h = %g[i, j], %a = %x[%h] zero) { yield(%a) } by max(f64) : f64
    yield(%s) } : f64[M]
  return(%y) }`},
}

func TestFound(t *testing.T) {
	c := newChecker(t.TempDir())
	if c.native, c.report.NoNative = findNative(); c.report.NoNative != nil {
		t.Logf("SKIPPED, no code is compiled: %v", c.report.NoNative)
	}
	for _, f := range found {
		for seed := range uint64(6) { // of the ways through the passes, and of the data
			p := &Program{Category: "tensor", Seed: seed, Text: "tenon ir 1" + f.text}
			if bad := Parse(p); bad != nil {
				t.Errorf("%s: %v", f.what, bad)
				break
			}
			for _, fn := range p.Module.Funcs() {
				p.Funcs = append(p.Funcs, guess(fn))
			}
			if bad := c.check(p); bad != nil {
				t.Errorf("%s: %v", f.what, bad)
				break
			}
		}
	}
	if bad := c.flush(); bad != nil {
		t.Error(bad)
	}
}

// guess makes up sizes for a function that was not generated.
func guess(f *ir.Func) *FuncInfo {
	info := &FuncInfo{Name: f.Name}
	for _, n := range []int64{0, 1, 3, 5, 18} {
		sizes := map[string]int64{}
		for i, d := range f.Dims {
			sizes[d] = n + int64(i)
		}
		info.Sizes = append(info.Sizes, sizes)
	}
	return info
}
