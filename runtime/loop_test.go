package runtime

import (
	"context"
	"fmt"
	"math"
	"os"
	"testing"

	"tenon/codegen/cpu"
	"tenon/internal/num"
	"tenon/ir"
	_ "tenon/ir/ops"
	"tenon/targets"
)

// compile builds loop-level text for this machine.
func compile(t *testing.T, text string, opt int) (*Lib, *ir.Module) {
	t.Helper()
	tc, err := targets.FindToolchain()
	if err != nil {
		t.Skipf("SKIP, compiled code is not tested: %v", err)
	}
	d, err := targets.Native()
	if err != nil {
		t.Skipf("SKIP, compiled code is not tested: %v", err)
	}
	m, err := ir.Parse("test.tnir", "tenon ir 1\n"+text)
	if err != nil {
		t.Fatal(err)
	}
	low, err := cpu.Lower(m, d, "test", cpu.Options{})
	if err != nil {
		t.Fatal(err)
	}
	obj, err := tc.Compile(context.Background(), low.Text(), targets.CompileOpts{Opt: opt})
	if err != nil {
		t.Fatal(err)
	}
	so, err := tc.Link(context.Background(), d, obj)
	if err != nil {
		t.Fatal(err)
	}
	lib, err := OpenBytes(so)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { lib.Close() })
	return lib, m
}

// call runs a proc that must succeed.
func call(t *testing.T, lib *Lib, name string, args ...Arg) {
	t.Helper()
	status, err := lib.Call(name, args)
	if err != nil || status.Code != OK {
		t.Fatalf("%s: %+v, %v", name, status, err)
	}
}

// grid is an f64 tensor with some pattern of values.
func grid(t *testing.T, seed float64, shape ...int64) *Tensor {
	t.Helper()
	x, err := Alloc(num.F64, shape)
	if err != nil {
		t.Fatal(err)
	}
	for i := range x.Count() {
		num.Encode(num.F64, num.FromFloat(math.Sin(seed+float64(i)*1.7)+2), x.Data[8*i:])
	}
	return x
}

func at(x *Tensor, i int64) float64 {
	return num.Float(num.Decode(x.Elem, x.Data[int64(x.Elem.Bytes())*i:]))
}

func values(x *Tensor) []float64 {
	out := make([]float64, x.Count())
	for i := range out {
		out[i] = at(x, int64(i))
	}
	return out
}

func equal(t *testing.T, what string, got *Tensor, want []float64) {
	t.Helper()
	for i, w := range want {
		if g := at(got, int64(i)); g != w && (g == g || w == w) {
			t.Errorf("%s: element %d is %v, want %v", what, i, g, w)
			return
		}
	}
}

const stencil = `proc loop @jacobi2d<N>(in %steps: index, inout %A: buf<f64[N, N]>, inout %B: buf<f64[N, N]>) where(declared 3 <= N) {
  loop.for t = 0 to %steps {
    loop.for i = 1 to N - 1 { loop.for j = 1 to N - 1 {
      %s = add(add(add(load(%A[i, j]), load(%A[i, j - 1])), load(%A[i, j + 1])), load(%A[i + 1, j]))
      store(mul(0.2: f64, add(%s, load(%A[i - 1, j]))), %B[i, j]) } }
    loop.for i = 1 to N - 1 { loop.for j = 1 to N - 1 {
      %s = add(add(add(load(%B[i, j]), load(%B[i, j - 1])), load(%B[i, j + 1])), load(%B[i + 1, j]))
      store(mul(0.2: f64, add(%s, load(%B[i - 1, j]))), %A[i, j]) } } }; return() }
`

func jacobi(a, b []float64, n, steps int) {
	half := func(a, b []float64) {
		for i := 1; i < n-1; i++ {
			for j := 1; j < n-1; j++ {
				s := a[i*n+j] + a[i*n+j-1] + a[i*n+j+1] + a[(i+1)*n+j]
				b[i*n+j] = 0.2 * (s + a[(i-1)*n+j])
			}
		}
	}
	for range steps {
		half(a, b)
		half(b, a)
	}
}

