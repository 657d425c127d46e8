package run

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"tenon/frontend/weights"
	"tenon/internal/num"
	"tenon/ir"
	"tenon/ir/interp"
	"tenon/microkernels/gemm"
	"tenon/runtime"
)

// layer is a product with a bias at tile level whose weights are const: they are
// packed, and the bias scaled, by loop.prepare, and both variants read that.
func layer(t *testing.T, lanes int) *ir.Module {
	t.Helper()
	k := gemm.Key{Elem: num.F32, Acc: num.F32, MR: 3, NV: 2, Lanes: lanes, B: gemm.Panels}
	kernel, body := gemm.Build(k, gemm.Machine{})
	items := ir.Print(&ir.Module{Items: []ir.Item{&ir.Extern{Name: k.CostName(), What: "cost"}, kernel, body}})
	text := items + fmt.Sprintf(`
proc tile @layer<M, N, K>(in %%A: buf<f32[M, K]>, in const %%B: buf<f32[K, N]>, in const %%bias: buf<f32[N]>, in const %%scale: f32,
    out %%C: buf<f32[M, N]>) {
  %%Bp = loop.alloc : buf<f32[(N + %[1]d)//%[2]d, K, %[2]d]>
  %%shift = loop.alloc : buf<f32[N]>
  %%half = const 0.5: f32
  loop.prepare(%%Bp) { tile.pack(%%B, %%Bp) panel=%[2]d }
  loop.prepare(%%shift) {
    tensor.comp par(j < N) in(%%b = %%bias[j]) out(%%shift[j]) { yield(mul(exp(mul(%%b, %%half)), %%scale)) } }
  tile.choose dims(M, N, K) variant few where(guarded M <= 4) {
    tensor.comp par(i < M, j < N) red(l < K) in(%%a = %%A[i, l], %%b = %%Bp[j//%[2]d, l, j mod %[2]d]) out(%%C[i, j]) {
      yield(mul(%%a, %%b)) } by sum(f32)
    tensor.comp par(i < M, j < N) in(%%c = %%C[i, j], %%s = %%shift[j]) out(%%C[i, j]) { yield(add(%%c, %%s)) }
  } variant many {
    tile.for j0:nn = 0 to N step %[3]d parallel { tile.for i0:mm = 0 to M step 3 {
      tile.call kernel=@%[4]s (%%C[i0:mm, j0:nn], K)
        a(i, l) { yield(load(%%A[i + i0, l])) } b(v, l, c) { yield(load(%%Bp[v + j0//%[2]d, l, c])) }
        epilogue(%%acc, i, j) { yield(add(%%acc, load(%%shift[j + j0]))) } } }
  } pick { yield(0: i32) }; return() }
`, lanes-1, lanes, 2*lanes, k.Name())
	return verified(t, text)
}

var layerSizes = []map[string]int64{
	{"M": 0, "N": 5, "K": 3}, {"M": 1, "N": 1, "K": 1}, {"M": 2, "N": 17, "K": 9}, {"M": 5, "N": 33, "K": 4},
	{"M": 7, "N": 16, "K": 0}, {"M": 9, "N": 0, "K": 8}, {"M": 70, "N": 300, "K": 200},
}

// The one-call form computes what is prepared in each call, on every machine, and
// so does sanitized code.
func TestPreparedInOneCall(t *testing.T) {
	for _, on := range append([]*Machine{Machines[0].At(0).Sanitized(), Machines[0].At(1)}, Machines...) {
		if why := on.Absent(); why != "" {
			t.Logf("SKIPPED on %s: %s", on.Name, why)
			continue
		}
		desc, err := on.Desc()
		if err != nil {
			t.Fatal(err)
		}
		m := layer(t, desc.Lanes(4))
		p, err := BuildFor(m, on)
		if err != nil {
			t.Fatal(err)
		}
		f := ir.Lookup[*ir.Func](m, "layer")
		for i, dims := range layerSizes {
			args, ref := drawn(t, m, f, dims, uint64(i))
			if _, err := p.Check(f.Name, args, ref, nil, AllBehind); err != nil {
				t.Errorf("%s, %v: %v", on.Name, dims, err)
			}
		}
		p.Close()
	}
}

func drawn(t *testing.T, m *ir.Module, f *ir.Func, dims map[string]int64, seed uint64) (args, ref []any) {
	t.Helper()
	args, ok := Draw(f, dims, Plain, seed)
	if !ok {
		t.Fatalf("no arguments for %v", dims)
	}
	ref, err := Reference(m, f.Name, args)
	if err != nil {
		t.Fatal(err)
	}
	return args, ref
}

// opened writes const arguments into files and opens f with them.
func opened(t *testing.T, lib *runtime.Lib, f *ir.Func, args []any) (state *runtime.State, folder string) {
	t.Helper()
	folder = t.TempDir()
	for i, p := range f.Params {
		if !p.Const {
			continue
		}
		x := tensorFrom(t, args[i])
		a := weights.FromBytes(x.Elem, x.Shape, x.Data)
		if err := weights.WriteNpy(filepath.Join(folder, p.Value.Name+".npy"), a); err != nil {
			t.Fatal(err)
		}
	}
	state, status, err := lib.OpenState(f.Name, folder)
	if err != nil || status.Code != runtime.OK {
		t.Fatal(status, err)
	}
	return state, folder
}

