package interp_test

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"tenon/internal/num"
	"tenon/ir"
	"tenon/ir/interp"
)

// wantFault wants a *interp.Fault whose message has all of the parts.
func wantFault(t *testing.T, err error, parts ...string) {
	t.Helper()
	var f *interp.Fault
	if !errors.As(err, &f) {
		t.Fatalf("got %v, want a fault", err)
	}
	for _, p := range parts {
		if !strings.Contains(f.Error(), p) {
			t.Errorf("the fault is %q, which lacks %q", f.Error(), p)
		}
	}
}

var wrongPrograms = []struct {
	name, text, fn string
	ranks          int
	args           []any
	want           []string
}{
	{"conflicting parallel loop", `proc loop @p<N>(inout %A: buf<f64[N]>) {
  loop.parallel i = 1 to N {
    store(load(%A[i - 1]), %A[i])
  }
  return() }`, "p", 1, []any{ir.NewArray(num.F64, 9)}, []string{"p.tnir:4:", "two iterations", "p.tnir\":3:"}},
	{"conflicting tiles", `proc tile @p<N>(inout %A: buf<f64[N]>) {
  tile.for i:n = 0 to N step 2 parallel {
    store(1.0: f64, %A[0])
  }
  return() }`, "p", 1, []any{ir.NewArray(num.F64, 9)}, []string{"p.tnir:4:", "two iterations"}},
	{"race on shared memory", `proc gpu @p(out %y: buf<f32[32]>) {
  gpu.launch blocks(g < 1) threads(t < 32) {
    %sh = gpu.shared : buf<f32[32], space(shared)>
    store(1.0: f32, %sh[t])
    store(load(%sh[31 - t]), %y[t]) }
  return() }`, "p", 1, []any{nil}, []string{"p.tnir:", "two threads"}},
	{"two blocks write one element", `proc gpu @p(out %y: buf<f32[1]>) {
  gpu.launch blocks(g < 3) threads(t < 1) {
    store(1.0: f32, %y[0]) }
  return() }`, "p", 1, []any{nil}, []string{"p.tnir:4:", "touch one element"}},
	{"a barrier that some threads skip", `proc gpu @p(in %x: buf<i64[4]>, out %y: buf<i64[4]>) {
  gpu.launch blocks(g < 1) threads(t < 4) {
    %c = cast(load(%x[t])): index
    loop.if (%c < 2) {
      gpu.barrier }
    store(1: i64, %y[t]) }
  return() }`, "p", 1, []any{ints(0, 1, 2, 3), nil}, []string{"gpu.barrier at p.tnir:6:", "p.tnir:3:"}},
	{"a read before the asynchronous copy is there", `proc gpu @p(in %x: buf<i64[4]>, out %y: buf<i64[4]>) {
  gpu.launch blocks(g < 1) threads(t < 4) {
    %sh = gpu.shared : buf<i64[4], space(shared)>
    gpu.copy_async(%x[t:1], %sh[t:1]); gpu.commit; gpu.barrier
    store(load(%sh[3 - t]), %y[t]); gpu.wait groups=0 }
  return() }`, "p", 1, []any{ints(0, 1, 2, 3), nil}, []string{"p.tnir:", "two threads"}},
	{"a read outside the halo", `grid @g(P)
proc dist @p<N>(in %A: buf<f64[N], dist(@g, block/0 halo(1, 1))>, out %B: buf<f64[N], dist(@g, block/0)>) {
  dist.owned(%A) dim=0 exists(lo: 0 <= lo, hi: lo <= hi and hi <= N)
  dist.halo(%A) dim=0
  loop.for i = lo to hi {
    store(load(%A[min(N - 1, i + 2)]), %B[i]) }
  return() }`, "p", 3, []any{ir.NewArray(num.F64, 9), nil}, []string{"p.tnir:7:", "lies in no halo"}},
	{"a halo that was not exchanged", `grid @g(P)
proc dist @p<N>(in %A: buf<f64[N], dist(@g, block/0 halo(1, 1))>, out %B: buf<f64[N], dist(@g, block/0)>) {
  dist.owned(%A) dim=0 exists(lo: 0 <= lo, hi: lo <= hi and hi <= N)
  loop.for i = lo to hi {
    store(load(%A[min(N - 1, i + 1)]), %B[i]) }
  return() }`, "p", 3, []any{ir.NewArray(num.F64, 9), nil}, []string{"p.tnir:6:", "never exchanged"}},
	{"a stale halo", `grid @g(P)
proc dist @p<N>(inout %A: buf<f64[N], dist(@g, block/0 halo(1, 1))>, inout %B: buf<f64[N], dist(@g, block/0 halo(1, 1))>) {
  dist.owned(%A) dim=0 exists(lo: 0 <= lo, hi: lo <= hi and hi <= N)
  dist.halo(%A) dim=0
  loop.for s = 0 to 2 {
    loop.for i = lo to hi { store(load(%A[min(N - 1, i + 1)]), %B[i]) }
    loop.for i = lo to hi { store(load(%B[i]), %A[i]) } }
  return() }`, "p", 3, []any{ir.NewArray(num.F64, 9), ir.NewArray(num.F64, 9)}, []string{"p.tnir:7:", "since the last exchange"}},
	{"a stale halo over a collective", `grid @g(P)
proc dist @p<N>(inout %A: buf<f64[N], dist(@g, block/0 halo(1, 1))>, inout %B: buf<f64[N], dist(@g, block/0 halo(1, 1))>) {
  dist.owned(%A) dim=0 exists(lo: 0 <= lo, hi: lo <= hi and hi <= N)
  dist.halo(%A) dim=0
  loop.for i = lo to hi { store(1.0: f64, %A[i]) }
  dist.halo(%B) dim=0
  loop.for i = lo to hi {
    store(load(%A[min(N - 1, i + 1)]), %B[i]) }
  return() }`, "p", 2, []any{ir.NewArray(num.F64, 9), ir.NewArray(num.F64, 9)}, []string{"p.tnir:9:", "since the last exchange"}},
	{"a write of another rank's element", `grid @g(P)
proc dist @p<N>(inout %A: buf<f64[N], dist(@g, block/0)>) {
  dist.owned(%A) dim=0 exists(lo: 0 <= lo, hi: lo <= hi and hi <= N)
  loop.for i = lo to hi {
    store(1.0: f64, %A[max(0, i - 1)]) }
  return() }`, "p", 3, []any{ir.NewArray(num.F64, 9)}, []string{"p.tnir:6:", "writes element"}},
	{"a collective that some ranks skip", `grid @g(P)
proc dist @p<N>(inout %A: buf<f64[N], dist(@g, block/0 halo(1, 1))>) {
  dist.owned(%A) dim=0 exists(lo: 0 <= lo, hi: lo <= hi and hi <= N)
  loop.if (lo < hi) {
    dist.halo(%A) dim=0 }
  return() }`, "p", 3, []any{ir.NewArray(num.F64, 2)}, []string{"dist.halo at p.tnir:6:", "every rank"}},
	{"replicas that differ", `grid @g(P)
proc dist @p(out %s: buf<i64[], dist(@g)>) {
  %r = dist.rank grid=@g axis=0
  store(cast(%r): i64, %s[])
  return() }`, "p", 3, []any{nil}, []string{"p.tnir:3:", "disagree"}},
	{"variants that disagree", `proc tile @p<N>(out %A: buf<i64[N]>) {
  tile.choose dims(N) variant one {
    loop.for i = 0 to N { store(1: i64, %A[i]) }
  } variant two {
    loop.for i = 0 to N { store(2: i64, %A[i]) }
  } pick { yield(0: i32) }
  return() }`, "p", 1, []any{ir.NewArray(num.I64, 5)}, []string{"p.tnir:3:", "variants two and one disagree"}},
	{"a tile larger than the kernel's", `extern @t cost
kernel @k<m, n, k> tile(2, 2, 1) needs() cost @t body @b
    (in %a: buf<f32[m, k]>, in %b: buf<f32[k, n]>, out %c: buf<f32[m, n]>) {
  tensor.comp par(i < m, j < n) red(l < k) in(%x = %a[i, l], %y = %b[l, j]) out(%c[i, j]) { yield(mul(%x, %y)) } by sum(f32) }
proc vec @b<K>(in %a: buf<f32[2, K]>, in %b: buf<f32[K, 2]>, out %c: buf<f32[2, 2]>) { return() }
proc tile @p<M>(out %C: buf<f32[M, 2]>) {
  tile.call kernel=@k (%C, 1) a(i, l) { yield(1.0: f32) } b(l, j) { yield(1.0: f32) }
  return() }`, "p", 1, []any{ir.NewArray(num.F32, 3, 2)}, []string{"p.tnir:8:", "larger than"}},
	{"a lane outside the row", `proc vec @p<N>(in %a: buf<f32[N]>, out %b: buf<f32[N]>) {
  %v = vec.load(%a[N - 7]) : vec<8 x f32>
  vec.store(%v, %b[0])
  return() }`, "p", 1, []any{ir.NewArray(num.F32, 9), nil}, []string{"p.tnir:3:", "lane 7"}},
	{"a subscript out of range", `proc loop @p<N>(inout %a: buf<f32[N]>) {
  store(load(%a[0]), %a[N])
  return() }`, "p", 1, []any{ir.NewArray(num.F32, 9)}, []string{"p.tnir:3:", "subscript 0 of %a is 9"}},
}