func TestStencilIsBitExact(t *testing.T) {
	for _, opt := range []int{0, 3} {
		lib, _ := compile(t, stencil, opt)
		for _, n := range []int64{3, 4, 17, 64} {
			a, b := grid(t, 1, n, n), grid(t, 2, n, n)
			wantA, wantB := values(a), values(b)
			jacobi(wantA, wantB, int(n), 3)
			call(t, lib, "jacobi2d", Scalar{num.Index, num.FromInt(3)}, a, b)
			equal(t, "A", a, wantA)
			equal(t, "B", b, wantB)
		}
	}
}

// A column of every second element, backwards in rows: copied in and out.
func TestStridedArguments(t *testing.T) {
	lib, _ := compile(t, stencil, 3)
	const n = 5
	whole := grid(t, 3, n, 2*n)
	flip := &Tensor{Elem: num.F64, Shape: []int64{n, n}, Strides: []int64{2, 2 * n}, Data: whole.Data}
	b := grid(t, 4, n, n)
	before := values(whole)
	wantA, wantB := make([]float64, n*n), values(b)
	for i := range n {
		for j := range n {
			wantA[i*n+j] = before[2*i+2*n*j]
		}
	}
	jacobi(wantA, wantB, n, 1)
	call(t, lib, "jacobi2d", Scalar{num.Index, num.FromInt(1)}, flip, b)
	equal(t, "B", b, wantB)
	for k := range before {
		want := before[k]
		if k%2 == 0 {
			i, j := (k%(2*n))/2, k/(2*n)
			want = wantA[i*n+j]
		}
		if got := at(whole, int64(k)); got != want {
			t.Fatalf("element %d of the whole is %v, want %v", k, got, want)
		}
	}
}

func TestEntryChecks(t *testing.T) {
	lib, _ := compile(t, stencil, 2)
	a, b := grid(t, 1, 4, 4), grid(t, 2, 4, 4)
	steps := Scalar{num.Index, num.FromInt(1)}
	overlapping := &Tensor{Elem: num.F64, Shape: []int64{3, 3}, Data: a.Data[8:]}
	three := &Tensor{Elem: num.F64, Shape: []int64{3, 3}, Data: a.Data}
	huge := &Tensor{Elem: num.F64, Shape: []int64{1 << 40, 1 << 40}, Data: a.Data}
	for _, c := range []struct {
		what string
		args []Arg
		want Status
	}{
		{"sizes differ", []Arg{steps, a, grid(t, 2, 4, 5)}, Status{Shape, 2, 1}},
		{"fact", []Arg{steps, grid(t, 1, 2, 2), grid(t, 2, 2, 2)}, Status{Shape, 1, 0}},
		{"same memory", []Arg{steps, a, a}, Status{Alias, 2, -1}},
		{"overlap", []Arg{steps, three, overlapping}, Status{Alias, 2, -1}},
		{"negative", []Arg{steps, &Tensor{Elem: num.F64, Shape: []int64{-4, 4}, Data: a.Data}, b}, Status{Shape, 1, 0}},
		{"overflow", []Arg{steps, huge, b}, Status{Overflow, 1, -1}},
	} {
		status, err := lib.Call("jacobi2d", c.args)
		if err != nil || status != c.want {
			t.Errorf("%s: %+v, %v; want %+v", c.what, status, err, c.want)
		}
	}
}

