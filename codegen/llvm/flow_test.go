package llvm

import (
	"bytes"
	"context"
	"debug/dwarf"
	"debug/elf"
	"math"
	"testing"

	"github.com/ebitengine/purego"

	"tenon/internal/diag"
	"tenon/internal/num"
	"tenon/targets"
)

var index = TypeOf(num.Index)

// sumSquares is the sum of i*i and the number of trips of a loop, packed.
func sumSquares(m *Module) {
	f := m.NewFunc("sum_squares", index, Param{Name: "lo", Type: index}, Param{Name: "hi", Type: index}, Param{Name: "step", Type: index})
	r := f.For(f.Param(0), f.Param(1), f.Param(2), []Value{Index(0), Index(0)}, func(i Value, c []Value) []Value {
		return []Value{f.Op("add", c[0], f.Op("mul", i, i)), f.Op("add", c[1], Index(1))}
	})
	f.Return(f.Op("add", f.Op("mul", r[0], Index(1000)), r[1]))
}

func TestForCountsTrips(t *testing.T) {
	m := NewModule("flow", native(t))
	sumSquares(m)
	for _, opt := range []int{0, 3} {
		fn, err := purego.Dlsym(build(t, m, opt), "sum_squares")
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range [][3]int64{{0, 10, 1}, {0, 10, 3}, {5, 5, 1}, {5, 4, 2}, {-7, 8, 4}, {3, 4, 100},
			{math.MaxInt64 - 5, math.MaxInt64, 4}, {math.MinInt64, math.MinInt64 + 2, 1}, {math.MaxInt64, math.MinInt64, 1}, {math.MinInt64, math.MaxInt64, math.MaxInt64}} {
			var sum, trips int64
			for i := c[0]; i < c[1]; {
				sum, trips = sum+i*i, trips+1
				if i > math.MaxInt64-c[2] {
					break
				}
				i += c[2]
			}
			got, _, _ := purego.SyscallN(fn, uintptr(c[0]), uintptr(c[1]), uintptr(c[2]))
			if int64(got) != sum*1000+trips {
				t.Errorf("O%d, %v: %d, want %d", opt, c, int64(got), sum*1000+trips)
			}
		}
	}
}

// classify leaves through one label from inside a loop, an arm and the end:
// the first i below n with i*i > x, else -1; -2 where n is negative.
func classify(m *Module) {
	f := m.NewFunc("classify", index, Param{Name: "x", Type: index}, Param{Name: "n", Type: index})
	exit := f.NewLabel("exit", index)
	f.When(f.Op("lt", f.Param(1), Index(0)), func() { f.Jump(exit, Index(-2)) })
	f.For(Index(0), f.Param(1), Index(1), nil, func(i Value, _ []Value) []Value {
		f.When(f.Op("gt", f.Op("mul", i, i), f.Param(0)), func() { f.Jump(exit, i) })
		return nil
	})
	f.Jump(exit, Index(-1))
	f.Return(f.Bind(exit)[0])
}

// collatz counts steps to 1 with a while loop, two carried values and an If
// with results, one arm of which is a call of another function.
func collatz(m *Module) {
	triple := m.NewInternal("triple", index, Param{Name: "x", Type: index})
	triple.Return(triple.Op("add", triple.Op("mul", triple.Param(0), Index(3)), Index(1)))
	f := m.NewFunc("collatz", index, Param{Name: "x", Type: index})
	r := f.While([]Value{f.Param(0), Index(0)},
		func(c []Value) Value { return f.Op("gt", c[0], Index(1)) },
		func(c []Value) []Value {
			odd := f.Op("eq", f.Op("mod", c[0], Index(2)), Index(1))
			next := f.If(odd,
				func() []Value { return []Value{f.Call(triple, c[0])} },
				func() []Value { return []Value{f.Op("floordiv", c[0], Index(2))} })
			return []Value{next[0], f.Op("add", c[1], Index(1))}
		})
	f.Return(r[1])
}

