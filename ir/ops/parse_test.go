package ops_test

import (
	"strings"
	"testing"

	"tenon/internal/diag"
	"tenon/ir"
)

// canonicalTexts are shorthand and what it prints as.
var canonicalTexts = []struct{ name, in, out string }{
	{"nested operands, literals, one-line regions, semicolons", `
func tensor @f<N>(%x: f16[N]) -> (f32[N]) { %y = tensor.comp par(i < N) in(%a = %x[i]) {
  %b = cast(%a): f32; yield(mul(%b, add(2.0: f32, 1: f32))) } : f32[N]; return(%y) }`, `
func tensor @f<N>(%x: f16[N]) -> (f32[N]) {
  %y = tensor.comp par(i < N) in(%a = %x[i]) {
    %b = cast(%a) : f32
    %t1 = const 2.0 : f32
    %t2 = const 1.0 : f32
    %t3 = add(%t1, %t2)
    %t4 = mul(%b, %t3)
    yield(%t4)
  } : f32[N]
  return(%y)
}
`},
	{"named results, const, facts, existentials, line breaks in a header, directives, comments", `
// a comment
func tensor @f<N, M; c>(const %x: f32[N],   // tight // is division
    %z: f32[M//2]) -> (%n: i64[1, c], 2 * f32[N], f32[N])
    where(declared M mod 2 == 0,
      proved 0 <= N) directives("tile(i: 32)", "a \"b\" \u{7}") {
  %i = tensor.nonzero(%x)
    exists(c: 0 <= c and c <= N)
    : i64[1, c]
  return(%i, %x, %x, %x) }`, `
func tensor @f<N, M; c>(const %x: f32[N], %z: f32[M//2])
    -> (%n: i64[1, c], 3 * f32[N])
    where(declared M mod 2 == 0, proved 0 <= N)
    directives("tile(i: 32)", "a \"b\" \u{7}") {
  %i = tensor.nonzero(%x) exists(c: 0 <= c and c <= N) : i64[1, c]
  return(%i, 3_)
}
`},
	{"every type", `
grid @g(P, Q)
encoding @e<N> of f32 { part %c: i8[N]; decode(n) { %v = tensor.comp red(k < 1) in(%a = %c[n]) { yield(%a) } by max(i8) : i8
  yield(cast(%v): f32) } }
proc dist @f<N, M, S>(in %a: f32[N] enc @e, in %p: pattern<N, M, nnz#p, csr(i64, i32)>, in %b: pattern<N, M, nnz#b, bsr(4, 2, i32, i32)>,
  in %c: pattern<N, M, nnz#c, csc(i32, i64)>, in %d: pattern<N, M, nnz#d, coo(i64)>, in %s: index,
  in %t: buf<bf16[N, M], strides(S, 1), offset(2*N), space(shared)>, in %u: buf<u8[N, M], dist(@g, cyclic(4)/1 halo(1, 2), *)>,
  in %v: buf<f64[], dist(@g, partial(sum))>, in %w: vec<8 x f64>, in %m: mask<8>, in %n: bool, in %e: buf<f32[nnz#p, M]>) { return() }`, `
grid @g(P, Q)
encoding @e<N> of f32 {
  part %c: i8[N]
  decode(n) {
    %v = tensor.comp red(k < 1) in(%a = %c[n]) {
      yield(%a)
    } by max(i8) : i8
    %t1 = cast(%v) : f32
    yield(%t1)
  }
}
proc dist @f<N, M, S>(
    in %a: f32[N] enc @e,
    in %p: pattern<N, M, nnz#p, csr(i64, i32)>,
    in %b: pattern<N, M, nnz#b, bsr(4, 2, i32, i32)>,
    in %c: pattern<N, M, nnz#c, csc(i32, i64)>,
    in %d: pattern<N, M, nnz#d, coo(i64)>,
    in %s: index,
    in %t: buf<bf16[N, M], strides(S, 1), offset(2*N), space(shared)>,
    in %u: buf<u8[N, M], dist(@g, cyclic(4)/1 halo(1, 2), *)>,
    in %v: buf<f64[], dist(@g, partial(sum))>,
    in %w: vec<8 x f64>,
    in %m: mask<8>,
    in %n: bool,
    in %e: buf<f32[nnz#p, M]>) {
  return()
}
`},
	{"literals and data", `
data @d : f32[5] = [1.0, -0.0, inf, nan(0x7fc00001), 1e-05]; data @b : bool[2] = [true, false]; extern @c cost
data @w : f16[1000, 8] = file "w.npz" key "a/b"`, `
data @d : f32[5] = [1.0, -0.0, inf, nan(0x7fc00001), 1e-05]
data @b : bool[2] = [true, false]
extern @c cost
data @w : f16[1000, 8] = file "w.npz" key "a/b"
`},
	{"index expressions in normal form", `
func tensor @f<N, K>(%x: f32[(N + 1)*2 - N, K//8*8 + min(K, 3), -1 + N mod 4 - K + max(1, N)]) -> () { return() }`, `
func tensor @f<N, K>(%x: f32[N + 2, 8*(K//8) + min(3, K), N mod 4 + max(1, N) - K - 1]) -> () {
  return()
}
`},
	{"by with all its words", `
func tensor @f<N>(%x: f32[N]) -> () { %y, %i = tensor.comp red(k < N) in(%a = %x[k] clamp) { yield(%a, idx(max(k, 2)): i64) }
  by argmax(f32, i64) ordered empty(0.0, -1) : f32[], i64[]; return() }`, `
func tensor @f<N>(%x: f32[N]) -> () {
  %y, %i = tensor.comp red(k < N) in(%a = %x[k] clamp) {
    %t1 = idx(max(2, k)) : i64
    yield(%a, %t1)
  } by argmax(f32, i64) ordered empty(0.0, -1) : f32[], i64[]
  return()
}
`},
}

