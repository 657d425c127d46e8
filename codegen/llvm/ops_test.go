package llvm

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"unsafe"

	"github.com/ebitengine/purego"

	"tenon/internal/num"
	"tenon/targets"
)

// build compiles a module and loads it.
func build(t *testing.T, m *Module, opt int) uintptr {
	t.Helper()
	tc, err := targets.FindToolchain()
	if err != nil {
		t.Skipf("SKIP, compiled code is not tested: %v", err)
	}
	ctx := context.Background()
	obj, err := tc.Compile(ctx, m.Text(), targets.CompileOpts{Opt: opt})
	if err != nil {
		t.Fatal(err)
	}
	so, err := tc.Link(ctx, m.Desc(), obj)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "test.so")
	if err := os.WriteFile(path, so, 0o755); err != nil {
		t.Fatal(err)
	}
	lib, err := purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_LOCAL)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { purego.Dlclose(lib) })
	return lib
}

// native is the machine that we run on, or a skip.
func native(t *testing.T) *targets.Desc {
	t.Helper()
	d, err := targets.Native()
	if err != nil {
		t.Skipf("SKIP, compiled code is not tested: %v", err)
	}
	return d
}

// opCase is one operator at one type: a function that maps it over arrays.
type opCase struct {
	symbol string
	ref    func(a []num.Cell) num.Cell
	args   []num.Elem
	result num.Elem
	ulps   float64 // 0: the same value; else what semantics allow
	apply  func(f *Func, a []Value) Value
}

var approximate = map[string]float64{
	"exp": 2, "exp2": 2, "expm1": 2, "log": 2, "log2": 2, "log1p": 2, "pow": 2, "sin": 2, "cos": 2,
	"tanh": 2, "erf": 2, "cbrt": 2, "sigmoid": 2, "rsqrt": 2,
}

// cases lists every operator of the table and every cast.
func cases() []opCase {
	var out []opCase
	for _, name := range OpNames() {
		for _, e := range num.Elems {
			if HasOp(name, e) {
				out = append(out, operator(name, e))
			}
		}
	}
	for _, from := range num.Elems {
		for _, to := range num.Elems {
			cast := num.Caster(from, to)
			out = append(out, opCase{
				symbol: fmt.Sprintf("cast_%v_%v", from, to), args: []num.Elem{from}, result: to,
				ref:   func(a []num.Cell) num.Cell { return cast(a[0]) },
				apply: func(f *Func, a []Value) Value { return f.Cast(a[0], to) },
			})
			if from.Bytes() != to.Bytes() || from == num.Bool || to == num.Bool {
				continue
			}
			out = append(out, opCase{
				symbol: fmt.Sprintf("bitcast_%v_%v", from, to), args: []num.Elem{from}, result: to,
				ref:   func(a []num.Cell) num.Cell { return num.Bitcast(from, to, a[0]) },
				apply: func(f *Func, a []Value) Value { return f.Bitcast(a[0], to) },
			})
		}
	}
	return out
}

func operator(name string, e num.Elem) opCase {
	c := opCase{symbol: fmt.Sprintf("op_%s_%v", name, e), result: e, ulps: approximate[name]}
	c.apply = func(f *Func, a []Value) Value { return f.Op(name, a...) }
	if rows[name].compare {
		c.result = num.Bool
	}
	for range OpArgs(name) {
		c.args = append(c.args, e)
	}
	reference := e
	if c.ulps > 0 {
		reference = num.F64 // the better approximation
	}
	switch OpArgs(name) {
	case 1:
		if f := num.Unary(name, reference); f != nil {
			c.ref = func(a []num.Cell) num.Cell { return f(a[0]) }
		}
	case 2:
		if f := num.Binary(name, reference); f != nil {
			c.ref = func(a []num.Cell) num.Cell { return f(a[0], a[1]) }
		}
	case 3:
		if f := num.Ternary(name, reference); f != nil {
			c.ref = func(a []num.Cell) num.Cell { return f(a[0], a[1], a[2]) }
		}
	}
	return c
}