// both arms of the If return, so nothing follows it.
func bothReturn(m *Module) {
	f := m.NewFunc("both", index, Param{Name: "x", Type: index})
	f.If(f.Op("lt", f.Param(0), Index(0)),
		func() []Value { f.Return(Index(7)); return nil },
		func() []Value { f.Return(Index(8)); return nil })
	if !f.Done() {
		f.Return(Index(9))
	}
}

// heap fills memory of Malloc and of the stack, and sums both.
func heap(m *Module) {
	f := m.NewFunc("heap", index, Param{Name: "n", Type: index})
	p, q := f.Malloc(f.Op("mul", f.Param(0), Index(8))), f.Alloca(64)
	f.Store(Index(5), f.Offset(q, 16))
	f.For(Index(0), f.Param(0), Index(1), nil, func(i Value, _ []Value) []Value {
		f.StoreElem(f.Op("add", i, f.Load(index, f.Offset(q, 16))), p, i)
		return nil
	})
	sum := f.For(Index(0), f.Param(0), Index(1), []Value{Index(0)}, func(i Value, c []Value) []Value {
		return []Value{f.Op("add", c[0], f.LoadElem(num.Index, p, i))}
	})
	f.Free(p)
	aligned := f.Op("eq", f.Op("mod", f.PtrInt(p), Index(64)), Index(0))
	f.Return(f.Select(aligned, sum[0], Index(-1)))
}

// sizes is a*b, or -1 if that overflows, or a byte of a table where b is 0.
func sizes(m *Module) {
	table := m.Data("table", []byte{7, 0, 255})
	f := m.NewFunc("sizes", index, Param{Name: "a", Type: index}, Param{Name: "b", Type: index})
	product, over := f.MulOverflow(f.Param(0), f.Param(1))
	f.When(f.Op("eq", f.Param(1), Index(0)), func() {
		f.Return(f.Cast(f.LoadElem(num.U8, table, f.Param(0)), num.Index))
	})
	f.Return(f.Select(over, Index(-1), product))
}

func TestStructuredControlFlow(t *testing.T) {
	m := NewModule("flow", native(t))
	for _, emit := range []func(*Module){classify, collatz, bothReturn, heap, sizes} {
		emit(m)
	}
	for _, opt := range []int{0, 3} {
		lib := build(t, m, opt)
		for _, c := range []struct {
			name string
			args []uintptr
			want int64
		}{
			{"classify", []uintptr{50, 100}, 8}, {"classify", []uintptr{50, 5}, -1}, {"classify", []uintptr{50, ^uintptr(0)}, -2},
			{"collatz", []uintptr{27}, 111}, {"collatz", []uintptr{1}, 0},
			{"both", []uintptr{^uintptr(0)}, 7}, {"both", []uintptr{1}, 8},
			{"heap", []uintptr{100}, 4950 + 500}, {"heap", []uintptr{0}, 0},
			{"sizes", []uintptr{1 << 31, 1 << 31}, 1 << 62}, {"sizes", []uintptr{1 << 32, 1 << 31}, -1}, {"sizes", []uintptr{2, 0}, 255},
		} {
			fn, err := purego.Dlsym(lib, c.name)
			if err != nil {
				t.Fatal(err)
			}
			if got, _, _ := purego.SyscallN(fn, c.args...); int64(got) != c.want {
				t.Errorf("O%d: %s%v = %d, want %d", opt, c.name, c.args, int64(got), c.want)
			}
		}
	}
}

// Equal modules print equally, and the printed text names nothing of this run.
func TestTextIsDeterministic(t *testing.T) {
	text := func() []byte {
		m := NewModule("ops", targets.All()[2])
		for _, c := range cases() {
			emitMap(m, c)
		}
		return m.Text()
	}
	if a, b := text(), text(); !bytes.Equal(a, b) {
		t.Error("two builds of one module differ")
	}
}