func tensorFrom(t *testing.T, a any) *runtime.Tensor {
	t.Helper()
	if s, ok := a.(interp.Scalar); ok {
		x := ir.NewArray(s.Elem)
		x.Mem.Cells[0] = s.Cell
		a = x
	}
	x := a.(*ir.Array)
	out := alloc(t, x.Elem, x.Shape...)
	copy(out.Data, encode([]any{x}))
	return out
}

// passedTo are the arguments of a call; of const ones, where there is a state,
// there is nothing.
func passedTo(t *testing.T, f *ir.Func, args []any, shape []int64, state bool) (list []runtime.Arg, out *runtime.Tensor) {
	t.Helper()
	for i, p := range f.Params {
		_, scalar := p.Value.Type.(ir.Scalar)
		switch {
		case p.Mode == ir.ModeOut:
			out = alloc(t, ir.ElemOf(p.Value.Type), shape...)
			list = append(list, out)
		case scalar && state && p.Const:
			list = append(list, runtime.Scalar{Elem: ir.ElemOf(p.Value.Type), Cell: num.FromFloat(-77)})
		case scalar:
			s := args[i].(interp.Scalar)
			list = append(list, runtime.Scalar{Elem: s.Elem, Cell: s.Cell})
		case state && p.Const:
			list = append(list, alloc(t, ir.ElemOf(p.Value.Type), make([]int64, len(args[i].(*ir.Array).Shape))...))
		default:
			list = append(list, tensorFrom(t, args[i]))
		}
	}
	return list, out
}

