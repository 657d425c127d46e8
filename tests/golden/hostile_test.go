package golden

import (
	"errors"
	"strings"
	"testing"
	"time"

	"tenon/internal/diag"
	"tenon/internal/num"
	"tenon/ir"
	"tenon/ir/interp"
)

// refused are texts that no module is, each with a part of the message. All of
// them once passed, ran for ever or brought the process down.
var refused = []struct{ name, text, want string }{
	{"a monoid that folds by itself in its combine", `
monoid @a(%x: f32) { identity { yield(0.0: f32) }
  combine(%p, %q) { %r = tensor.comp red(i < 2) { yield(%p) } by @a : f32; yield(%r) } }`, "@a is defined by itself"},
	{"two monoids that fold by each other", `
monoid @b(%x: f32) { identity { yield(0.0: f32) }
  combine(%p, %q) { %r = tensor.comp red(i < 2) { yield(%p) } by @c : f32; yield(%r) } }
monoid @c(%x: f32) { identity { yield(0.0: f32) }
  combine(%p, %q) { %r = tensor.comp red(i < 2) { yield(%p) } by @b : f32; yield(%r) } }`, "@c is defined by itself"},
	{"an encoding stored by itself", `
encoding @e<N> of f32 { part %c: f32[N] enc @e
  decode(n) { %v = tensor.comp in(%a = %c[n]) { yield(%a) } : f32; yield(%v) } }`, "part %c is f32[N] enc @e, not a plain tensor"},
	{"a decoder that calls", `
encoding @e<N> of f32 { part %c: f32[N]; decode(n) { %v = tensor.call @f(%c) : f32; yield(%v) } }
func tensor @f<N>(%c: f32[N]) -> (f32) { %z = const 0.0: f32; return(%z) }`, "calls nothing"},
	{"a return inside a loop", `
proc loop @p<N>(in %x: buf<f32[N]>) { loop.for i = 0 to N { return() }; return() }`, "a function returns at its end"},
	{"a call whose written type is not the callee's", `
func tensor @g<N>(%x: f32[N]) -> (f32[N]) { return(%x) }
func tensor @f<N>(%x: f32[N]) -> (f32[N + 1]) { %y = tensor.call @g(%x) : f32[N + 1]; return(%y) }`, "@g gives f32[N] here"},
	{"a kernel that means itself", `
extern @c cost
kernel @k<m, n, l> tile(1, 1, 1) needs() cost @c body @b(in %a: buf<f32[m, l]>, in %b: buf<f32[l, n]>, out %o: buf<f32[m, n]>) {
  tile.call kernel=@k (%o, l) a(i, q) { yield(load(%a[i, q])) } b(q, j) { yield(load(%b[q, j])) } }
proc vec @b<L>(in %a: buf<f32[1, L]>, in %b: buf<f32[L, 1]>, out %o: buf<f32[1, 1]>) { return() }`, "which runs nothing else"},
	{"a comp that loads what another point writes", `
proc loop @p<N>(inout %y: buf<f32[N]>) { tensor.comp par(i < N - 1) out(%y[i]) { yield(load(%y[i + 1])) }; return() }`,
		"which another point may write"},
	{"a comp that writes two values to one element", `
proc loop @p<N>(inout %y: buf<f32[N]>) { tensor.comp par(i < N - 1) out(%y[i], %y[i + 1]) { yield(1.0: f32, 2.0: f32) }
  return() }`, "written to one element"},
	{"data with too few elements", `
data @d : f32[3] = [1.0, 2.0]`, "data @d has 2 elements"},
	{"blocks of nothing", `
func tensor @f<N, M>(%p: pattern<N, M, nnz#p, bsr(0, 2, i32, i32)>) -> () { return() }`, "blocks of 0 x 2"},
	{"cyclic blocks of nothing", `
grid @g(P)
proc dist @p<N>(inout %x: buf<f32[N], dist(@g, cyclic(0)/0)>) { return() }`, "deals out blocks of 0"},
	{"an extern of no kind", `
extern @b banana`, "an extern is cost or sizes"},
}

func TestRefusedTexts(t *testing.T) {
	for _, c := range refused {
		t.Run(c.name, func(t *testing.T) {
			m, err := ir.Parse("t.tnir", header+c.text)
			if err == nil {
				err = ir.Verify(m)
			}
			if err == nil {
				t.Fatal("the text was accepted")
			}
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("the message lacks %q: %v", c.want, err)
			}
			var e *diag.Error
			if errors.As(err, &e) && !e.Pos.IsValid() {
				t.Errorf("the message has no position: %v", err)
			}
		})
	}
}