// Each wrong program is stopped, and the fault names the line of the op. Some
// are refused by the verifier already; the run must find them all the same.
func TestWrongPrograms(t *testing.T) {
	for _, c := range wrongPrograms {
		t.Run(c.name, func(t *testing.T) {
			m := parseOnly(t, "p.tnir", "tenon ir 1\n"+c.text)
			for seed := range uint64(3) {
				args := make([]any, len(c.args))
				for i, a := range c.args {
					if arr, ok := a.(*ir.Array); ok {
						args[i] = cloneArray(arr)
					}
				}
				_, err := interp.New(m, interp.Options{Ranks: c.ranks, Seed: seed}).Run(c.fn, args)
				wantFault(t, err, c.want...)
			}
		})
	}
}

// What the rows' verifiers refuse, with the line of the op.
func TestRefused(t *testing.T) {
	const kernel = `extern @t cost
kernel @k<m, n, k> tile(2, 2, 1) needs() cost @t body @b
    (in %a: buf<f32[m, k]>, in %b: buf<f32[k, n]>, out %c: buf<f32[m, n]>) {
  tensor.comp par(i < m, j < n) red(l < k) in(%x = %a[i, l], %y = %b[l, j]) out(%c[i, j]) { yield(mul(%x, %y)) } by sum(f32) }
proc vec @b<K>(in %a: buf<f32[2, K]>, in %b: buf<f32[K, 2]>, out %c: buf<f32[2, 2]>) { %z = vec.splat(0.0) : vec<2 x f32>
  vec.store(%z, %c[0, 0]); vec.store(%z, %c[1, 0]); return() }
`
	cases := []struct{ text, want string }{
		{"proc loop @p<N>(inout %A: buf<f64[N]>) {\n  loop.for i = 0 to N step 0 { store(1.0: f64, %A[i]) }\n  return() }", ":3:"},
		{"proc loop @p<N>(inout %A: buf<f64[N]>) {\n  store(1: i64, %A[0])\n  return() }", "cast it first"},
		{"proc loop @p<N>(in %B: buf<f64[N]>, inout %A: buf<f64[N]>) {\n  loop.copy(%A, %B)\n  return() }", "in` parameter"},
		{"proc loop @q<N>(inout %A: buf<f64[N]>) { return() }\nproc loop @p<N>(in %A: buf<f64[N]>) {\n  loop.call @q(%A)\n  return() }", ":4:"},
		{"proc loop @q<N>(in %B: buf<f64[N]>, inout %A: buf<f64[N]>) { return() }\nproc loop @p<N>(inout %A: buf<f64[N]>) {\n  loop.call @q(%A, %A)\n  return() }", "must not overlap"},
		{"proc loop @p<N>(inout %A: buf<f64[N]>) {\n  loop.call @q(%A)\n  return() }", "@q"},
		{kernel + "proc tile @p<M>(out %C: buf<f16[M, 2]>) {\n  tile.call kernel=@k (%C, 1) a(i, l) { yield(1.0: f32) } b(l, j) { yield(1.0: f32) }\n  return() }", "acc=f32"},
		{kernel + "proc tile @p<M>(out %C: buf<f32[M, 2]>) {\n  tile.call kernel=@k (%C) a(i, l) { yield(1.0: f32) } b(l, j) { yield(1.0: f32) }\n  return() }", "operands given"},
		{kernel + "proc tile @p<M>(out %C: buf<f32[M, 2]>) {\n  tile.call kernel=@k (%C, 1) a(i) { yield(1.0: f32) } b(l, j) { yield(1.0: f32) }\n  return() }", "region a has 1 parameters"},
		{"proc tile @p<K>(in %A: buf<f32[K]>, out %B: buf<f32[1, K, 4]>) {\n  tile.pack(%A, %B) panel=4\n  return() }", "2 dims"},
		{"extern @s cost\nproc tile @p<K>(out %A: buf<f32[K]>) {\n  tile.sizes from=@s (K) exists(b: 1 <= b)\n  loop.for i = 0 to K { store(0.0: f32, %A[i]) }\n  return() }", "want an extern of"},
		{"proc vec @p<N>(inout %a: buf<f32[N]>) {\n  %v = vec.load(%a[0]) : vec<8 x f64>\n  return() }", "lanes are f64"},
		{"proc vec @p<N>(inout %a: buf<f32[N, 8], strides(8, 2)>) {\n  %v = vec.load(%a[0, 0]) : vec<8 x f32>\n  return() }", "not adjacent"},
		{"proc vec @p<N>(inout %a: buf<f32[N]>) {\n  %m = vec.first(N) : mask<4>\n  %v = vec.load(%a[0]) mask(%m) : vec<8 x f32>\n  return() }", "want a mask<8>"},
		{"grid @g(P)\nproc dist @p<N>(inout %A: buf<f64[N], dist(@g, block/0)>) {\n  dist.halo(%A) dim=0\n  return() }", "no halo"},
		{"grid @g(P)\nproc dist @p<N>(inout %A: buf<f64[N], dist(@g, block/1)>) {\n  dist.owned(%A) dim=0 exists(l: 0 <= l, h: 0 <= h)\n  return() }", "no axis 1"},
		{"grid @g(P)\nproc dist @p(out %s: buf<f64[], dist(@g)>) {\n  %q = loop.alloc : buf<f64[], dist(@g, partial(sum))>\n  store(load(%q[]), %s[])\n  return() }", "only accumulated"},
		{"grid @g(P)\nproc dist @p(out %s: buf<f64[], dist(@g)>) {\n  %q = loop.alloc : buf<f64[], dist(@g, partial(sum))>\n" +
			"  tensor.comp in(%x = %q[]) out(%s[]) { yield(%x) }\n  return() }", "only accumulated"},
		{"proc gpu @p(out %y: buf<f32[1]>) {\n  gpu.launch blocks(g < 1) threads(t < 2048) { loop.if (t == 0) { store(0.0: f32, %y[0]) } }\n  return() }", "at most 1024"},
		{"proc gpu @p<N>(out %y: buf<f32[1]>) {\n  gpu.launch blocks(g < 1) threads(t < N) { loop.if (t == 0) { store(0.0: f32, %y[0]) } }\n  return() }", "positive constant"},
		{"proc gpu @p<N>(out %y: buf<f32[1]>) {\n  gpu.launch blocks(g < 1) threads(t < 4) { %s = gpu.shared : buf<f32[N], space(shared)>\n  store(0.0: f32, %y[0]) }\n  return() }", "constant"},
	}
	for _, c := range cases {
		text := "tenon ir 1\n" + c.text
		m, err := ir.Parse("p.tnir", text)
		if err == nil {
			err = ir.Verify(m)
		}
		switch {
		case err == nil:
			t.Errorf("accepted, want a fault with %q:\n%s", c.want, text)
		case !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "p.tnir:"):
			t.Errorf("the fault is %q, want one with %q:\n%s", err, c.want, text)
		}
	}
}