// With a state the weights are prepared once: run after run, with other
// arguments, gives the bits that calls without a state give, even once the files
// are overwritten, and asks for a workspace without them.
func TestPreparedInState(t *testing.T) {
	desc, err := Machines[0].Desc()
	if err != nil {
		t.Fatal(err)
	}
	lanes := int64(desc.Lanes(4))
	m := layer(t, int(lanes))
	lib := loadHere(t, m)
	f := ir.Lookup[*ir.Func](m, "layer")
	for i, dims := range layerSizes {
		args, _ := drawn(t, m, f, dims, uint64(i))
		state, folder := opened(t, lib, f, args)
		overwrite(t, folder)
		l := &loadedLayer{t, m, f, lib, state, lanes}
		for run := range 3 {
			dims["M"] += int64(run)
			again, ok := Draw(f, dims, Plain, uint64(100*i+run))
			if !ok {
				t.Fatal("no arguments")
			}
			args[0] = again[0]
			l.run(args, dims, run)
		}
		if err := state.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// loadedLayer is the layer in machine code, with a state.
type loadedLayer struct {
	t     *testing.T
	m     *ir.Module
	f     *ir.Func
	lib   *runtime.Lib
	state *runtime.State
	lanes int64
}

// run holds the three forms of a call against each other and the interpreter.
func (l *loadedLayer) run(args []any, dims map[string]int64, threads int) {
	t, shape := l.t, []int64{dims["M"], dims["N"]}
	ref, err := Reference(l.m, l.f.Name, args)
	if err != nil {
		t.Fatal(err)
	}
	all, once := passedTo(t, l.f, args, shape, false)
	if status, err := l.lib.Call(l.f.Name, all); err != nil || status.Code != runtime.OK {
		t.Fatal(status, err)
	}
	if _, err := interp.Compare(decode(num.F32, once.Data, shape...), ref[0]); err != nil {
		t.Errorf("%v, one call: %v", dims, err)
	}
	bare, few, plan, out := l.plans(args, all, shape, threads)
	lines := func(bytes int64) int64 { return (bytes + 63) / 64 * 64 }
	kept := lines(4*l.lanes*((dims["N"]+l.lanes-1)/l.lanes)*dims["K"]) + lines(4*dims["N"])
	if kept > 0 {
		kept += 63
	}
	if plan.Workspace != 0 || bare.Workspace != kept {
		t.Errorf("%v: workspaces of %d and, without a state, %d bytes; want 0 and %d", dims, plan.Workspace, bare.Workspace, kept)
	}
	if status, err := l.lib.Run(l.f.Name, few, plan); err != nil || status.Code != runtime.OK || !bytes.Equal(out.Data, once.Data) {
		t.Errorf("%v: a run with a state differs from one call: %v, %v", dims, status, err)
	}
	clear(once.Data)
	if status, err := l.lib.Run(l.f.Name, all, bare); err != nil || status.Code != runtime.OK || !bytes.Equal(out.Data, once.Data) {
		t.Errorf("%v: a run without a state differs: %v, %v", dims, status, err)
	}
}

// plans are the plans of a run without and one with the state, and the arguments
// of the latter.
func (l *loadedLayer) plans(args []any, all []runtime.Arg, shape []int64, threads int) (bare *runtime.Plan, few []runtime.Arg, plan *runtime.Plan, out *runtime.Tensor) {
	bare, status, err := l.lib.Plan(l.f.Name, all, 0)
	if err != nil || status.Code != runtime.OK {
		l.t.Fatal(status, err)
	}
	few, out = passedTo(l.t, l.f, args, shape, true)
	plan, status, err = l.lib.PlanWith(l.state, l.f.Name, few, threads)
	if err != nil || status.Code != runtime.OK {
		l.t.Fatal(status, err)
	}
	return bare, few, plan, out
}

// overwrite puts NaNs where the weights were; mappings of the files have them
// too.
func overwrite(t *testing.T, folder string) {
	t.Helper()
	for _, name := range []string{"B", "bias", "scale"} {
		f, err := os.OpenFile(filepath.Join(folder, name+".npy"), os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		info, err := f.Stat()
		if err != nil {
			t.Fatal(err)
		}
		if n := info.Size() - 128; n > 0 {
			if _, err := f.WriteAt(bytes.Repeat([]byte{255}, int(n)), 128); err != nil {
				t.Fatal(err)
			}
		}
		f.Close()
	}
}

// A program that goes wrong while it prepares does so in open, with the codes
// that a call would give; sizes that const parameters disagree on too.
func TestPrepareFails(t *testing.T) {
	m := verified(t, `tenon ir 1
proc loop @pick<M, N, K>(in %x: buf<f32[M]>, in const %w: buf<f32[N]>, in const %at: buf<i32[K]>, in const %b: buf<f32[K]>,
    out %y: buf<f32[M]>) where(declared K <= 4) {
  %P = loop.alloc : buf<f32[K]>
  loop.prepare(%P) {
    loop.for i = 0 to K { %g = load(%at[i]); %j = cast(%g): index
      store(add(load(%w[%j]), load(%b[i])), %P[i]) } }
  loop.for i = 0 to M { store(add(load(%x[i]), load(%P[0])), %y[i]) }
  return() }`)
	lib := loadHere(t, m)
	array := func(shape int64, values ...float64) *weights.Array {
		x := alloc(t, num.F32, shape)
		for i, v := range values {
			num.Encode(num.F32, num.FromFloat(v), x.Data[4*i:])
		}
		return weights.FromBytes(num.F32, x.Shape, x.Data)
	}
	for _, c := range []struct {
		name     string
		at       []int32
		b        *weights.Array
		code     runtime.Code
		arg, dim int32
	}{
		{"all is well", []int32{1, 0}, array(2, 5, 6), runtime.OK, -1, -1},
		{"a subscript that is out of range", []int32{0, 3}, array(2), runtime.Index, 1, 0},
		{"sizes that differ", []int32{0, 1}, array(3), runtime.Shape, 3, 0},
		{"a fact that does not hold", []int32{0, 1, 0, 1, 0}, array(5), runtime.Shape, 2, 0},
	} {
		folder := t.TempDir()
		x := alloc(t, num.I32, int64(len(c.at)))
		for i, v := range c.at {
			num.Encode(num.I32, num.FromInt(int64(v)), x.Data[4*i:])
		}
		for name, a := range map[string]*weights.Array{"w": array(2, 10, 20), "at": weights.FromBytes(num.I32, x.Shape, x.Data), "b": c.b} {
			if err := weights.WriteNpy(filepath.Join(folder, name+".npy"), a); err != nil {
				t.Fatal(err)
			}
		}
		state, status, err := lib.OpenState("pick", folder)
		if want := (runtime.Status{Code: c.code, Arg: c.arg, Dim: c.dim}); err != nil || status != want {
			t.Errorf("%s: %+v, %v; want %+v", c.name, status, err, want)
		}
		if state != nil {
			state.Close()
		}
	}
}

// The C interface of prepared buffers: see testdata/prepare.c.
func TestPrepareFromC(t *testing.T) {
	a := artifact(t, "testdata/prepare.tnir")
	programs := inC(t, "prepare", a)
	for _, program := range programs {
		if out, err := exec.Command(program).CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", filepath.Base(program), err, out)
		}
	}
	dir := filepath.Dir(programs[1])
	cmd := exec.Command("gcc", "-std=c11", "-D_DEFAULT_SOURCE", "-pthread", "-g", "-fsanitize=address,undefined", "prepare.c", "libprepare.a", "-lm", "-lgomp", "-o", "watched")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Skipf("SKIP, lost memory is not looked for: gcc has no address sanitizer here: %s", out)
	}
	cmd = exec.Command(filepath.Join(dir, "watched"), "watched")
	cmd.Env = append(os.Environ(), "ASAN_OPTIONS=allocator_may_return_null=1:detect_leaks=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// The header says what open prepares and what the state then holds.
func TestHeaderOfPrepared(t *testing.T) {
	h, err := artifact(t, "testdata/prepare.tnir").Header()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"layer_open prepares P and S, which the state keeps: 16*K*((N + 3)//4) + 4*N bytes", "without a state every call does it, in its workspace"} {
		if !strings.Contains(h, want) {
			t.Errorf("the header does not say %q:\n%s", want, h[strings.Index(h, "/* layer"):])
		}
	}
}
