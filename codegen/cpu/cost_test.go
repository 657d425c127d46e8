package cpu

import (
	"testing"

	"tenon/codegen/llvm"
	"tenon/ir"
	"tenon/ir/sym"
	"tenon/targets"
)

// A loop over tiles costs what the micro-kernels do that it calls, also where the
// height of a tile is computed: else products would never go to several threads.
func TestCallsOfKernelsCost(t *testing.T) {
	m := parse(t, `extern @c cost
kernel @g<m, n, k> tile(4, 8, 1) needs() cost @c body @b (in %a: buf<f32[m, k]>, in %b: buf<f32[k, n]>, out %c: buf<f32[m, n]>) {
  tensor.comp par(i < m, j < n) red(l < k) in(%x = %a[i, l], %y = %b[l, j]) out(%c[i, j]) { yield(mul(%x, %y)) } by sum(f32) }
proc vec @b<m, n, k, LA, LB, LC>(in %a: buf<f32[m, k], strides(LA, 1)>, in %b: buf<f32[k, n], strides(LB, 1)>,
    inout %c: buf<f32[m, n], strides(LC, 1)>, in %first: index) { return() }
proc vec @fixed<M, N, K>(in %a: buf<f32[M, K]>, in %b: buf<f32[K, N]>, inout %c: buf<f32[M, N]>) {
  %one = const 1 : index
  loop.parallel j:w = 0 to N step 8 { loop.for i:h = 0 to M step 4 {
    loop.call @b(%a[i:h, 0:K], %b[0:K, j:w], %c[i:h, j:w], %one) } }; return() }
proc vec @computed<M, N, K>(in %a: buf<f32[M, K]>, in %b: buf<f32[K, N]>, inout %c: buf<f32[M, N]>, in %s: index) {
  %one = const 1 : index
  loop.parallel j:w = 0 to N step 8 { loop.for i:h = 0 to M step %s {
    loop.call @b(%a[i:h, 0:K], %b[0:K, j:w], %c[i:h, j:w], %one) } }; return() }
`)
	desc, err := targets.Find("x86-64", "")
	if err != nil {
		t.Fatal(err)
	}
	out := llvm.NewModule("test", desc)
	shared := newSupport(out, true)
	shared.kernel(ir.Lookup[*ir.Func](m, "b"), Options{})
	for _, name := range []string{"fixed", "computed"} {
		f := ir.Lookup[*ir.Func](m, name)
		p := newProc(out.NewInternal(name+".test", i32), shared, f, nil, Options{})
		for _, d := range f.Dims {
			p.names[d] = llvm.Index(1)
		}
		for _, x := range f.Params {
			if _, scalar := x.Value.Type.(ir.Scalar); scalar {
				p.values[x.Value] = llvm.Index(1)
			}
		}
		env := sym.Names(map[string]int64{"M": 400, "N": 800, "K": 100})
		env.Val = func(sym.Ref) (int64, bool) { return 4, true }
		got, err := p.costOf(f.Body.Ops[1]).Eval(env)
		if least := int64(2 * 400 * 8 * 100); err != nil || got < least || got > least+least/10 {
			t.Errorf("%s: a strip costs %d, %v; its products and sums are %d", name, got, err, least)
		}
	}
}