// Loops with carried values, branches, memory, gathers that are checked, and
// every kind of index expression.
const mixed = `
proc loop @prefix<N>(in %x: buf<f64[N]>, out %y: buf<f64[N]>, out %total: buf<f64[]>) {
  %z = const 0.0: f64
  %s = loop.for i = 0 to N carry(%acc = %z) { %n = add(%acc, load(%x[i])); store(%n, %y[i]); yield(%n) } : f64
  store(%s, %total[]); return() }
proc loop @gather<N, M>(in %x: buf<f64[N]>, in %g: buf<i64[M]>, out %y: buf<f64[M]>) {
  loop.for i = 0 to M { %at = load(%g[i]); %k = cast(%at): index; store(load(%x[%k]), %y[i]) }; return() }
proc loop @blocks<N>(in %x: buf<f64[N]>, out %y: buf<f64[(N + 2)//3]>, out %n: buf<i64[(N + 2)//3]>) {
  %t = loop.alloc : buf<f64[3]>
  loop.for b:n = 0 to N step 3 {
    loop.for i = 0 to n { store(load(%x[b + i]), %t[i]) }
    %z = const 0.0: f64
    %s = loop.for i = 0 to n carry(%acc = %z) { yield(add(%acc, load(%t[i]))) } : f64
    store(%s, %y[b//3]); store(idx(n): i64, %n[b//3]) }; return() }
proc loop @branch<N>(in %x: buf<f64[N]>, out %y: buf<f64[N]>) {
  loop.parallel i = 0 to N {
    %v = load(%x[i])
    %r = loop.if (i mod 2 == 0, 2*i < N) { yield(%v) } else { yield(neg(%v)) } : f64
    loop.if (1 <= i) { store(add(%r, load(%x[i - 1])), %y[i]) } else { store(%r, %y[i]) } }; return() }
proc loop @transpose<M, N>(in %x: buf<f64[M, N]>, out %y: buf<f64[N, M]>) {
  loop.for i = 0 to N { loop.copy(%x[0:M, i], %y[i, 0:M]) }; return() }
proc loop @types(in %a: f32, in %b: bool, in %c: u8, in %h: bf16, out %y: buf<f64[]>) {
  %s = add(cast(%a): f64, add(cast(%c): f64, cast(%h): f64)); store(select(%b, %s, neg(%s)), %y[]); return() }
`

func ints(t *testing.T, v ...int64) *Tensor {
	t.Helper()
	x, err := Alloc(num.I64, []int64{int64(len(v))})
	if err != nil {
		t.Fatal(err)
	}
	for i, n := range v {
		num.Encode(num.I64, num.FromInt(n), x.Data[8*i:])
	}
	return x
}

func TestMixedPrograms(t *testing.T) {
	for _, opt := range []int{0, 3} {
		lib, _ := compile(t, mixed, opt)
		for _, n := range []int64{0, 1, 2, 7, 31} {
			x, y, total := grid(t, 1, n), grid(t, 0, n), grid(t, 0)
			call(t, lib, "prefix", x, y, total)
			sum, want := 0.0, []float64{}
			for _, v := range values(x) {
				sum += v
				want = append(want, sum)
			}
			equal(t, "prefix", y, want)
			equal(t, "total", total, []float64{sum})

			blocks := (n + 2) / 3
			part, counts := grid(t, 0, blocks), ints(t, make([]int64, blocks)...)
			call(t, lib, "blocks", x, part, counts)
			want = make([]float64, blocks)
			for i, v := range values(x) {
				want[i/3] += v
			}
			equal(t, "blocks", part, want)
			if n == 7 {
				if got := num.Int(num.Decode(num.I64, counts.Data[16:])); got != 1 {
					t.Errorf("the last block has size %d", got)
				}
			}

			call(t, lib, "branch", x, y)
			want = values(x)
			for i := len(want) - 1; i >= 0; i-- {
				if !(i%2 == 0 && 2*i < len(want)) {
					want[i] = -want[i]
				}
				if i > 0 {
					want[i] += values(x)[i-1]
				}
			}
			equal(t, "branch", y, want)
		}
		x, y := grid(t, 5, 3, 4), grid(t, 0, 4, 3)
		call(t, lib, "transpose", x, y)
		if at(y, 1*3+2) != at(x, 2*4+1) || at(y, 11) != at(x, 11) {
			t.Error("transpose")
		}
		out := grid(t, 0)
		call(t, lib, "types", Scalar{num.F32, num.FromFloat(0.5)}, Scalar{num.Bool, 0}, Scalar{num.U8, num.FromInt(255)}, Scalar{num.BF16, num.FromFloat(-3)}, out)
		equal(t, "types", out, []float64{-(0.5 + 255 - 3)})
	}
}