// Every operator and cast is accepted for every machine, cross targets too.
func TestEveryTargetAcceptsEveryOperator(t *testing.T) {
	tc, err := targets.FindToolchain()
	if err != nil {
		t.Skipf("SKIP, compiled code is not tested: %v", err)
	}
	for _, d := range targets.All() {
		t.Run(d.Name, func(t *testing.T) {
			t.Parallel()
			m := NewModule("ops", d)
			for _, c := range cases() {
				emitMap(m, c)
			}
			asm, err := tc.Compile(context.Background(), m.Text(), targets.CompileOpts{Opt: 1, Explicit: true, Emit: targets.EmitAsm})
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Contains(asm, []byte("op_max_bf16")) {
				t.Error("a function is missing from the assembly")
			}
		})
	}
}

// Contraction fuses a multiply and an add only where it is allowed.
func TestContractFlag(t *testing.T) {
	tc, err := targets.FindToolchain()
	if err != nil {
		t.Skipf("SKIP, compiled code is not tested: %v", err)
	}
	d, err := targets.Find("x86-64", "x86-64-v3")
	if err != nil {
		t.Fatal(err)
	}
	f32 := TypeOf(num.F32)
	for _, flags := range []Flags{0, Contract, Reassoc} {
		m := NewModule("fused", d)
		f := m.NewFunc("fused", f32, Param{Name: "a", Type: f32}, Param{Name: "b", Type: f32}, Param{Name: "c", Type: f32})
		f.With(flags, func() { f.Return(f.Op("add", f.Op("mul", f.Param(0), f.Param(1)), f.Param(2))) })
		asm, err := tc.Compile(context.Background(), m.Text(), targets.CompileOpts{Opt: 3, Emit: targets.EmitAsm})
		if err != nil {
			t.Fatal(err)
		}
		if fused := bytes.Contains(asm, []byte("vfmadd")); fused != (flags == Contract) {
			t.Errorf("flags %b: fused is %v", flags, fused)
		}
	}
}

// Line tables name the source by its base name and give each instruction's
// line; the text stays valid with calls between functions that have lines.
func TestSourceLines(t *testing.T) {
	d, err := targets.Find("x86-64", "")
	if err != nil {
		t.Fatal(err)
	}
	m := NewModule("lines", d)
	inner := m.NewInternal("inner", index, Param{Name: "x", Type: index})
	inner.Source(diag.Pos{File: "/some/where/prog.tn", Line: 3, Col: 1})
	inner.Return(inner.Op("mul", inner.Param(0), inner.Param(0)))
	f := m.NewFunc("outer", index, Param{Name: "x", Type: index})
	f.Source(diag.Pos{File: "/some/where/prog.tn", Line: 7, Col: 1})
	y := f.Call(inner, f.Param(0))
	f.Source(diag.Pos{File: "/some/where/prog.tn", Line: 8, Col: 5})
	f.Return(f.Op("tdiv", y, f.Param(0)))
	if bytes.Contains(m.Text(), []byte("/some/where")) {
		t.Error("the text holds a folder of this machine")
	}
	tc, err := targets.FindToolchain()
	if err != nil {
		t.Skipf("SKIP, compiled code is not tested: %v", err)
	}
	for _, opt := range []int{0, 3} {
		obj, err := tc.Compile(context.Background(), m.Text(), targets.CompileOpts{Opt: opt})
		if err != nil {
			t.Fatal(err)
		}
		so, err := tc.Link(context.Background(), d, obj)
		if err != nil {
			t.Fatal(err)
		}
		if lines := linesOf(t, so); !lines[3] || !lines[8] || lines[7] != (opt == 0) { // the call of line 7 is inlined
			t.Errorf("O%d: lines %v", opt, lines)
		}
	}
}

func linesOf(t *testing.T, so []byte) map[int]bool {
	t.Helper()
	file, err := elf.NewFile(bytes.NewReader(so))
	if err != nil {
		t.Fatal(err)
	}
	data, err := file.DWARF()
	if err != nil {
		t.Fatal(err)
	}
	unit, err := data.Reader().Next()
	if err != nil {
		t.Fatal(err)
	}
	reader, err := data.LineReader(unit)
	if err != nil {
		t.Fatal(err)
	}
	lines := map[int]bool{}
	for entry := (dwarf.LineEntry{}); reader.Next(&entry) == nil; {
		lines[entry.Line] = true
	}
	return lines
}
