package run

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"

	"tenon/codegen/cpu"
	"tenon/internal/num"
	"tenon/ir"
	"tenon/ir/sym"
	"tenon/passes/loop"
	"tenon/passes/pass"
	"tenon/runtime"
	"tenon/targets"
)

// Sanitized code computes the same, and finds the same faults.
func TestSanitizedCorpus(t *testing.T) {
	for _, file := range []string{"gathers.txtar", "loops.txtar", "procs.txtar"} {
		t.Run(strings.TrimSuffix(file, ".txtar"), func(t *testing.T) {
			t.Parallel()
			runFile(t, readParts(t, file), []*Machine{Machines[0].At(1).Sanitized()})
		})
	}
}

// sums reads four elements of x whatever its size, and the half of a temporary
// array that it has not written.
const sums = `tenon ir 1
proc loop @sums<N>(in %x: buf<f32[N]>, out %y: buf<f32[]>) {
  %t = loop.alloc : buf<f32[N]>
  loop.for i = 0 to 4 {
    %a = load(%x[i])
    store(%a, %y[])
  }
  return()
}
proc loop @half<N>(in %x: buf<bf16[N]>, out %y: buf<bf16[N]>, out %n: buf<i32[N]>) {
  %t = loop.alloc : buf<bf16[N]>
  loop.for i = 0 to N step 2 {
    %a = load(%x[i])
    store(%a, %t[i])
  }
  loop.for i = 0 to N {
    %a = load(%t[i])
    store(%a, %y[i])
  }
  return()
}
proc vec @lanes<N>(in %x: buf<f32[N]>, out %y: buf<f32[N]>) {
  %t = loop.alloc : buf<f32[4]>
  %m = vec.first(min(N, 4)) : mask<4>
  %a = vec.load(%x[0]) mask(%m) : vec<4 x f32>
  vec.store(%a, %t[0]) mask(%m)
  %n = vec.iota(0) : vec<4 x i32>
  %b = vec.gather(%t[0], %n)
  %c = vec.load(%x[1]) : vec<4 x f32>
  %d = vec.add(%b, %c)
  vec.store(%d, %y[0])
  return()
}
`

// lying compiles sums with the fact, which nobody checks, that every size is 4
// at least: as if a proof were wrong.
func lying(t *testing.T, sanitize bool) *Program {
	t.Helper()
	tools, err := targets.FindToolchain()
	if err != nil {
		t.Skipf("SKIP, compiled code is not tested: %v", err)
	}
	m, err := parse("sums.tnir", sums)
	if err != nil {
		t.Fatal(err)
	}
	if sanitize {
		if err := (&pass.Manager{}).Run(m, pass.Of(loop.Sanitize)); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range m.Funcs() {
		f.Where = append(f.Where, ir.Fact{Provenance: ir.Proved, Cond: sym.Le(sym.Const(4), sym.Name("N"))})
	}
	desc, err := targets.Native()
	if err != nil {
		t.Fatal(err)
	}
	text, err := cpu.Lower(m, desc, "sums.tnir", cpu.Options{})
	if err != nil {
		t.Fatal(err)
	}
	obj, err := tools.Compile(context.Background(), text.Text(), targets.CompileOpts{Opt: 2, Emit: targets.EmitObj})
	if err != nil {
		t.Fatal(err)
	}
	so, err := tools.Link(context.Background(), desc, obj)
	if err != nil {
		t.Fatal(err)
	}
	lib, err := Machines[0].load(so)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(lib.close)
	return &Program{Source: m, Low: m, Name: "lying", lib: lib}
}

// ones is an array of n ones.
func ones(e num.Elem, n int64) *ir.Array {
	a := ir.NewArray(e, n)
	for i := range a.Mem.Cells {
		a.Mem.Cells[i] = num.FromFloat(1)
	}
	return a
}

// An access outside an array is found although a proof says that it is inside,
// with argument and line; what lies inside is not.
func TestSanitizeDistrustsProofs(t *testing.T) {
	p := lying(t, true)
	for n, want := range map[int64]runtime.Status{3: {Code: runtime.Bounds, Arg: 0, Dim: 5}, 4: {Code: runtime.OK, Arg: -1, Dim: -1}} {
		for layout := range Layouts {
			_, got, err := p.Call("sums", []any{ones(num.F32, n), nil}, [][]int64{{}}, Layout(layout))
			if err != nil || got != want {
				t.Errorf("size %d, layout %d: %+v, %v; want %+v", n, layout, got, err, want)
			}
		}
	}
}

// Of vectors the enabled lanes are checked.
func TestSanitizeLanes(t *testing.T) {
	p := lying(t, true)
	for n, want := range map[int64]runtime.Status{
		3: {Code: runtime.Undefined, Arg: -1, Dim: 28}, 4: {Code: runtime.Bounds, Arg: 0, Dim: 29}, 5: {Code: runtime.OK, Arg: -1, Dim: -1},
	} {
		for layout := range Layouts {
			_, got, err := p.Call("lanes", []any{ones(num.F32, n), nil}, [][]int64{{n}}, Layout(layout))
			if err != nil || got != want {
				t.Errorf("size %d, layout %d: %+v, %v; want %+v", n, layout, got, err, want)
			}
		}
	}
}

// Elements that nothing writes are found where they are read, and hold poison
// where they are given out.
func TestSanitizeFindsUnwritten(t *testing.T) {
	p := lying(t, true)
	for layout := range Layouts {
		_, got, err := p.Call("half", []any{ones(num.BF16, 5), nil, nil}, [][]int64{{5}, {5}}, Layout(layout))
		if want := (runtime.Status{Code: runtime.Undefined, Arg: -1, Dim: 17}); err != nil || got != want {
			t.Errorf("layout %d: %+v, %v; want %+v", layout, got, err, want)
		}
		outs, got, err := p.Call("half", []any{ones(num.BF16, 1), nil, nil}, [][]int64{{1}, {1}}, Layout(layout))
		if err != nil || got.Code != runtime.OK {
			t.Fatalf("layout %d: %+v, %v", layout, got, err)
		}
		if c := outs[1].(*ir.Array).Mem.Cells[0]; c != num.Poison(num.I32) {
			t.Errorf("layout %d: an element that is not written holds %d", layout, num.Int(c))
		}
	}
}

// Without the checks the same access meets a guard page.
func TestGuardPages(t *testing.T) {
	const child = "TENON_TEST_LEAVES"
	p := lying(t, false)
	if os.Getenv(child) != "" {
		p.Call("sums", []any{ones(num.F32, 3), nil}, [][]int64{{}}, 0)
		return
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestGuardPages$")
	cmd.Env = append(os.Environ(), child+"=1")
	if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), "SIGSEGV") {
		t.Errorf("an access beyond the last element: %v\n%s", err, out)
	}
}

// What is written beside the elements on their own pages is seen.
func TestIntactLooksBeside(t *testing.T) {
	for layout, at := range map[Layout]func(x *place) int{
		0: func(x *place) int { return len(x.pages) - 13 }, 1: func(*place) int { return 12 }, 2: func(x *place) int { return len(x.pages) - 5 },
	} {
		x, err := put(num.F32, []int64{3}, layout)
		if err != nil {
			t.Fatal(err)
		}
		defer x.free()
		x.write(ones(num.F32, 3))
		if err := x.intact(); err != nil {
			t.Errorf("layout %d: %v", layout, err)
		}
		if x.pages[at(x)]++; x.intact() == nil {
			t.Errorf("layout %d: a write beside an element is not seen", layout)
		}
	}
}
