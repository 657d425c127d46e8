package bench

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"tenon/internal/driver"
	"tenon/internal/num"
	"tenon/ir"
	"tenon/runtime"
	"tenon/targets"
)

func TestParseShapes(t *testing.T) {
	for spec, want := range map[string]string{
		"M=7":                     "[M=7]",
		"M=1..3,K=8":              "[K=8 M=1 K=8 M=2 K=8 M=3]",
		"M=1,5..20:7,K=2,3":       "[K=2 M=1 K=3 M=1 K=2 M=5 K=3 M=5 K=2 M=12 K=3 M=12 K=2 M=19 K=3 M=19]",
		"M=0":                     "[M=0]",
		"M=~4..4:2,N=~9..9:2,K=1": "[K=1 M=4 N=9 K=1 M=4 N=9]",
	} {
		got, err := ParseShapes([]string{spec}, 1)
		if err != nil || fmt.Sprint(got) != want {
			t.Errorf("%s: %v, %v; want %s", spec, got, err, want)
		}
	}
	for _, bad := range []string{"", "7", "M", "M=", "=3", "M=3..1", "M=-1", "M=1..2:0", "M=5:2", "M=~1..9", "M=~0..9:3", "M=~1..9:3,N=~1..9:4",
		"M=1,M=2", "M=1..99999999", "M=1..1000,N=1..1000", "M=1,~1..9:2"} {
		if got, err := ParseShapes([]string{bad}, 1); err == nil {
			t.Errorf("%q was read as %v", bad, got)
		}
	}
}

// Every doubling is as likely, the ends are kept, and a seed repeats its draws.
func TestDrawsAreLogUniform(t *testing.T) {
	spec := []string{"M=~1..1024:4000"}
	got, err := ParseShapes(spec, 3)
	again, _ := ParseShapes(spec, 3)
	if err != nil || fmt.Sprint(got) != fmt.Sprint(again) {
		t.Fatal("draws do not repeat", err)
	}
	small := 0
	for _, s := range got {
		if s["M"] < 1 || s["M"] > 1024 {
			t.Fatalf("drew %d", s["M"])
		}
		if s["M"] < 32 {
			small++
		}
	}
	if small < 1800 || small > 2200 {
		t.Errorf("%d of 4000 draws of 1..1024 are below 32, half were expected", small)
	}
}

func TestSpreadAndGeomean(t *testing.T) {
	if s := SpreadOf([]float64{5, 1, 4, 2, 3}); s != (Spread{2, 3, 4}) {
		t.Errorf("%v", s)
	}
	if s := SpreadOf([]float64{1, 2}); s != (Spread{1.25, 1.5, 1.75}) {
		t.Errorf("%v", s)
	}
	if g := Geomean([]float64{2, 8}); math.Abs(g-4) > 1e-12 {
		t.Errorf("geomean %v", g)
	}
	if !math.IsNaN(SpreadOf(nil).Median) || !math.IsNaN(Geomean(nil)) {
		t.Error("of nothing there is no figure")
	}
}

// A peer that leaves half of the machine's vectors unused does not count; what it
// reports decides, of the way first and then of the library.
func TestBelow(t *testing.T) {
	for _, c := range []struct {
		note, isa string
		machine   int
		void      bool
	}{
		{"brgemm:avx2", "avx512, 0xe7", 64, true}, {"brgemm:avx512_core", "", 64, false}, {"x64:gemm:jit", "avx512, 0x27", 64, false},
		{"x64:gemm:jit", "avx2, 0x7", 64, true}, {"Haswell", "Haswell", 64, true}, {"SkylakeX", "SkylakeX", 64, false}, {"Zen", "Zen", 32, false},
		{"Nehalem", "Nehalem", 32, true}, {"ref:any", "", 64, false}, {"avx2", "avx2", 32, false},
	} {
		if got := below(c.note, c.isa, c.machine) != ""; got != c.void {
			t.Errorf("%s, %s on vectors of %d bytes: void %v", c.note, c.isa, c.machine, got)
		}
	}
}