func TestCanonical(t *testing.T) {
	for _, c := range canonicalTexts {
		t.Run(c.name, func(t *testing.T) {
			m := mustParse(t, "tenon ir 1"+c.in)
			want := strings.ReplaceAll("tenon ir 1"+c.out, "3_", "%x, %x, %x")
			if got := ir.Print(m); got != want {
				t.Errorf("printed\n%s\nwant\n%s", got, want)
			}
			roundTrip(t, m)
		})
	}
}

// Locations survive a round trip; without the option they are not printed.
func TestLocations(t *testing.T) {
	text := `tenon ir 1
func tensor @f<N>(%x: f32[N]) -> (f32[N]) at "a \"b\".tn":3:4 {
  %y = tensor.comp par(i < N) in(%a = %x[i]) {
    yield(%a) at node "Relu_3"
  } : f32[N] at fused["a.tn":1:2, node "x", "b.tn":7:1]
  return(%y) at "a.tn":9:9
}
`
	m := mustParse(t, text)
	if got := ir.Print(m, ir.WithLocations()); got != text {
		t.Errorf("printed\n%s\nwant\n%s", got, text)
	}
	if got := ir.Print(m); strings.Contains(got, " at ") {
		t.Errorf("locations without the option:\n%s", got)
	}
}

// A name taken where it is printed gets a number; the text still means the same.
func TestPrintedNames(t *testing.T) {
	m := mustParse(t, sample)
	f := m.Items[0].(*ir.Func)
	for _, op := range f.Body.Ops {
		for _, v := range op.Results {
			v.Name = "x"
		}
	}
	f.Params[1].Value.Name = "/layer/Relu:0"
	roundTrip(t, m)
	if !ir.Equal(m, mustParse(t, sample)) {
		t.Error("renaming made another module")
	}
}