func TestSubscriptsAreCheckedWhileRunning(t *testing.T) {
	for _, opt := range []int{0, 3} {
		lib, _ := compile(t, mixed, opt)
		x, y := grid(t, 1, 5), grid(t, 0, 3)
		call(t, lib, "gather", x, ints(t, 4, 0, 2), y)
		equal(t, "gather", y, []float64{at(x, 4), at(x, 0), at(x, 2)})
		for _, bad := range []int64{5, -1, math.MinInt64} {
			status, err := lib.Call("gather", []Arg{x, ints(t, 4, bad, 2), y})
			if err != nil || status != (Status{Index, 0, 0}) {
				t.Errorf("subscript %d: %+v, %v", bad, status, err)
			}
		}
	}
}

const temporaries = `
proc loop @wide<N>(in %x: buf<f64[N]>, out %y: buf<f64[]>) {
  %a = loop.alloc : buf<f64[N]>
  loop.for i = 0 to N { store(load(%x[i]), %a[i]) }
  %t = loop.alloc : buf<f64[N, N, N, N]>
  loop.for i = 0 to N { store(load(%a[i]), %t[i, i, i, i]) }
  %z = const 0.0: f64
  %s = loop.for i = 0 to N carry(%acc = %z) { yield(add(%acc, load(%t[i, i, i, i]))) } : f64
  store(%s, %y[]); return() }
proc loop @early<N>(in %x: buf<f64[N]>, in %g: buf<i64[N]>, out %y: buf<f64[N]>) {
  loop.for r = 0 to 100 {
    %a = loop.alloc : buf<f64[N]>
    loop.for i = 0 to N { %k = cast(load(%g[i])): index; store(load(%x[%k]), %a[i]) }
    loop.for i = 0 to N { store(load(%a[i]), %y[i]) } }; return() }
`

// Temporaries that cannot be had are an error, and an error on the way frees
// those that there are.
func TestTemporaries(t *testing.T) {
	lib, _ := compile(t, temporaries, 3)
	y := grid(t, 0)
	for _, c := range []struct {
		n    int64
		want Code
	}{{0, OK}, {5, OK}, {1 << 13, Memory}, {1 << 17, Overflow}} {
		x := grid(t, 1, c.n)
		status, err := lib.Call("wide", []Arg{x, y})
		if err != nil || status.Code != c.want {
			t.Errorf("N = %d: %+v, %v; want %v", c.n, status, err, c.want)
		}
		if status.Code == OK {
			sum := 0.0
			for _, v := range values(x) {
				sum += v
			}
			equal(t, "wide", y, []float64{sum})
		}
	}
	const n = 1 << 16
	bad := make([]int64, n)
	bad[n-1] = n
	x, g, out := grid(t, 1, n), ints(t, bad...), grid(t, 0, n)
	before := residentBytes(t)
	for range 200 {
		if status, err := lib.Call("early", []Arg{x, g, out}); err != nil || status.Code != Index {
			t.Fatalf("%+v, %v", status, err)
		}
	}
	if grown := residentBytes(t) - before; grown > 100*n*8 {
		t.Errorf("200 failed calls with a temporary of %d bytes left %d bytes behind", n*8, grown)
	}
}

func residentBytes(t *testing.T) int64 {
	t.Helper()
	data, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Skipf("SKIP, leaks are not looked for: %v", err)
	}
	var size, resident int64
	if _, err := fmt.Sscan(string(data), &size, &resident); err != nil {
		t.Fatal(err)
	}
	return resident * int64(os.Getpagesize())
}