// emitMap defines void SYMBOL(const arrays.., result, n) that applies the case
// to each element.
func emitMap(m *Module, c opCase) {
	params := []Param{{Name: "r", Type: Ptr, NoAlias: true}, {Name: "n", Type: TypeOf(num.Index)}}
	for i := range c.args {
		params = append(params, Param{Name: fmt.Sprintf("a%d", i), Type: Ptr, NoAlias: true, Const: true})
	}
	f := m.NewFunc(c.symbol, Void, params...)
	f.For(Index(0), f.Param(1), Index(1), nil, func(i Value, _ []Value) []Value {
		args := make([]Value, len(c.args))
		for k, e := range c.args {
			args[k] = f.LoadElem(e, f.Param(2+k), i)
		}
		f.StoreElem(c.apply(f, args), f.Param(0), i)
		return nil
	})
	f.Return(Value{})
}

// inputs are tuples of operands: all tuples of a few edge values, then random
// bits, which for floats reach every exponent.
func inputs(args []num.Elem, rng *rand.Rand) [][]num.Cell {
	var tuples [][]num.Cell
	edge := func(e num.Elem) []num.Cell { return edges(e) }
	switch len(args) {
	case 1:
		for _, a := range edge(args[0]) {
			tuples = append(tuples, []num.Cell{a})
		}
	case 2:
		for _, a := range edge(args[0]) {
			for _, b := range edge(args[1]) {
				tuples = append(tuples, []num.Cell{a, b})
			}
		}
	}
	for range 1500 {
		tuple := make([]num.Cell, len(args))
		for i, e := range args {
			tuple[i] = num.FromBits(e, rng.Uint64()>>(64-8*e.Bytes())&mask(e))
			if k := edge(e); rng.IntN(4) == 0 {
				tuple[i] = k[rng.IntN(len(k))]
			} else if e.IsFloat() && rng.IntN(2) == 0 { // near 1, where functions are busy
				tuple[i] = num.Cast(num.F64, e, num.FromFloat(rng.NormFloat64()*4))
			}
		}
		tuples = append(tuples, tuple)
	}
	return tuples
}

func mask(e num.Elem) uint64 {
	if e == num.Bool {
		return 1
	}
	return math.MaxUint64
}

func edges(e num.Elem) []num.Cell {
	var out []num.Cell
	if e.IsFloat() {
		for _, f := range []float64{0, math.Copysign(0, -1), 1, -1, 0.5, -2.5, 1.5, 3, 255, 256, 65504, 65519.9, 65520, 65536,
			2147483648, -2147483649, 9.3e18, -9.3e18, 88.8, -104, 710, -745.2, 1e300, 1e-300, 0x1p-24, 0x1p-25, 0x1.8p-25,
			0x1p-133, 0x1p-149, 5e-324, math.Inf(1), math.Inf(-1), math.NaN(), 1 + 0x1p-11 + 0x1p-40, 1 + 0x1p-8 + 0x1p-40, 0x1.fffffep127, math.MaxFloat64} {
			out = append(out, num.Cast(num.F64, e, num.FromFloat(f)))
		}
		return append(out, num.FromBits(e, 1), num.FromBits(e, 1<<(8*e.Bytes()-1)|1))
	}
	lo, hi := num.IntRange(e)
	for _, v := range []int64{lo, hi, 0, 1, 2, 3, 7, 8, 31, 63, 64, lo + 1, hi - 1, hi / 2, -1, -2, -7, 100, 127, -128, 2049, 4097, 65520, 65519,
		1<<53 + 1, 1<<54 + 1, 1<<62 + 1<<53 + 1, 1<<40 + 1<<32 + 1<<30} {
		if num.Wrap(e, v) == v {
			out = append(out, num.FromInt(v))
		}
	}
	return out
}