// A rate above the peak of the threads given, or more processors than threads,
// means that something else was measured.
func TestVoid(t *testing.T) {
	s := &session{o: Options{Threads: 1}, vector: 32}
	for _, c := range []struct {
		used, rate float64
		void       bool
	}{{1, 90, false}, {1, 103, false}, {1, 160, true}, {1.9, 90, true}} {
		way := &contender{Note: "avx2", used: []float64{c.used}}
		if got := s.void(way, "", c.rate, 100) != ""; got != c.void {
			t.Errorf("%v: void %v", c, got)
		}
	}
}

const products = `
fn plain(a: f32[M, K], b: f32[K, N]) -> f32[M, N] {
  let c[m, n] = sum[k] a[m, k] * b[k, n]
  return c
}
fn flipped(a: f32[K, M], const b: f32[N, K]) -> f32[M, N] {
  let c[i, j] = sum[l] b[j, l] * a[l, i]
  return c
}
fn turned(a: f32[M, K], b: f32[K, N]) -> f32[N, M] {
  let c[n, m] = sum[k] a[m, k] * b[k, n]
  return c
}
fn vector(w: f32[N, K], x: f32[K]) -> f32[N] {
  let y[n] = sum[k] w[n, k] * x[k]
  return y
}
fn batched(a: f32[B, M, K], b: f32[B, K, N]) -> f32[B, M, N] {
  let c[b0, m, n] = sum[k] a[b0, m, k] * b[b0, k, n]
  return c
}
fn wide(a: f64[M, K], b: f64[K, N]) -> f64[M, N] {
  let c[m, n] = sum[k] a[m, k] * b[k, n]
  return c
}
fn square(a: f32[M, K]) -> f32[M] {
  let c[m] = max[k] a[m, k]
  return c
}
fn added(a: f32[M, K], b: f32[K, N]) -> f32[M, N] {
  let c[m, n] = sum[k] a[m, k] + b[k, n]
  return c
}
fn two(a: f32[M, K], b: f32[K, N]) -> f32[M, N] {
  let c[m, n] = sum[k] a[m, k] * b[k, n]
  return c[m, n] + 1.0 for m, n
}
`

