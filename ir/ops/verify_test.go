package ops_test

import (
	"strings"
	"testing"

	"tenon/ir"
	"tenon/ir/sym"
)

// refused are modules that parse and break one invariant each; want is part of
// the message, line the place it names (0: any).
var refused = []struct {
	name, text, want string
	line             int
}{
	{"a dim that nothing binds", `
func tensor @f<N, M>(%x: f32[N]) -> (f32[N]) { return(%x) }`, "no parameter binds the dim M", 2},
	{"an existential that no op binds", `
func tensor @f<N; P>(%x: f32[N]) -> (f32[N]) { return(%x) }`, "dim P is bound by 0 ops", 2},
	{"an existential without bounds", `
func tensor @f<N; c>(%x: f32[N]) -> (i64[1, c]) {
  %i = tensor.nonzero(%x) exists(c) : i64[1, c]
  return(%i) }`, "without bounds", 3},
	{"an existential used before it is bound", `
func tensor @f<N; c>(%x: f32[N]) -> (i64[1, c]) {
  tensor.check(N == c)
  %i = tensor.nonzero(%x) exists(c: 0 <= c) : i64[1, c]
  return(%i) }`, "used before the op that binds it", 3},
	{"bounds that nothing satisfies", `
func tensor @f<N; c>(%x: f32[N]) -> (i64[1, c]) {
  %i = tensor.nonzero(%x) exists(c: 0 <= c and c < 0) : i64[1, c]
  return(%i) }`, "no value of c satisfies", 3},
	{"facts that contradict", `
func tensor @f<N>(%x: f32[N]) -> (f32[N]) where(declared N < 3, declared 5 < N) { return(%x) }`, "contradict", 2},
	{"a guarded fact at entry", `
func tensor @f<N>(%x: f32[N]) -> (f32[N]) where(guarded N < 3) { return(%x) }`, "here facts are declared or proved", 2},
	{"a pattern bound twice", `
func tensor @f<N>(%p: pattern<N, N, nnz#p, coo(i32)>, %q: pattern<N, N, nnz#p, coo(i32)>) -> () { return() }`,
		"pattern #p is bound twice", 2},
	{"an edge dim behind another", `
func tensor @f<N, H>(%p: pattern<N, N, nnz#p, coo(i32)>, %e: f32[H, nnz#p]) -> () { return() }`, "only be the first dim", 2},
	{"an edge dim inside an expression", `
func tensor @f<N>(%p: pattern<N, N, nnz#p, coo(i32)>, %e: f32[nnz#p + 1]) -> () { return() }`, "only be the first dim", 2},
	{"an edge dim of no pattern", `
func tensor @f(%e: f32[nnz#p]) -> () { return() }`, "nnz#p is not defined", 2},
	{"an edge tensor subscripted by a column", `
func tensor @f<N>(%p: pattern<N, N, nnz#p, coo(i32)>, %e: f32[nnz#p]) -> (f32[N]) {
  %y = tensor.comp par(i < N) red(j:k in %p[i]) in(%a = %e[j]) { yield(%a) } by sum(f32) : f32[N]
  return(%y) }`, "j is no entry of #p", 3},
	{"an edge tensor subscripted by another pattern's entry", `
func tensor @f<N>(%p: pattern<N, N, nnz#p, coo(i32)>, %q: pattern<N, N, nnz#q, coo(i32)>, %e: f32[nnz#q]) -> (f32[N]) {
  %y = tensor.comp par(i < N) red(j:k in %p[i]) in(%a = %e[k]) { yield(%a) } by sum(f32) : f32[N]
  return(%y) }`, "k is no entry of #q", 3},
	{"a region without its return", `
func tensor @f<N>(%x: f32[N]) -> () {
  %y = tensor.comp par(i < N) in(%a = %x[i]) { yield(%a) } : f32[N] }`, "does not end in return", 2},
	{"a function that yields", `
func tensor @f<N>(%x: f32[N]) -> () {
  yield() }`, "ends in return", 3},
	{"a terminator before the end", `
func tensor @f<N>(%x: f32[N]) -> () {
  return()
  return() }`, "before the end of its region", 3},
	{"returned types that are not declared", `
func tensor @f<N, M>(%x: f32[N], %y: f32[M]) -> (f32[M]) {
  return(%x) }`, "@f declares f32[M]", 3},
	{"a func with effects", `
func loop @f<N>(%x: buf<f32[N]>) -> () {
  %v = const 0.0 : f32
  store(%v, %x[0])
  return() }`, "@f is a func", 4},
	{"a proc that writes an in parameter", `
proc loop @f<N>(in %x: buf<f32[N]>) {
  %v = const 0.0 : f32
  store(%v, %x[0])
  return() }`, "declare it out or inout", 4},
	{"an out parameter that is no buffer", `
proc loop @f(out %x: f32) { return() }`, "only buffers are", 2},
	{"a comp that writes an in parameter", `
proc loop @f<N>(in %x: buf<f32[N]>) {
  tensor.comp par(i < N) out(%x[i]) { yield(0.0: f32) }
  return() }`, "declare it out or inout", 3},
	{"a buffer that escapes", `
proc loop @f<N>(inout %x: buf<f32[N]>) {
  %b = loop.if (N < 3) { yield(%x) } else { yield(%x) } : buf<f32[N]>
  return() }`, "escape", 3},
	{"a carried buffer", `
proc loop @f<N>(inout %x: buf<f32[N]>) {
  %b = loop.for i = 0 to N carry(%c = %x) { yield(%c) } : buf<f32[N]>
  return() }`, "buffers stay where they are", 3},
	{"calls in a cycle", `
func tensor @f<N>(%x: f32[N]) -> (f32[N]) {
  %y = tensor.call @g(%x) : f32[N]
  return(%y) }
func tensor @g<N>(%x: f32[N]) -> (f32[N]) {
  %y = tensor.call @f(%x) : f32[N]
  return(%y) }`, "cycle: @f, @g, @f", 6},
	{"a call of itself", `
func tensor @f<N>(%x: f32[N]) -> (f32[N]) {
  %y = tensor.call @f(%x) : f32[N]
  return(%y) }`, "cycle: @f, @f", 3},
	{"a call of nothing", `
func tensor @f<N>(%x: f32[N]) -> (f32[N]) {
  %y = tensor.call @h(%x) : f32[N]
  return(%y) }`, "@h", 3},
	{"a call with a wrong argument", `
func tensor @f<N>(%x: f32[N]) -> (f32[N]) {
  %y = tensor.call @g(%x) : f64[N]
  return(%x) }
func tensor @g<N>(%x: f64[N]) -> (f64[N]) { return(%x) }`, "argument 1 does not fit", 3},
	{"an op of another level", `
proc loop @f<N>(in %x: buf<f32[N]>) {
  tile.pack(%x[0:N], %x) panel=1
  return() }`, "no op of level loop", 3},
	{"a tensor at loop level", `
proc loop @f<N>(in %x: f32[N]) { return() }`, "data are buffers", 2},
	{"a buffer at tensor level", `
func tensor @f<N>(%x: buf<f32[N]>) -> () { return() }`, "data are values", 2},
	{"a guarded last variant", `
func tensor @f<N>(%x: f32[N]) -> (f32[N]) {
  %y = tile.choose dims(N) variant a where(guarded N < 3) { yield(%x) } pick { yield(0: i32) } : f32[N]
  return(%y) }`, "last variant, a, is guarded", 3},
	{"a declared fact in a variant", `
func tensor @f<N>(%x: f32[N]) -> (f32[N]) {
  %y = tile.choose dims(N) variant a where(declared N < 3) { yield(%x) } variant b { yield(%x) } pick { yield(0: i32) } : f32[N]
  return(%y) }`, "here facts are guarded or proved", 3},
	{"variants that yield different types", `
func tensor @f<N, M>(%x: f32[N], %z: f32[M]) -> (f32[N]) {
  %y = tile.choose dims(N) variant a where(guarded N < 3) { yield(%x) } variant b { yield(%z) } pick { yield(0: i32) } : f32[N]
  return(%y) }`, "variant b f32[M]", 3},
	{"variants that write different buffers", `
proc tile @f<N>(out %x: buf<f32[N]>, out %y: buf<f32[N]>) {
  tile.choose dims(N) variant a where(guarded N < 3) { store(0.0: f32, %x[0]) } variant b { store(0.0: f32, %y[0]) } pick { yield(0: i32) }
  return() }`, "writes %x", 3},
	{"a variant named twice", `
proc tile @f<N>(in %x: buf<f32[N]>) {
  tile.choose dims(N) variant a where(guarded N < 3) { } variant a { } pick { yield(0: i32) }
  return() }`, "variant a stands twice", 3},
	{"a pick that reads data", `
proc tile @f<N>(in %x: buf<i32[N]>) {
  tile.choose dims(N) variant a where(guarded N < 3) { } variant b { } pick {
    yield(load(%x[0])) }
  return() }`, "pick region", 4},
	{"a guard that cannot hold", `
proc tile @f<N>(in %x: buf<i32[N]>) where(declared 3 <= N) {
  tile.choose dims(N) variant a where(guarded N < 3) { } variant b { } pick { yield(0: i32) }
  return() }`, "contradict", 3},
	{"a combine of the wrong type", `
monoid @m(%a: f32) assoc { identity { yield(0.0: f32) } combine(%x, %y) { yield(cast(%x): f64) } }`, "combine of @m yields f64", 2},
	{"an identity with too few values", `
monoid @m(%a: f32, %b: f32) assoc { identity { yield(0.0: f32) } combine(%x, %y, %u, %v) { yield(%x, %y) } }`,
		"identity of @m yields f32", 2},
	{"a component left out of base and over", `
monoid @m(%a: f32, %b: f32, %c: f32) assoc { base max(%a) over sum(%b) act(%v, %p, %q) { yield(%v) } }`, "%c stands 0 times", 2},
	{"a monoid defined by itself", `
monoid @m(%a: f32, %b: f32) assoc { base @m(%a, %b) over sum(%b) act(%v, %p, %q, %r, %s) { yield(%v) } }`, "defined by itself", 2},
	{"an act of the wrong type", `
monoid @m(%a: f32, %b: f32) assoc { base max(%a) over sum(%b) act(%v, %p, %q) { yield(eq(%v, %p)) } }`, "act of @m yields bool", 2},
	{"a base monoid of another type", `
monoid @i(%a: i32) assoc { identity { yield(0: i32) } combine(%x, %y) { yield(add(%x, %y)) } }
monoid @m(%a: f32, %b: f32) assoc { base @i(%a) over sum(%b) act(%v, %p, %q) { yield(%v) } }`, "@m: %a is f32, i folds i32", 3},
	{"a decoder of another type", `
encoding @e<N> of f32 { part %c: f16[N]; decode(n) { %v = tensor.comp red(k < 1) in(%a = %c[n]) { yield(%a) } by max(f16) : f16; yield(%v) } }`,
		"decode of @e yields f16", 2},
	{"an encoding of another rank", `
encoding @e<N> of f32 { part %c: f32[N]; decode(n) { %v = tensor.comp red(k < 1) in(%a = %c[n]) { yield(%a) } by max(f32) : f32; yield(%v) } }
func tensor @f<N, M>(%w: f32[N, M] enc @e, %x: f32[N, M]) -> () { return() }`, "has rank 2", 3},
	{"a grid that is not there", `
proc dist @f<N>(in %x: buf<f32[N], dist(@g, block/0)>) { return() }`, "no grid @g", 2},
	{"a grid axis that is not there", `
grid @g(P)
proc dist @f<N>(in %x: buf<f32[N], dist(@g, block/1)>) { return() }`, "axis 1 of @g", 3},
	{"two dims on one grid axis", `
grid @g(P)
proc dist @f<N>(in %x: buf<f32[N, N], dist(@g, block/0, block/0)>) { return() }`, "two dims to axis 0", 3},
	{"a partial buffer of no monoid", `
grid @g(P)
proc dist @f<N>(in %x: buf<f32[N], dist(@g, partial(total))>) { return() }`, "no monoid total", 3},
	{"data of another size", `
data @d : f32[3] = [1.0, 2.0]`, "has 2 elements", 0},
	{"data with a dim that is no integer", `
func tensor @f<N>(%x: f32[N]) -> () { return() }
data @d : index = [1]`, "not a plain tensor", 0},
	{"a kernel whose body takes other parameters", `
extern @c cost
kernel @k<m> tile(4) needs() cost @c body @b (in %a: buf<f32[m]>, out %y: buf<f32[m]>) {
  tensor.comp par(i < m) in(%x = %a[i]) out(%y[i]) { yield(%x) } }
proc vec @b(in %a: buf<f32[4]>, out %y: buf<f32[8]>) { return() }`, "parameter %y is out buf<f32[m]>", 3},
	{"a kernel without a cost table", `
kernel @k<m> tile(4) needs() cost @c body @b (in %a: buf<f32[m]>) { }
proc vec @b(in %a: buf<f32[4]>) { return() }`, "no extern @c", 2},
	{"a kernel without a body", `
extern @c cost
kernel @k<m> tile(4) needs() cost @c body @b (in %a: buf<f32[m]>) { }`, "no proc @b", 3},
	{"a barrier under a condition on the thread", `
proc gpu @f<N>(in %x: buf<f32[N]>) {
  gpu.launch blocks(g < 4) threads(t < 32) {
    loop.if (t < 3) {
      gpu.barrier } }
  return() }`, "stands under t < 3", 5},
	{"a collective in a loop over this rank's rows", `
grid @g(P)
proc dist @f<N>(inout %x: buf<f32[N], dist(@g, block/0 halo(1, 1))>) {
  dist.owned(%x) dim=0 exists(lo: 0 <= lo, hi: lo <= hi and hi <= N)
  loop.for i = lo to hi {
    dist.halo(%x) dim=0 }
  return() }`, "not all ranks", 6},
	{"a float as a loop bound", `
proc loop @f(in %n: f32) {
  loop.for i = 0 to %n { }
  return() }`, "an integer is wanted", 3},
	{"a product of axes", `
func tensor @f<N>(%x: f32[N]) -> (f32[N, N]) {
  %y = tensor.comp par(i < N, j < N) in(%a = %x[i*j]) { yield(%a) } : f32[N, N]
  return(%y) }`, "multiplies axes", 3},
	{"a step that is not positive", `
proc loop @f<N>(in %x: buf<f32[N]>) {
  loop.for i = 0 to N step -N { }
  return() }`, "a step is positive", 3},
	{"a loop that yields other types than it carries", `
proc loop @f<N>(in %x: buf<f32[N]>, in %a: f32, in %b: f64) {
  %r = loop.for i = 0 to N carry(%c = %a) {
    yield(%b) } : f32
  return() }`, "for %c of type f32", 4},
	{"a reduction without red", `
func tensor @f<N>(%x: f32[N]) -> (f32[N]) {
  %y = tensor.comp par(i < N) in(%a = %x[i]) { yield(%a) } by sum(f32) : f32[N]
  return(%y) }`, "no red axes", 3},
	{"red without a monoid", `
func tensor @f<N>(%x: f32[N]) -> (f32[N]) {
  %y = tensor.comp par(i < N) red(k < N) in(%a = %x[k]) { yield(%a) } : f32[N]
  return(%y) }`, "no by", 3},
	{"a value-form if without red", `
func tensor @f<N>(%x: f32[N]) -> (f32[N]) {
  %y = tensor.comp par(i < N) if(i < 3) in(%a = %x[i]) { yield(%a) } : f32[N]
  return(%y) }`, "needs red", 3},
	{"an out that two points write", `
proc loop @f<N>(in %x: buf<f32[N]>, out %y: buf<f32[N]>) {
  tensor.comp par(i < N, j < N) in(%a = %x[j]) out(%y[i]) { yield(%a) }
  return() }`, "", 3},
	{"a comp that reads what another point writes", `
proc loop @f<N>(inout %y: buf<f32[N]>) where(declared 1 <= N) {
  tensor.comp par(i < N - 1) in(%a = %y[i + 1]) out(%y[i]) { yield(%a) }
  return() }`, "another point", 3},
	{"a yield of another type than the monoid's", `
func tensor @f<N>(%x: f16[N]) -> (f32[]) {
  %y = tensor.comp red(k < N) in(%a = %x[k]) { yield(%a) } by sum(f32) : f32[]
  return(%y) }`, "casts are written", 3},
}