var parseFaults = []struct {
	name, text string
	line, col  int
	want       string
}{
	{"no header", "func", 1, 1, "tenon ir 1"},
	{"another version", "tenon ir 2", 1, 10, "version 2"},
	{"unknown item", "tenon ir 1\nfunction tensor @f", 2, 1, "expected func, proc"},
	{"unknown level", "tenon ir 1\nfunc graph @f() -> () { return() }", 2, 6, "unknown level graph"},
	{"unknown op", body("%y = matmul(%x, %x)"), 3, 8, "there is no op matmul"},
	{"family left out", body("%y = reshape(%x) : f32[N]"), 3, 8, "write tensor.reshape"},
	{"undefined value", body("return(%q)"), 3, 10, "%q is not defined"},
	{"undefined name", body("tensor.check(Q == N)"), 3, 16, "Q is not defined"},
	{"a value without its sign", body("tensor.check(x == N)"), 3, 16, "write %x for the value"},
	{"rebound value", body("%x = tensor.concat(%x) axis=0 : f32[N]"), 3, 3, "%x is bound already"},
	{"rebound name", body("%y = tensor.comp par(N < 3) { yield(0.0: f32) } : f32[3]"), 3, 24, "N is bound already"},
	{"wrong type written", body("%y = tensor.comp par(i < N) in(%a = %x[i]) { yield(%a) } : f32[N + 1]"), 3, 3, "has type f32[N]"},
	{"too few names", body("%y = tensor.sort(%x) axis=0 : f32[N], i64[N]"), 3, 3, "gives 2 results, but 1 names"},
	{"too few types", body("%y, %i = tensor.sort(%x) axis=0 : f32[N]"), 3, 3, "1 types are written"},
	{"missing clause", body("%y = tensor.concat(%x)"), 3, 3, "lacks `axis`"},
	{"unknown monoid", body("%y = tensor.comp red(i < N) in(%a = %x[i]) { yield(%a) } by @m : f32[]"), 3, 63, "no monoid @m"},
	{"unknown built-in", body("%y = tensor.comp red(i < N) in(%a = %x[i]) { yield(%a) } by mean(f32) : f32[]"), 3, 63, "no built-in monoid mean"},
	{"monoid of another type", body("%y = tensor.comp red(i < N) in(%a = %x[i]) { yield(%a) } by any(f32) : f32[]"), 3, 63, "does not fold f32"},
	{"no type known", body("%y = const 1.0"), 3, 3, "needs its scalar type"},
	{"literal out of range", body("%y = const 300: u8"), 3, 3, "300"},
	{"float to an integer", body("%y = const 1.5: i32"), 3, 3, "1.5"},
	{"bitcast to another width", body("%c = const 1.0: f32; %y = bitcast(%c): i64"), 3, 24, "same width"},
	{"leading zero", body("%y = const 007: i32"), 3, 14, "leading zero"},
	{"truncating division", body("tensor.check(N / 2 == 1)"), 3, 18, "no truncating division"},
	{"division by zero", body("tensor.check(N//0 == 1)"), 3, 17, "positive divisor"},
	{"overflow", body("tensor.check(9223372036854775807*2 == N)"), 3, 16, "overflows"},
	{"integer too large", body("tensor.check(9223372036854775808 == N)"), 3, 16, "does not fit 64 bits"},
	{"stray character", body("tensor.check(N == 1) $"), 3, 24, "'$'"},
	{"unclosed string", "tenon ir 1\ndata @d : f32[1] = file \"x", 2, 25, "no end"},
	{"bad escape", "tenon ir 1\ndata @d : f32[1] = file \"\\q\" key \"\"", 2, 25, "unknown escape"},
	{"unclosed region", "tenon ir 1\nfunc tensor @f() -> () { return()", 2, 34, "not closed"},
	{"an unproved fact", "tenon ir 1\nfunc tensor @f<N>() -> () where(proved 3 <= N) { return() }", 2, 27, "no proof"},
	{"unknown encoding", "tenon ir 1\nfunc tensor @f<N>(%x: f32[N] enc @e) -> () { return() }", 2, 34, "no encoding @e"},
	{"two items of a name", "tenon ir 1\ngrid @g(P)\nextern @g cost", 3, 8, "@g is defined twice"},
	{"terminator as operand", body("return(yield(%x))"), 3, 10, "yield is no operand"},
	{"text behind an op", body("return(%x) %x"), 3, 14, "the end of the op"},
}

// body is a func with one op on line 3, from column 3.
func body(op string) string {
	return "tenon ir 1\nfunc tensor @f<N>(%x: f32[N]) -> (f32[N]) {\n  " + op + "\n  return(%x)\n}\n"
}

func TestParseFaults(t *testing.T) {
	for _, c := range parseFaults {
		t.Run(c.name, func(t *testing.T) {
			_, err := ir.Parse("p.tnir", c.text)
			fs := faults(err)
			if len(fs) == 0 {
				t.Fatal("accepted")
			}
			e := fs[0]
			if !strings.Contains(e.Error(), c.want) || e.Pos.Line != c.line || e.Pos.Col != c.col {
				t.Errorf("want %q at %d:%d, got\n%s", c.want, c.line, c.col,
					diag.Render(err, diag.Sources{"p.tnir": c.text}, false))
			}
			if len(fs) > 1 {
				t.Errorf("one fault, %d reports:\n%v", len(fs), err)
			}
		})
	}
}

// Independent faults are all reported in one run, each once.
func TestSeveralFaults(t *testing.T) {
	text := `tenon ir 1
func tensor @f<N>(%x: f32[N]) -> (f32[N]) {
  %a = nothing(%x)
  %b = tensor.comp par(i < N) in(%v = %a[i], %w = %x[q]) {
    %s = add(%v, %w)
    yield(mul(%s, %t))
  } : f32[N]
  tensor.nonzero(%x exists(c: 0 <= c)
  %c = tensor.concat(%b, %a) axis=0 : f32[2*N]
  return(%c)
}
func tensor @g<N>(%x: f33[N]) -> (f32[N]) { return(%x) }
proc loop @h<N>(in %x: buf<f32[N]>) {
  loop.for i = 0 to N { store(load(%x[i]), %y[i]) }
  return()
}
`
	_, err := ir.Parse("p.tnir", text)
	var lines []int
	for _, e := range faults(err) {
		lines = append(lines, e.Pos.Line)
	}
	want := []int{3, 4, 6, 8, 12, 14}
	if len(lines) != len(want) {
		t.Fatalf("faults on lines %v, want %v:\n%v", lines, want, err)
	}
	for i := range want {
		if lines[i] != want[i] {
			t.Fatalf("faults on lines %v, want %v:\n%v", lines, want, err)
		}
	}
}