func module(t *testing.T) *ir.Module {
	t.Helper()
	m, err := driver.Parse("products.tn", products)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestRecognise(t *testing.T) {
	m := module(t)
	for name, want := range map[string]string{
		"plain": "A0 B1 m k n []", "flipped": "A0 B1 i l j []", "turned": "A1 B0 n k m []", "vector": "A1 B0  k n []", "batched": "A0 B1 m k n [b0]",
	} {
		p, err := Recognise(ir.Lookup[*ir.Func](m, name))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := fmt.Sprintf("A%d B%d %s %s %s %v", p.A.Arg, p.B.Arg, p.M, p.K, p.N, p.Batch); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
		if p.B.Const != (name == "flipped") {
			t.Errorf("%s: constant %v", name, p.B.Const)
		}
	}
	for name, why := range map[string]string{"square": "does not sum", "added": "not the product", "two": "more than one"} {
		if _, err := Recognise(ir.Lookup[*ir.Func](m, name)); err == nil || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Compiled code and, where it is at hand, each library give the products of every
// spelling: results are held against dot products on the way.
func TestRun(t *testing.T) {
	if _, err := targets.FindToolchain(); err != nil {
		t.Skip("SKIPPED, no LLVM:", err)
	}
	m := module(t)
	shapes, _ := ParseShapes([]string{"B=3,M=1,5,K=7,N=9", "B=2,M=0,K=2,N=2"}, 1)
	for _, against := range []string{"", "openblas", "onednn"} {
		if _, err := openPeer(against, 1); against != "" && err != nil {
			t.Logf("SKIPPED, no comparison with %s: %v", against, err)
			continue
		}
		for _, name := range []string{"plain", "flipped", "turned", "vector", "batched", "wide"} {
			if name == "wide" && against == "onednn" || name != "batched" && against == "" {
				continue // oneDNN has no f64; without a peer one says all
			}
			o := Options{Shapes: shapes, Against: against, Threads: 1, Rounds: 1, Slice: time.Microsecond, Cold: name == "plain", Compile: driver.Options{CPU: "native", Opt: 1}}
			r, err := Run(context.Background(), m, ir.Lookup[*ir.Func](m, name), "products.tn", o, func(*Row) {})
			if err != nil {
				t.Errorf("%s against %s: %v", name, against, err)
				continue
			}
			// Turns of a microsecond may void a way: a ratio, or a reason for none.
			compared := len(r.Rows) > 0 && (r.Rows[0].Ratio != nil || slices.ContainsFunc(r.Rows[0].Peers, func(w Way) bool { return w.Void != "" }))
			if len(r.Rows) != 3 || r.Rows[0].GFlops == nil || compared != (against != "") {
				t.Errorf("%s against %s: %+v", name, against, r.Rows)
			}
		}
	}
}

// What a function prepares from const parameters is done before it is measured:
// each shape opens it anew.
func TestRunOpens(t *testing.T) {
	if _, err := targets.FindToolchain(); err != nil {
		t.Skip("SKIPPED, no LLVM:", err)
	}
	m, err := driver.Parse("layer.tnir", `tenon ir 1
proc loop @layer<M, N>(in %x: buf<f32[M]>, in const %w: buf<f32[N]>, in const %k: f32, out %y: buf<f32[M]>) where(declared 1 <= N) {
  %P = loop.alloc : buf<f32[1]>
  loop.prepare(%P) { store(mul(load(%w[N - 1]), %k), %P[0]) }
  loop.for i = 0 to M { store(mul(load(%x[i]), load(%P[0])), %y[i]) }
  return()
}
`)
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Threads: 1, Rounds: 1, Slice: time.Microsecond, Compile: driver.Options{CPU: "native", Opt: 1}}
	o.Shapes, _ = ParseShapes([]string{"M=1,20,N=3"}, 1)
	s := &session{o: o, f: ir.Lookup[*ir.Func](m, "layer")}
	lib, prepares, _, err := compile(context.Background(), m, "layer.tnir", o.Compile)
	if err != nil || fmt.Sprint(prepares) != "[layer]" {
		t.Fatal(prepares, err)
	}
	defer lib.Close()
	s.lib, s.opens = lib, true
	for _, shape := range o.Shapes {
		args, err := arguments(s.f, shape)
		if err != nil {
			t.Fatal(err)
		}
		state, err := s.state(lib, args)
		if err != nil {
			t.Fatal(err)
		}
		run, _, err := prepare(lib, state, "layer", args, 1)
		if err != nil || !run() {
			t.Fatal("a run fails", err)
		}
		x, w, y := args[0].(*runtime.Tensor), args[1].(*runtime.Tensor), args[3].(*runtime.Tensor)
		at := func(t *runtime.Tensor, i int) float32 { return float32(num.Float(num.Decode(num.F32, t.Data[4*i:]))) }
		if last := int(shape["M"]) - 1; at(y, last) != at(x, last)*at(w, 2) {
			t.Errorf("%v: %v, want %v", shape, at(y, last), at(x, last)*at(w, 2))
		}
	}
	s.close()
	if r, err := Run(context.Background(), m, s.f, "layer.tnir", o, func(*Row) {}); err != nil || len(r.Rows) != 2 {
		t.Error(r, err)
	}
}

// A wrong element of a result is seen.
func TestCheckSeesAWrongElement(t *testing.T) {
	m := module(t)
	f := ir.Lookup[*ir.Func](m, "plain")
	p, err := Recognise(f)
	if err != nil {
		t.Fatal(err)
	}
	args, err := arguments(f, Shape{"M": 2, "N": 2, "K": 3})
	if err != nil {
		t.Fatal(err)
	}
	if p.problem(args, 1).check("zeros") == nil {
		t.Error("a result of zeros was taken for the product")
	}
}