func TestRefused(t *testing.T) {
	for _, c := range refused {
		t.Run(c.name, func(t *testing.T) {
			m := mustParse(t, "tenon ir 1"+c.text)
			expectFault(t, ir.Verify(m), c.want, c.line)
		})
	}
}

func expectFault(t *testing.T, err error, want string, line int) {
	t.Helper()
	if err == nil {
		t.Fatal("nothing is reported")
	}
	for _, e := range faults(err) {
		if strings.Contains(e.Msg, want) && (line == 0 || e.Pos.Line == line) {
			return
		}
	}
	t.Errorf("want %q on line %d, got:\n%v", want, line, err)
}

const sample = `tenon ir 1
func tensor @f<N, M>(%x: f32[N], %z: f32[M]) -> (f32[N]) {
  %u = tensor.comp par(i < N) in(%a = %x[i]) { yield(neg(%a)) } : f32[N]
  %y = tensor.comp par(i < N) red(k < M) in(%a = %u[i], %b = %z[k]) { yield(mul(%a, %b)) } by sum(f32) : f32[N]
  return(%y)
}
`

// broken are modules that no text gives: the parser would refuse them, but a
// pass can make them.
var broken = []struct {
	name string
	edit func(m *ir.Module, f *ir.Func)
	want string
	line int
}{
	{"a use before the definition", func(m *ir.Module, f *ir.Func) {
		f.Body.Ops[0], f.Body.Ops[1] = f.Body.Ops[1], f.Body.Ops[0]
	}, "%u is used where it is not visible", 4},
	{"a value from a sibling region", func(m *ir.Module, f *ir.Func) {
		inner := block(f.Body.Ops[0]).Ops[0].Results[0]
		block(f.Body.Ops[1]).Ops[0].Clauses[0].(*ir.Operands).Args[0].Value = inner
	}, "not visible", 4},
	{"an op that stands twice", func(m *ir.Module, f *ir.Func) {
		f.Body.Ops = append([]*ir.Op{f.Body.Ops[0]}, f.Body.Ops...)
	}, "bound twice", 3},
	{"a name that is not in scope", func(m *ir.Module, f *ir.Func) {
		axes(f.Body.Ops[1], "red")[0].Extent = sym.Name("Q")
	}, "Q is not defined", 4},
	{"an axis that hides a dim", func(m *ir.Module, f *ir.Func) {
		axes(f.Body.Ops[1], "red")[0].Name = "N"
	}, "N is bound already", 4},
	{"a result of another type", func(m *ir.Module, f *ir.Func) {
		f.Body.Ops[0].Results[0].Type = ir.Tensor{Elem: ir.ElemOf(f.Params[0].Value.Type), Dims: []sym.Expr{sym.Name("M")}}
	}, "f32[N] follows from the operands", 3},
	{"a read of another type", func(m *ir.Module, f *ir.Func) {
		ir.GetClause[*ir.Reads](f.Body.Ops[0], "in").List[0].Res.Type = ir.BoolType
	}, "is an element of f32[N]", 3},
	{"a value without a type", func(m *ir.Module, f *ir.Func) { f.Params[1].Value.Type = nil }, "without a type", 2},
	{"a clause that is missing", func(m *ir.Module, f *ir.Func) {
		f.Body.Ops[0].Clauses[5] = nil
	}, "lacks a region", 3},
	{"a clause of another kind", func(m *ir.Module, f *ir.Func) {
		f.Body.Ops[0].Clauses[5] = &ir.Flag{}
	}, "has a flag where", 3},
	{"an operand that is missing", func(m *ir.Module, f *ir.Func) {
		f.Body.Ops[2].Clauses[0].(*ir.Operands).Args[0].Value = nil
	}, "lacks an operand", 5},
	{"a monoid of another module", func(m *ir.Module, f *ir.Func) {
		by := *ir.GetClause[*ir.By](f.Body.Ops[1], "by")
		foreign := *by.Monoid
		foreign.Builtin, foreign.Name = false, "m"
		by.Monoid = &foreign
		ir.SetClause(f.Body.Ops[1], "by", &by)
	}, "@m is no item of this module", 4},
	{"a fact that is not proved", func(m *ir.Module, f *ir.Func) {
		f.Where = []ir.Fact{{Provenance: ir.Proved, Cond: sym.Lt(sym.Name("N"), sym.Name("M"))}}
	}, "no proof", 2},
	{"two items of a name", func(m *ir.Module, f *ir.Func) { m.Items = append(m.Items, &ir.Grid{Name: "f"}) }, "@f is defined twice", 0},
	{"a result of another op", func(m *ir.Module, f *ir.Func) {
		f.Body.Ops[0].Results[0].Def = f.Body.Ops[1]
	}, "belongs to another op", 3},
	{"a level that is not there", func(m *ir.Module, f *ir.Func) { f.Level = "cell" }, "no level cell", 2},
	{"a dim that is no name", func(m *ir.Module, f *ir.Func) {
		axes(f.Body.Ops[1], "red")[0].Name = "k.1"
	}, "is no name", 4},
	{"an item that is no name", func(m *ir.Module, f *ir.Func) { f.Name = "f[f32]" }, "is no name", 0},
	{"a func with an out parameter", func(m *ir.Module, f *ir.Func) { f.Params[0].Mode = ir.ModeOut }, "only has values in", 2},
	{"an index expression that overflows", func(m *ir.Module, f *ir.Func) {
		axes(f.Body.Ops[1], "red")[0].Extent = sym.Mul(sym.Const(1<<62), sym.Const(4))
	}, "overflows", 4},
}

func block(op *ir.Op) *ir.Region          { return ir.GetClause[*ir.Block](op, "").Region }
func axes(op *ir.Op, kw string) []ir.Axis { return ir.GetClause[*ir.Axes](op, kw).List }

func TestBroken(t *testing.T) {
	if err := ir.Verify(mustParse(t, sample)); err != nil {
		t.Fatalf("the sample itself does not verify: %v", err)
	}
	for _, c := range broken {
		t.Run(c.name, func(t *testing.T) {
			m := mustParse(t, sample)
			c.edit(m, m.Items[0].(*ir.Func))
			expectFault(t, ir.Verify(m), c.want, c.line)
		})
	}
}