// check runs one case on its inputs and compares with internal/num.
func check(t *testing.T, lib uintptr, c opCase) {
	if c.ref == nil {
		t.Errorf("%s: internal/num has no such operator", c.symbol)
		return
	}
	fn, err := purego.Dlsym(lib, c.symbol)
	if err != nil {
		t.Fatal(err)
	}
	tuples := inputs(c.args, rand.New(rand.NewPCG(1, uint64(len(c.symbol)))))
	bufs := make([][]byte, len(c.args))
	for k, e := range c.args {
		bufs[k] = make([]byte, len(tuples)*e.Bytes())
		for i, tuple := range tuples {
			num.Encode(e, tuple[k], bufs[k][i*e.Bytes():])
		}
	}
	result := make([]byte, len(tuples)*c.result.Bytes())
	call := []uintptr{uintptr(unsafe.Pointer(&result[0])), uintptr(len(tuples))}
	for _, b := range bufs {
		call = append(call, uintptr(unsafe.Pointer(&b[0])))
	}
	purego.SyscallN(fn, call...)
	bad := 0
	for i, tuple := range tuples {
		got, want := num.Decode(c.result, result[i*c.result.Bytes():]), c.ref(tuple)
		if !agrees(c, got, want) {
			if bad++; bad <= 3 {
				t.Errorf("%s%v = %s, want %s", c.symbol, shown(c.args, tuple), num.Format(c.result, got), num.Format(wantElem(c), want))
			}
		}
	}
	if bad > 3 {
		t.Errorf("%s: %d of %d wrong", c.symbol, bad, len(tuples))
	}
}

func wantElem(c opCase) num.Elem {
	if c.ulps > 0 {
		return num.F64
	}
	return c.result
}

// agrees is equality, or for the functions of semantics.md a distance of the
// ulps that it states; an overflow may round to either side.
func agrees(c opCase, got, want num.Cell) bool {
	if c.ulps == 0 {
		return num.Same(c.result, got, want)
	}
	g, w := num.Float(got), num.Float(want)
	if num.Same(c.result, got, num.Cast(num.F64, c.result, want)) {
		return true
	}
	if math.IsInf(g, 0) || math.IsInf(w, 0) || math.IsNaN(g) || math.IsNaN(w) {
		return false
	}
	return math.Abs(g-w) <= c.ulps*ulp(c.result, w)
}

func ulp(e num.Elem, x float64) float64 {
	least := map[num.Elem]int{num.F64: -1074, num.F32: -149, num.F16: -24, num.BF16: -133}[e]
	_, exp := math.Frexp(x)
	return math.Ldexp(1, max(exp-e.Bits(), least))
}

func shown(args []num.Elem, tuple []num.Cell) []string {
	var out []string
	for k, e := range args {
		out = append(out, num.Format(e, tuple[k]))
	}
	return out
}

// The meaning of every operator is internal/num's, on every machine level that
// this machine can run and at both ends of optimisation.
func TestOperatorsAgainstNum(t *testing.T) {
	here := native(t)
	runs := []struct {
		family, cpu string
		opt         int
		halves      bool // only what touches f16, which the baseline converts in software
	}{{here.Family, "native", 3, false}, {here.Family, "", 0, false}, {here.Family, "", 3, true}}
	for _, r := range runs {
		d, err := targets.Find(r.family, r.cpu)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(fmt.Sprintf("%s-O%d", d.Name, r.opt), func(t *testing.T) {
			t.Parallel()
			m := NewModule("ops", d)
			all := slices.DeleteFunc(cases(), func(c opCase) bool {
				return r.halves && c.result != num.F16 && !slices.Contains(c.args, num.F16)
			})
			for _, c := range all {
				emitMap(m, c)
			}
			lib := build(t, m, r.opt)
			for _, c := range all {
				check(t, lib, c)
			}
		})
	}
}