// Domains that one axis leaves empty take no time, however long the others are;
// where that cannot be seen beforehand the limit of a run still holds.
func TestEmptyAmongHuge(t *testing.T) {
	m := read(t, "t.tnir", `
func tensor @wide<N>(%x: f32[N]) -> (f32[4294967296, 4294967296, N]) {
  %y = tensor.comp par(i < 4294967296, j < 4294967296, k < N) { yield(1.0: f32) } : f32[4294967296, 4294967296, N]
  return(%y) }
func tensor @scattered<N>(%x: f32[N]) -> (f32[N]) {
  %y = tensor.scatter(%x) par(a < 9999999999, b < 999999999, e < N) in(%v = %x[e]) out([e]) { yield(%v) } : f32[N]
  return(%y) }
func tensor @triangle<N>(%x: f32[N]) -> (f32[]) {
  %y = tensor.comp red(i < 1000000000000, j < i - 1000000000000) in(%a = %x[j]) { yield(%a) } by sum(f32) : f32[]
  return(%y) }`)
	start := time.Now()
	for _, fn := range []string{"wide", "scattered", "triangle"} {
		_, err := interp.New(m, interp.Options{MaxEvals: 100000}).Run(fn, []any{ir.NewArray(num.F32, 0)})
		if stopped := err != nil && strings.Contains(err.Error(), "100000 evaluations"); stopped != (fn == "triangle") {
			t.Errorf("@%s: %v", fn, err)
		}
	}
	if d := time.Since(start); d > 5*time.Second {
		t.Errorf("empty domains took %v", d)
	}
}

// Faults that show while running, with the op's line.
func TestFaults(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"a copy onto itself", `
proc loop @f<N>(inout %x: buf<f32[N]>) { loop.copy(%x[0:N - 1], %x[1:N - 1]); return() }`, "overlap in memory"},
		{"a bound that the callee does not keep", `
func tensor @g<N; c>(%x: f32[N]) -> (i64[1, c]) { %i = tensor.nonzero(%x) exists(c: 0 <= c and c <= N) : i64[1, c]; return(%i) }
func tensor @f<N; d>(%x: f32[N]) -> (i64[1, d]) { %i = tensor.call @g(%x) exists(d: 1 <= d and d <= N) : i64[1, d]; return(%i) }`,
			"1 <= d does not hold"},
		{"a negative dim", `
func tensor @f<N>(%x: f32[N]) -> (f32[N - 5]) { %y = tensor.comp par(i < N - 5) { yield(1.0: f32) } : f32[N - 5]
  return(%y) }`, "shape [-2] is asked for; a dim is never negative"},
		{"a size beyond 64 bits", `
func tensor @f<N>(%x: f32[N]) -> (f32[N, 4294967296, 4294967296]) {
  %y = tensor.comp par(i < N, j < 4294967296, k < 4294967296) { yield(1.0: f32) } : f32[N, 4294967296, 4294967296]
  return(%y) }`, "more elements than 64 bits count"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := interp.New(read(t, "t.tnir", c.text), interp.Options{}).Run("f", []any{ir.NewArray(num.F32, 3)})
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "t.tnir:") {
				t.Errorf("the message is %v, want one with %q and a line", err, c.want)
			}
		})
	}
}

// Columns of one matrix are no overlap, though their ranges in memory are.
func TestInterleavedCopy(t *testing.T) {
	m := read(t, "t.tnir", `
proc loop @f<N>(inout %x: buf<f32[N, 2]>) { loop.copy(%x[0:N, 0:1], %x[0:N, 1:1]); return() }`)
	x := ir.NewArray(num.F32, 3, 2)
	for i := range x.Mem.Cells {
		x.Mem.Cells[i] = num.FromFloat(float64(i))
	}
	if _, err := interp.New(m, interp.Options{}).Run("f", []any{x}); err != nil {
		t.Fatal(err)
	}
	for i := range int64(3) {
		if get(x, i, 1) != get(x, i, 0) {
			t.Errorf("row %d: %v was not copied to %v", i, get(x, i, 0), get(x, i, 1))
		}
	}
}