func ints(vs ...int64) *ir.Array {
	a := ir.NewArray(num.I64, int64(len(vs)))
	for i, v := range vs {
		a.Mem.Cells[i] = num.FromInt(v)
	}
	return a
}

// What a naive check of halos would refuse is right: an update in place through
// a second buffer, and a red-black sweep, which reads only what nobody writes.
func TestRightHalos(t *testing.T) {
	m := parseText(t, "p.tnir", `tenon ir 1
grid @g(P)
proc dist @copy_back<N>(in %steps: index, inout %A: buf<f64[N], dist(@g, block/0 halo(1, 1))>) {
  %B = loop.alloc : buf<f64[N], dist(@g, block/0)>
  dist.owned(%A) dim=0 exists(lo: 0 <= lo, hi: lo <= hi and hi <= N)
  loop.for s = 0 to %steps {
    dist.halo(%A) dim=0
    loop.for i = lo to hi { store(add(load(%A[max(0, i - 1)]), load(%A[min(N - 1, i + 1)])), %B[i]) }
    loop.for i = lo to hi { store(load(%B[i]), %A[i]) } }
  return() }
proc dist @red_black<N>(in %steps: index, inout %A: buf<f64[N], dist(@g, block/0 halo(1, 1))>) {
  dist.owned(%A) dim=0 exists(lo: 0 <= lo, hi: lo <= hi and hi <= N)
  loop.for s = 0 to %steps {
    dist.halo(%A) dim=0
    loop.for i = max(1, lo) to min(N - 1, hi) { loop.if ((i + s) mod 2 == 0) {
      store(add(load(%A[i - 1]), load(%A[i + 1])), %A[i]) } } }
  return() }`)
	r := rand.New(rand.NewPCG(8, 8))
	for _, ranks := range []int{1, 2, 3, 7} {
		for _, N := range lowerSizes {
			A := randomArray(r, num.F64, N)
			for _, fn := range []string{"copy_back", "red_black"} {
				alone, many := cloneArray(A), cloneArray(A)
				mustRun(t, fn, interp.New(m, interp.Options{}), fn, index(3), alone)
				mustRun(t, fn, interp.New(m, interp.Options{Ranks: ranks, Seed: uint64(N)}), fn, index(3), many)
				wantSame(t, fn, many, alone)
			}
		}
	}
}
